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
        for (std::size_t before = compiled_.kinds.size();;) {
            const std::optional<std::size_t> after = split(before);
            if (!after || *after == before)
                return after.has_value();
            before = *after;
        }
    }

    // Once; gives the number of cohorts, numbered by their first lanes.
    std::optional<std::size_t> split(std::size_t before)
    {
        using Known = std::map<std::vector<std::uint32_t>, std::uint32_t>; // by neighbours
        std::vector<Known> known(before);
        std::vector<Known::const_iterator> last(before); // mostly the same as of the lane before
        for (std::size_t c = 0; c < before; ++c)
            last[c] = known[c].end();
        std::uint32_t count = 0;
        std::vector<std::uint32_t> key;
        std::vector<std::uint32_t> refined(binding_.lanes.size());
        for (std::uint32_t l = 0; l < binding_.lanes.size(); ++l) {
            if (!find_neighbours(l, key))
                return std::nullopt;
            const std::uint32_t c = result_.cohort_of[l];
            if (last[c] == known[c].end() || last[c]->first != key) {
                const auto [found, added] = known[c].try_emplace(key, count);
                count += added ? 1 : 0;
                last[c] = found;
            }
            refined[l] = last[c]->second;
        }
        result_.cohort_of = std::move(refined);
        return count;
    }

    // Whom a lane's pipes lead to: cohort and pipe there.
    bool find_neighbours(std::uint32_t l, std::vector<std::uint32_t>& key) const
    {
        key.clear();
        for (std::uint32_t p = 0; p < pipes_of(l); ++p) {
            const End other = other_end(l, p);
            if (other.lane == none ||
                kind_of(l).parts_per_step[p] != kind_of(other.lane).parts_per_step[other.pipe])
                return false;
            key.push_back(result_.cohort_of[other.lane]);
            key.push_back(other.pipe);
        }
        return true;
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
            result_.all[c].multiplicity.push_back(binding_.lanes[l].multiplicity);
        }
    }

    void link_pipes()
    {
        for (Cohort& cohort : result_.all)
            for (std::uint32_t p = 0; p < cohort.kind->parts_per_step.size(); ++p) {
                PipeLink link;
                link.partners.reserve(cohort.lanes.size());
                bool same_index = true;
                for (std::uint32_t i = 0; i < cohort.lanes.size(); ++i) {
                    const End other = other_end(cohort.lanes[i], p);
                    link.cohort = result_.cohort_of[other.lane];
                    link.pipe = other.pipe;
                    link.partners.push_back(result_.index_of[other.lane]);
                    same_index &= link.partners.back() == i;
                }
                if (same_index)
                    link.partners = {};
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
        group_seat_.assign(binding_.groups.size(), none);
        member_first_.push_back(0);
        for (const Group& group : binding_.groups)
            member_first_.push_back(member_first_.back() + group.members.size());
        std::vector<std::size_t> next(member_first_.begin(), member_first_.end() - 1);
        members_.resize(member_first_.back());
        for (std::uint32_t l = 0; l < binding_.lanes.size(); ++l) {
            const std::vector<GroupId>& groups = binding_.lanes[l].groups;
            const std::vector<std::uint32_t>& used = kind_of(l).collectives_per_step;
            for (std::size_t s = 0; s < slots; ++s) {
                const GroupId group = groups[s];
                if (!group.valid() || used[s] == 0 || first_slot(groups, s) != s)
                    continue;
                const auto seat = static_cast<std::uint32_t>(result_.cohort_of[l] * slots + s);
                const std::uint32_t g = group.value;
                if (next[g] == member_first_[g + 1])
                    return false;
                members_[next[g]++] = {seat, result_.index_of[l]};
                if (group_seat_[g] == none)
                    group_seat_[g] = seat;
                else if (group_seat_[g] != seat)
                    parent_[root(seat)] = root(group_seat_[g]);
            }
        }
        for (std::size_t g = 0; g < group_seat_.size(); ++g)
            if (group_seat_[g] != none && next[g] != member_first_[g + 1])
                return false;
        return make_meetings();
    }

    // The first that stands for the same group.
    static std::size_t first_slot(const std::vector<GroupId>& groups, std::size_t slot)
    {
        std::size_t first = 0;
        while (groups[first] != groups[slot])
            ++first;
        return first;
    }

    bool make_meetings()
    {
        std::vector<std::uint32_t> meeting_of(parent_.size(), none); // by root
        for (Cohort& cohort : result_.all)
            cohort.meetings.assign(program_.groups.size(), none);
        for (std::uint32_t g = 0; g < group_seat_.size(); ++g) {
            if (group_seat_[g] == none)
                continue;
            std::uint32_t& number = meeting_of[root(group_seat_[g])];
            if (number == none) {
                number = static_cast<std::uint32_t>(result_.meetings.size());
                result_.meetings.emplace_back();
            }
            Meeting& meeting = result_.meetings[number];
            meeting.groups.push_back(g);
            meeting.first.push_back(static_cast<std::uint32_t>(meeting.members.size()));
            for (std::size_t m = member_first_[g]; m < member_first_[g + 1]; ++m)
                if (!take_seat(meeting, number, members_[m]))
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
            const Lane& lane = binding_.lanes[cohort.lanes.front()];
            for (std::size_t s = 0; s < lane.groups.size(); ++s) {
                const std::size_t first = lane.groups[s].valid() ? first_slot(lane.groups, s) : s;
                cohort.first_slots.push_back(make_id<GroupSlot>(first));
                cohort.meetings[s] = cohort.meetings[first];
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
    std::vector<std::array<End, 2>> ends_;  // by pipe
    std::vector<std::uint32_t> parent_;     // of seats: cohort x slots + slot
    std::vector<std::uint32_t> group_seat_; // by GroupId: of its first member
    std::vector<std::size_t> member_first_; // by GroupId, and the end: into members_
    std::vector<Member> members_;           // `seat` as in parent_
};

} // namespace

std::optional<Cohorts> gather_cohorts(const Program& program, const Binding& binding,
                                      const CompiledProgram& compiled)
{
    return Gatherer(program, binding, compiled).gather();
}

} // namespace trainyard::engine::replay
