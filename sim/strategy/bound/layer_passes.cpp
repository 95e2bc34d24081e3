#include "sim/strategy/bound/layer_passes.h"

#include "sim/strategy/lower/layer_blocks.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

// A pass alone, and beside another one.
struct PassBlocks {
    LayerBlock alone;
    LayerBlock in_turns;
};

PassTime time_of(const Plan& plan, const LoneCosts& costs, const LayerBlock& pass, StreamId compute)
{
    std::vector<EventId> events(std::max(pass.events, layer_event::count));
    for (std::size_t i = 0; i < events.size(); ++i)
        events[i] = make_id<EventId>(i);
    const EventId tail = events[layer_event::tail.value];
    LoneRank rank(plan.program, costs, events.size());
    rank.begin_at(compute);
    rank.begin_at(tail);
    rank.begin_at(events[layer_event::computed.value]);
    PassTime time;
    for (const BlockId piece : pass.pieces) {
        const Block& block = plan.program.blocks[piece.value];
        rank.run(block, events);
        for (const Op& op : block.ops) {
            time.kernels += op.stream == compute ? costs.of(op) : Seconds(0);
            time.issue += costs.issue(op);
        }
    }
    time.chain = std::max(rank.stream(compute), rank.event(tail));
    return time;
}

// Local events of two chains, which share what was computed.
struct ChainEvents {
    std::vector<EventId> main;
    std::vector<EventId> beside;

    ChainEvents(std::uint16_t main_events, std::uint16_t beside_events)
    {
        std::size_t next = 0;
        for (std::uint16_t i = 0; i < std::max(main_events, layer_event::count); ++i)
            main.push_back(make_id<EventId>(next++));
        for (std::uint16_t i = 0; i < std::max(beside_events, layer_event::count); ++i)
            beside.push_back(make_id<EventId>(next++));
        beside[layer_event::computed.value] = main[layer_event::computed.value];
    }

    std::size_t count() const { return main.size() + beside.size(); }
};

// The chains of a layer's two passes, piece by piece, the backward one first.
TurnChains turn_chains(const Plan& plan, const LoneCosts& costs, const LayerBlock& forward,
                       const LayerBlock& backward, std::array<StreamId, 2> streams)
{
    const ChainEvents events(backward.events, forward.events);
    const EventId main_tail = events.main[layer_event::tail.value];
    const EventId beside_tail = events.beside[layer_event::tail.value];
    TurnChains out;
    for (std::size_t before = 0; before < turn_states; ++before) {
        LoneRank rank(plan.program, costs, events.count());
        switch (static_cast<TurnState>(before)) {
        case TurnState::compute:
            rank.begin_at(streams[0]);
            rank.begin_at(events.main[layer_event::computed.value]);
            break;
        case TurnState::exchanges:
            rank.begin_at(streams[1]);
            break;
        case TurnState::main:
            rank.begin_at(main_tail);
            break;
        case TurnState::beside:
            rank.begin_at(beside_tail);
            break;
        }
        for (std::size_t piece = 0; piece < std::max(forward.pieces.size(), backward.pieces.size());
             ++piece)
        {
            if (piece < backward.pieces.size())
                rank.run(plan.program.blocks[backward.pieces[piece].value], events.main);
            if (piece < forward.pieces.size())
                rank.run(plan.program.blocks[forward.pieces[piece].value], events.beside);
        }
        out.from[before] = {rank.stream(streams[0]), rank.stream(streams[1]), rank.event(main_tail),
                            rank.event(beside_tail)};
    }
    return out;
}

} // namespace

std::vector<LayerPasses> layer_passes(const Job& job, const Topology& topology,
                                      const CostModel& cost)
{
    const JobWork work = job_work(job);
    PlanBuilder builder;
    const StreamId compute = builder.compute_stream();
    const StreamId exchanges = builder.communication_stream(std::string(to_name(GroupKind::ep)));
    LayerCatalog catalog(builder, job, work);
    constexpr std::array kinds{PassKind::forward, PassKind::backward, PassKind::backward_input,
                               PassKind::backward_weight};
    std::vector<std::array<PassBlocks, kinds.size()>> blocks;
    for (std::size_t layer = 0; layer < work.kinds.size(); ++layer) {
        auto& passes = blocks.emplace_back();
        for (std::size_t i = 0; i < kinds.size(); ++i)
            passes[i] = {catalog.block(layer, {kinds[i]}, {}),
                         catalog.block(layer, {kinds[i], true}, {})};
    }
    const Plan plan = std::move(builder).finish();
    const LoneCosts costs(plan, job, topology, cost);
    // Beside another pass, collectives between experts are whole and the host issues fewer ops.
    const auto time = [&](const PassBlocks& pass) {
        PassTime alone = time_of(plan, costs, pass.alone, compute);
        alone.issue = std::min(alone.issue, time_of(plan, costs, pass.in_turns, compute).issue);
        return alone;
    };
    std::vector<LayerPasses> out;
    for (std::size_t kind = 0; kind < work.kinds.size(); ++kind) {
        const KindOfLayer& layer = work.kinds[kind];
        const auto& [forward, backward, input, weight] = blocks[kind];
        out.push_back({.kind = layer.layer.kind,
                       .recomputed = layer.layer.recompute != Recompute::none,
                       .forward = time(forward),
                       .backward = time(backward),
                       .backward_input = time(input),
                       .backward_weight = time(weight),
                       .in_turns = {},
                       .kept = LayerMemory(layer.layer, layer.work, 0).kept_bytes()});
        if (job.strategy.ep > 1 && layer.layer.kind.role == LayerKind::Role::moe)
            out.back().in_turns =
                turn_chains(plan, costs, forward.in_turns, backward.in_turns, {compute, exchanges});
    }
    return out;
}

} // namespace trainyard
