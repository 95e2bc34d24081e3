#include "sim/program/program.h"

#include <fmt/core.h>

namespace trainyard {

std::string layer_name(const Program& program, int layer)
{
    const auto index = static_cast<std::size_t>(layer);
    return index < program.layers.size() ? program.layers[index] : fmt::format("layer {}", layer);
}

std::size_t op_count(const Program& program, const Role& role)
{
    std::size_t count = 0;
    for (const BlockUse& use : role.order)
        count += program.blocks[use.block.value].ops.size();
    return count;
}

} // namespace trainyard
