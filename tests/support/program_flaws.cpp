#include "tests/support/flaws.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

// Collects flaws under a prefix that says where.
class ProgramChecker {
public:
    explicit ProgramChecker(const Program& program) : program_(program) {}

    std::vector<std::string> flaws() &&
    {
        check_streams();
        for (const Block& block : program_.blocks)
            check_block(block);
        for (const Role& role : program_.roles)
            check_role(role);
        return std::move(flaws_);
    }

private:
    void require(bool holds, std::string_view what)
    {
        if (!holds)
            flaws_.push_back(where_ + std::string(what));
    }

    void check_streams()
    {
        where_ = "streams: ";
        require(!program_.streams.empty() && program_.streams[0].kind == StreamKind::host,
                "stream 0 must be the host");
        for (std::size_t i = 1; i < program_.streams.size(); ++i)
            require(program_.streams[i].kind != StreamKind::host,
                    fmt::format("stream {} is a second host", i));
    }

    void check_block(const Block& block)
    {
        for (std::size_t i = 0; i < block.ops.size(); ++i) {
            where_ = fmt::format("block \"{}\", op {}: ", block.name, i);
            check_op(block, block.ops[i]);
        }
    }

    void check_op(const Block& block, const Op& op)
    {
        require(op.stream.value < program_.streams.size(), "no such stream");
        require((op.kind == OpKind::host) == (op.stream == host_stream),
                "host ops, and only they, run on the host stream");
        if (op.stream.value < program_.streams.size() &&
            program_.streams[op.stream.value].kind == StreamKind::worker)
            require(op.kind == OpKind::copy && !op.blocks_host,
                    "workers copy, and the host does not wait for them");
        require(op.label.value < program_.labels.size(), "no such label");
        require(!op.scale.valid() || op.scale.value < program_.scale_slots, "no such scale slot");
        require(!op.memory.valid() || op.memory.value < program_.memory_effects.size(),
                "no such memory effect");
        require(op.kind != OpKind::collective || op.group.value < program_.groups.size(),
                "no such group slot");
        require(op.kind == OpKind::exchange || op.cost.valid(), "no cost");
        require(!op.record.valid() || op.record.value < block.local_events,
                "records an event that the block has not");
        check_waits(block, op);
        check_parts(block, op);
    }

    void check_waits(const Block& block, const Op& op)
    {
        if (std::size_t{op.wait_first} + op.wait_count > block.waits.size()) {
            require(false, "waits out of range");
            return;
        }
        for (std::size_t i = 0; i < op.wait_count; ++i)
            require(block.waits[op.wait_first + i].value < block.local_events,
                    "waits for an event that the block has not");
    }

    void check_parts(const Block& block, const Op& op)
    {
        if (op.kind != OpKind::exchange) {
            require(op.part_count == 0, "only an exchange has parts");
            return;
        }
        require(op.part_count > 0, "an exchange without parts");
        if (std::size_t{op.part_first} + op.part_count > block.parts.size()) {
            require(false, "parts out of range");
            return;
        }
        for (std::size_t i = 0; i < op.part_count; ++i) {
            const ExchangePart& part = block.parts[op.part_first + i];
            require(part.peer.value < program_.peer_slots, "no such peer slot");
            require(part.cost.valid(), "an exchange part without cost");
        }
    }

    void check_role(const Role& role)
    {
        for (std::size_t i = 0; i < role.order.size(); ++i) {
            where_ = fmt::format("role \"{}\", use {}: ", role.name, i);
            const BlockUse& use = role.order[i];
            if (use.block.value >= program_.blocks.size()) {
                require(false, "no such block");
                continue;
            }
            const std::size_t count = program_.blocks[use.block.value].local_events;
            if (use.event_first + count > role.events.size()) {
                require(false, fmt::format("binds fewer than the {} events of the block", count));
                continue;
            }
            for (std::size_t e = 0; e < count; ++e)
                require(role.events[use.event_first + e].value < role.event_count,
                        fmt::format("local event {} is bound to no event of the role", e));
        }
    }

    const Program& program_;
    std::string where_;
    std::vector<std::string> flaws_;
};

} // namespace

std::vector<std::string> flaws(const Program& program)
{
    std::vector<std::string> found = ProgramChecker(program).flaws();
    if (found.empty())
        found = memory_flaws(program);
    return found;
}

} // namespace trainyard
