#include "sim/study/traced/other_job.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace trainyard {
namespace {

// Every number of "[[8, 512], [512, 64]]".
std::vector<std::int64_t> sizes_in(std::string_view shapes)
{
    std::vector<std::int64_t> out;
    const char* at = shapes.data();
    const char* const end = at + shapes.size();
    while (at != end) {
        std::int64_t value = 0;
        const auto [behind, error] = std::from_chars(at, end, value);
        if (error == std::errc{})
            out.push_back(value);
        at = error == std::errc{} ? behind : at + 1;
    }
    return out;
}

// Widths of what layers hand on, of any part of the model.
std::set<std::int64_t> widths_of(const Transformer& model)
{
    std::set<std::int64_t> out{model.hidden};
    for (const Encoder& encoder : model.encoders)
        out.insert(encoder.hidden);
    return out;
}

} // namespace

std::optional<std::string> width_contradiction(const RunSummary& recorded, const Model& model)
{
    constexpr double next_to_none = 0.05;
    constexpr double enough = 0.5; // of products, with shapes
    const auto* const transformer = std::get_if<Transformer>(&model.architecture);
    if (transformer == nullptr)
        return std::nullopt;
    const std::set<std::int64_t> widths = widths_of(*transformer);
    Seconds all;
    Seconds with_shapes;
    Seconds with_width;
    const RecordedKernel* longest = nullptr; // kernels come longest first
    for (const RecordedKernel& kernel : recorded.kernels) {
        if (kernel.work != DeviceWork::gemm)
            continue;
        all += kernel.time;
        const std::vector<std::int64_t> sizes = sizes_in(kernel.shapes);
        if (sizes.empty())
            continue;
        longest = longest == nullptr ? &kernel : longest;
        with_shapes += kernel.time;
        if (std::any_of(sizes.begin(), sizes.end(),
                        [&](std::int64_t size) { return widths.contains(size); }))
            with_width += kernel.time;
    }
    if (longest == nullptr || with_shapes < enough * all || with_width > next_to_none * with_shapes)
        return std::nullopt;
    return fmt::format("is not of the scenario's job: its products have no side of {}, the model's "
                       "width; the longest are of {}",
                       transformer->hidden, longest->shapes);
}

Problems judge_layers(TraceFit& fit, const std::vector<StageSides>& stages,
                      const std::string& trace)
{
    constexpr double believed = 2; // standard deviations
    constexpr double told = 0.5;   // of a rate's variance
    const auto other = std::find_if(stages.begin(), stages.end(), [](const StageSides& stage) {
        return stage.forward.recorded_passes > 0 &&
               stage.forward.recorded_passes != stage.forward.simulated_passes;
    });
    if (other == stages.end())
        return {};
    const PassSides& forward = other->forward;
    const std::string counted =
        fmt::format("what runs forward repeats {} times a step, and the scenario runs {} passes of "
                    "layers",
                    forward.recorded_passes, forward.simulated_passes);
    for (std::size_t k = 0; k < own_rates().size(); ++k)
        if (forward.recorded_passes < forward.simulated_passes &&
            fit.rates.changes[k] > believed * fit.rates.prior[k] && fit.rates.learnt(k) > told)
            return {{trace, 0, "",
                     fmt::format("is not of the scenario's job: {}, so {} would be {:.2f} times "
                                 "the stated one",
                                 counted, own_rates()[k].title, std::exp(fit.rates.changes[k])),
                     "trainyard import trace FILE ... --against SCENARIO shows what differs",
                     Severity::error}};
    fit.doubts.push_back(fmt::format("In the recording {}. Is the scenario of this job?", counted));
    return {};
}

} // namespace trainyard
