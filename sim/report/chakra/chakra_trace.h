#pragma once

// Chakra execution traces (mlcommons/chakra, schema/protobuf/et_def.proto), one per rank: what
// simulators such as ASTRA-sim replay.
//
// A trace is a graph without times: a node waits for those that the op waits for, for the op before
// it on its stream, and for the host to launch it. Compute nodes have the time they take alone, in
// whole microseconds that add up along a stream, their operations and their bytes; communication
// nodes have the bytes that go into a rank.

#include "sim/study/outcome.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

// Communicators of two ranks or more, by number from 1 on.
class ChakraGroups {
public:
    explicit ChakraGroups(const Outcome& outcome);

    // Of a group of the binding. 0: all ranks, which the readers know without a list.
    int number(GroupId group) const { return numbers_[group.value]; }
    // {"1": [0, 1, ...], ...}
    std::string json() const;

private:
    std::vector<int> numbers_; // by GroupId
    std::vector<std::vector<std::uint32_t>> members_;
};

// Nodes of the largest trace to expect, and of all: for limits.
std::uint64_t chakra_nodes(const Outcome& outcome);

// The traces of one step, by rank. The outcome is of a job that was not folded: its lanes are all
// ranks.
std::vector<std::string> chakra_traces(const Outcome& outcome);

} // namespace trainyard
