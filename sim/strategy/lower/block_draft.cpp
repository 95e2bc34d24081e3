#include "sim/strategy/lower/block_draft.h"

#include <algorithm>
#include <cassert>

namespace trainyard {

BlockDraft::BlockDraft(std::string name, std::uint16_t bound)
    : name_(std::move(name)), bound_(bound), events_(bound)
{}

std::size_t BlockDraft::add(const Op& op)
{
    entries_.push_back({op, {}});
    return entries_.size() - 1;
}

void BlockDraft::wait_for(std::size_t op, std::size_t earlier)
{
    assert(earlier < op);
    if (entries_[op].op.stream != entries_[earlier].op.stream)
        wait_for(op, event_of(earlier));
}

void BlockDraft::wait_for(std::size_t op, LocalEvent event)
{
    std::vector<LocalEvent>& waits = entries_[op].waits;
    if (std::find(waits.begin(), waits.end(), event) == waits.end())
        waits.push_back(event);
}

LocalEvent BlockDraft::event_of(std::size_t op)
{
    LocalEvent& event = entries_[op].op.record;
    if (!event.valid())
        event = LocalEvent{events_++};
    return event;
}

void BlockDraft::record(std::size_t op, LocalEvent event)
{
    assert(event.value < bound_);
    const LocalEvent own = entries_[op].op.record;
    if (own.valid())
        for (std::size_t later = op + 1; later < entries_.size(); ++later)
            std::ranges::replace(entries_[later].waits, own, event);
    entries_[op].op.record = event;
}

Block BlockDraft::build() &&
{
    BlockBuilder builder(std::move(name_));
    for (std::uint16_t i = 0; i < events_; ++i)
        builder.event();
    for (const Entry& entry : entries_) {
        builder.op(entry.op);
        for (const LocalEvent event : entry.waits)
            builder.wait(event);
    }
    return std::move(builder).build();
}

} // namespace trainyard
