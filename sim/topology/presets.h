#pragma once

// Nodes and networks by name, and how a description takes them up.
//
// `"node": "dgx-h100"` stands for that preset's fields; `"node": {"preset": "dgx-h100", "nics": 4}`
// for the same with some of them replaced. Presets lie in topologies/presets/*.json, each with its
// sources.

#include "sim/base/json.h"

namespace trainyard {

struct Presets {
    Json nodes = Json::object();
    Json networks = Json::object();
};

// From the folder of shipped data. Throws WorldError when the files cannot be read.
Checked<Presets> load_presets();

// `cluster` with every preset replaced by its fields, which take the line of the place that named
// it. Unknown names are reported; what cannot be expanded stays as it is. A warning says where a
// node replaces its preset's device by one that another preset is made for.
Json expand_presets(Json cluster, const Presets& presets, const std::string& file,
                    Problems& problems);

// JSON Schema that also accepts a preset's name and the key "preset".
Json with_preset(Json schema);

} // namespace trainyard
