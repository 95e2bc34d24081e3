#pragma once

// Matches those who take part in a transfer: members of a group in the order of its collectives,
// the two ends of a pipe in the order of its messages.
//
// Each group and each pipe is a channel with a short list of transfers in progress, sorted by
// sequence; the wanted one is nearly always the first or follows the last.

#include "sim/engine/state.h"

namespace trainyard::engine {

class TransferTable {
public:
    explicit TransferTable(RunState& run);

    std::uint32_t group_channel(GroupId group) const { return group.value; }
    std::uint32_t pipe_channel(std::uint32_t pipe) const
    {
        return static_cast<std::uint32_t>(run_.binding.groups.size()) + pipe;
    }
    bool is_group(std::uint32_t channel) const { return channel < run_.binding.groups.size(); }

    // Of a group's channel: members that take part, and the variant of its costs.
    std::uint32_t members(std::uint32_t channel) const { return channels_[channel].members; }
    std::uint32_t variant(std::uint32_t channel) const { return channels_[channel].variant; }

    // The transfer at `sequence` of the channel; a new one in state `gathering` if nobody came yet.
    std::uint32_t find_or_add(std::uint32_t channel, std::uint32_t sequence);
    void release(std::uint32_t transfer);

    // A transfer of no channel.
    std::uint32_t add();
    void free(std::uint32_t transfer);

    // The first transfer in progress of a channel, `nobody` if there is none; follow
    // Transfer::next.
    std::uint32_t first(std::uint32_t channel) const { return channels_[channel].first; }

private:
    struct Channel {
        std::uint32_t first = nobody;
        std::uint32_t last = nobody;
        std::uint32_t members = 2;
        std::uint32_t variant = 0;
    };

    std::uint32_t add(std::uint32_t channel, std::uint32_t sequence);

    RunState& run_;
    std::vector<Channel> channels_; // groups, then pipes
    std::vector<std::uint32_t> free_;
};

} // namespace trainyard::engine
