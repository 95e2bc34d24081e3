#include "sim/report/stuck/stuck_summary.h"

#include "sim/strategy/rank_layout.h"
#include "sim/topology/topology_model.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace trainyard {

namespace {

constexpr std::size_t most_numbers = 8;

class Summarizer {
public:
    explicit Summarizer(const Stuck& stuck)
        : stuck_(stuck), program_(stuck.plan->program), layout_(stuck.job)
    {}

    StuckSummary summary() const
    {
        StuckSummary out;
        out.ranks = stuck_.job.world();
        for (const Culprit& culprit : stuck_.standstill.culprits)
            out.culprits.push_back(culprit_of(culprit));
        out.waits = rows();
        std::set<LaneId> waiting;
        for (const Wait& wait : stuck_.standstill.waits)
            for (const Waiter& waiter : wait.here)
                waiting.insert(waiter.lane);
        for (const Culprit& culprit : stuck_.standstill.culprits)
            waiting.erase(culprit.lane);
        for (const LaneId lane : waiting)
            out.waiting += multiplicity(lane);
        if (const std::optional<Notice> notice = first_notice(stuck_))
            out.notice = {rank(notice->lane), place(notice->place),
                          notice->backend,    since_step(notice->issued),
                          notice->after,      !stuck_.scenario.software.timeout.has_value()};
        return out;
    }

private:
    // What waits in one row have in common.
    using RowKey = std::tuple<int, LabelId, StreamId, std::uint16_t, std::uint16_t, std::uint16_t,
                              WaitCause, int>;

    const Lane& lane(LaneId id) const { return stuck_.binding->lanes[id.value]; }
    int rank(LaneId id) const { return static_cast<int>(lane(id).rank.value); }
    int multiplicity(LaneId id) const { return static_cast<int>(lane(id).multiplicity); }

    Seconds since_step(SimTime time) const { return to_seconds(time - stuck_.measured_from); }

    StuckPlace place(const OpPlace& at) const
    {
        StuckPlace out;
        if (!at.label.valid())
            return out;
        const Label& label = program_.labels[at.label.value];
        out.op = label.name;
        if (at.kind == OpKind::collective || at.kind == OpKind::exchange)
            out.collective = to_name(label.collective);
        out.stream = program_.streams[at.stream.value].name;
        out.phase = label.phase;
        if (at.micro_batch != BlockUse::no_index)
            out.micro_batch = at.micro_batch;
        if (at.layer != BlockUse::no_index) {
            out.layer = at.layer;
            out.layer_name = layer_name(program_, at.layer);
        }
        out.step = at.step + 1;
        out.steps_after = out.step - stuck_.measured_step;
        return out;
    }

    StuckCulprit culprit_of(const Culprit& culprit) const
    {
        StuckCulprit out;
        const RankId rank = lane(culprit.lane).rank;
        out.rank = static_cast<int>(rank.value);
        out.ranks = multiplicity(culprit.lane);
        out.node =
            static_cast<int>(stuck_.topology->model().placement(DeviceId{rank.value}).node.value);
        out.stage = layout_.place(rank).pp;
        out.kind = culprit.stop.kind;
        out.at = since_step(culprit.stop.at);
        out.place = place(culprit.place);
        return out;
    }

    int group_ranks(const Wait& wait) const
    {
        return wait.group.valid() ? static_cast<int>(stuck_.binding->groups[wait.group.value].ranks)
                                  : 2;
    }

    // As many as there are of that kind: ranks that fold, fold their groups.
    int transfers_like(const Wait& wait) const
    {
        if (!wait.group.valid())
            return multiplicity(wait.here.front().lane);
        const Group& group = stuck_.binding->groups[wait.group.value];
        int ranks = 0;
        for (const LaneId member : group.members)
            ranks += multiplicity(member);
        return ranks / static_cast<int>(group.ranks);
    }

    SomeRanks some(const std::set<LaneId>& lanes) const
    {
        SomeRanks out;
        for (const LaneId id : lanes)
            out.count += multiplicity(id);
        const std::vector<LaneId>& lane_of = stuck_.binding->lane_of;
        for (std::size_t rank = 0; rank < lane_of.size() && out.numbers.size() < most_numbers;
             ++rank)
            if (lanes.contains(lane_of[rank]))
                out.numbers.push_back(static_cast<int>(rank));
        return out;
    }

    std::vector<StuckWait> rows() const
    {
        struct Members {
            std::set<LaneId> waiting;
            std::set<LaneId> missing;
        };
        std::map<RowKey, std::size_t> known;
        std::vector<StuckWait> out;
        std::vector<Members> members;
        for (const Wait& wait : stuck_.standstill.waits) {
            const OpPlace& at = wait.here.front().place;
            const auto [found, fresh] =
                known.emplace(RowKey{wait.distance, at.label, at.stream, at.step, at.micro_batch,
                                     at.layer, wait.cause, group_ranks(wait)},
                              out.size());
            if (fresh) {
                StuckWait& row = out.emplace_back();
                row.distance = wait.distance;
                row.place = place(at);
                row.group = program_.labels[at.label.value].group;
                row.group_ranks = group_ranks(wait);
                row.cause = wait.cause;
                row.since = since_step(wait.here.front().arrived);
                members.emplace_back();
            }
            StuckWait& row = out[found->second];
            row.transfers += transfers_like(wait);
            for (const Waiter& waiter : wait.here) {
                row.since = std::min(row.since, since_step(waiter.arrived));
                members[found->second].waiting.insert(waiter.lane);
            }
            members[found->second].missing.insert(wait.missing.begin(), wait.missing.end());
        }
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i].waiting = some(members[i].waiting);
            out[i].missing = some(members[i].missing);
        }
        return out;
    }

    const Stuck& stuck_;
    const Program& program_;
    RankLayout layout_;
};

} // namespace

StuckSummary summarize(const Stuck& stuck)
{
    return Summarizer(stuck).summary();
}

} // namespace trainyard
