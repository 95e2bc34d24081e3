#include "sim/engine/replay/lane_classes.h"

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

class LaneClassifier {
public:
    LaneClassifier(const Program& program, const Binding& binding, const CompiledProgram& compiled)
        : program_(program), binding_(binding), compiled_(compiled)
    {}

    std::optional<LaneClasses> classify() &&
    {
        find_pipe_ends();
        result_.class_of = compiled_.lane_kinds;
        if (!refine())
            return std::nullopt;
        list_lanes();
        link_pipes();
        if (!find_group_classes())
            return std::nullopt;
        for (GroupClass& group_class : result_.group_classes)
            find_rows(group_class);
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

    // Splits lane classes until all their lanes have neighbours in the same ones. False if a pipe
    // has one end only, or the ends differ in the number of messages.
    bool refine()
    {
        for (std::size_t before = compiled_.kinds.size();;) {
            const std::optional<std::size_t> after = split(before);
            if (!after || *after == before)
                return after.has_value();
            before = *after;
        }
    }

    // Splits each lane class once, and numbers the new ones by their first lanes. Gives their
    // number.
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
            const std::uint32_t c = result_.class_of[l];
            if (last[c] == known[c].end() || last[c]->first != key) {
                const auto [found, added] = known[c].try_emplace(key, count);
                count += added ? 1 : 0;
                last[c] = found;
            }
            refined[l] = last[c]->second;
        }
        result_.class_of = std::move(refined);
        return count;
    }

    // Finds the lane class and the pipe there that each pipe of a lane leads to.
    bool find_neighbours(std::uint32_t l, std::vector<std::uint32_t>& key) const
    {
        key.clear();
        for (std::uint32_t p = 0; p < pipes_of(l); ++p) {
            const End other = other_end(l, p);
            if (other.lane == none ||
                kind_of(l).parts_per_step[p] != kind_of(other.lane).parts_per_step[other.pipe])
                return false;
            key.push_back(result_.class_of[other.lane]);
            key.push_back(other.pipe);
        }
        return true;
    }

    void list_lanes()
    {
        for (std::uint32_t l = 0; l < binding_.lanes.size(); ++l) {
            const std::uint32_t c = result_.class_of[l];
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
        for (LaneClass& lane_class : result_.all)
            for (std::uint32_t p = 0; p < lane_class.kind->parts_per_step.size(); ++p) {
                PipeLink link;
                link.partners.reserve(lane_class.lanes.size());
                bool same_index = true;
                for (std::uint32_t i = 0; i < lane_class.lanes.size(); ++i) {
                    const End other = other_end(lane_class.lanes[i], p);
                    link.lane_class = result_.class_of[other.lane];
                    link.pipe = other.pipe;
                    link.partners.push_back(result_.index_of[other.lane]);
                    same_index &= link.partners.back() == i;
                }
                if (same_index)
                    link.partners = {};
                lane_class.pipes.push_back(std::move(link));
            }
    }

    std::uint32_t root(std::uint32_t member_class)
    {
        while (parent_[member_class] != member_class)
            member_class = parent_[member_class] = parent_[parent_[member_class]];
        return member_class;
    }

    // Joins the member classes that share groups, by union and find.
    bool find_group_classes()
    {
        const std::size_t slots = program_.groups.size();
        parent_.resize(result_.all.size() * slots);
        std::iota(parent_.begin(), parent_.end(), 0U);
        member_class_of_.assign(binding_.groups.size(), none);
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
                const auto member_class =
                    static_cast<std::uint32_t>(result_.class_of[l] * slots + s);
                const std::uint32_t g = group.value;
                if (next[g] == member_first_[g + 1])
                    return false;
                members_[next[g]++] = {member_class, result_.index_of[l]};
                if (member_class_of_[g] == none)
                    member_class_of_[g] = member_class;
                else if (member_class_of_[g] != member_class)
                    parent_[root(member_class)] = root(member_class_of_[g]);
            }
        }
        for (std::size_t g = 0; g < member_class_of_.size(); ++g)
            if (member_class_of_[g] != none && next[g] != member_first_[g + 1])
                return false;
        return make_group_classes();
    }

    // The first slot that stands for the same group.
    static std::size_t first_slot(const std::vector<GroupId>& groups, std::size_t slot)
    {
        std::size_t first = 0;
        while (groups[first] != groups[slot])
            ++first;
        return first;
    }

    bool make_group_classes()
    {
        std::vector<std::uint32_t> class_of_root(parent_.size(), none); // by root
        for (LaneClass& lane_class : result_.all)
            lane_class.group_classes.assign(program_.groups.size(), none);
        for (std::uint32_t g = 0; g < member_class_of_.size(); ++g) {
            if (member_class_of_[g] == none)
                continue;
            std::uint32_t& number = class_of_root[root(member_class_of_[g])];
            if (number == none) {
                number = static_cast<std::uint32_t>(result_.group_classes.size());
                result_.group_classes.emplace_back();
            }
            GroupClass& group_class = result_.group_classes[number];
            group_class.groups.push_back(g);
            group_class.first.push_back(static_cast<std::uint32_t>(group_class.members.size()));
            for (std::size_t m = member_first_[g]; m < member_first_[g + 1]; ++m)
                if (!add_member(group_class, number, members_[m]))
                    return false;
        }
        for (GroupClass& group_class : result_.group_classes)
            group_class.first.push_back(static_cast<std::uint32_t>(group_class.members.size()));
        alias_slots();
        return true;
    }

    bool add_member(GroupClass& group_class, std::uint32_t number, const Member& member)
    {
        const std::size_t slots = program_.groups.size();
        const MemberClass member_class{
            static_cast<std::uint32_t>(member.member_class / slots),
            GroupSlot{static_cast<std::uint8_t>(member.member_class % slots)}};
        auto found =
            std::find(group_class.classes.begin(), group_class.classes.end(), member_class);
        if (found == group_class.classes.end()) {
            LaneClass& lane_class = result_.all[member_class.lane_class];
            const std::uint32_t count =
                lane_class.kind->collectives_per_step[member_class.slot.value];
            if (!group_class.classes.empty() && count != group_class.per_step)
                return false;
            group_class.per_step = count;
            lane_class.group_classes[member_class.slot.value] = number;
            found = group_class.classes.insert(group_class.classes.end(), member_class);
        }
        group_class.members.push_back(
            {static_cast<std::uint32_t>(found - group_class.classes.begin()), member.index});
        return true;
    }

    // A slot that stands for the group of an earlier slot gets the group class of that one.
    void alias_slots()
    {
        for (LaneClass& lane_class : result_.all) {
            const Lane& lane = binding_.lanes[lane_class.lanes.front()];
            for (std::size_t s = 0; s < lane.groups.size(); ++s) {
                const std::size_t first = lane.groups[s].valid() ? first_slot(lane.groups, s) : s;
                lane_class.first_slots.push_back(make_id<GroupSlot>(first));
                lane_class.group_classes[s] = lane_class.group_classes[first];
            }
        }
    }

    void find_rows(GroupClass& group_class) const
    {
        if (group_class.classes.size() != 1)
            return;
        const std::uint32_t lanes =
            static_cast<std::uint32_t>(result_.all[group_class.classes[0].lane_class].lanes.size());
        const std::uint32_t size = group_class.first[1] - group_class.first[0];
        const std::uint32_t stride =
            size == 1 ? 1 : group_class.members[1].index - group_class.members[0].index;
        if (group_class.members.size() != lanes || stride == 0 ||
            lanes % (std::uint64_t{size} * stride) != 0)
            return;
        for (std::uint32_t g = 0; g < group_class.groups.size(); ++g) {
            const std::uint32_t sheet = g / stride;
            if (group_class.first[g + 1] - group_class.first[g] != size)
                return;
            for (std::uint32_t m = 0; m < size; ++m)
                if (group_class.members[group_class.first[g] + m].index !=
                    (sheet * size + m) * stride + g % stride)
                    return;
        }
        group_class.size = size;
        group_class.stride = stride;
    }

    const Program& program_;
    const Binding& binding_;
    const CompiledProgram& compiled_;
    LaneClasses result_;
    std::vector<std::array<End, 2>> ends_;       // by pipe
    std::vector<std::uint32_t> parent_;          // of member classes: lane class x slots + slot
    std::vector<std::uint32_t> member_class_of_; // by GroupId: of its first member
    std::vector<std::size_t> member_first_;      // by GroupId, and the end: into members_
    std::vector<Member> members_;                // `member_class` as in parent_
};

} // namespace

std::optional<LaneClasses> classify_lanes(const Program& program, const Binding& binding,
                                          const CompiledProgram& compiled)
{
    return LaneClassifier(program, binding, compiled).classify();
}

} // namespace trainyard::engine::replay
