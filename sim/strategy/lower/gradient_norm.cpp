#include "sim/strategy/lower/gradient_norm.h"

#include "sim/strategy/lower/shard_exchange.h"

namespace trainyard {

namespace {

constexpr Bytes norm_bytes(8);           // fp32 norm and overflow flag
constexpr std::uint8_t norm_channel = 2; // beside activations and gradients

bool ranks_differ(const Strategy& strategy)
{
    return strategy.zero > 0 || strategy.tp > 1 || strategy.pp > 1 || strategy.ep > 1;
}

void agree(StageWriter& writer, GroupKind group)
{
    writer.transfer({.kind = CollectiveKind::all_reduce,
                     .group = group,
                     .bytes = norm_bytes,
                     .phase = Phase::optimizer,
                     .stream = data_parallel_stream,
                     .waits = {writer.computed(), writer.tail(), writer.reduced()},
                     .record = writer.reduced()});
}

void hand_on(StageWriter& writer, Direction direction)
{
    PlanBuilder& plan = writer.plan();
    const bool sends = direction == Direction::send;
    const std::string name = sends ? "pp norm send" : "pp norm receive";
    const CostId cost = plan.transfer({.kind = CollectiveKind::send_receive,
                                       .bytes = norm_bytes,
                                       .backend = writer.job().strategy.backend,
                                       .interference = Interference::none});
    writer.op(
        {.op = {.kind = OpKind::exchange,
                .stream = plan.communication_stream(name),
                .label = plan.transfer_label(sends ? "pp send" : "pp receive", Phase::optimizer,
                                             CollectiveKind::send_receive, GroupKind::pp)},
         .name = name,
         .waits = {writer.computed(), writer.tail(), writer.reduced()},
         .record = sends ? EventId::none() : writer.reduced(),
         .parts = {{.direction = direction,
                    .peer = sends ? next_stage : previous_stage,
                    .channel = norm_channel,
                    .cost = cost}}});
}

} // namespace

void write_gradient_norm(StageWriter& writer, int stage)
{
    const Strategy& strategy = writer.job().strategy;
    if (!ranks_differ(strategy))
        return;
    if (!*strategy.pipeline.norm_in_turn) {
        agree(writer, GroupKind::world);
        return;
    }
    agree(writer, GroupKind::tp);
    if (strategy.zero > 0)
        agree(writer, GroupKind::dp);
    else if (strategy.ep > 1)
        agree(writer, GroupKind::ep);
    if (stage > 0)
        hand_on(writer, Direction::receive);
    if (stage + 1 < strategy.pp)
        hand_on(writer, Direction::send);
}

} // namespace trainyard
