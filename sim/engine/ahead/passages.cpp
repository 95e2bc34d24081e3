#include "sim/engine/ahead/passages.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <utility>

namespace trainyard::engine::ahead {

namespace {

constexpr std::size_t fewest_ops = 4;       // fewer are executed as fast
constexpr std::size_t most_known_uses = 16; // to find others of them by

class PassageFinder {
public:
    PassageFinder(const Program& program, const LaneKind& kind)
        : program_(program),
          role_(program.roles[kind.role.value]),
          kind_(kind),
          dense_(program.streams.size()),
          next_(kind.streams.size()),
          blocks_(program.blocks.size()),
          recorded_(role_.event_count)
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
        for_each_use(role_, kind_.seam.left_out, [&](std::uint32_t number) {
            const BlockUse& use = role_.order[number];
            const Plan& plan = plan_of(use.block);
            if (plan.may_pass)
                if (const auto shape = shape_of(use))
                    add(*shape);
            for (const PassageStream& of : plan.streams)
                next_[of.stream] += of.ops;
        });
        return std::move(found_);
    }

private:
    // For each inner wait, one op after the other: which op of the block it is for, from 1 on.
    using Waits = std::vector<std::uint32_t>;
    // A use whose local events stand for these of the role.
    struct KnownUse {
        std::span<const EventId> events;
        std::optional<std::uint32_t> shape;
    };
    struct Plan { // of a block
        bool known = false;
        bool may_pass = false;
        std::vector<PassageStream> streams;
        std::uint64_t computing = 0; // of these
        std::vector<KnownUse> uses;  // some
        std::vector<std::pair<Waits, std::uint32_t>> shapes;
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
        for (const KnownUse& known : plan.uses)
            if (std::equal(events.begin(), events.end(), known.events.begin()))
                return known.shape;
        const auto waits = inner_waits(block, events);
        const auto shape = waits ? std::optional(shape_with(*waits, block, plan)) : std::nullopt;
        if (plan.uses.size() < most_known_uses)
            plan.uses.push_back({events, shape});
        return shape;
    }

    std::optional<Waits> inner_waits(const Block& block, std::span<const EventId> events)
    {
        Waits waits;
        bool inner = true;
        for (std::uint32_t o = 0; o < block.ops.size() && inner; ++o) {
            const Op& op = block.ops[o];
            for (std::uint32_t w = 0; w < op.wait_count && o > 0; ++w) {
                waits.push_back(recorded_[events[block.waits[op.wait_first + w].value].value]);
                inner &= waits.back() > 0;
            }
            if (op.record.valid())
                recorded_[events[op.record.value].value] = o + 1;
        }
        for (const Op& op : block.ops)
            if (op.record.valid())
                recorded_[events[op.record.value].value] = 0;
        return inner ? std::optional(std::move(waits)) : std::nullopt;
    }

    std::uint32_t shape_with(const Waits& waits, const Block& block, Plan& plan)
    {
        for (const auto& [known, shape] : plan.shapes)
            if (known == waits)
                return shape;
        return plan.shapes.emplace_back(waits, add_shape(block, plan)).second;
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
    std::vector<std::uint32_t> recorded_; // by EventId: the last op of the use at hand, from 1 on
    Passages found_;
};

} // namespace

Passages passages_of(const Program& program, const LaneKind& kind)
{
    return PassageFinder(program, kind).find();
}

} // namespace trainyard::engine::ahead
