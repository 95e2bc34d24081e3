#include "sim/traces/rebuilt_program.h"

#include "sim/base/exact.h"
#include "sim/program/builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace trainyard {
namespace {

constexpr std::size_t ops_of_block = 4096; // events of a block are numbered in 16 bit
constexpr std::size_t most_streams = 200;  // in 8 bit

// An op of a rank's order before it is cut into blocks; waits are numbers of such entries.
struct Entry {
    Op op;
    std::vector<std::uint32_t> waits;
    std::size_t recorded = RebuiltProgram::no_op;
};

// The collective that an op is one side of; no cost: members are missing.
struct Joined {
    CostId cost{};
    GroupSlot group{};
};

// Entries cut into blocks; the role's events are of the entries that others wait for.
Role role_of_entries(Program& program, std::string name, const std::vector<Entry>& entries)
{
    std::vector<EventId> event_of(entries.size());
    RoleBuilder role(std::move(name));
    for (const Entry& entry : entries)
        for (const std::uint32_t wait : entry.waits)
            if (!event_of[wait].valid())
                event_of[wait] = role.event();
    for (std::size_t first = 0; first < entries.size(); first += ops_of_block) {
        const std::size_t end = std::min(entries.size(), first + ops_of_block);
        BlockBuilder block("ops");
        std::map<std::size_t, LocalEvent> local; // by entry
        std::vector<EventId> bound;
        const auto local_of = [&](std::size_t entry) {
            const auto [at, fresh] = local.try_emplace(entry);
            if (fresh) {
                at->second = block.event();
                bound.push_back(event_of[entry]);
            }
            return at->second;
        };
        for (std::size_t i = first; i < end; ++i) {
            block.op(entries[i].op);
            for (const std::uint32_t wait : entries[i].waits)
                block.wait(local_of(wait));
            if (event_of[i].valid())
                block.record(local_of(i));
        }
        role.use(add_block(program, std::move(block).build()), bound);
    }
    return std::move(role).build();
}

class ProgramOfStep {
public:
    ProgramOfStep(const JobTrace& job, const std::vector<std::vector<TransferMoving>>& times,
                  const RecordedTimes& known, int step, const TransferChange& transfer_time)
        : job_(job), times_(times), known_(known), number_(step), transfer_time_(transfer_time)
    {
        out_.program.streams = {{"host", StreamKind::host}};
        binding().costs.transfers.resize(1);
        binding().lanes.resize(job.ranks.size());
        for (const RankActivity& rank : job.ranks)
            joined_.emplace_back(rank.ops.size());
        join();
        for (std::size_t r = 0; r < job.ranks.size(); ++r)
            add_lane(r);
    }

    RebuiltProgram take() && { return std::move(out_); }

private:
    Binding& binding() { return out_.binding; }

    // Collectives of the step, all of whose members were recorded.
    void join()
    {
        std::map<std::pair<std::string, std::vector<std::size_t>>, GroupSlot> groups;
        for (const MatchedCollective& collective : job_.collectives) {
            const MatchedCollective::Member& first = collective.members.front();
            const RankActivity& rank = job_.ranks[first.rank];
            if (!collective.complete || !in_step(rank, rank.ops[first.op]))
                continue;
            std::vector<std::size_t> ranks;
            for (const auto& member : collective.members)
                ranks.push_back(member.rank);
            std::sort(ranks.begin(), ranks.end());
            const TraceTransfer& transfer = rank.transfers[rank.ops[first.op].transfer];
            const auto [at, fresh] = groups.try_emplace({transfer.group, ranks});
            if (fresh)
                at->second = add_group(ranks, job_.role_of(transfer));
            const CostId cost = transfer_cost(transfer, length_of(first.rank, rank.ops[first.op]));
            for (const auto& member : collective.members)
                joined_[member.rank][member.op] = {cost, at->second};
            ++out_.joined;
        }
    }

    bool in_step(const RankActivity& rank, const TraceOp& op) const
    {
        const TraceSpan& span = step_numbered(rank, number_).span;
        return op.span.start >= span.start && op.span.start < span.end;
    }

    // Every group has a slot of its own.
    GroupSlot add_group(const std::vector<std::size_t>& ranks, std::optional<GroupKind> role)
    {
        const auto id = make_id<GroupId>(binding().groups.size());
        Group group;
        group.kind = role.value_or(GroupKind::world);
        group.ranks = static_cast<std::uint32_t>(ranks.size());
        for (Lane& lane : binding().lanes)
            lane.groups.push_back(GroupId{});
        for (const std::size_t rank : ranks) {
            group.members.push_back(make_id<LaneId>(rank));
            binding().lanes[rank].groups.back() = id;
        }
        binding().groups.push_back(std::move(group));
        return add_group_slot(out_.program, role.value_or(GroupKind::world));
    }

    double length_of(std::size_t r, const TraceOp& op) const
    {
        const RankActivity& rank = job_.ranks[r];
        const double recorded = known_.of(job_, rank, op).times.length;
        if (op.transfer == TraceOp::no_transfer || !transfer_time_)
            return recorded;
        return transfer_time_(rank.transfers[op.transfer], recorded, times_[r][op.transfer].source)
            .value_or(recorded);
    }

    // While it is there, waiting included, compute beside it is slower.
    CostId transfer_cost(const TraceTransfer& transfer, double seconds)
    {
        TransferCost cost;
        cost.latency = to_sim_time(Seconds(std::max(seconds, 0.0)));
        cost.bytes = Bytes(transfer.bytes);
        cost.sm_share = static_cast<std::uint32_t>(full_share * (1 - 1 / known_.slowdown()));
        binding().costs.transfers[0].push_back(cost);
        return make_id<CostId>(binding().costs.transfers[0].size() - 1);
    }

    CostId compute_cost(double seconds)
    {
        binding().costs.compute.push_back(to_sim_time(Seconds(std::max(seconds, 0.0))));
        return make_id<CostId>(binding().costs.compute.size() - 1);
    }

    // By rank and number of the stream: those with transfers, on which kernels hold SMs while they
    // wait, apart. Of more streams than any job has, the last ones share one.
    StreamId stream_of(std::size_t rank, const TraceOp& op)
    {
        const auto [at, fresh] = streams_.try_emplace({rank, op.stream});
        if (fresh) {
            const StreamKind kind = with_transfers_.contains({rank, op.stream})
                                        ? StreamKind::communication
                                        : StreamKind::compute;
            const std::size_t place = streams_used_[{rank, kind}]++;
            std::vector<StreamId>& streams = streams_of_kind_[kind];
            std::vector<Stream>& all = out_.program.streams;
            if (place == streams.size() && (all.size() < most_streams || streams.empty())) {
                streams.push_back(make_id<StreamId>(all.size()));
                all.push_back({fmt::format("stream {}", all.size()), kind});
            }
            at->second = streams[std::min(place, streams.size() - 1)];
        }
        return at->second;
    }

    LabelId label_of(const RankActivity& rank, const TraceOp& op)
    {
        Label label;
        label.name = title_of(op.work);
        label.phase = op.phase;
        if (op.transfer != TraceOp::no_transfer) {
            const TraceTransfer& transfer = rank.transfers[op.transfer];
            label.collective = transfer.kind.value_or(CollectiveKind::all_reduce);
            label.group = job_.role_of(transfer).value_or(GroupKind::world);
        }
        return label_id(out_.program, label);
    }

    void add_lane(std::size_t r)
    {
        const RankActivity& rank = job_.ranks[r];
        for (const TraceOp& op : rank.ops)
            if (op.transfer != TraceOp::no_transfer)
                with_transfers_.insert({r, op.stream});
        const StepNeeds needs = step_needs(rank, times_[r], step_numbered(rank, number_));
        std::vector<Entry> entries;
        std::vector<std::uint32_t> entry_of(needs.ops.size());
        const LabelId host = label_id(out_.program, {"host", Phase::other});
        const auto add_host = [&](const OpTimes& busy, const std::optional<std::uint32_t>& wait) {
            if (!rank.host_recorded)
                return;
            for (const bool waits : {false, true}) {
                Entry entry;
                entry.op = {.kind = OpKind::host,
                            .stream = host_stream,
                            .label = host,
                            .cost = compute_cost(waits ? busy.host : busy.host_before)};
                if (waits && wait)
                    entry.waits.push_back(entry_of[*wait]);
                if (waits || busy.host_before > 0)
                    entries.push_back(std::move(entry));
            }
        };
        for (std::uint32_t i = 0; i < needs.ops.size(); ++i) {
            const OpNeeds& of = needs.ops[i];
            const RecordedTimes::Found found = known_.of(job_, rank, rank.ops[of.op]);
            out_.unknown += found.alike ? 0 : 1;
            add_host(found.times, of.host_waits);
            Entry entry;
            entry.recorded = of.op;
            for (const std::uint32_t wait : of.waits)
                entry.waits.push_back(entry_of[wait]);
            add_op(r, of, found.times.idle, std::move(entry), entries);
            entry_of[i] = static_cast<std::uint32_t>(entries.size() - 1);
        }
        add_host(known_.at_end(), needs.host_waits_at_end);
        out_.ops += needs.ops.size();
        std::vector<std::size_t>& op = out_.op.emplace_back();
        for (const Entry& entry : entries)
            op.push_back(entry.recorded);
        Lane& lane = binding().lanes[r];
        lane.role =
            add_role(out_.program,
                     role_of_entries(out_.program, fmt::format("rank {}", rank.rank), entries));
        lane.rank = make_id<RankId>(r);
        binding().lane_of.push_back(make_id<LaneId>(r));
    }

    void add_op(std::size_t r, const OpNeeds& of, double idle, Entry entry,
                std::vector<Entry>& entries)
    {
        const RankActivity& rank = job_.ranks[r];
        const TraceOp& op = rank.ops[of.op];
        entry.op.stream = stream_of(r, op);
        if (idle > 0) {
            Entry before = entry;
            before.op.label = label_id(out_.program, {"idle", Phase::other});
            before.op.cost = compute_cost(idle);
            before.recorded = RebuiltProgram::no_op;
            entries.push_back(std::move(before));
            entry.waits.clear();
        }
        entry.op.label = label_of(rank, op);
        entry.op.blocks_host = of.blocks_host;
        if (op.transfer == TraceOp::no_transfer)
            entry.op.cost = compute_cost(length_of(r, op));
        else {
            const Joined joined =
                joined_[r][of.op].cost.valid() ? joined_[r][of.op] : lone(r, rank, op);
            entry.op.kind = OpKind::collective;
            entry.op.group = joined.group;
            entry.op.cost = joined.cost;
            if (!joined_[r][of.op].cost.valid()) {
                Entry wait = entry;
                wait.op.cost = transfer_cost(rank.transfers[op.transfer], waited(r, op));
                wait.op.blocks_host = false;
                wait.recorded = RebuiltProgram::no_op;
                entries.push_back(std::move(wait));
                entry.waits.clear();
            }
        }
        entries.push_back(std::move(entry));
    }

    // Nobody says for whom it waits: it does as long as it was recorded to, in a group of its rank
    // alone.
    Joined lone(std::size_t r, const RankActivity& rank, const TraceOp& op)
    {
        ++out_.lone;
        const auto [at, fresh] = alone_.try_emplace(r);
        if (fresh)
            at->second = add_group({r}, std::nullopt);
        return {transfer_cost(rank.transfers[op.transfer], length_of(r, op)), at->second};
    }

    double waited(std::size_t r, const TraceOp& op) const
    {
        return to_seconds(times_[r][op.transfer].moving_from - op.span.start).value();
    }

    const JobTrace& job_;
    const std::vector<std::vector<TransferMoving>>& times_;
    const RecordedTimes& known_;
    int number_;
    const TransferChange& transfer_time_;
    RebuiltProgram out_;
    std::vector<std::vector<Joined>> joined_;                        // [rank][op]
    std::map<std::size_t, GroupSlot> alone_;                         // by rank
    std::set<std::pair<std::size_t, std::uint32_t>> with_transfers_; // by rank and stream
    std::map<std::pair<std::size_t, std::uint32_t>, StreamId> streams_;
    std::map<std::pair<std::size_t, StreamKind>, std::size_t> streams_used_;
    std::map<StreamKind, std::vector<StreamId>> streams_of_kind_;
};

} // namespace

const TraceStep& step_numbered(const RankActivity& rank, int number)
{
    return *std::find_if(rank.steps.begin(), rank.steps.end(),
                         [&](const TraceStep& step) { return step.number == number; });
}

RebuiltProgram rebuilt_program(const JobTrace& job,
                               const std::vector<std::vector<TransferMoving>>& times,
                               const RecordedTimes& known, int step,
                               const TransferChange& transfer_time)
{
    return ProgramOfStep(job, times, known, step, transfer_time).take();
}

} // namespace trainyard
