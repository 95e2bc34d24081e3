#include "sim/engine/replay/scribe.h"

#include <algorithm>
#include <tuple>

namespace trainyard::engine::replay {

namespace {

std::vector<std::vector<std::uint32_t>> lanes_wanted(const Cohorts& cohorts,
                                                     const RecordRequest& request)
{
    std::vector<std::vector<std::uint32_t>> wanted(cohorts.all.size());
    for (std::uint32_t c = 0; c < cohorts.all.size() && request.lane; ++c)
        for (std::uint32_t i = 0; i < cohorts.all[c].lanes.size(); ++i)
            if (request.lane(LaneId{cohorts.all[c].lanes[i]}))
                wanted[c].push_back(i);
    return wanted;
}

} // namespace

Scribe::Scribe(const Program& program, const Binding& binding, const Cohorts& cohorts,
               const std::vector<Known>& known, const Tape& tape, const RecordRequest& request)
    : program_(program),
      binding_(binding),
      cohorts_(cohorts),
      known_(known),
      tape_(tape),
      capture_(cohorts, tape, lanes_wanted(cohorts, request)),
      first_step_(request.first_step)
{
    for (std::uint32_t c = 0; c < cohorts.all.size(); ++c) {
        if (capture_.lanes(c).empty())
            continue;
        any_ = true;
        capture_.want_ops(c);
    }
}

void Scribe::note(Player& player, const Instr& instr)
{
    capture_.note(player, instr);
    if (instr.code == Instr::Code::gather)
        note_last_arrivers(player, instr);
}

// Who came last to the groups of the lanes kept, of several the lowest.
void Scribe::note_last_arrivers(Player& player, const Instr& instr)
{
    const Meeting& meeting = cohorts_.meetings[instr.meeting];
    const auto lane_of = [&](const Member& member) {
        return LaneId{cohorts_.all[meeting.seats[member.seat].cohort].lanes[member.index]};
    };
    const auto kept = [&](const Member& member) {
        const auto& lanes = capture_.lanes(meeting.seats[member.seat].cohort);
        return std::binary_search(lanes.begin(), lanes.end(), member.index);
    };
    for (std::size_t g = 0; g < meeting.groups.size(); ++g) {
        const std::span members(meeting.members.data() + meeting.first[g],
                                meeting.first[g + 1] - meeting.first[g]);
        if (std::none_of(members.begin(), members.end(), kept))
            continue;
        const auto begin_of = [&](const Member& member) {
            return instr.write_first + 2 * member.seat;
        };
        LaneId last = LaneId::none();
        for (const Member& member : members)
            if (player.column(tape_.reads[instr.read_first + member.seat])[member.index] ==
                player.column(begin_of(member))[member.index])
                last = std::min(last, lane_of(member));
        for (const Member& member : members)
            if (kept(member))
                last_arrivers_[{begin_of(member), member.index}] = last;
    }
}

void Scribe::end_step(int step)
{
    for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c)
        for (std::size_t kept = 0; kept < capture_.lanes(c).size(); ++kept)
            for (std::uint32_t o = 0; o < cohorts_.all[c].kind->ops.size(); ++o)
                write(c, kept, o, step);
}

void Scribe::write(std::uint32_t c, std::size_t kept, std::uint32_t o, int step)
{
    const Cohort& cohort = cohorts_.all[c];
    const FlatOp& op = cohort.kind->ops[o];
    const OpValues& values = tape_.ops[c][o];
    const std::uint32_t index = capture_.lanes(c)[kept];
    const std::uint32_t lane = cohort.lanes[index];
    OpRecord record{.lane = LaneId{lane},
                    .stream = cohort.kind->streams[known_[c].stream_of(o)].id,
                    .label = op.label,
                    .op = op.order,
                    .kind = op.kind,
                    .micro_batch = op.micro_batch,
                    .layer = op.layer,
                    .step = static_cast<std::uint16_t>(step),
                    .issued = SimTime(issued(c, kept, op)),
                    .start = SimTime(capture_.at(c, values.start, kept)),
                    .end = SimTime(capture_.at(c, values.end, kept)),
                    .bytes = bytes_of(lane, *cohort.kind, op)};
    record.transfer_start =
        values.begin == none ? record.start : SimTime(capture_.at(c, values.begin, kept));
    if (op.kind == OpKind::collective) {
        record.group = binding_.lanes[lane].groups[op.group.value];
        record.last_arriver = last_arrivers_.at({values.begin, index});
    }
    records_.push_back(record);
}

Time Scribe::issued(std::uint32_t c, std::size_t kept, const FlatOp& op) const
{
    const Inputs& in = tape_.inputs[c];
    if (op.by_itself)
        return capture_.at(c, in.lane_start, kept);
    const Value base =
        op.segment == 0 ? in.base : tape_.ops[c][known_[c].barriers()[op.segment - 1]].end;
    return capture_.at(c, base, kept) + op.issue_offset.value();
}

Bytes Scribe::bytes_of(std::uint32_t lane, const LaneKind& kind, const FlatOp& op) const
{
    const Lane& here = binding_.lanes[lane];
    const auto& costs = binding_.costs.transfers;
    if (op.kind == OpKind::collective)
        return costs[binding_.groups[here.groups[op.group.value].value].variant][op.cost.value]
            .bytes;
    Bytes bytes{};
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
        if (kind.parts[p].direction == Direction::send)
            bytes +=
                costs[here.peers[kind.parts[p].peer.value].variant][kind.parts[p].cost.value].bytes;
    return bytes;
}

std::vector<OpRecord> Scribe::take()
{
    std::stable_sort(records_.begin(), records_.end(), [](const OpRecord& a, const OpRecord& b) {
        return std::tie(a.end, a.lane, a.stream) < std::tie(b.end, b.lane, b.stream);
    });
    return std::move(records_);
}

} // namespace trainyard::engine::replay
