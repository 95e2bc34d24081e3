#include "sim/study/sensitivity/pace.h"

#include "sim/study/breakdown.h"
#include "sim/study/recorded/record_graph.h"
#include "sim/study/session.h"

#include <algorithm>
#include <map>
#include <set>

namespace trainyard {

namespace {

// Records that are kept at a time: a few hundred megabytes.
constexpr std::uint64_t most_records = 2'000'000;
// A job of more neighbours than so many runs can record is told of them without the others.
constexpr std::size_t most_recording_runs = 2;

// Ops of all runs that leave out one entry each, where there are more entries than
// `entries_always_tried`.
constexpr std::uint64_t most_ops_without = 50'000'000;
constexpr std::size_t entries_always_tried = 8;
// Reading and binding one entry takes as long as simulating so many ops: some 8 us.
constexpr std::uint64_t ops_per_entry = 400;

// Those that exchange messages with `pace` or share a communicator with it, of the smallest first.
std::vector<LaneId> neighbours(const Binding& binding, LaneId pace)
{
    std::vector<LaneId> lanes;
    std::set<LaneId> seen{pace};
    const auto add = [&](LaneId lane) {
        if (seen.insert(lane).second)
            lanes.push_back(lane);
    };
    for (const Peer& peer : binding.lanes[pace.value].peers)
        if (peer.lane.valid())
            add(peer.lane);
    std::vector<const Group*> groups;
    for (const GroupId group : binding.lanes[pace.value].groups)
        if (group.valid())
            groups.push_back(&binding.groups[group.value]);
    std::ranges::stable_sort(groups, {}, [](const Group* group) { return group->members.size(); });
    for (const Group* group : groups)
        std::ranges::for_each(group->members, add);
    return lanes;
}

struct BusySpan {
    SimTime begin{};
    SimTime end{};
};

// Apart and in order.
std::vector<BusySpan> merged(std::vector<BusySpan> spans)
{
    std::ranges::sort(spans, {}, &BusySpan::begin);
    std::vector<BusySpan> out;
    for (const BusySpan& span : spans)
        if (out.empty() || out.back().end < span.begin)
            out.push_back(span);
        else
            out.back().end = std::max(out.back().end, span.end);
    return out;
}

// How long some of `spans` last and none of `others` does.
SimTime time_outside(const std::vector<BusySpan>& spans, const std::vector<BusySpan>& others)
{
    SimTime time{};
    const std::vector<BusySpan> apart = merged(others);
    for (const BusySpan& span : merged(spans)) {
        time += span.end - span.begin;
        auto other = std::ranges::lower_bound(apart, span.begin, {}, &BusySpan::end);
        for (; other != apart.end() && other->begin < span.end; ++other)
            time -= std::min(span.end, other->end) - std::max(span.begin, other->begin);
    }
    return time;
}

// What each lane waited in transfers of one kind, and in how many.
struct KindWaits {
    std::map<LaneId, SimTime> waited;
    std::map<LaneId, int> transfers;

    void add(LaneId lane, SimTime time)
    {
        waited[lane] += time;
        ++transfers[lane];
    }
};

// What others waited in transfers of the measured step to which `pace` came last.
class Waits {
public:
    Waits(const Binding& binding, LaneId pace) : binding_(binding), pace_(pace) {}

    void add(const Outcome& seen)
    {
        add_collectives(seen.result->records);
        add_messages(seen);
    }

    std::vector<WaitRow> rows() const
    {
        std::vector<WaitRow> rows;
        for (const auto& [id, waits] : by_group_) {
            const Group& group = binding_.groups[id.value];
            rows.push_back(row_of(group.kind, static_cast<int>(group.ranks), waits));
        }
        if (!messages_.waited.empty())
            rows.push_back(row_of(GroupKind::pp, 2, messages_));
        std::ranges::stable_sort(
            rows, [](const WaitRow& a, const WaitRow& b) { return a.longest > b.longest; });
        return rows;
    }

private:
    void add_collectives(const std::vector<OpRecord>& records)
    {
        for (const OpRecord& op : records)
            if (op.kind == OpKind::collective && op.last_arriver == pace_ && op.lane != pace_ &&
                op.transfer_start > op.start)
                by_group_[op.group].add(op.lane, op.transfer_start - op.start);
    }

    // The other end of a message waits from its own arrival to that of `pace`, in several at once,
    // and while it computes it waits for nobody.
    void add_messages(const Outcome& seen)
    {
        const std::vector<OpRecord>& records = seen.result->records;
        std::map<LaneId, std::vector<BusySpan>> waits;
        const RecordGraph graph(seen.plan->program, binding_, records);
        for (const RecordGraph::Message& message : graph.messages()) {
            const bool sends = records[message.send].lane == pace_;
            if (!sends && records[message.receive].lane != pace_)
                continue;
            const SimTime came = records[sends ? message.send : message.receive].start;
            const OpRecord& other = records[sends ? message.receive : message.send];
            if (came > other.start)
                waits[other.lane].push_back({other.start, came});
        }
        std::map<LaneId, std::vector<BusySpan>> busy;
        for (const OpRecord& op : records)
            if (op.kind == OpKind::compute && waits.contains(op.lane))
                busy[op.lane].push_back({op.start, op.end});
        for (const auto& [lane, spans] : waits) {
            messages_.waited[lane] = time_outside(spans, busy[lane]);
            messages_.transfers[lane] = static_cast<int>(spans.size());
        }
    }

    WaitRow row_of(GroupKind kind, int members, const KindWaits& waits) const
    {
        WaitRow row;
        row.group = kind;
        row.members = members;
        u128 sum = 0; // ps
        std::uint64_t ranks = 0;
        for (const auto& [lane, waited] : waits.waited) {
            const std::uint64_t stands_for = binding_.lanes[lane.value].multiplicity;
            sum += static_cast<u128>(waited.value()) * stands_for;
            ranks += stands_for;
            if (row.longest < to_seconds(waited)) {
                row.longest = to_seconds(waited);
                row.longest_rank = static_cast<int>(binding_.lanes[lane.value].rank.value);
            }
            row.transfers = std::max(row.transfers, waits.transfers.at(lane));
        }
        row.mean = mean_over(ranks, sum);
        return row;
    }

    const Binding& binding_;
    LaneId pace_;
    std::map<GroupId, KindWaits> by_group_;
    KindWaits messages_;
};

// Runs the job again, as often as its neighbours need to be recorded.
void find_waits(Pace& pace, const Outcome& outcome, LaneId setter, const ScenarioFile& file,
                Session& session)
{
    const std::vector<LaneId> lanes = neighbours(*outcome.binding, setter);
    const auto steps = static_cast<std::uint16_t>(outcome.result->step_ends.size());
    const std::uint64_t ops_of_lane =
        1 + outcome.engine.ops / steps / outcome.binding->lanes.size();
    const std::size_t at_a_time = std::max<std::size_t>(64, most_records / ops_of_lane);
    Waits waits(*outcome.binding, setter);
    std::size_t done = 0;
    for (std::size_t run = 0; run < most_recording_runs && done < lanes.size(); ++run) {
        const std::size_t end = std::min(lanes.size(), done + at_a_time);
        const std::set<LaneId> recorded(lanes.begin() + static_cast<std::ptrdiff_t>(done),
                                        lanes.begin() + static_cast<std::ptrdiff_t>(end));
        SimulateRequest request;
        request.record = RecordRequest{
            [&recorded, setter](LaneId lane) { return lane == setter || recorded.contains(lane); },
            static_cast<std::uint16_t>(steps - 1)};
        const Checked<Outcome> seen = session.simulate(file, request);
        if (!seen)
            break;
        waits.add(*seen);
        done = end;
    }
    pace.waits = waits.rows();
    pace.lanes_not_watched = static_cast<int>(lanes.size() - done);
}

// The step without what `change` takes out of the scenario; nothing when that cannot run.
template <class Change>
std::optional<Seconds> step_without(const ScenarioFile& file, Session& session,
                                    const Change& change)
{
    ScenarioFile changed = file;
    change(changed.scenario.perturbations);
    const Checked<Outcome> outcome = session.simulate(changed);
    if (!outcome)
        return std::nullopt;
    return to_seconds(outcome->result->step_time);
}

// As many entries as are quick to leave out, at least `entries_always_tried`.
std::size_t entries_to_try(const Outcome& outcome)
{
    const std::uint64_t entries = outcome.scenario.perturbations.size();
    const std::uint64_t ops_of_run = outcome.engine.ops + ops_per_entry * entries;
    return std::min(entries,
                    std::max<std::uint64_t>(entries_always_tried, most_ops_without / ops_of_run));
}

std::vector<CulpritRow> culprits(const Outcome& outcome, const ScenarioFile& file, Session& session)
{
    std::vector<CulpritRow> rows;
    const std::vector<Perturbation>& all = file.scenario.perturbations;
    for (std::size_t i = 0; i < entries_to_try(outcome); ++i) {
        // An entry of nothing keeps the places, hence the seeds, of the others.
        const auto without =
            step_without(file, session, [i](std::vector<Perturbation>& perturbations) {
                perturbations[i] = {};
                perturbations[i].device = DeviceChoice(0);
            });
        if (without)
            rows.push_back({i, all[i], *without});
    }
    std::ranges::stable_sort(
        rows, [](const CulpritRow& a, const CulpritRow& b) { return a.without < b.without; });
    return rows;
}

// Whether the entry names that rank's device among others, not all of them.
bool singles_out(const Perturbation& p, RankId rank, const Topology& topology)
{
    if (p.node)
        return topology.device(DeviceId{rank.value}).node.value ==
               static_cast<std::uint32_t>(*p.node);
    return std::ranges::find(p.device.numbers, static_cast<int>(rank.value)) !=
           p.device.numbers.end();
}

SimTime idle(const LaneTotals& totals)
{
    return totals.time[static_cast<std::size_t>(TimeKind::waiting)] +
           totals.time[static_cast<std::size_t>(TimeKind::bubble)];
}

// Of the devices that the costliest entry singles out the least idle; else of all.
LaneId pace_setter(const Outcome& outcome, const std::vector<CulpritRow>& culprits)
{
    const StepResult& result = *outcome.result;
    const bool costs = !culprits.empty() && culprits.front().without < to_seconds(result.step_time);
    if (!costs)
        return result.critical_lane;
    const Perturbation& culprit = culprits.front().perturbation;
    LaneId best = LaneId::none();
    for (std::size_t l = 0; l < result.lanes.size(); ++l)
        if (singles_out(culprit, outcome.binding->lanes[l].rank, *outcome.topology) &&
            (!best.valid() || idle(result.lanes[l]) < idle(result.lanes[best.value])))
            best = make_id<LaneId>(l);
    return best.valid() ? best : result.critical_lane;
}

} // namespace

std::optional<Pace> find_pace(const Outcome& outcome, const ScenarioFile& file, Session& session)
{
    if (file.scenario.perturbations.empty())
        return std::nullopt;
    Pace pace;
    pace.culprits = culprits(outcome, file, session);
    pace.not_tried = static_cast<int>(file.scenario.perturbations.size() - entries_to_try(outcome));
    const LaneId setter = pace_setter(outcome, pace.culprits);
    pace.rank = static_cast<int>(outcome.binding->lanes[setter.value].rank.value);
    find_waits(pace, outcome, setter, file, session);
    pace.without_all = step_without(file, session, [](std::vector<Perturbation>& perturbations) {
                           perturbations.clear();
                       }).value_or(to_seconds(outcome.result->step_time));
    return pace;
}

} // namespace trainyard
