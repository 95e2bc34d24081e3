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
      reduced_(role_.event())
{}

EventId StageWriter::bound(LocalEvent event)
{
    if (event == layer_event::computed)
        return computed_;
    if (event == layer_event::tail)
        return tail_;
    const std::size_t index = event.value - layer_event::count;
    while (inner_.size() <= index)
        inner_.push_back(role_.event());
    return inner_[index];
}

void StageWriter::layer(const LayerBlock& block, EventId input, EventId parameters, UseIndex index)
{
    std::vector<EventId> events = {input, parameters, tail_, computed_};
    for (std::uint16_t i = layer_event::count; i < block.events; ++i)
        events.push_back(bound(LocalEvent{i}));
    role_.use(block.block, events, index.micro_batch, index.layer);
}

void StageWriter::op(const SingleOp& single)
{
    BlockBuilder builder(single.name);
    std::vector<EventId> events;
    Op written = single.op;
    written.memory = plan_.memory(single.memory);
    builder.op(written);
    for (const EventId wait : single.waits) {
        builder.wait(builder.event());
        events.push_back(wait);
    }
    if (single.record.valid()) {
        builder.record(builder.event());
        events.push_back(single.record);
    }
    for (const ExchangePart& part : single.parts)
        builder.part(part);
    role_.use(plan_.block(std::move(builder).build()), events, single.index.micro_batch,
              single.index.layer);
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
               .cost = plan_.transfer(
                   {.kind = t.kind, .bytes = t.bytes, .backend = job_.strategy.backend}),
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
    op({.op = {.kind = OpKind::compute,
               .stream = plan_.compute_stream(),
               .scale = device_speed,
               .kernels = static_cast<std::uint16_t>(pass.launches),
               .label = plan_.label(pass.name, pass.phase),
               .cost = plan_.compute({.kernels = {kernel}, .phase = pass.phase}),
               .blocks_host = pass.blocks_host},
        .name = pass.name,
        .waits = pass.waits,
        .record = computed_,
        .memory = pass.memory,
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
