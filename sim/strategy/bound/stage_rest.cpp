#include "sim/strategy/bound/stage_rest.h"

#include "sim/strategy/lower/shard_exchange.h"
#include "sim/strategy/lower/stage_lowering.h"

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

// So many micro-batches: as the schedule orders them where there is one stage, else one after the
// other, each forward through all chunks and back.
std::vector<Pass> sample_passes(const Job& job, int chunks, int micro_batches)
{
    const PipelineSchedule& schedule = *find_schedule(job.strategy.schedule);
    const PipelineShape alone{.stages = 1, .micro_batches = micro_batches};
    if (job.strategy.pp == 1 && schedule.refusal(alone).empty())
        return schedule.passes(alone, 0);
    std::vector<Pass> passes;
    for (int m = 0; m < micro_batches; ++m) {
        for (int c = 0; c < chunks; ++c)
            passes.push_back({PassKind::forward, m, c});
        for (int c = chunks - 1; c >= 0; --c)
            passes.push_back({PassKind::backward, m, c});
    }
    return passes;
}

using Uses = std::span<const BlockUse>;

// The uses of a role, cut where its passes begin and end.
struct CutRole {
    Uses head;
    Uses first; // the block that opens the first pass
    Uses between;
    Uses last;
    Uses tail;
};

class RestReader {
public:
    RestReader(const Plan& plan, const LoneCosts& costs, StreamId compute, StreamId transfers)
        : program_(plan.program), costs_(costs), compute_(compute), transfers_(transfers)
    {}

    StageRest read(const Role& one, const Role& two) const
    {
        const CutRole cut = cut_role(one);
        const CutRole longer = cut_role(two);
        StageRest rest;
        read_ends(one, cut, rest);
        rest.gathers = transferred(cut.head);
        rest.transfers = rest.gathers + transferred(cut.between);
        rest.more_transfers =
            transferred(longer.head) + transferred(longer.between) - rest.transfers;
        rest.beside = computed(cut.between);
        rest.more_beside = computed(longer.between) - rest.beside;
        rest.issue = issued(cut.head) + issued(cut.between);
        rest.more_issue = issued(longer.head) + issued(longer.between) - rest.issue;
        rest.reductions = reduced(cut.between);
        return rest;
    }

private:
    const Block& block_of(const BlockUse& use) const { return program_.blocks[use.block.value]; }

    Phase phase_of(const Op& op) const { return program_.labels[op.label.value].phase; }

    bool is_pass(const BlockUse& use) const
    {
        const std::vector<Op>& ops = block_of(use).ops;
        if (ops.empty())
            return false;
        const Phase phase = phase_of(ops.front());
        return phase == Phase::forward || phase == Phase::backward || phase == Phase::recompute;
    }

    CutRole cut_role(const Role& role) const
    {
        const Uses uses(role.order);
        std::size_t first = 0;
        while (first < uses.size() && !is_pass(uses[first]))
            ++first;
        if (first == uses.size())
            return {uses.first(0), {}, {}, {}, uses};
        std::size_t last = uses.size() - 1;
        while (!is_pass(uses[last]))
            --last;
        return {uses.first(first), uses.subspan(first, 1), uses.subspan(first, last - first),
                uses.subspan(last, 1), uses.subspan(last + 1)};
    }

    void run(LoneRank& rank, const Role& role, Uses uses) const
    {
        for (const BlockUse& use : uses)
            rank.run(block_of(use), std::span(role.events).subspan(use.event_first));
    }

    LoneRank rank_of(const Role& role) const { return {program_, costs_, role.event_count}; }

    // When the block that opens the first pass may begin.
    Seconds begin_of_first(const LoneRank& rank, const Role& role, const CutRole& cut) const
    {
        Seconds begin = std::max(rank.stream(compute_), rank.host());
        if (cut.first.empty())
            return begin;
        const BlockUse& use = cut.first.front();
        const Block& block = block_of(use);
        const Op& op = block.ops.front();
        if (op.stream == compute_)
            for (std::size_t i = 0; i < op.wait_count; ++i)
                begin = std::max(
                    begin,
                    rank.event(
                        role.events[use.event_first + block.waits[op.wait_first + i].value]));
        return begin;
    }

    void read_ends(const Role& role, const CutRole& cut, StageRest& rest) const
    {
        LoneRank from_passes = rank_of(role);
        from_passes.begin_at(compute_);
        if (!cut.last.empty())
            from_passes.begin_at(
                role.events[cut.last.front().event_first + layer_event::computed.value]);
        run(from_passes, role, cut.tail);
        rest.to_host = std::max(Seconds(0), from_passes.host());
        run(from_passes, role, cut.head);
        rest.turn = std::max(Seconds(0), begin_of_first(from_passes, role, cut));

        LoneRank from_transfers = rank_of(role);
        from_transfers.begin_at(transfers_);
        if (const EventId last = last_transfer(role, cut.between); last.valid())
            from_transfers.begin_at(last);
        run(from_transfers, role, cut.tail);
        rest.after_transfers = std::max(Seconds(0), from_transfers.host());

        LoneRank from_host = rank_of(role);
        from_host.begin_at(host_stream);
        run(from_host, role, cut.tail);
        rest.update = from_host.host();

        LoneRank from_start = rank_of(role);
        from_start.begin_at(host_stream);
        run(from_start, role, cut.head);
        rest.head = begin_of_first(from_start, role, cut);
    }

    // What the latest transfer of data parallelism records; none where nobody waits for it.
    EventId last_transfer(const Role& role, Uses uses) const
    {
        EventId event;
        for (const BlockUse& use : uses)
            for (const Op& op : block_of(use).ops)
                if (op.stream == transfers_)
                    event = op.record.valid() ? role.events[use.event_first + op.record.value]
                                              : EventId::none();
        return event;
    }

    template <class Counts>
    Seconds sum(Uses uses, Counts counts) const
    {
        Seconds total;
        for (const BlockUse& use : uses)
            for (const Op& op : block_of(use).ops)
                if (counts(use, op))
                    total += costs_.of(op);
        return total;
    }

    Seconds transferred(Uses uses) const
    {
        return sum(uses, [&](const BlockUse&, const Op& op) { return op.stream == transfers_; });
    }
    Seconds reduced(Uses uses) const
    {
        return sum(uses, [&](const BlockUse&, const Op& op) {
            return op.stream == transfers_ && phase_of(op) == Phase::gradient_sync;
        });
    }
    Seconds computed(Uses uses) const
    {
        return sum(uses, [&](const BlockUse& use, const Op& op) {
            return op.stream == compute_ && !is_pass(use);
        });
    }

    Seconds issued(Uses uses) const
    {
        Seconds total;
        for (const BlockUse& use : uses)
            if (!is_pass(use))
                for (const Op& op : block_of(use).ops)
                    total += costs_.issue(op);
        return total;
    }

    const Program& program_;
    const LoneCosts& costs_;
    StreamId compute_;
    StreamId transfers_;
};

// The kinds of a device's layers, chunk by chunk: devices of equal content do the same.
using StageContents = std::vector<std::vector<std::size_t>>;

StageContents contents_of(const JobWork& work, const StagePlacement& placement, int device)
{
    StageContents out;
    for (const VirtualStage& chunk : chunks_of(placement, device))
        out.push_back(work.stages[to_size(chunk.number)]);
    return out;
}

} // namespace

std::vector<StageRest> stage_rests(const Job& job, const JobWork& work, const Topology& topology,
                                   const CostModel& cost)
{
    const StagePlacement placement = placement_of(job);
    PlanBuilder builder;
    const StreamId compute = builder.compute_stream();
    const StreamId transfers = builder.communication_stream(data_parallel_stream);
    if (has_uneven_experts(job))
        builder.has_expert_loads();
    LayerCatalog catalog(builder, job, work, BlockDetail::outline);
    std::map<StageContents, std::size_t> known; // the first of its two roles
    std::vector<std::size_t> role_of;
    for (int device = 0; device < placement.devices; ++device) {
        StageContents contents = contents_of(work, placement, device);
        const int chunks = static_cast<int>(contents.size());
        const auto [entry, added] = known.emplace(std::move(contents), 2 * known.size());
        role_of.push_back(entry->second);
        for (const int micro_batches : {1, 2}) {
            if (!added)
                break;
            const std::vector<Pass> passes = sample_passes(job, chunks, micro_batches);
            StageExchanges silent;
            silent.gaps.resize(passes.size() + 1);
            silent.input_of.resize(passes.size());
            lower_stage(builder, catalog, {job, work, placement, device, passes, silent, {}});
        }
    }
    const Plan plan = std::move(builder).finish();
    const LoneCosts costs(plan, job, topology, cost);
    const RestReader reader(plan, costs, compute, transfers);
    std::vector<StageRest> rests;
    for (std::size_t role = 0; role < plan.program.roles.size(); role += 2)
        rests.push_back(reader.read(plan.program.roles[role], plan.program.roles[role + 1]));
    std::vector<StageRest> out;
    for (const std::size_t role : role_of)
        out.push_back(rests[role / 2]);
    return out;
}

} // namespace trainyard
