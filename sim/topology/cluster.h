#pragma once

// A cluster of equal nodes on a regular fabric: what the generator is given.

#include "sim/base/diagnostic.h"
#include "sim/topology/fabric_template.h"
#include "sim/topology/node_template.h"
#include "sim/topology/topology.h"

namespace trainyard {

enum class Generator : std::uint8_t { cluster };

// A plain struct; the field table reads and writes it. `make_cluster` builds the compact topology.
struct ClusterDescription {
    std::string name;
    std::string description; // what it stands for
    std::string source;      // where its figures come from
    Generator generator = Generator::cluster;
    int nodes = 1;
    NodeTemplate node;
    std::optional<FabricTemplate> fabric; // absent: nodes reach each other over NVLink only

    bool operator==(const ClusterDescription&) const = default;
};

template <>
std::vector<EnumName<Generator>> enum_names<Generator>();
template <>
const FieldTable<ClusterDescription>& fields_of<ClusterDescription>();

// What is wrong with a description beyond the ranges of its fields, and what is implausible.
struct ClusterFlaw {
    Severity severity = Severity::error;
    std::string pointer; // RFC 6901, from the description's root
    std::string message;
    std::string hint;

    bool operator==(const ClusterFlaw&) const = default;
};
std::vector<ClusterFlaw> flaws(const ClusterDescription& description);

// Requires a description without flaws of severity error.
Topology make_cluster(const ClusterDescription& description);

} // namespace trainyard
