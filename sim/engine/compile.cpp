#include "sim/engine/compile.h"

#include "sim/engine/flatten.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trainyard::engine {

namespace {

// For each entry the index of the first equal one; invalid entries stand for themselves.
template <class T, class Key>
std::vector<std::uint8_t> first_equal(const std::vector<T>& entries, const Key& key)
{
    std::vector<std::uint8_t> first;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        std::size_t j = key(entries[i]).valid() ? 0 : i;
        while (key(entries[j]) != key(entries[i]))
            ++j;
        first.push_back(static_cast<std::uint8_t>(j));
    }
    return first;
}

SlotAliases aliases_of(const Lane& lane)
{
    return {first_equal(lane.groups, [](GroupId group) { return group; }),
            first_equal(lane.peers, [](const Peer& peer) { return peer.lane; })};
}

using PipeKey = std::tuple<LaneId, LaneId, std::uint8_t>; // sender, receiver, channel

// Numbers the pipes of all lanes so that both ends have one number.
void number_pipes(const Binding& binding, const std::vector<std::vector<PipeEnd>>& kind_ends,
                  CompiledProgram& compiled)
{
    std::vector<PipeKey> keys;
    for (std::size_t l = 0; l < binding.lanes.size(); ++l) {
        compiled.lane_pipe_first.push_back(static_cast<std::uint32_t>(keys.size()));
        for (const PipeEnd& end : kind_ends[compiled.lane_kinds[l]]) {
            const LaneId here = make_id<LaneId>(l);
            const LaneId there = binding.lanes[l].peers[end.peer.value].lane;
            keys.push_back(end.direction == Direction::send ? PipeKey{here, there, end.channel}
                                                            : PipeKey{there, here, end.channel});
        }
    }
    std::vector<PipeKey> sorted = keys;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    compiled.pipes = static_cast<std::uint32_t>(sorted.size());
    for (const PipeKey& key : keys)
        compiled.lane_pipes.push_back(static_cast<std::uint32_t>(
            std::lower_bound(sorted.begin(), sorted.end(), key) - sorted.begin()));
}

} // namespace

CompiledProgram compile(const Program& program, const Binding& binding)
{
    CompiledProgram compiled;
    std::map<std::pair<RoleId, SlotAliases>, std::uint32_t> known;
    std::vector<std::vector<PipeEnd>> kind_ends;
    for (const Lane& lane : binding.lanes) {
        const auto [found, added] = known.try_emplace(
            {lane.role, aliases_of(lane)}, static_cast<std::uint32_t>(compiled.kinds.size()));
        if (added) {
            FlatRole flat = flatten(program, binding.costs, lane.role, found->first.second);
            kind_ends.push_back(std::move(flat.pipe_ends));
            compiled.kinds.push_back(std::move(flat.kind));
        }
        compiled.lane_kinds.push_back(found->second);
    }
    for (const LaneKind& kind : compiled.kinds)
        compiled.streams =
            std::max(compiled.streams, static_cast<std::uint32_t>(kind.streams.size()));
    number_pipes(binding, kind_ends, compiled);
    return compiled;
}

} // namespace trainyard::engine
