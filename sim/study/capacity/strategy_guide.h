#pragma once

// Which strategy for which size: of each family of strategies the best layout, the simplest family
// first, and the one to take.

#include "sim/study/capacity/capacity_plan.h"

#include <array>

namespace trainyard {

// In the order in which they ask more of whoever runs them.
enum class StrategyFamily : std::uint8_t {
    ddp,      // whole copies
    zero_1,   // optimizer states divided
    zero_2,   // gradients, too
    zero_3,   // parameters, too: FSDP
    experts,  // EP and ZeRO-1; of mixtures of experts
    tensor,   // TP, of experts too, and ZeRO-1
    pipeline, // stages and ZeRO-1
    all       // the whole space
};
inline constexpr std::size_t strategy_family_count = 8;

template <>
std::vector<EnumName<StrategyFamily>> enum_names<StrategyFamily>();

struct GuideSize {
    int gpus = 0;
    // By family; without an outcome where none of it runs.
    std::array<SizedCluster, strategy_family_count> best;
    std::optional<StrategyFamily> quickest;
    // The simplest whose pace is near the quickest's.
    std::optional<StrategyFamily> advised;
};

// The share of the quickest's pace that a simpler family may lose.
inline constexpr double near_enough = 0.05;

struct StrategyGuide {
    ClusterKind kind;
    std::vector<GuideSize> sizes; // the smallest first
    bool interrupted = false;     // sizes are missing
};

// Sizes are those of `sizes_within` of `request.guide`. Requires it.
StrategyGuide strategy_guide(const CapacityRequest& request, const ClusterKind& kind,
                             Session& session);

// Sequences per second of an answer with an outcome.
double pace_of(const SizedCluster& sized);

} // namespace trainyard
