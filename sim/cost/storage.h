#pragma once

// Constants of where training data lies: a class of storage as the nodes of a job see it.

#include "sim/base/quantity.h"
#include "sim/cost/provenance.h"

namespace trainyard {

struct StorageClass {
    std::string name;
    std::vector<std::string> aliases;
    Bandwidth node_rate;    // large reads of one node
    Bandwidth total_rate;   // of all nodes together; 0: it grows with the nodes
    double node_reads = 0;  // small reads per second of one node; 0: no limit but the rate
    double total_reads = 0; // of all nodes together; 0: it grows with the nodes
    Seconds latency;        // of one small read, its opening included

    ProvenanceMap provenance;

    bool operator==(const StorageClass&) const = default;
};

inline constexpr std::string_view storage_format = "trainyard.storage/1";

template <>
const FieldTable<StorageClass>& fields_of<StorageClass>();

// What is missing or implausible.
void check(const Reader& reader, const StorageClass& storage);

} // namespace trainyard
