#pragma once

// What is worth a look where several things count: the points that none is better than in one of
// them without being worse in another (Pareto 1906).

#include "sim/base/field_names.h"

#include <cstdint>
#include <vector>

namespace trainyard {

// What clusters are compared in.
enum class Objective : std::uint8_t {
    days,    // of a whole training
    cost,    // of it
    gpus,    // of the cluster
    energy,  // of the training
    work,    // tokens or samples that are learned: more is better
    headroom // memory that stays free on the fullest device: more is better
};

template <>
std::vector<EnumName<Objective>> enum_names<Objective>();

// Numbers of the points on the front, in their order. Less is better in each number; all points
// have as many. Of equal points the first counts. O(n^2), O(n log n) of two numbers.
std::vector<std::size_t> pareto_front(const std::vector<std::vector<double>>& points);

} // namespace trainyard
