#include "sim/engine/ahead/passages.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <utility>

namespace trainyard::engine::ahead {

namespace {

constexpr std::size_t fewest_ops = 4; // fewer are played as fast

class Finder {
public:
    Finder(const Program& program, const LaneKind& kind)
        : program_(program),
          role_(program.roles[kind.role.value]),
          kind_(kind),
          dense_(program.streams.size()),
          next_(kind.streams.size()),
          blocks_(program.blocks.size())
    {
        for (std::size_t s = 0; s < kind.streams.size(); ++s)
            dense_[kind.streams[s].id.value] = static_cast<std::uint8_t>(s);
    }

    Passages find() &&
    {
        for (const BlockUse& use : role_.order)
            found_.computing |= plan_of(use.block).computing;
        if (std::popcount(found_.computing) != 1)
            return std::move(found_);
        for (const BlockUse& use : role_.order) {
            const Plan& plan = plan_of(use.block);
            if (plan.may_pass)
                if (const auto shape = shape_of(use))
                    add(*shape);
            for (const PassageStream& of : plan.streams)
                next_[of.stream] += of.ops;
        }
        return std::move(found_);
    }

private:
    // The local events of a use stand for the same ones of the role as in others of this shape.
    struct KnownEvents {
        std::span<const EventId> events;
        std::optional<std::uint32_t> shape;
        std::vector<std::uint32_t> waits; // by inner wait: for which op of the block
    };
    struct Plan { // of a block
        bool known = false;
        bool may_pass = false;
        std::vector<PassageStream> streams;
        std::uint64_t computing = 0; // of these
        std::vector<KnownEvents> uses;
    };

    Plan& plan_of(BlockId id)
    {
        Plan& plan = blocks_[id.value];
        if (std::exchange(plan.known, true))
            return plan;
        const std::vector<Op>& ops = program_.blocks[id.value].ops;
        plan.may_pass = ops.size() >= fewest_ops && ops.front().kind == OpKind::compute;
        for (const Op& op : ops) {
            const std::uint8_t stream = dense_[op.stream.value];
            const bool first = count(plan.streams, stream) == 1;
            if (op.kind == OpKind::compute)
                plan.computing |= std::uint64_t{1} << stream;
            plan.may_pass &= op.kind == OpKind::compute || op.kind == OpKind::collective;
            plan.may_pass &= !op.blocks_host && kind_.streams[stream].kind != StreamKind::worker;
            // What no wait ties to the first op may begin before it.
            plan.may_pass &= !first || &op == &ops.front() || op.wait_count > 0;
        }
        return plan;
    }

    static std::uint32_t count(std::vector<PassageStream>& streams, std::uint8_t stream)
    {
        for (PassageStream& of : streams)
            if (of.stream == stream)
                return ++of.ops;
        streams.push_back({stream, 1});
        return 1;
    }

    // None if some op but the first waits for one outside.
    std::optional<std::uint32_t> shape_of(const BlockUse& use)
    {
        const Block& block = program_.blocks[use.block.value];
        Plan& plan = blocks_[use.block.value];
        const std::span events(role_.events.data() + use.event_first, block.local_events);
        for (const KnownEvents& known : plan.uses)
            if (std::equal(events.begin(), events.end(), known.events.begin()))
                return known.shape;
        KnownEvents added{events, std::nullopt, {}};
        if (list_inner_waits(block, added)) {
            const auto alike =
                std::find_if(plan.uses.begin(), plan.uses.end(), [&](const KnownEvents& known) {
                    return known.shape && known.waits == added.waits;
                });
            added.shape = alike != plan.uses.end() ? *alike->shape : add_shape(block, plan);
        }
        return plan.uses.emplace_back(std::move(added)).shape;
    }

    static bool list_inner_waits(const Block& block, KnownEvents& use)
    {
        for (std::uint32_t o = 1; o < block.ops.size(); ++o)
            for (std::uint32_t w = 0; w < block.ops[o].wait_count; ++w) {
                const EventId event = use.events[block.waits[block.ops[o].wait_first + w].value];
                std::uint32_t by = o; // the op that recorded it last
                while (by > 0 && !records(block.ops[by - 1], event, use.events))
                    --by;
                if (by == 0)
                    return false;
                use.waits.push_back(by - 1);
            }
        return true;
    }

    static bool records(const Op& op, EventId event, std::span<const EventId> events)
    {
        return op.record.valid() && events[op.record.value] == event;
    }

    std::uint32_t add_shape(const Block& block, const Plan& plan)
    {
        PassageShape& shape = found_.shapes.emplace_back();
        shape.streams = plan.streams;
        shape.ops = static_cast<std::uint32_t>(block.ops.size());
        for (const PassageStream& of : shape.streams)
            shape.mask |= std::uint64_t{1} << of.stream;
        return static_cast<std::uint32_t>(found_.shapes.size() - 1);
    }

    void add(std::uint32_t shape)
    {
        const auto first = static_cast<std::uint32_t>(found_.first.size());
        for (const PassageStream& of : found_.shapes[shape].streams)
            found_.first.push_back(kind_.streams[of.stream].op_first + next_[of.stream]);
        found_.all.push_back({shape, found_.first[first], first});
    }

    const Program& program_;
    const Role& role_;
    const LaneKind& kind_;
    std::vector<std::uint8_t> dense_; // by StreamId
    std::vector<std::uint32_t> next_; // position, by stream
    std::vector<Plan> blocks_;
    Passages found_;
};

} // namespace

Passages passages_of(const Program& program, const LaneKind& kind)
{
    return Finder(program, kind).find();
}

} // namespace trainyard::engine::ahead
