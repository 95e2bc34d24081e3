#include "sim/report/pace.h"

#include "sim/base/units.h"
#include "sim/report/collectives.h"
#include "sim/report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace trainyard {

namespace {

constexpr std::size_t most_neighbours = 512; // lanes whose waits are recorded

// The lane that sets the pace and those that share a communicator with it.
std::set<LaneId> neighbours(const Binding& binding, LaneId pace)
{
    std::set<LaneId> lanes{pace};
    for (const GroupId group : binding.lanes[pace.value].groups)
        if (group.valid())
            for (const LaneId member : binding.groups[group.value].members)
                if (lanes.size() < most_neighbours)
                    lanes.insert(member);
    return lanes;
}

// What each lane waited in collectives of one group, and in how many.
struct GroupWaits {
    std::map<LaneId, SimTime> waited;
    std::map<LaneId, int> collectives;
};

WaitRow wait_row(const Binding& binding, const Group& group, const GroupWaits& waits)
{
    WaitRow row;
    row.group = group.kind;
    row.members = static_cast<int>(group.ranks);
    double sum = 0;
    double ranks = 0;
    for (const auto& [lane, waited] : waits.waited) {
        const double stands_for = binding.lanes[lane.value].multiplicity;
        sum += stands_for * to_seconds(waited).value();
        ranks += stands_for;
        if (row.longest < to_seconds(waited)) {
            row.longest = to_seconds(waited);
            row.longest_rank = static_cast<int>(binding.lanes[lane.value].rank.value);
        }
        row.collectives = std::max(row.collectives, waits.collectives.at(lane));
    }
    row.mean = Seconds(ranks > 0 ? sum / ranks : 0);
    return row;
}

// In the collectives of the measured step to which `pace` came last.
std::vector<WaitRow> wait_rows(const Outcome& outcome, LaneId pace)
{
    std::map<GroupId, GroupWaits> by_group;
    for (const OpRecord& op : outcome.result->records) {
        const bool waits = op.kind == OpKind::collective && op.last_arriver == pace &&
                           op.lane != pace && op.transfer_start > op.start;
        if (!waits)
            continue;
        GroupWaits& group = by_group[op.group];
        group.waited[op.lane] += op.transfer_start - op.start;
        ++group.collectives[op.lane];
    }
    std::vector<WaitRow> rows;
    for (const auto& [id, waits] : by_group)
        rows.push_back(wait_row(*outcome.binding, outcome.binding->groups[id.value], waits));
    std::ranges::stable_sort(
        rows, [](const WaitRow& a, const WaitRow& b) { return a.longest > b.longest; });
    return rows;
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

std::vector<CulpritRow> culprits(const ScenarioFile& file, Session& session)
{
    std::vector<CulpritRow> rows;
    const std::vector<Perturbation>& all = file.scenario.perturbations;
    for (std::size_t i = 0; i < std::min(all.size(), most_culprits); ++i) {
        // An entry of nothing keeps the places, hence the seeds, of the others.
        const auto without =
            step_without(file, session, [i](std::vector<Perturbation>& perturbations) {
                perturbations[i] = {};
                perturbations[i].device = DeviceChoice(0);
            });
        if (without)
            rows.push_back({i, describe(all[i]), *without});
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
    const Perturbation& culprit = outcome.scenario.perturbations[culprits.front().entry];
    LaneId best = LaneId::none();
    for (std::size_t l = 0; l < result.lanes.size(); ++l)
        if (singles_out(culprit, outcome.binding->lanes[l].rank, *outcome.topology) &&
            (!best.valid() || idle(result.lanes[l]) < idle(result.lanes[best.value])))
            best = make_id<LaneId>(l);
    return best.valid() ? best : result.critical_lane;
}

std::string subject(const Perturbation& p)
{
    if (p.node)
        return fmt::format("node {}", *p.node);
    if (p.device.all)
        return "all devices";
    if (p.device.numbers.size() == 1)
        return fmt::format("device {}", p.device.numbers.front());
    return fmt::format("{} devices ({}, ...)", p.device.numbers.size(), p.device.numbers.front());
}

std::string window_of(const Perturbation& p)
{
    if (!p.has_window())
        return "";
    const std::string from = to_display(p.from.value_or(Seconds(0)));
    return p.until ? fmt::format(" from {} to {}", from, to_display(*p.until))
                   : fmt::format(" from {} on", from);
}

void add(std::string& text, const std::string& more)
{
    text += (text.empty() ? "" : ", ") + more;
}

std::string describe_link(const Perturbation& p)
{
    if (p.ecmp)
        return "flows that collide on uplinks";
    std::string what;
    if (p.dead)
        add(what, "dead");
    if (p.bandwidth != 1.0)
        add(what, fmt::format("{} of its bandwidth", percent(p.bandwidth)));
    if (p.latency.value() > 0)
        add(what, fmt::format("{} longer", to_display(p.latency)));
    if (p.background > 0)
        add(what, fmt::format("{} taken by others", percent(p.background)));
    return fmt::format("link {}: {}", p.link, what.empty() ? "as usual" : what);
}

} // namespace

std::string describe(const Perturbation& p)
{
    if (p.of_network())
        return describe_link(p);
    std::string what;
    if (p.slowdown != 1.0)
        add(what, fmt::format("{:.4g} times slower{}", p.slowdown, window_of(p)));
    if (p.jitter)
        add(what,
            fmt::format("{} jitter of {:.3g}", to_name(p.jitter->distribution), p.jitter->scale));
    if (p.late)
        add(what, fmt::format("{} late by {}{}", to_name(p.late->part), to_display(p.late->time),
                              p.late->chance < 1
                                  ? fmt::format(" in {} of the steps", percent(p.late->chance))
                                  : std::string()));
    if (p.start)
        add(what, fmt::format("starts {} late", to_display(*p.start)));
    return fmt::format("{}: {}", subject(p), what.empty() ? "as usual" : what);
}

std::optional<Pace> find_pace(const Outcome& outcome, const ScenarioFile& file, Session& session)
{
    if (file.scenario.perturbations.empty())
        return std::nullopt;
    Pace pace;
    pace.culprits = culprits(file, session);
    const LaneId setter = pace_setter(outcome, pace.culprits);
    pace.rank = static_cast<int>(outcome.binding->lanes[setter.value].rank.value);
    const std::set<LaneId> recorded = neighbours(*outcome.binding, setter);
    SimulateRequest request;
    request.record =
        RecordRequest{[&recorded](LaneId lane) { return recorded.contains(lane); },
                      static_cast<std::uint16_t>(outcome.result->step_ends.size() - 1)};
    if (const Checked<Outcome> seen = session.simulate(file, request))
        pace.waits = wait_rows(*seen, setter);
    pace.without_all = step_without(file, session, [](std::vector<Perturbation>& perturbations) {
                           perturbations.clear();
                       }).value_or(to_seconds(outcome.result->step_time));
    return pace;
}

} // namespace trainyard
