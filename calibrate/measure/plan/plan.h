#pragma once

// What a run is to time: from what the user asks for and which ranks there are.

#include "calibrate/measure/design/next_sizes.h"
#include "calibrate/measure/samples.h"

#include <set>
#include <span>

namespace trainyard {

enum class PlanPart : std::uint8_t { collectives, pairs, gemm, memory, launch, attention, overlap };

struct PlanOptions {
    std::set<PlanPart> parts;                // empty: all
    std::vector<CollectiveKind> collectives; // empty: all that are timed
    std::vector<ElementType> types;          // of collectives that reduce; the first of others
    Bytes min_size{512};
    Bytes max_size{Bytes(std::uint64_t{512} << 20)};
    bool quick = false;
    bool forced = false; // each algorithm and protocol of NCCL beside its own choice
};

// One collective of one group over sizes: a curve. More sizes may be added where it needs them.
struct PlannedCurve {
    CollectiveWork work; // its size does not count
    SizeRange sizes;
};

// What is timed in one communicator, which is made once for all of it.
struct PlannedGroup {
    GroupSpec spec;
    std::vector<PlannedCurve> curves;
    std::vector<TimedWork> singles;
};

struct MeasurePlan {
    std::vector<PlannedGroup> groups;

    std::size_t points() const; // to begin with
};

// The groups whose collectives plans of jobs use: the first 2, 4, 8, ... ranks of a node; whole
// nodes, 2, 4, 8, ... of them; one rank of each node; every second rank of a node; all. `hosts` is
// by world rank. None has one member.
std::vector<GroupSpec> groups_of(std::span<const std::string> hosts);

// The whole plan. Quick: two groups, sizes sixteen apart (four apart where algorithms switch), few
// kernels.
MeasurePlan plan_of(const PlanOptions& options, std::span<const RankFacts> ranks);

template <>
std::vector<EnumName<PlanPart>> enum_names<PlanPart>();

} // namespace trainyard
