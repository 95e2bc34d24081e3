#include "sim/engine/ahead/seams.h"

#include "sim/engine/host_issue.h"
#include "sim/program/repetition.h"

#include <algorithm>
#include <limits>
#include <map>

namespace trainyard::engine::ahead {

namespace {

// A pipeline settles within a repetition; two before the seam must go alike. Behind it one must,
// and the end of the steady state, which reaches into the last one, comes after that.
constexpr std::uint32_t kept_before = 1 + alike_before_seam;
constexpr std::uint32_t kept_behind = 2;
constexpr std::uint32_t least_left_out = 1;

void add(const Seam::Transfers& more, Seam::Transfers& sum)
{
    sum.first += more.first;
    sum.seam += more.seam;
    sum.last += more.last;
}

// Whether both count the same transfers as those of a repetition, and what one does before its seam
// and the other behind it goes alike for both.
bool match(const Seam::Transfers& one, const Seam::Transfers& other)
{
    return one.last - one.seam == other.last - other.seam &&
           one.seam - one.first == other.seam - other.first &&
           std::max(one.first, other.first) <= std::min(one.seam, other.seam) &&
           std::max(one.seam, other.seam) <= std::min(one.last, other.last);
}

// Of a lane, by channel: its groups come first, then the pipes of all lanes.
std::map<std::uint32_t, Seam::Transfers> transfers_of(const RunState& run, std::uint32_t lane)
{
    const LaneKind& kind = run.kind_of(lane);
    const auto groups = static_cast<std::uint32_t>(run.binding.groups.size());
    std::map<std::uint32_t, Seam::Transfers> channels;
    for (std::size_t slot = 0; slot < kind.collectives_per_step.size(); ++slot)
        if (kind.collectives_per_step[slot] > 0)
            add(kind.seam.collectives[slot],
                channels[run.group_of(lane, make_id<GroupSlot>(slot)).value]);
    for (std::size_t pipe = 0; pipe < kind.parts_per_step.size(); ++pipe)
        add(kind.seam.parts[pipe],
            channels[groups + run.compiled.lane_pipes[run.compiled.lane_pipe_first[lane] + pipe]]);
    return channels;
}

// Whether the two ops, one repetition apart, wait for ops one repetition apart, or for the same op
// before all that goes alike, in this step or the one before.
bool wait_alike(const LaneKind& kind, const FlatOp& op, const FlatOp& like)
{
    if (op.wait_count != like.wait_count)
        return false;
    for (std::uint32_t w = 0; w < op.wait_count; ++w) {
        const StepWait& wait = kind.waits[op.wait_first + w];
        const StepWait& other = kind.waits[like.wait_first + w];
        const Seam::Stream& of = kind.seam.streams[wait.stream];
        if (wait.stream != other.stream || wait.previous_step != other.previous_step)
            return false;
        const bool early = wait.position + alike_before_seam * of.ops < of.position;
        const bool same = wait.position == other.position && (early || wait.previous_step);
        const bool next = wait.position == other.position + of.ops && !early && !wait.previous_step;
        if (!same && !next)
            return false;
    }
    return true;
}

bool fits(const LaneKind& kind)
{
    if (!kind.seam.complete || replay::computing_stream(kind) == replay::no_stream)
        return false;
    for (std::size_t s = 0; s < kind.streams.size(); ++s) {
        const Seam::Stream& seam = kind.seam.streams[s];
        const StreamPlan& plan = kind.streams[s];
        const std::uint32_t at = plan.op_first + seam.position;
        for (std::uint32_t o = at - seam.ops; o < at + seam.ops; ++o)
            if (!wait_alike(kind, kind.ops[o], kind.ops[o - seam.ops]))
                return false;
        if (plan.kind == StreamKind::compute && seam.ops == 0)
            return false;
    }
    return true;
}

} // namespace

Omissions find_omissions(const Program& program)
{
    Omissions omissions;
    std::uint32_t times = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t micro_batches = 0;
    for (const Role& role : program.roles) {
        const Repetition found = find_repetition(role);
        if (found.times < kept_before + least_left_out + kept_behind ||
            (micro_batches != 0 && found.micro_batches != micro_batches))
            return {};
        micro_batches = found.micro_batches;
        times = std::min(times, found.times - kept_before - kept_behind);
        omissions.push_back({found.first + kept_before * found.period, found.period, 0});
    }
    for (Omission& omission : omissions)
        omission.times = times;
    return omissions;
}

Seams::Seams(const RunState& run)
    : run_(run),
      any_(std::ranges::any_of(run.compiled.kinds,
                               [](const LaneKind& kind) { return kind.seam.left_out.times > 0; })),
      host_leads_(run.lanes.size())
{
    for (const LaneKind& kind : run.compiled.kinds)
        barriers_.push_back(any_ ? replay::barriers_of(kind) : std::vector<StepWait>());
}

bool Seams::fit() const
{
    if (!std::ranges::all_of(run_.compiled.kinds, fits) ||
        !std::ranges::all_of(run_.lanes, &LaneState::plain))
        return false;
    std::map<std::uint32_t, Seam::Transfers> known;
    for (std::uint32_t lane = 0; lane < run_.lanes.size(); ++lane)
        for (const auto& [channel, transfers] : transfers_of(run_, lane))
            if (!match(known.try_emplace(channel, transfers).first->second, transfers))
                return false;
    return true;
}

bool Seams::go_alike(std::uint32_t lane, std::uint32_t step, const StepTimes& times)
{
    const LaneKind& kind = run_.kind_of(lane);
    const std::optional<Time> found = period(lane, times.ends);
    if (!found || !early_is_over(kind, times, step + 1 == run_.steps))
        return false;
    if (step == periods_.size())
        periods_.push_back(*found);
    return periods_[step] == *found && host_only_leads(lane, step, times, *found) &&
           *found <=
               longest_sim_time.value() / (std::int64_t{kind.seam.left_out.times} * run_.steps);
}

// The time from one repetition to the next; nothing where it is not the same for all ops.
std::optional<Time> Seams::period(std::uint32_t lane, const Time* ends) const
{
    const LaneKind& kind = run_.kind_of(lane);
    std::optional<Time> period;
    for (std::size_t s = 0; s < kind.streams.size(); ++s) {
        const std::uint32_t ops = kind.seam.streams[s].ops;
        const std::uint32_t at = kind.streams[s].op_first + kind.seam.streams[s].position;
        for (std::uint32_t o = at - ops; o < at + ops; ++o) {
            const Time apart = ends[o] - ends[o - ops];
            if (period && *period != apart)
                return std::nullopt;
            period = apart;
        }
    }
    return period;
}

// Whether all that comes before what goes alike is over before the last repetition before the seam
// begins, and before anything behind the seam does.
bool Seams::early_is_over(const LaneKind& kind, const StepTimes& times, bool last) const
{
    Time over = 0;
    Time begin = never;
    for (std::size_t s = 0; s < kind.streams.size(); ++s) {
        const auto [position, ops] = kind.seam.streams[s];
        const Time* const ends = times.ends + kind.streams[s].op_first;
        if (const std::uint32_t early = position - alike_before_seam * ops; early > 0)
            over = std::max(over, ends[early - 1]);
        if (times.before != nullptr)
            over = std::max(over,
                            times.before[kind.streams[s].op_first + kind.streams[s].op_count - 1]);
        if (ops > 0)
            begin = std::min(begin, ends[position - ops - 1]);
    }
    if (over >= begin)
        return false;
    for (std::size_t s = 0; s < kind.streams.size(); ++s) {
        const auto [position, ops] = kind.seam.streams[s];
        const StreamPlan& plan = kind.streams[s];
        const bool in_next = position == plan.op_count;
        // Behind ops that go alike, or nothing follows, or `host_only_leads` looks at it.
        if (ops > 0 || (in_next && last) || plan.kind == StreamKind::host)
            continue;
        const FlatOp& op = kind.ops[plan.op_first + (in_next ? 0 : position)];
        const auto late = [&](const StepWait& wait) {
            const StreamPlan& of = kind.streams[wait.stream];
            if (wait.previous_step == in_next)
                return times.ends[of.op_first + wait.position] > over;
            return in_next && kind.seam.streams[wait.stream].ops > 0;
        };
        if (!std::any_of(kind.waits.begin() + op.wait_first,
                         kind.waits.begin() + op.wait_first + op.wait_count, late))
            return false;
    }
    return true;
}

// What is left out lets a host that needs less time for a repetition than the device run further
// ahead. It must not hold up anything that it would not hold up then.
bool Seams::host_only_leads(std::uint32_t lane, std::uint32_t step, const StepTimes& times,
                            Time period)
{
    const LaneKind& kind = run_.kind_of(lane);
    const Seam& seam = kind.seam;
    const bool gains = !seam.host_stops && seam.issue.value() != period;
    if (gains && seam.issue.value() > period)
        return false;
    const std::vector<StepWait>& barriers = barriers_[run_.compiled.lane_kinds[lane]];
    // Whether the host leads by more than in the run from the begin of each segment on, and in that
    // of the seam from there on.
    std::vector<bool> leads{host_leads_[lane]};
    bool behind_seam = false;
    for (std::size_t segment = 0; segment <= barriers.size(); ++segment) {
        if (segment == seam.segment)
            behind_seam = leads[segment] || gains;
        if (segment == barriers.size())
            break;
        const StepWait& barrier = barriers[segment];
        const bool behind =
            segment == seam.segment && barrier.position >= seam.streams[barrier.stream].position;
        const bool led = behind ? behind_seam : leads[segment];
        const FlatOp& op = kind.ops[kind.streams[barrier.stream].op_first + barrier.position];
        const HostPlace place{lane, step, barrier.stream, barrier.position};
        leads.push_back(led && op.kind == OpKind::host && !comes_in_time(place, times));
        if (leads.back() && !matters_to_host_alone(kind, barrier, times))
            return false;
    }
    host_leads_[lane] = seam.segment == barriers.size() ? behind_seam : leads.back();
    if (!behind_seam && std::ranges::find(leads, true) == leads.end())
        return true;
    for (std::uint8_t s = 0; s < kind.streams.size(); ++s) {
        const std::uint32_t first = kind.streams[s].op_first;
        for (std::uint32_t p = 0; p < kind.streams[s].op_count; ++p) {
            const FlatOp& op = kind.ops[first + p];
            // The last repetition before the seam stands for those that are left out.
            const bool behind =
                op.segment == seam.segment && p + seam.streams[s].ops >= seam.streams[s].position;
            if (!(behind ? behind_seam : leads[op.segment]) || op.kind == OpKind::host ||
                op.by_itself)
                continue;
            // Mostly even the last kernel is issued before the op before it is over.
            const bool early =
                p > 0 && issue_time(kind, op, step,
                                    SimTime((*times.bases)[barriers_before(kind, op, step)])) +
                                 op.issue_rest <=
                             SimTime(times.ends[first + p - 1]);
            if (!early && !comes_in_time({lane, step, s, p}, times))
                return false;
        }
    }
    return true;
}

// Whether the host has issued an op no later than all else that it needs is there.
bool Seams::comes_in_time(const HostPlace& place, const StepTimes& times) const
{
    const LaneKind& kind = run_.kind_of(place.lane);
    const StreamPlan& plan = kind.streams[place.stream];
    const FlatOp& op = kind.ops[plan.op_first + place.position];
    const std::size_t base = barriers_before(kind, op, place.step);
    const Time issue =
        issue_time(run_, place.lane, op, place.step, SimTime((*times.bases)[base])).value();
    Time ready = 0;
    const bool may_lead = op.kind == OpKind::host; // as the op before it may have
    if (!may_lead && place.position > 0)
        ready = times.ends[plan.op_first + place.position - 1];
    else if (!may_lead && times.before != nullptr)
        ready = times.before[plan.op_first + plan.op_count - 1];
    for (std::uint32_t w = op.wait_first; w < op.wait_first + op.wait_count; ++w) {
        const StepWait& wait = kind.waits[w];
        const Time* const ends = wait.previous_step ? times.before : times.ends;
        if (ends != nullptr)
            ready = std::max(ready, ends[kind.streams[wait.stream].op_first + wait.position]);
    }
    if (issue > ready)
        return false;
    if (op.kind != OpKind::compute && op.kind != OpKind::copy)
        return true;
    const SimTime duration = run_.duration_of(place.lane, op, place.step);
    return earliest_end(op, SimTime(issue), duration).value() <= ready + duration.value();
}

// Whether a host op is over before the last compute is, and no other waits for it.
bool Seams::matters_to_host_alone(const LaneKind& kind, const StepWait& host,
                                  const StepTimes& times) const
{
    const StreamPlan& computing = kind.streams[replay::computing_stream(kind)];
    const Time end = times.ends[kind.streams[host.stream].op_first + host.position];
    return end <= times.ends[computing.op_first + computing.op_count - 1] &&
           std::ranges::none_of(kind.waits, [&](const StepWait& wait) {
               return wait.stream == host.stream && wait.position == host.position;
           });
}

Time Seams::shift_behind(std::uint32_t step) const
{
    Time shift = 0;
    for (std::uint32_t s = 0; any_ && s <= step; ++s)
        shift += periods_[s] * std::int64_t{run_.compiled.kinds.front().seam.left_out.times};
    return shift;
}

std::uint64_t Seams::times_of(std::uint32_t lane, std::uint32_t stream,
                              std::uint32_t position) const
{
    if (!any_)
        return 1;
    const Seam& seam = run_.kind_of(lane).seam;
    const auto [end, ops] = seam.streams[stream];
    return position < end && position + ops >= end ? 1 + seam.left_out.times : 1;
}

replay::RepeatedOps Seams::charged(const LaneKind& kind) const
{
    if (!any_)
        return {};
    const auto [end, ops] = kind.seam.streams[replay::computing_stream(kind)];
    return {end - ops, end, kind.seam.left_out.times};
}

std::uint64_t Seams::left_out() const
{
    std::uint64_t ops = 0;
    for (const LaneState& lane : run_.lanes)
        for (const Seam::Stream& stream : lane.kind->seam.streams)
            ops += std::uint64_t{stream.ops} * lane.kind->seam.left_out.times * run_.steps;
    return ops;
}

} // namespace trainyard::engine::ahead
