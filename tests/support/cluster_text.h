#pragma once

// Topologies written in a test as their files are.

#include "sim/topology/read_topology.h"
#include "tests/catch.h"

#include <string>

namespace trainyard::testing {

// The topology of a file that holds `text`, with the shipped presets. A file that is refused fails
// the test, with its problems.
inline Topology topology_of(const std::string& text)
{
    const Checked<Presets> presets = load_presets();
    REQUIRE(presets);
    const Checked<Json> json = parse_json(text, "cluster.json");
    REQUIRE(json);
    const Checked<TopologyFile> read = inspect_topology(*json, "cluster.json", *presets);
    if (!read)
        FAIL(render(read.error(), ""));
    return read->topology;
}

} // namespace trainyard::testing
