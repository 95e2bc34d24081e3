#include "sim/strategy/bound/layer_passes.h"

#include "sim/strategy/lower/layer_blocks.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace trainyard {

namespace {

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

// The chains of two passes, piece by piece, the backward one first.
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

constexpr std::array kinds{PassKind::forward, PassKind::backward, PassKind::backward_input,
                           PassKind::backward_weight};
constexpr std::size_t whole_kinds = 2; // the first of them

// Of a layer, by kind of pass.
using LayerBlocks = std::array<LayerBlock, kinds.size()>;

const LayerBlock& of_kind(const LayerBlocks& blocks, PassKind kind)
{
    return blocks[static_cast<std::size_t>(std::ranges::find(kinds, kind) - kinds.begin())];
}

} // namespace

struct LayerTable::Blocks {
    Plan plan;
    std::optional<LoneCosts> costs;
    std::array<StreamId, 2> streams; // compute, exchanges between experts
    std::vector<LayerBlocks> alone;  // by layer
    std::vector<LayerBlocks> in_turns;
    std::map<std::pair<std::optional<std::size_t>, std::optional<std::size_t>>, TurnChains> known;

    // Beside another pass, collectives between experts are whole and the host issues fewer ops.
    PassTime time(std::size_t layer, PassKind kind) const
    {
        PassTime time = time_of(plan, *costs, of_kind(alone[layer], kind), streams[0]);
        time.issue = std::min(
            time.issue, time_of(plan, *costs, of_kind(in_turns[layer], kind), streams[0]).issue);
        return time;
    }
};

LayerTable::LayerTable(const Job& job, const Topology& topology, const CostModel& cost, bool splits)
    : blocks_(std::make_unique<Blocks>())
{
    const JobWork work = job_work(job);
    PlanBuilder builder;
    blocks_->streams = {builder.compute_stream(),
                        builder.communication_stream(std::string(to_name(GroupKind::ep)))};
    LayerCatalog catalog(builder, job, work, BlockDetail::ops);
    for (std::size_t layer = 0; layer < work.kinds.size(); ++layer) {
        LayerBlocks& alone = blocks_->alone.emplace_back();
        LayerBlocks& in_turns = blocks_->in_turns.emplace_back();
        for (std::size_t i = 0; i < (splits ? kinds.size() : whole_kinds); ++i) {
            alone[i] = catalog.block(layer, {kinds[i]}, {});
            // It is cut at exchanges between experts alone.
            in_turns[i] =
                job.strategy.ep > 1 ? catalog.block(layer, {kinds[i], true}, {}) : alone[i];
        }
    }
    blocks_->plan = std::move(builder).finish();
    blocks_->costs.emplace(blocks_->plan, job, topology, cost);
    for (std::size_t i = 0; i < work.kinds.size(); ++i) {
        const KindOfLayer& layer = work.kinds[i];
        passes_.push_back({.kind = layer.layer.kind,
                           .recomputed = layer.layer.recompute != Recompute::none,
                           .forward = blocks_->time(i, PassKind::forward),
                           .backward = blocks_->time(i, PassKind::backward),
                           .backward_input = blocks_->time(i, PassKind::backward_input),
                           .backward_weight = blocks_->time(i, PassKind::backward_weight),
                           .kept = LayerMemory(layer.layer, layer.work, 0).kept_bytes()});
    }
}

LayerTable::~LayerTable() = default;
LayerTable::LayerTable(LayerTable&&) noexcept = default;
LayerTable& LayerTable::operator=(LayerTable&&) noexcept = default;

std::size_t LayerTable::number_of(const LayerKind& kind) const
{
    return static_cast<std::size_t>(std::ranges::find(passes_, kind, &LayerPasses::kind) -
                                    passes_.begin());
}

const TurnChains& LayerTable::in_turns(std::optional<std::size_t> backward,
                                       std::optional<std::size_t> forward) const
{
    static const LayerBlock nothing;
    const auto [found, added] = blocks_->known.try_emplace({backward, forward});
    if (added) {
        const auto block = [&](std::optional<std::size_t> layer, PassKind kind) {
            return layer ? &of_kind(blocks_->in_turns[*layer], kind) : &nothing;
        };
        found->second =
            turn_chains(blocks_->plan, *blocks_->costs, *block(forward, PassKind::forward),
                        *block(backward, PassKind::backward), blocks_->streams);
    }
    return found->second;
}

} // namespace trainyard
