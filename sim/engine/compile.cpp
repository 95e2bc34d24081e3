#include "sim/engine/compile.h"

#include "sim/engine/flatten.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace trainyard::engine {

namespace {

// For each entry the index of the first equal one; invalid entries stand for themselves.
template <class T, class Key>
void first_equal(const std::vector<T>& entries, const Key& key, std::vector<std::uint8_t>& first)
{
    first.clear();
    for (std::size_t i = 0; i < entries.size(); ++i) {
        std::size_t j = key(entries[i]).valid() ? 0 : i;
        while (key(entries[j]) != key(entries[i]))
            ++j;
        first.push_back(static_cast<std::uint8_t>(j));
    }
}

void find_aliases(const Lane& lane, SlotAliases& aliases)
{
    first_equal(
        lane.groups, [](GroupId group) { return group; }, aliases.groups);
    first_equal(
        lane.peers, [](const Peer& peer) { return peer.lane; }, aliases.peers);
}

// Numbers the pipes of all lanes so that both ends have one number: by sender, receiver, channel.
class PipeNumbers {
public:
    PipeNumbers(const Binding& binding, const std::vector<std::vector<PipeEnd>>& kind_ends,
                CompiledProgram& compiled)
        : binding_(binding), kind_ends_(kind_ends), compiled_(compiled)
    {}

    void number() &&
    {
        list_ends();
        list_by_sender();
        std::vector<std::uint32_t> number_first; // by sender
        for (std::size_t sender = 0; sender < binding_.lanes.size(); ++sender) {
            number_first.push_back(compiled_.pipes);
            Pipe* const first = pipes_.data() + sender_first_[sender];
            Pipe* const last = pipes_.data() + sender_first_[sender + 1];
            std::sort(first, last);
            sender_end_[sender] = sender_first_[sender] +
                                  static_cast<std::uint32_t>(std::unique(first, last) - first);
            compiled_.pipes += sender_end_[sender] - sender_first_[sender];
        }
        for (const End& end : ends_) {
            const Pipe* const first = pipes_.data() + sender_first_[end.sender];
            const Pipe* const last = pipes_.data() + sender_end_[end.sender];
            compiled_.lane_pipes.push_back(
                number_first[end.sender] +
                static_cast<std::uint32_t>(std::lower_bound(first, last, end.pipe) - first));
        }
    }

private:
    using Pipe = std::uint64_t; // of a sender: receiver, channel
    struct End {
        std::uint32_t sender = 0;
        Pipe pipe = 0;
    };

    // By lane and pipe of its kind.
    void list_ends()
    {
        std::size_t count = 0;
        for (const std::uint32_t kind : compiled_.lane_kinds) {
            compiled_.lane_pipe_first.push_back(static_cast<std::uint32_t>(count));
            count += kind_ends_[kind].size();
        }
        compiled_.lane_pipes.reserve(count);
        ends_.reserve(count);
        for (std::uint32_t l = 0; l < binding_.lanes.size(); ++l)
            for (const PipeEnd& end : kind_ends_[compiled_.lane_kinds[l]]) {
                const std::uint32_t other = binding_.lanes[l].peers[end.peer.value].lane.value;
                const bool sends = end.direction == Direction::send;
                ends_.push_back({sends ? l : other, Pipe{sends ? other : l} << 8 | end.channel});
            }
    }

    // Both ends of a pipe stand here.
    void list_by_sender()
    {
        sender_first_.assign(binding_.lanes.size() + 1, 0);
        for (const End& end : ends_)
            ++sender_first_[end.sender + 1];
        std::partial_sum(sender_first_.begin(), sender_first_.end(), sender_first_.begin());
        sender_end_.assign(sender_first_.begin(), sender_first_.end() - 1);
        pipes_.resize(ends_.size());
        for (const End& end : ends_)
            pipes_[sender_end_[end.sender]++] = end.pipe;
    }

    const Binding& binding_;
    const std::vector<std::vector<PipeEnd>>& kind_ends_;
    CompiledProgram& compiled_;
    std::vector<End> ends_;
    std::vector<std::uint32_t> sender_first_; // by sender, and the end: into pipes_
    std::vector<std::uint32_t> sender_end_;
    std::vector<Pipe> pipes_;
};

} // namespace

CompiledProgram compile(const Program& program, const Binding& binding, const Omissions& omissions)
{
    CompiledProgram compiled;
    std::map<std::pair<RoleId, SlotAliases>, std::uint32_t> known;
    auto last = known.end(); // neighbours in number are mostly of one kind
    std::vector<std::vector<PipeEnd>> kind_ends;
    SlotAliases aliases;
    compiled.lane_kinds.reserve(binding.lanes.size());
    for (const Lane& lane : binding.lanes) {
        find_aliases(lane, aliases);
        if (last != known.end() && last->first.first == lane.role && last->first.second == aliases)
        {
            compiled.lane_kinds.push_back(last->second);
            continue;
        }
        bool added = false;
        std::tie(last, added) = known.try_emplace(
            {lane.role, aliases}, static_cast<std::uint32_t>(compiled.kinds.size()));
        if (added) {
            const Omission omission = omissions.empty() ? Omission{} : omissions[lane.role.value];
            FlatRole flat = flatten(program, binding.costs, lane.role, aliases, omission);
            kind_ends.push_back(std::move(flat.pipe_ends));
            compiled.kinds.push_back(std::move(flat.kind));
        }
        compiled.lane_kinds.push_back(last->second);
    }
    for (const LaneKind& kind : compiled.kinds)
        compiled.streams =
            std::max(compiled.streams, static_cast<std::uint32_t>(kind.streams.size()));
    PipeNumbers(binding, kind_ends, compiled).number();
    return compiled;
}

} // namespace trainyard::engine
