#include "sim/report/headline.h"

#include "sim/report/figures.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

HeadlineRow throughput(const StepFigures& figures)
{
    const std::string samples = to_display_count(figures.samples_per_s);
    if (figures.work() == WorkUnit::samples)
        return {"Throughput", samples + " samples/s",
                fmt::format("{} per {}", to_display_count(figures.samples_per_s_per_gpu()),
                            figures.device_word())};
    return {"Throughput", to_display_count(figures.tokens_per_s) + " tokens/s",
            fmt::format("{} tokens/s per {}, {} sequences/s",
                        to_display_count(figures.tokens_per_s_per_gpu()), figures.device_word(),
                        samples)};
}

std::string factors(double low, double high)
{
    return fmt::format("x {:.2f} to x {:.2f}", low, high);
}

} // namespace

std::vector<HeadlineRow> headline_rows(const StepFigures& figures)
{
    const Prediction& step = figures.step_time;
    const bool usual = figures.has_usual_mfu;
    return {{"Step time", to_display(step.value),
             fmt::format("{} to {} (90 %), evidence: {}", to_display(step.low),
                         to_display(step.high), to_name(step.grade))},
            {"Interval", factors(step.low / step.value, step.high / step.value), step.basis},
            throughput(figures),
            {"MFU", percent(figures.mfu),
             fmt::format("HFU {}, {} of {} {} per {}{}", percent(figures.hfu),
                         to_display(figures.model_flops_per_gpu),
                         to_display(figures.peak_flops_per_gpu), to_name(figures.peak_precision),
                         figures.device_word(), usual ? fmt::format("; {}", mfu_target.text) : ""),
             usual ? std::optional(mfu_target.judge(figures.mfu)) : std::nullopt}};
}

HeadlineRow peak_interval_row(const PeakPrediction& peak)
{
    return {"Interval", factors(peak.low / peak.value, peak.high / peak.value), peak.basis};
}

std::string peak_interval_text(const PeakPrediction& peak)
{
    return fmt::format("{} to {} ({:.0f} %), evidence: {}", to_display(peak.low),
                       to_display(peak.high), 100 * peak.share, to_name(peak.grade));
}

std::string memory_fit_text(const StepFigures& figures)
{
    return fmt::format("{}, {} free", to_name(figures.memory_fit()),
                       percent(1 - figures.peak_memory / figures.capacity));
}

} // namespace trainyard
