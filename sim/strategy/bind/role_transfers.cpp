#include "sim/strategy/bind/role_transfers.h"

namespace trainyard {

RoleTransfers role_transfers(const Program& program, const Role& role)
{
    std::vector<std::uint64_t> uses(program.blocks.size());
    for (const BlockUse& use : role.order)
        ++uses[use.block.value];
    RoleTransfers found;
    for (std::size_t b = 0; b < uses.size(); ++b) {
        if (uses[b] == 0)
            continue;
        const Block& block = program.blocks[b];
        for (const Op& op : block.ops) {
            const bool transfers = op.kind == OpKind::collective || op.kind == OpKind::exchange;
            if (!transfers)
                continue;
            const Label& label = program.labels[op.label.value];
            if (op.kind == OpKind::collective)
                found[{Via::group, op.group.value, label.collective, label.group, op.cost, op.scale,
                       op.stream}] += uses[b];
            for (std::size_t p = op.part_first; p < std::size_t{op.part_first} + op.part_count; ++p)
                if (const ExchangePart& part = block.parts[p]; part.direction == Direction::send)
                    found[{Via::peer, part.peer.value, label.collective, label.group, part.cost,
                           op.scale, op.stream}] += uses[b];
        }
    }
    return found;
}

} // namespace trainyard
