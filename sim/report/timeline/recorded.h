#pragma once

// Which lanes are recorded, and which of these a trace shows.

#include "sim/study/outcome.h"

#include <optional>
#include <set>
#include <string_view>

namespace trainyard {

// The first lane of each role (pipeline stage).
std::set<LaneId> first_lanes(const Binding& binding);

// The lanes that a trace shows by default, in the last step: those, and the critical one.
RecordRequest default_trace_lanes(const Outcome& outcome);

// Of all lanes, where that is few ops: for pictures of a whole cluster. Else the lanes of a trace.
RecordRequest picture_lanes(const Outcome& outcome, std::uint64_t most_ops = 400'000);

// What a picture shows.
enum class LanesOf : std::uint8_t {
    usual,    // picture_lanes
    stages,   // default_trace_lanes
    dp_group, // the critical lane and those that it averages gradients with
    ranks,    // those named
    all       // as many as there may be ops of
};

struct LaneChoice {
    LanesOf of = LanesOf::usual;
    std::vector<RankId> ranks{}; // of LanesOf::ranks; those that the job does not have are left out

    bool operator==(const LaneChoice&) const = default;
};

// Of a choice: as many as take a few hundred MB with their pictures.
inline constexpr std::uint64_t most_chosen_ops = 2'000'000;

// At most some `most_ops` ops of the last step, whole lanes of them, the lowest first; at least
// one lane. Where the choice has none (no such rank, no data parallelism), the critical one.
RecordRequest chosen_lanes(const Outcome& outcome, const LaneChoice& choice,
                           std::uint64_t most_ops = most_chosen_ops);

// "0-3, 8" as ranks, ascending, each once; none where it is anything else.
std::optional<std::vector<RankId>> parse_ranks(std::string_view text);

// How many ops these lanes have in a step.
std::uint64_t ops_in_step(const Program& program, const Binding& binding,
                          const std::function<bool(LaneId)>& lanes);

// Recorded ranks for a trace of a few megabytes: the critical one, then the lowest, as
// long as all their device ops together are `most_ops` or fewer. At least one where any was
// recorded.
std::vector<RankId> representative_ranks(const Outcome& outcome, std::size_t most_ops = 140'000);

} // namespace trainyard
