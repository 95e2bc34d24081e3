#pragma once

// Sets of paths between two devices, and what lies on a path: for `topo path` and other tools.

#include "sim/base/json.h"
#include "sim/topology/topology.h"

#include <optional>
#include <string_view>

namespace trainyard {

enum class PathSet : std::uint8_t {
    shortest, // the path of flow 0
    ecmp,     // every shortest path that some flow may take
    rails     // one for each GPU of the nodes: over NVLink to that GPU, its rail, over NVLink again
};

struct Paths {
    std::vector<std::vector<LinkId>> paths;
    bool complete = true; // false: there are more than `limit`
};

// Requires different, connected devices and limit >= 1.
Paths find_paths(const Topology& topology, DeviceId from, DeviceId to, PathSet set,
                 std::size_t limit = 64);

struct PathDescription {
    struct Hop {
        std::string link;
        std::string kind;
        Bandwidth capacity;
        Seconds latency;

        bool operator==(const Hop&) const = default;
    };
    std::string from;
    std::string to;
    std::vector<Hop> hops;
    Seconds latency;    // sum over the hops
    Bandwidth capacity; // of the slowest link

    bool operator==(const PathDescription&) const = default;
};

PathDescription describe_path(const Topology& topology, DeviceId from, DeviceId to,
                              const std::vector<LinkId>& path);

// A table of the hops, and the same for programs.
std::string describe(const PathDescription& path);
Json to_json(const PathDescription& path);

// A device by its number ("17") or name ("node2/gpu1"); the problem and a hint when there is none.
Checked<DeviceId> find_device(const Topology& topology, std::string_view text);

} // namespace trainyard
