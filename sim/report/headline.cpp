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

} // namespace

std::vector<HeadlineRow> headline_rows(const StepFigures& figures)
{
    const Prediction& step = figures.step_time;
    const bool usual = figures.has_usual_mfu;
    return {{"Step time", to_display(step.value),
             fmt::format("{} to {} (90 %), evidence: {}", to_display(step.low),
                         to_display(step.high), to_name(step.grade))},
            {"Interval",
             fmt::format("x {:.2f} to x {:.2f}", step.low / step.value, step.high / step.value),
             step.basis},
            throughput(figures),
            {"MFU", percent(figures.mfu),
             fmt::format("HFU {}, {} of {} {} per {}{}", percent(figures.hfu),
                         to_display(figures.model_flops_per_gpu),
                         to_display(figures.peak_flops_per_gpu), to_name(figures.peak_precision),
                         figures.device_word(), usual ? fmt::format("; {}", mfu_target.text) : ""),
             usual ? std::optional(mfu_target.judge(figures.mfu)) : std::nullopt}};
}

} // namespace trainyard
