#pragma once

// The transfers of a role's step, apart from who takes part.

#include "sim/program/program.h"

#include <map>

namespace trainyard {

enum class Via : std::uint8_t { group, peer };

struct RoleTransfer {
    Via via = Via::group;
    std::uint8_t slot = 0; // of groups, or of peers that are sent to
    CollectiveKind collective = CollectiveKind::all_reduce;
    GroupKind group = GroupKind::world;
    CostId cost{};
    ScaleSlot scale{};
    StreamId stream{};

    auto operator<=>(const RoleTransfer&) const = default;
};

// How often in a step.
using RoleTransfers = std::map<RoleTransfer, std::uint64_t>;

RoleTransfers role_transfers(const Program& program, const Role& role);

} // namespace trainyard
