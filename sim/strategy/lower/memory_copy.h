#pragma once

// Traffic between the device's memory and memory elsewhere, as StageWriter writes it.

#include "sim/cost/cost_model.h"
#include "sim/program/program.h"

#include <string>
#include <vector>

namespace trainyard {

// What a block use is about, for the timeline.
struct UseIndex {
    std::uint16_t micro_batch = BlockUse::no_index;
    std::uint16_t layer = BlockUse::no_index; // or bucket, unit
};

struct MemoryCopy {
    std::string name = {};
    const char* stream = nullptr; // one per direction: the names below
    CopyRoute route = CopyRoute::host;
    Bytes bytes = {};
    bool both_ways = false; // copies the other way run beside it
    Phase phase = Phase::other;
    std::vector<EventId> waits = {};
    EventId record = {};
    TensorChanges memory = {};
    UseIndex index = {};
    bool blocks_host = false;
};
inline constexpr const char* to_host_stream = "d2h";
inline constexpr const char* from_host_stream = "h2d";
inline constexpr const char* to_peer_stream = "to peer";
inline constexpr const char* from_peer_stream = "from peer";

// Work of the host's cores on its own memory; the host issues nothing meanwhile.
struct HostPass {
    std::string name = {};
    Bytes bytes = {};
    Phase phase = Phase::other;
    std::vector<EventId> waits = {};
    UseIndex index = {};
};

} // namespace trainyard
