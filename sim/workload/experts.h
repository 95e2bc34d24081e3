#pragma once

// Expert parallelism: how tokens reach their experts and how evenly they spread.

#include "sim/base/field_names.h"

#include <cstdint>

namespace trainyard {

enum class Dispatcher : std::uint8_t {
    all_to_all,        // one copy for each of a token's experts
    one_copy_per_node, // one for each node that holds some of them (hierarchical exchange)
    deepep,            // one for each node and, in the rank's own node, for each rank
    hybridep,          // the same; the node is all that NVLink reaches
    all_gather         // every token to every rank of the group, which picks its own
};

// Tokens of the expert ranks of a group.
enum class ExpertLoad : std::uint8_t {
    uniform,
    histogram, // as `shares` says
    power_law  // rank i gets (i + 1)^-exponent
};

// Which ranks of a stage form an expert group.
enum class ExpertPlacement : std::uint8_t {
    near,  // side by side: the fewest nodes and switches
    spread // as far apart as they go: the copies of one expert side by side
};

struct ExpertParallel {
    std::optional<Dispatcher> dispatcher; // else the framework's habit
    int node_limit = 0;                   // a token's experts are on at most so many nodes; 0: any
    ExpertLoad load = ExpertLoad::uniform;
    std::vector<double> shares; // of the tokens, by expert rank; any unit
    double exponent = 0.5;
    std::optional<double> capacity_factor; // a rank drops tokens beyond this many times the mean
    bool overlap_shared = false;           // shared experts run beside dispatch and combination
    ExpertPlacement placement = ExpertPlacement::near;

    bool operator==(const ExpertParallel&) const = default;
};

// Tokens that each of `ranks` expert ranks works on, 1 being the mean of what is routed; capped by
// the capacity factor. Requires shares for every rank where the load is a histogram.
std::vector<double> expert_loads(const ExpertParallel& experts, int ranks);

// Share of the copies of tokens that the capacity factor leaves.
double kept_share(const ExpertParallel& experts, int ranks);

template <>
std::vector<EnumName<Dispatcher>> enum_names<Dispatcher>();
template <>
std::vector<EnumName<ExpertLoad>> enum_names<ExpertLoad>();
template <>
std::vector<EnumName<ExpertPlacement>> enum_names<ExpertPlacement>();
template <>
const FieldTable<ExpertParallel>& fields_of<ExpertParallel>();

} // namespace trainyard
