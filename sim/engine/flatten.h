#pragma once

// One role's step as flat ops (see compile.h).

#include "sim/engine/compile.h"

namespace trainyard::engine {

// For each slot the first that stands for the same group or neighbour.
struct SlotAliases {
    std::vector<std::uint8_t> groups;
    std::vector<std::uint8_t> peers;

    friend auto operator<=>(const SlotAliases&, const SlotAliases&) = default;
};

struct PipeEnd {
    PeerSlot peer{}; // the first that stands for the neighbour
    Direction direction = Direction::send;
    std::uint8_t channel = 0;

    friend auto operator<=>(const PipeEnd&, const PipeEnd&) = default;
};

struct FlatRole {
    LaneKind kind;
    std::vector<PipeEnd> pipe_ends; // by pipe of the kind
};

FlatRole flatten(const Program& program, const CostTable& costs, RoleId role,
                 const SlotAliases& aliases, const Omission& omission = {});

} // namespace trainyard::engine
