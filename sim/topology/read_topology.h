#pragma once

// Cluster descriptions in files: format "trainyard.topology/1".

#include "sim/base/json.h"
#include "sim/topology/presets.h"
#include "sim/topology/topology.h"

namespace trainyard {

inline constexpr std::string_view topology_format = "trainyard.topology/1";

struct TopologyFile {
    Topology topology;
    Problems warnings; // what is implausible, though possible
};

// The same with what is implausible about it; over the shipped presets, or others.
Checked<TopologyFile> inspect_topology(const Json& json, const std::string& file);
Checked<TopologyFile> inspect_topology(const Json& json, const std::string& file,
                                       const Presets& presets);

// A generator with its parameters, or explicit devices, switches, NICs and links. `file` is the
// name used in diagnostics. All problems are reported together.
Checked<Topology> read_topology(const Json& json, const std::string& file);

// Throws WorldError when the file cannot be read.
Checked<Topology> read_topology_file(const std::string& path);

// What read_topology reads back as an equal topology; presets are written out.
Json write_topology(const Topology& topology);

// JSON Schema of both forms.
Json topology_schema();

} // namespace trainyard
