#include "sim/study/training/stated_figures.h"

#include "sim/study/record_machine.h"
#include "sim/study/record_software.h"
#include "sim/study/record_words.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

constexpr double day = 86400;
constexpr double recomputed = 4.0 / 3; // a second forward pass beside one forward and backward
constexpr int first_year_of_mfu = 2023;
constexpr double rounding = 1.01; // of published days: steps that take longer are not of them

// Dense peak of the number format, in FLOP/s.
double peak_of(const MeasuredRecord& record)
{
    const KnownDevice* const known = device_of(record);
    if (known == nullptr)
        return 0;
    const bool narrow = mentions(record.precision, {"fp8"});
    return known->device.peak.at(narrow ? Precision::fp8 : Precision::bf16).value() > 0
               ? known->device.peak.at(narrow ? Precision::fp8 : Precision::bf16).value()
               : known->device.peak.at(Precision::fp16).value();
}

// Of a step, by the usual count of model FLOPs.
double model_flops(const PublishedRun& run, const StatedRates& rates)
{
    const MeasuredRecord& record = run.record;
    const double attention = 12.0 * record.model.layers.value_or(0) *
                             static_cast<double>(record.model.hidden.value_or(0)) *
                             static_cast<double>(record.sequence_length.value_or(0));
    return (6 * rates.parameters + attention) * run.batch_tokens();
}

// FLOP/s of a GPU, without recomputation.
std::optional<StatedFigure> model_rate(const PublishedRun& run, const StatedRates& rates)
{
    const double peak = peak_of(run.record);
    if (rates.mfu)
        return StatedFigure{*rates.mfu * peak, fmt::format("MFU {:.3g}", *rates.mfu)};
    if (rates.mfu_range.size() == 2) {
        const double middle = (rates.mfu_range[0] + rates.mfu_range[1]) / 2;
        return StatedFigure{middle * peak, fmt::format("MFU {:.3g}, middle of a range", middle)};
    }
    if (rates.hardware_tflops)
        return StatedFigure{
            *rates.hardware_tflops * 1e12 / recomputed,
            fmt::format("{} TFLOP/s, recomputation counted", *rates.hardware_tflops)};
    if (rates.hfu)
        return StatedFigure{*rates.hfu * peak / recomputed, fmt::format("HFU {}", *rates.hfu)};
    if (!rates.tflops)
        return std::nullopt;
    const bool counted = year_in(run.record.source.date) < first_year_of_mfu;
    return StatedFigure{*rates.tflops * 1e12 / (counted ? recomputed : 1),
                        fmt::format("{} TFLOP/s, {}", *rates.tflops,
                                    counted ? "recomputation taken to be counted" : "model FLOPs")};
}

std::optional<StatedFigure> stated_step(const PublishedRun& run, const StatedRates& rates)
{
    const double gpus = run.record.gpus.value_or(0);
    if (rates.step_time)
        return StatedFigure{*rates.step_time, "stated"};
    if (gpus < 1 || run.batch_tokens() < 1)
        return std::nullopt;
    if (rates.tokens_rate)
        return StatedFigure{run.batch_tokens() / (*rates.tokens_rate * gpus),
                            fmt::format("{} tokens/s per GPU", *rates.tokens_rate)};
    const auto rate = model_rate(run, rates);
    if (!rate || !(rate->value > 0) || !(rates.parameters > 0))
        return std::nullopt;
    return StatedFigure{model_flops(run, rates) / (rate->value * gpus), rate->basis};
}

std::optional<StatedFigure> stated_wall(const PublishedRun& run, const StatedRates& rates)
{
    if (rates.wall_days)
        return StatedFigure{*rates.wall_days * day, "wall days stated"};
    if (rates.days)
        return StatedFigure{*rates.days * day, "days stated"};
    if (rates.gpu_hours && run.record.gpus.value_or(0) > 0)
        return StatedFigure{*rates.gpu_hours * 3600 / *run.record.gpus, "GPU hours over GPUs"};
    return std::nullopt;
}

std::optional<StatedFigure> stated_goodput(PublishedRun& run, const StatedRates& rates)
{
    if (rates.goodput)
        return StatedFigure{*rates.goodput, "stated"};
    if (rates.wall_days && rates.days)
        return StatedFigure{*rates.days / *rates.wall_days, "days of training over wall days"};
    // GPU hours are of no number of GPUs: the rate of one is enough.
    if (rates.tokens_rate && rates.gpu_hours && run.tokens > 0)
        return StatedFigure{run.tokens / (*rates.tokens_rate * *rates.gpu_hours * 3600),
                            "tokens over rate and GPU hours"};
    if (!run.step || !run.wall || run.tokens <= 0 || run.batch_tokens() < 1)
        return std::nullopt;
    const double steps = run.tokens / run.batch_tokens();
    return StatedFigure{steps * run.step->value / run.wall->value, "steps over " + run.wall->basis};
}

} // namespace

void set_stated_figures(PublishedRun& run, const StatedRates& rates)
{
    run.step = stated_step(run, rates);
    run.wall = stated_wall(run, rates);
    run.goodput = stated_goodput(run, rates);
    if (run.goodput && run.goodput->value > rounding) {
        run.assumptions.push_back(fmt::format(
            "steps take {:.3g} times the wall time: one of them is rounded, no goodput follows",
            run.goodput->value));
        run.goodput.reset();
    }
    if (run.goodput)
        run.goodput->value = std::min(1.0, run.goodput->value);
    if (run.step)
        run.record.step_time = run.step->value;
}

} // namespace trainyard
