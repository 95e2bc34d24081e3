#include "sim/strategy/lower/stage_writer.h"

#include "sim/strategy/lower/parts.h"

#include <algorithm>
#include <utility>

namespace trainyard {

StageWriter::StageWriter(PlanBuilder& plan, const Job& job, std::string name)
    : plan_(plan),
      job_(job),
      layout_(job),
      role_(std::move(name)),
      never_(role_.event()),
      computed_(role_.event()),
      tail_(role_.event()),
      reduced_(role_.event()),
      offloaded_(role_.event())
{}

std::span<const EventId> StageWriter::finished()
{
    finished_ = {computed_, tail_, tail_beside_};
    return std::span<const EventId>(finished_).first(tail_beside_.valid() ? 3 : 2);
}

EventId StageWriter::bound(LocalEvent event, Chain chain)
{
    if (event == layer_event::computed)
        return computed_;
    if (event == layer_event::tail)
        return chain == Chain::main ? tail_ : tail_beside_;
    const std::size_t index = event.value - layer_event::count;
    std::vector<EventId>& inner = inner_[static_cast<std::size_t>(chain)];
    while (inner.size() <= index)
        inner.push_back(role_.event());
    return inner[index];
}

const std::vector<EventId>& StageWriter::events_of(const LayerUse& use, Chain chain)
{
    const std::size_t inner = std::max(use.block->events, layer_event::count) - layer_event::count;
    if (inner > 0)
        bound(LocalEvent{static_cast<std::uint16_t>(layer_event::count + inner - 1)}, chain);
    const std::vector<EventId>& made = inner_[static_cast<std::size_t>(chain)];
    std::vector<EventId>& events = using_[static_cast<std::size_t>(chain)];
    events.assign({use.input, use.parameters, bound(layer_event::tail, chain), computed_});
    events.insert(events.end(), made.begin(), made.begin() + static_cast<std::ptrdiff_t>(inner));
    return events;
}

void StageWriter::layer(const LayerUse& use)
{
    if (use.block->pieces.empty())
        return;
    const std::vector<EventId>& events = events_of(use, Chain::main);
    for (const BlockId piece : use.block->pieces)
        role_.use(piece, events, use.index.micro_batch, use.index.layer);
}

void StageWriter::layers_in_turns(const LayerUse& forward, const LayerUse& backward)
{
    if (!tail_beside_.valid())
        tail_beside_ = role_.event();
    const std::array uses = {&backward, &forward};
    const std::array events = {&events_of(backward, Chain::main),
                               &events_of(forward, Chain::beside)};
    for (std::size_t piece = 0;; ++piece) {
        bool any = false;
        for (std::size_t side : {0, 1}) {
            const LayerUse& use = *uses[side];
            if (piece >= use.block->pieces.size())
                continue;
            role_.use(use.block->pieces[piece], *events[side], use.index.micro_batch,
                      use.index.layer);
            any = true;
        }
        if (!any)
            return;
    }
}

void StageWriter::op(const SingleOp& single)
{
    use(block_of(single), single.waits, single.record, single.index);
}

BlockId StageWriter::block_of(const SingleOp& single)
{
    BlockBuilder builder(single.name);
    Op written = single.op;
    written.memory = plan_.memory(single.memory);
    builder.op(written);
    for (std::size_t i = 0; i < single.waits.size(); ++i)
        builder.wait(builder.event());
    if (single.record.valid())
        builder.record(builder.event());
    for (const ExchangePart& part : single.parts)
        builder.part(part);
    return plan_.block(std::move(builder).build());
}

void StageWriter::use(BlockId block, std::span<const EventId> waits, EventId record, UseIndex index)
{
    std::vector<EventId>& events = using_.front();
    events.assign(waits.begin(), waits.end());
    if (record.valid())
        events.push_back(record);
    role_.use(block, events, index.micro_batch, index.layer);
}

void StageWriter::transfer(const SingleTransfer& t)
{
    if (t.bytes.value() == 0 || layout_.group_size(t.group) == 1)
        return;
    const std::string name = transfer_name(t.group, t.kind);
    op({.op = {.kind = OpKind::collective,
               .stream = plan_.communication_stream(t.stream),
               .group = plan_.group(t.group),
               .label = plan_.transfer_label(name, t.phase, t.kind, t.group),
               .cost = plan_.transfer({.kind = t.kind,
                                       .bytes = t.bytes,
                                       .backend = backend_of(job_.strategy, t.group)}),
               .blocks_host = t.blocks_host},
        .name = name,
        .waits = t.waits,
        .record = t.record,
        .memory = t.memory,
        .index = t.index});
}

void StageWriter::memory_pass(const MemoryPass& pass)
{
    Kernel kernel;
    kernel.use = KernelUse::states;
    kernel.name = pass.name;
    kernel.bytes = scaled(Bytes(1), pass.bytes);
    kernel.launches = pass.launches;
    WorkList kernels = pass.products;
    const auto launches = static_cast<std::uint16_t>(
        std::min<std::size_t>(static_cast<std::size_t>(pass.launches) + kernels.size(), 0xffff));
    kernels.push_back(kernel);
    op({.op = {.kind = OpKind::compute,
               .stream = plan_.compute_stream(),
               .scale = device_speed,
               .kernels = launches,
               .label = plan_.label(pass.name, pass.phase),
               .cost = plan_.compute({.kernels = std::move(kernels), .phase = pass.phase}),
               .blocks_host = pass.blocks_host},
        .name = pass.name,
        .waits = pass.waits,
        .record = computed_,
        .memory = pass.memory,
        .index = pass.index});
}

void StageWriter::wait(const StreamWait& wait)
{
    op({.op = {.kind = OpKind::compute,
               .stream = plan_.compute_stream(),
               .kernels = 0,
               .label = plan_.label(wait.name, wait.phase),
               .cost = plan_.compute({.phase = wait.phase})},
        .name = wait.name,
        .waits = wait.waits,
        .memory = wait.memory,
        .index = wait.index});
}

void StageWriter::copy(const MemoryCopy& copy)
{
    if (copy.bytes == Bytes(0))
        return;
    op({.op = {.kind = OpKind::copy,
               .stream = plan_.copy_stream(copy.stream),
               .label = plan_.label(copy.name, copy.phase),
               .cost = plan_.compute({.host_copy = copy.bytes,
                                      .route = copy.route,
                                      .both_ways = copy.both_ways,
                                      .phase = copy.phase}),
               .blocks_host = copy.blocks_host},
        .name = copy.name,
        .waits = copy.waits,
        .record = copy.record,
        .memory = copy.memory,
        .index = copy.index});
}

void StageWriter::host_pass(const HostPass& pass)
{
    if (pass.bytes == Bytes(0))
        return;
    op({.op = {.kind = OpKind::host,
               .stream = host_stream,
               .label = plan_.label("host " + pass.name, pass.phase),
               .cost = plan_.compute({.host_bytes = pass.bytes, .phase = pass.phase})},
        .name = "host " + pass.name,
        .waits = pass.waits,
        .index = pass.index});
}

void StageWriter::host_work(std::string name, Seconds time, Phase phase)
{
    if (time.value() <= 0)
        return;
    op({.op = {.kind = OpKind::host,
               .stream = host_stream,
               .label = plan_.label(name, phase),
               .cost = plan_.compute({.host_time = time, .phase = phase})},
        .name = name});
}

} // namespace trainyard
