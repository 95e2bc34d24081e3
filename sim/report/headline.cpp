#include "sim/report/headline.h"

#include "sim/report/figures.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

HeadlineRow throughput(const Summary& summary)
{
    const std::string samples = to_display_count(summary.samples_per_s);
    if (summary.work() == WorkUnit::samples)
        return {"Throughput", samples + " samples/s",
                fmt::format("{} per {}", to_display_count(summary.samples_per_s_per_gpu()),
                            summary.device_word())};
    return {"Throughput", to_display_count(summary.tokens_per_s) + " tokens/s",
            fmt::format("{} tokens/s per {}, {} sequences/s",
                        to_display_count(summary.tokens_per_s_per_gpu()), summary.device_word(),
                        samples)};
}

} // namespace

std::vector<HeadlineRow> headline_rows(const Summary& summary)
{
    const Prediction& step = summary.step_time;
    const bool usual = summary.has_usual_mfu;
    return {{"Step time", to_display(step.value),
             fmt::format("{} to {} (90 %), evidence: {}", to_display(step.low),
                         to_display(step.high), to_name(step.grade))},
            throughput(summary),
            {"MFU", percent(summary.mfu),
             fmt::format("HFU {}, {} of {} {} per {}{}", percent(summary.hfu),
                         to_display(summary.model_flops_per_gpu),
                         to_display(summary.peak_flops_per_gpu), to_name(summary.peak_precision),
                         summary.device_word(), usual ? fmt::format("; {}", mfu_target.text) : ""),
             usual ? std::optional(mfu_target.judge(summary.mfu)) : std::nullopt}};
}

} // namespace trainyard
