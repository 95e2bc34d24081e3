#include "sim/report/step_figures.h"

#include "sim/cost/kernel_time.h"
#include "sim/report/figures.h"
#include "sim/report/flops.h"
#include "sim/report/kinds.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

void add_throughput(StepFigures& figures, const Outcome& outcome)
{
    const Seconds step = outcome.step_time.value;
    const Job& job = outcome.job;
    if (step.value() <= 0)
        return;
    figures.samples_per_s = static_cast<double>(job.training.global_batch) / step.value();
    if (job.model.is_transformer())
        figures.tokens_per_s =
            figures.samples_per_s * static_cast<double>(job.training.sequence_length);
}

void add_flops(StepFigures& figures, const Outcome& outcome)
{
    const Seconds step = outcome.step_time.value;
    const int gpus = outcome.job.world();
    const Flops model = model_flops_per_step(outcome.job);
    const Flops hardware = hardware_flops_per_step(outcome.job, *outcome.plan, *outcome.binding);
    const Device& device = outcome.cost->profile().hardware.device;
    figures.peak_precision =
        executed_precision(main_precision(*outcome.plan, outcome.job.training.precision), device);
    figures.peak_flops_per_gpu = device.peak.at(figures.peak_precision);
    figures.on_cpus = device.is_cpu();
    const Model& trained = outcome.job.model;
    const bool half =
        figures.peak_precision == Precision::bf16 || figures.peak_precision == Precision::fp16;
    figures.has_usual_mfu =
        half && !figures.on_cpus && trained.is_transformer() && !trained.is_moe();
    figures.mfu = flops_utilization(model, step, figures.peak_flops_per_gpu, gpus);
    figures.hfu = flops_utilization(hardware, step, figures.peak_flops_per_gpu, gpus);
    if (step.value() > 0)
        figures.model_flops_per_gpu = model / step / static_cast<double>(gpus);
}

void add_shares(StepFigures& figures, const Outcome& outcome)
{
    const StepResult& result = *outcome.result;
    const Seconds step = to_seconds(result.step_time);
    figures.mean = mean_shares(result, *outcome.binding);
    if (step.value() <= 0)
        return;
    const auto mean_share = [&](SimTime LaneTotals::*figure) {
        return mean_over_ranks(result, *outcome.binding,
                               [&](const LaneTotals& lane) { return lane.*figure; }) /
               step;
    };
    figures.communication_summed_fraction = mean_share(&LaneTotals::communication_busy);
    figures.compute_utilization = mean_share(&LaneTotals::compute_busy);
    figures.communication_exposed_fraction = exposed_communication(figures.mean) / step;
    figures.synchronization_share = figures.mean[index_of(TimeKind::waiting)] / step;
    figures.bubble_share = figures.mean[index_of(TimeKind::bubble)] / step;
}

template <class Value>
Json as_json(const Value& value)
{
    if constexpr (std::is_enum_v<Value>)
        return to_name(value);
    else if constexpr (requires { value.has_value(); })
        return value ? as_json(*value) : Json();
    else if constexpr (requires { value.value(); })
        return value.value();
    else
        return value;
}

class FigureTable {
public:
    FigureTable()
    {
        add("gpus", &Of::gpus, in_sweep_files | in_window, count, lower,
            {.title = "devices", .window = {"devices", "devices"}});
        add("idle_gpus", &Of::idle_gpus, in_result | in_sweep_files, count);
        add_step();
        add_shares();
        add_verdicts();
        add_costs();
    }

    // In the order of files.
    const std::vector<Figure>& figures() const { return figures_; }

private:
    using Of = StepFigures;
    using enum FigureUnit;
    using enum Better;
    static constexpr unsigned in_result = in_json | in_csv;
    static constexpr unsigned in_runs = in_result | in_comparison;
    static constexpr unsigned in_sweep_files = in_sweep_json | in_sweep_csv;
    static constexpr unsigned in_sweeps = in_sweep_files | in_sweep_text;

    // `read`: a member of StepFigures, or what makes a value of them.
    template <class Read>
    void add(std::string key, Read read, unsigned places, FigureUnit unit = FigureUnit::word,
             Better better = Better::neither, FigureWords words = {})
    {
        figures_.push_back({std::move(words), std::move(key), unit, better, group_, places,
                            [read](const Of& of) { return as_json(std::invoke(read, of)); }});
    }

    void add_step();
    void add_shares();
    void add_verdicts();
    void add_costs();

    FigureGroup group_ = FigureGroup::cost; // of those that follow
    std::vector<Figure> figures_;
};

void FigureTable::add_step()
{
    const auto step_time = [](Seconds Prediction::*which) {
        return [which](const Of& of) { return of.step_time.*which; };
    };
    const auto interval = [](const Of& of) {
        return Json::Array{of.step_time.low.value(), of.step_time.high.value()};
    };
    const auto grade = [](const Of& of) { return of.step_time.grade; };
    const auto basis = [](const Of& of) { return of.step_time.basis; };
    group_ = FigureGroup::step;
    add("step_time_s", step_time(&Prediction::value), in_runs | in_sweeps | in_window, seconds,
        lower,
        {.title = "step time",
         .meaning = "of one optimizer step",
         .window = {"step_time", "step"}});
    add("step_time_interval_s", interval, in_json | in_sweep_json);
    add("step_time_low_s", step_time(&Prediction::low), in_csv | in_sweep_csv | in_window, seconds);
    add("step_time_high_s", step_time(&Prediction::high), in_csv | in_sweep_csv | in_window,
        seconds);
    add("grade", grade, in_result | in_sweep_files);
    add("basis", basis, in_result | in_sweep_files);
    add("tokens_per_s", &Of::tokens_per_s, in_runs | in_sweeps, per_second, higher,
        {.title = "tokens/s", .work = WorkUnit::tokens});
    add("samples_per_s", &Of::samples_per_s, in_runs | in_sweeps, per_second, higher,
        {.title = "samples/s", .work = WorkUnit::samples});
    add("tokens_per_s_per_gpu", &Of::tokens_per_s_per_gpu, in_runs | in_sweep_text | in_window,
        per_second, higher,
        {.title = "tokens/s per {}",
         .heading = "per {}",
         .work = WorkUnit::tokens,
         .window = {"rate", "tokens"}});
    add("samples_per_s_per_gpu", &Of::samples_per_s_per_gpu, in_json | in_sweep_text | in_window,
        per_second, higher,
        {.title = "samples/s per {}",
         .heading = "per {}",
         .work = WorkUnit::samples,
         .window = {"rate", "samples"}});
    add("mfu", &Of::mfu, in_runs | in_sweeps | in_window, share, higher,
        {.title = "MFU",
         .meaning = "model FLOPs over the devices' dense peak",
         .window = {"mfu", "mfu"}});
    add("hfu", &Of::hfu, in_runs, share, higher, {.title = "HFU"});
    add("model_flops_per_s_per_gpu", &Of::model_flops_per_gpu, in_json, per_second, higher);
    add("peak_flops_per_s_per_gpu", &Of::peak_flops_per_gpu, in_json, per_second);
    add("peak_precision", &Of::peak_precision, in_json);
    add("fits", &Of::fits, in_result);
}

// Of a device's memory, and of the step, as mean of all ranks.
void FigureTable::add_shares()
{
    group_ = FigureGroup::memory;
    add("peak_memory_bytes", &Of::peak_memory, in_csv | in_comparison | in_sweeps | in_window,
        bytes, lower,
        {.title = "peak memory",
         .meaning = "of the fullest device, allocator included",
         .heading = "memory",
         .window = {"memory", "memory"}});
    add("device_memory_bytes", &Of::capacity, in_sweep_files | in_window, bytes);
    const auto end = [](Bytes PeakPrediction::*which) {
        return [which](const Of& of) {
            return of.peak.has_interval() ? std::optional((of.peak.*which).value()) : std::nullopt;
        };
    };
    const auto interval = [](const Of& of) {
        return of.peak.has_interval()
                   ? std::optional(Json::Array{of.peak.low.value(), of.peak.high.value()})
                   : std::nullopt;
    };
    // Of a peak alone, as of a point of a sweep that does not fit, neither is known.
    const auto fit = [](const Of& of) {
        return of.peak.value > Bytes(0) ? std::optional(of.memory_fit()) : std::nullopt;
    };
    const auto held = [](const Of& of) {
        return of.peak.has_interval() ? std::optional(of.peak.share) : std::nullopt;
    };
    const auto grade = [](const Of& of) {
        return of.peak.value > Bytes(0) ? std::optional(of.peak.grade) : std::nullopt;
    };
    const auto basis = [](const Of& of) { return of.peak.basis; };
    add("peak_memory_interval_bytes", interval, in_json | in_sweep_json);
    add("peak_memory_low_bytes", end(&PeakPrediction::low), in_csv | in_sweep_csv | in_window,
        bytes);
    add("peak_memory_high_bytes", end(&PeakPrediction::high), in_csv | in_sweep_csv | in_window,
        bytes);
    add("peak_memory_interval_share", held, in_result | in_sweep_files);
    add("memory_fit", fit, in_result | in_sweep_files);
    add("memory_grade", grade, in_result | in_sweep_files);
    add("memory_basis", basis, in_result | in_sweep_files);
    const auto may_pass_all = [](const Of&) { return std::string(" (may pass 100 %)"); };
    group_ = FigureGroup::losses;
    add("communication_exposed_fraction", &Of::communication_exposed_fraction,
        in_runs | in_health | in_sweep_files | in_window, share, lower,
        {.title = "exposed communication",
         .meaning = "of the step: data moves and nothing is computed",
         .target = overhead_target,
         .window = {"exposed", "exposed"}});
    add("communication_summed_fraction", &Of::communication_summed_fraction, in_runs | in_health,
        share, neither, {.title = "all transfers, added up", .remark = may_pass_all});
    group_ = FigureGroup::compute;
    add("compute_utilization", &Of::compute_utilization, in_runs | in_health, share, higher,
        {.title = "compute stream busy", .target = compute_target});
    group_ = FigureGroup::losses;
    add("synchronization_share", &Of::synchronization_share, in_json | in_health, share, lower,
        {.title = title_of(TimeKind::waiting), .target = overhead_target});
    add("bubble_share", &Of::bubble_share, in_json | in_health | in_sweep_files | in_window, share,
        lower,
        {.title = title_of(TimeKind::bubble),
         .meaning = "of the step: waiting for another stage of the pipeline",
         .target = overhead_target,
         .window = {"bubble", "bubble"}});
}

void FigureTable::add_verdicts()
{
    const auto from_base = [](const Of& of) {
        return fmt::format(" from {} GPU{}", of.scaling_base_gpus,
                           of.scaling_base_gpus == 1 ? "" : "s");
    };
    const auto base = [](const Of& of) {
        return of.scaling_base_gpus > 0 ? std::optional(of.scaling_base_gpus) : std::nullopt;
    };
    const auto bottleneck = [](const Of& of) { return of.bottleneck.kind; };
    group_ = FigureGroup::scaling;
    add("scaling_efficiency", &Of::scaling_efficiency, in_runs | in_health, share, higher,
        {.title = "scaling efficiency", .target = scaling_target, .remark = from_base});
    add("scaling_base_gpus", base, in_json, count);
    group_ = FigureGroup::time_kinds;
    add("bottleneck", bottleneck, in_csv | in_sweep_files);
    for (const TimeKind kind : time_kinds()) {
        const auto mean = [kind](const Of& of) { return of.mean[index_of(kind)]; };
        add(fmt::format("mean_{}_s", to_name(kind)), mean, in_csv | in_comparison, seconds, neither,
            {.title = title_of(kind)});
    }
}

// At a price of one per device and hour.
void FigureTable::add_costs()
{
    constexpr double hours_per_day = 24;
    constexpr double seconds_per_hour = 3600;
    const auto per_day = [](const Of& of) { return of.gpus * hours_per_day; };
    const auto of_billion = [](double (Of::*rate)() const) {
        return [rate](const Of& of) { return 1e9 / (seconds_per_hour * (of.*rate)()); };
    };
    group_ = FigureGroup::cost;
    add("cost_per_day", per_day, in_window, money, lower,
        {.title = "cost per day", .window = {"cost_day", "cost"}});
    add("cost_per_billion_tokens", of_billion(&Of::tokens_per_s_per_gpu), in_window, money, lower,
        {.title = "cost per 10⁹ tokens",
         .work = WorkUnit::tokens,
         .window = {"cost_work", "billion"}});
    add("cost_per_billion_samples", of_billion(&Of::samples_per_s_per_gpu), in_window, money, lower,
        {.title = "cost per 10⁹ samples",
         .work = WorkUnit::samples,
         .window = {"cost_work", "billion"}});
}

const std::vector<Figure>& all_figures()
{
    static const FigureTable table;
    return table.figures();
}

} // namespace

double Figure::number(const StepFigures& of) const
{
    const Json read = value(of);
    return read.is_null() ? std::numeric_limits<double>::quiet_NaN() : read.as_double();
}

std::string Figure::text(double number) const
{
    switch (unit) {
    case FigureUnit::seconds:
        return to_display(Seconds(number));
    case FigureUnit::share:
        return percent(number);
    case FigureUnit::bytes:
        return to_display(Bytes(static_cast<std::uint64_t>(number)));
    case FigureUnit::money:
        return count_text(number);
    default:
        return to_display_count(number);
    }
}

std::string Figure::title_for(std::string_view device) const
{
    return fmt::format(fmt::runtime(title), device);
}

std::string Figure::heading_for(std::string_view device) const
{
    return heading.empty() ? title_for(device) : fmt::format(fmt::runtime(heading), device);
}

StepFigures step_figures(const Outcome& outcome)
{
    StepFigures figures;
    figures.gpus = outcome.job.world();
    figures.idle_gpus = std::max(0, outcome.cluster_devices - figures.gpus);
    figures.step_time = outcome.step_time;
    figures.peak_memory = outcome.memory.peak();
    figures.peak = outcome.peak_memory;
    figures.capacity = outcome.memory.capacity;
    figures.fits = outcome.memory.fits();
    add_throughput(figures, outcome);
    add_flops(figures, outcome);
    add_shares(figures, outcome);
    return figures;
}

const Figure& figure_of(std::string_view key)
{
    return *std::ranges::find(all_figures(), key, &Figure::key);
}

std::vector<const Figure*> figures_in(FigurePlace place)
{
    std::vector<const Figure*> out;
    for (const Figure& figure : all_figures())
        if ((figure.places & place) != 0)
            out.push_back(&figure);
    return out;
}

std::vector<const Figure*> grouped_figures_in(FigurePlace place)
{
    std::vector<const Figure*> out = figures_in(place);
    std::ranges::stable_sort(out, {}, &Figure::group);
    return out;
}

} // namespace trainyard
