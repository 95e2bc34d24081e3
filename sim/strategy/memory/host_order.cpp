#include "sim/strategy/memory/host_order.h"

namespace trainyard {

namespace {

bool runs_beside_compute(const Program& program, const Op& op)
{
    const StreamKind kind = program.streams[op.stream.value].kind;
    return !op.blocks_host && (kind == StreamKind::communication || kind == StreamKind::copy);
}

std::span<const MemoryEvent> events_of(const Program& program, const Op& op)
{
    if (!op.memory.valid())
        return {};
    const MemoryEffect& effect = program.memory_effects[op.memory.value];
    return std::span(program.memory_events).subspan(effect.event_first, effect.event_count);
}

bool gives_back_at_end(const Program& program, const Op& op)
{
    for (const MemoryEvent& event : events_of(program, op))
        if (event.moment == Moment::end)
            return true;
    return false;
}

} // namespace

HostOrder::HostOrder(const Program& program)
    : program_(program), waiting_streams_(program.streams.size(), false)
{
    for (const Block& block : program.blocks)
        for (const Op& op : block.ops)
            if (runs_beside_compute(program, op) && gives_back_at_end(program, op))
                waiting_streams_[op.stream.value] = true;
    for (const Block& block : program.blocks)
        add_block(block);
    first_.push_back(static_cast<std::uint32_t>(entries_.size()));
}

void HostOrder::add_block(const Block& block)
{
    first_.push_back(static_cast<std::uint32_t>(entries_.size()));
    updates_.push_back(false);
    for (std::uint32_t i = 0; i < block.ops.size(); ++i) {
        const Op& op = block.ops[i];
        const auto events = events_of(program_, op);
        Entry entry;
        entry.op = i;
        entry.stream = op.stream.value;
        entry.releases_stream = waiting_streams_[op.stream.value];
        entry.releases_all = program_.labels[op.label.value].phase == Phase::optimizer;
        updates_.back() = updates_.back() || entry.releases_all;
        if (events.empty() && !entry.releases_stream && !entry.releases_all)
            continue;
        const auto copy = [&](Moment moment) {
            for (const MemoryEvent& event : events)
                if (event.moment == moment)
                    events_.push_back(event);
            return static_cast<std::uint32_t>(events_.size());
        };
        entry.start_first = static_cast<std::uint32_t>(events_.size());
        entry.end_first = copy(Moment::start);
        entry.end_last = copy(Moment::end);
        entry.holds = entry.end_last > entry.end_first && runs_beside_compute(program_, op);
        entries_.push_back(entry);
    }
}

} // namespace trainyard
