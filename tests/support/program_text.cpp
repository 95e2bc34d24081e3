#include "tests/support/program_text.h"

#include <fmt/core.h>

namespace trainyard {

template <>
std::vector<EnumName<OpKind>> enum_names<OpKind>()
{
    using enum OpKind;
    return {{compute, "compute"},
            {collective, "collective"},
            {exchange, "exchange"},
            {copy, "copy"},
            {host, "host"}};
}

namespace {

std::string_view kind_name(OpKind kind)
{
    static const auto names = enum_names<OpKind>();
    return names[static_cast<std::size_t>(kind)].name;
}

std::string parts_text(const Block& block, const Op& op)
{
    std::string text;
    for (std::size_t i = 0; i < op.part_count; ++i) {
        const ExchangePart& part = block.parts[op.part_first + i];
        text += fmt::format("  {} {} channel {} cost {}",
                            part.direction == Direction::send ? "to" : "from", part.peer.value,
                            part.channel, part.cost.value);
    }
    return text;
}

std::string op_text(const Program& program, const Block& block, const Op& op)
{
    std::string text =
        fmt::format("{:<10} {:<20} on {}", kind_name(op.kind), program.labels[op.label.value].name,
                    program.streams[op.stream.value].name);
    if (op.kind == OpKind::collective)
        text += fmt::format("  group {}", op.group.value);
    if (op.cost.valid())
        text += fmt::format("  cost {}", op.cost.value);
    text += parts_text(block, op);
    if (op.kernels != 1)
        text += fmt::format("  kernels {}", op.kernels);
    if (op.wait_count > 0)
        text += "  waits";
    for (std::size_t i = 0; i < op.wait_count; ++i)
        text += fmt::format(" {}", block.waits[op.wait_first + i].value);
    if (op.record.valid())
        text += fmt::format("  records {}", op.record.value);
    if (op.blocks_host)
        text += "  blocks host";
    return text;
}

} // namespace

std::string to_text(const Program& program, const Block& block)
{
    std::string text = fmt::format("block \"{}\"\n", block.name);
    for (std::size_t i = 0; i < block.ops.size(); ++i)
        text += fmt::format("{:>4} {}\n", i, op_text(program, block, block.ops[i]));
    return text;
}

std::string to_text(const Program& program, const Role& role)
{
    std::string text = fmt::format("role \"{}\"\n", role.name);
    for (std::size_t i = 0; i < role.order.size(); ++i) {
        const BlockUse& use = role.order[i];
        const Block& block = program.blocks[use.block.value];
        text += fmt::format("{:>4} {}", i, block.name);
        if (use.micro_batch != BlockUse::no_index)
            text += fmt::format("  micro-batch {}", use.micro_batch);
        if (use.layer != BlockUse::no_index)
            text += "  " + layer_name(program, use.layer);
        if (block.local_events > 0)
            text += "  events";
        for (std::size_t e = 0; e < block.local_events; ++e)
            text += fmt::format(" {}", role.events[use.event_first + e].value);
        text += '\n';
    }
    return text;
}

std::string to_text(const Program& program)
{
    std::string text;
    for (const Block& block : program.blocks)
        text += to_text(program, block);
    for (const Role& role : program.roles)
        text += to_text(program, role);
    return text;
}

} // namespace trainyard
