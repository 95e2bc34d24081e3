#include "sim/engine/replay/cohorts.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace trainyard::engine::replay {

namespace {

// One end of a pipe.
struct End {
    std::uint32_t lane = none;
    std::uint32_t pipe = none; // of its kind
};

class Gatherer {
public:
    Gatherer(const Program& program, const Binding& binding, const CompiledProgram& compiled)
        : program_(program), binding_(binding), compiled_(compiled)
    {}

    std::optional<Cohorts> gather() &&
    {
        find_pipe_ends();
        result_.cohort_of = compiled_.lane_kinds;
        if (!refine())
            return std::nullopt;
        list_lanes();
        link_pipes();
        if (!seat_groups())
            return std::nullopt;
        for (Meeting& meeting : result_.meetings)
            find_rows(meeting);
        return std::move(result_);
    }

private:
    const LaneKind& kind_of(std::uint32_t lane) const
    {
        return compiled_.kinds[compiled_.lane_kinds[lane]];
    }

    std::size_t pipes_of(std::uint32_t lane) const { return kind_of(lane).parts_per_step.size(); }

    void find_pipe_ends()
    {
        ends_.resize(compiled_.pipes);
        for (std::uint32_t l = 0; l < binding_.lanes.size(); ++l)
            for (std::uint32_t p = 0; p < pipes_of(l); ++p) {
                auto& ends = ends_[compiled_.lane_pipes[compiled_.lane_pipe_first[l] + p]];
                ends[ends[0].lane == none ? 0 : 1] = {l, p};
            }
    }

    End other_end(std::uint32_t lane, std::uint32_t pipe) const
    {
        const auto& ends = ends_[compiled_.lane_pipes[compiled_.lane_pipe_first[lane] + pipe]];
        return ends[ends[0].lane == lane && ends[0].pipe == pipe ? 1 : 0];
    }

    // Splits cohorts until all their lanes have neighbours in the same ones. False if a pipe has
    // one end only, or the ends differ in the number of messages.
    bool refine()
    {
        for (std::size_t before = 0;;) {
            std::map<std::vector<std::uint32_t>, std::uint32_t> known;
            std::vector<std::uint32_t> refined;
            std::vector<std::uint32_t> key;
            for (std::uint32_t l = 0; l < binding_.lanes.size(); ++l) {
                key.assign(1, result_.cohort_of[l]);
                for (std::uint32_t p = 0; p < pipes_of(l); ++p) {
                    const End other = other_end(l, p);
                    if (other.lane == none || kind_of(l).parts_per_step[p] !=
                                                  kind_of(other.lane).parts_per_step[other.pipe])
                        return false;
                    key.push_back(result_.cohort_of[other.lane]);
                    key.push_back(other.pipe);
                }
                refined.push_back(
                    known.try_emplace(key, static_cast<std::uint32_t>(known.size())).first->second);
            }
            result_.cohort_of = std::move(refined);
            if (known.size() == before)
                return true;
            before = known.size();
        }
    }

    void list_lanes()
    {
        for (std::uint32_t l = 0; l < binding_.lanes.size(); ++l) {
            const std::uint32_t c = result_.cohort_of[l];
            if (c >= result_.all.size())
                result_.all.resize(c + 1);
            result_.all[c].kind = &kind_of(l);
            result_.index_of.push_back(static_cast<std::uint32_t>(result_.all[c].lanes.size()));
            result_.all[c].lanes.push_back(l);
        }
    }

    void link_pipes()
    {
        for (Cohort& cohort : result_.all)
            for (std::uint32_t p = 0; p < cohort.kind->parts_per_step.size(); ++p) {
                PipeLink link;
                bool same_index = true;
                for (std::uint32_t i = 0; i < cohort.lanes.size(); ++i) {
                    const End other = other_end(cohort.lanes[i], p);
                    link.cohort = result_.cohort_of[other.lane];
                    link.pipe = other.pipe;
                    link.partners.push_back(result_.index_of[other.lane]);
                    same_index &= link.partners.back() == i;
                }
                if (same_index)
                    link.partners.clear();
                cohort.pipes.push_back(std::move(link));
            }
    }

    std::uint32_t root(std::uint32_t seat)
    {
        while (parent_[seat] != seat)
            seat = parent_[seat] = parent_[parent_[seat]];
        return seat;
    }

    // Seats are joined by the groups that they share.
    bool seat_groups()
    {
        const std::size_t slots = program_.groups.size();
        parent_.resize(result_.all.size() * slots);
        std::iota(parent_.begin(), parent_.end(), 0U);
        std::vector<std::uint32_t> group_seat(binding_.groups.size(), none);
        std::vector<std::vector<Member>> members(binding_.groups.size());
        for (std::uint32_t l = 0; l < binding_.lanes.size(); ++l) {
            const auto& groups = binding_.lanes[l].groups;
            for (std::size_t s = 0; s < slots; ++s) {
                if (!groups[s].valid() || kind_of(l).collectives_per_step[s] == 0 ||
                    std::find(groups.begin(), groups.end(), groups[s]) !=
                        groups.begin() + static_cast<std::ptrdiff_t>(s))
                    continue;
                const auto seat = static_cast<std::uint32_t>(result_.cohort_of[l] * slots + s);
                const std::uint32_t g = groups[s].value;
                members[g].push_back({seat, result_.index_of[l]});
                if (group_seat[g] == none)
                    group_seat[g] = seat;
                parent_[root(seat)] = root(group_seat[g]);
            }
        }
        return make_meetings(group_seat, members);
    }

    bool make_meetings(const std::vector<std::uint32_t>& group_seat,
                       const std::vector<std::vector<Member>>& members)
    {
        const std::size_t slots = program_.groups.size();
        std::map<std::uint32_t, std::uint32_t> meeting_of; // by root
        for (Cohort& cohort : result_.all)
            cohort.meetings.assign(slots, none);
        for (std::uint32_t g = 0; g < group_seat.size(); ++g) {
            if (group_seat[g] == none)
                continue;
            if (members[g].size() != binding_.groups[g].members.size())
                return false;
            const auto [found, added] = meeting_of.try_emplace(
                root(group_seat[g]), static_cast<std::uint32_t>(result_.meetings.size()));
            if (added)
                result_.meetings.emplace_back();
            Meeting& meeting = result_.meetings[found->second];
            meeting.groups.push_back(g);
            meeting.first.push_back(static_cast<std::uint32_t>(meeting.members.size()));
            for (const Member& member : members[g])
                if (!take_seat(meeting, found->second, member))
                    return false;
        }
        for (Meeting& meeting : result_.meetings)
            meeting.first.push_back(static_cast<std::uint32_t>(meeting.members.size()));
        share_meetings();
        return true;
    }

    bool take_seat(Meeting& meeting, std::uint32_t number, const Member& member)
    {
        const std::size_t slots = program_.groups.size();
        const Seat seat{static_cast<std::uint32_t>(member.seat / slots),
                        GroupSlot{static_cast<std::uint8_t>(member.seat % slots)}};
        auto found = std::find(meeting.seats.begin(), meeting.seats.end(), seat);
        if (found == meeting.seats.end()) {
            Cohort& cohort = result_.all[seat.cohort];
            const std::uint32_t count = cohort.kind->collectives_per_step[seat.slot.value];
            if (!meeting.seats.empty() && count != meeting.per_step)
                return false;
            meeting.per_step = count;
            cohort.meetings[seat.slot.value] = number;
            found = meeting.seats.insert(meeting.seats.end(), seat);
        }
        meeting.members.push_back(
            {static_cast<std::uint32_t>(found - meeting.seats.begin()), member.index});
        return true;
    }

    // Slots that stand for a group found in an earlier slot meet where that one does.
    void share_meetings()
    {
        for (Cohort& cohort : result_.all) {
            const auto& groups = binding_.lanes[cohort.lanes.front()].groups;
            for (std::size_t s = 0; s < groups.size(); ++s) {
                const auto first =
                    groups[s].valid()
                        ? std::find(groups.begin(), groups.end(), groups[s]) - groups.begin()
                        : static_cast<std::ptrdiff_t>(s);
                cohort.first_slots.push_back(make_id<GroupSlot>(static_cast<std::size_t>(first)));
                cohort.meetings[s] = cohort.meetings[static_cast<std::size_t>(first)];
            }
        }
    }

    void find_rows(Meeting& meeting) const
    {
        if (meeting.seats.size() != 1)
            return;
        const std::uint32_t lanes =
            static_cast<std::uint32_t>(result_.all[meeting.seats[0].cohort].lanes.size());
        const std::uint32_t size = meeting.first[1] - meeting.first[0];
        const std::uint32_t stride =
            size == 1 ? 1 : meeting.members[1].index - meeting.members[0].index;
        if (meeting.members.size() != lanes || stride == 0 ||
            lanes % (std::uint64_t{size} * stride) != 0)
            return;
        for (std::uint32_t g = 0; g < meeting.groups.size(); ++g) {
            const std::uint32_t sheet = g / stride;
            if (meeting.first[g + 1] - meeting.first[g] != size)
                return;
            for (std::uint32_t m = 0; m < size; ++m)
                if (meeting.members[meeting.first[g] + m].index !=
                    (sheet * size + m) * stride + g % stride)
                    return;
        }
        meeting.size = size;
        meeting.stride = stride;
    }

    const Program& program_;
    const Binding& binding_;
    const CompiledProgram& compiled_;
    Cohorts result_;
    std::vector<std::array<End, 2>> ends_; // by pipe
    std::vector<std::uint32_t> parent_;    // of seats: cohort x slots + slot
};

} // namespace

std::optional<Cohorts> gather_cohorts(const Program& program, const Binding& binding,
                                      const CompiledProgram& compiled)
{
    return Gatherer(program, binding, compiled).gather();
}

} // namespace trainyard::engine::replay
