#pragma once

// DGX H100 nodes on leaves of four, with less between the leaves than within them.

#include "sim/base/json.h"
#include "sim/study/scenario.h"
#include "tests/catch.h"

#include <fmt/core.h>

namespace trainyard::testing {

// `oversubscription`: what the NICs below a leaf offer over what its uplinks carry.
inline Source leaf_spine(int nodes, int oversubscription)
{
    const Checked<Json> topology = parse_json(
        fmt::format(R"({{"format": "trainyard.topology/1", "generator": "cluster", "nodes": {},
            "node": "dgx-h100", "name": "leaves", "fabric": {{"kind": "leaf-spine",
            "network": "ib_ndr", "nodes_per_unit": 4, "oversubscription": {}}}}})",
                    nodes, oversubscription),
        "leaves.json");
    REQUIRE(topology);
    return {"", *topology};
}

} // namespace trainyard::testing
