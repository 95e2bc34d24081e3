#include "sim/api/memory_question.h"

#include "sim/api/lengths.h"
#include "sim/base/units.h"
#include "sim/study/problems.h"
#include "sim/study/session.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

Checked<MemoryOptions> memory_options(const MemoryQuestion& question, const Scenario& scenario)
{
    MemoryOptions options;
    options.steps = question.steps;
    options.allocator.expandable_segments = question.expandable_segments;
    if (!question.max_split_size.empty()) {
        const Parsed<Bytes> size = parse_bytes(question.max_split_size);
        // PyTorch refuses less than its large buffer.
        if (!size || *size <= Bytes(20 << 20))
            return tl::unexpected(
                one_problem(fmt::format("\"{}\" is no --max-split-size", question.max_split_size),
                            "a size above 20 MiB, e.g. 128MiB"));
        options.allocator.max_split_size = static_cast<std::int64_t>(size->value());
    }
    if (!question.lengths.empty()) {
        Checked<std::vector<double>> lengths =
            parse_lengths(question.lengths, scenario.training.sequence_length);
        if (!lengths)
            return tl::unexpected(std::move(lengths.error()));
        options.lengths = std::move(*lengths);
    }
    return options;
}

} // namespace

Checked<MemoryAnswer> memory_of(const ScenarioFile& file, const MemoryQuestion& question,
                                Session& session)
{
    const Checked<MemoryOptions> options = memory_options(question, file.scenario);
    if (!options)
        return tl::unexpected(options.error());
    Checked<MemoryEstimate> memory = session.memory(file, *options);
    if (!memory)
        return tl::unexpected(std::move(memory.error()));
    const int stages = static_cast<int>(memory->stages.size());
    if (question.stage && *question.stage >= stages)
        return tl::unexpected(one_problem(fmt::format("there is no stage {}", *question.stage),
                                          fmt::format("the scenario has {} (from 0 on)", stages)));
    const auto shown = static_cast<std::size_t>(question.stage.value_or(memory->fullest_stage));
    const Checked<PeakPrediction> peak =
        session.predicted_peak(file, memory->stages[shown].total());
    if (!peak)
        return tl::unexpected(peak.error());
    return MemoryAnswer{std::move(*memory), *peak};
}

} // namespace trainyard
