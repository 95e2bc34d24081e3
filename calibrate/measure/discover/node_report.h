#pragma once

// What one host of a job tells the coordinator of itself.

#include "calibrate/measure/discover/look.h"

namespace trainyard {

struct NodeReport {
    std::string host; // as its ranks call it
    NodeMap map;
    Words classes;                     // between its devices
    std::vector<std::string> believed; // where sources contradict: which counts, and why
    std::vector<std::string> doubts;   // what makes its numbers doubtful
    std::vector<std::string> assumed;

    bool operator==(const NodeReport&) const = default;
};

// Of what was read, with what the library dumped of it (empty: nothing). A dump that cannot be read
// is a doubt, the other sources count then; a node of which nothing is known is a problem.
Checked<NodeReport> report_of(NodeLook look, const std::string& dump);

template <>
const FieldTable<NodeMap>& fields_of<NodeMap>();
template <>
const FieldTable<NodeReport>& fields_of<NodeReport>();

} // namespace trainyard
