#pragma once

// What comes along: models, clusters, profiles, devices.

#include "sim/base/json.h"

namespace trainyard {

enum class ShippedKind : std::uint8_t { models, topologies, profiles, devices, software };

// In the words in which a scenario may name them; sorted.
std::vector<std::string> shipped_names(ShippedKind kind);

// Layers by kind, parameters, operations of a token: of a shipped model's name or a file.
Checked<Json> model_facts(const std::string& model, std::int64_t sequence_length);

// Devices, links, domains, bisection bandwidth: of a shipped cluster's name or a file; and for
// people.
struct TopologyFacts {
    Json json;
    std::string text;
};
Checked<TopologyFacts> topology_facts(const std::string& topology);

// The constants of a profile, by name or file.
Checked<Json> profile_constants(const std::string& profile);

} // namespace trainyard
