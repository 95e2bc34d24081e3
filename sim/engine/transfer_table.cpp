#include "sim/engine/transfer_table.h"

namespace trainyard::engine {

TransferTable::TransferTable(RunState& run)
    : run_(run), channels_(run.binding.groups.size() + run.compiled.pipes)
{
    for (std::size_t g = 0; g < run.binding.groups.size(); ++g) {
        channels_[g].members = static_cast<std::uint32_t>(run.binding.groups[g].members.size());
        channels_[g].variant = run.binding.groups[g].variant;
    }
}

std::uint32_t TransferTable::add()
{
    std::uint32_t id;
    if (free_.empty()) {
        id = static_cast<std::uint32_t>(run_.transfers.size());
        run_.transfers.emplace_back();
    } else {
        id = free_.back();
        free_.pop_back();
    }
    Transfer& transfer = run_.transfers[id];
    const std::uint32_t version = transfer.version; // outlives reuse: old events stay stale
    transfer = Transfer{};
    transfer.version = version;
    return id;
}

std::uint32_t TransferTable::add(std::uint32_t channel, std::uint32_t sequence)
{
    const std::uint32_t id = add();
    run_.transfers[id].channel = channel;
    run_.transfers[id].sequence = sequence;
    return id;
}

void TransferTable::free(std::uint32_t transfer)
{
    ++run_.transfers[transfer].version;
    free_.push_back(transfer);
}

std::uint32_t TransferTable::find_or_add(std::uint32_t channel, std::uint32_t sequence)
{
    const Channel& before = channels_[channel];
    std::uint32_t previous = nobody;
    std::uint32_t next = before.first;
    if (before.last != nobody && run_.transfers[before.last].sequence < sequence) {
        previous = before.last;
        next = nobody;
    }
    while (next != nobody && run_.transfers[next].sequence < sequence) {
        previous = next;
        next = run_.transfers[next].next;
    }
    if (next != nobody && run_.transfers[next].sequence == sequence)
        return next;

    const std::uint32_t added = add(channel, sequence);
    run_.transfers[added].next = next;
    (previous == nobody ? channels_[channel].first : run_.transfers[previous].next) = added;
    if (next == nobody)
        channels_[channel].last = added;
    return added;
}

void TransferTable::release(std::uint32_t transfer)
{
    Channel& channel = channels_[run_.transfers[transfer].channel];
    std::uint32_t previous = nobody;
    for (std::uint32_t id = channel.first; id != transfer; id = run_.transfers[id].next)
        previous = id;
    const std::uint32_t next = run_.transfers[transfer].next;
    (previous == nobody ? channel.first : run_.transfers[previous].next) = next;
    if (next == nobody)
        channel.last = previous;
    free(transfer);
}

} // namespace trainyard::engine
