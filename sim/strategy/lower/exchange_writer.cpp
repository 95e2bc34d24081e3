#include "sim/strategy/lower/exchange_writer.h"

#include <algorithm>

namespace trainyard {

namespace {

constexpr std::array<PassKind, 2> kinds = {PassKind::forward, PassKind::backward};

std::size_t index_of(PassKind kind)
{
    return kind == PassKind::forward ? 0 : 1;
}

Phase phase_of(PassKind kind)
{
    return kind == PassKind::forward ? Phase::forward : Phase::backward;
}

// Events a kind's messages need: from one that a pass waits for to the latest posted by then.
std::size_t ring_size(const StageExchanges& exchanges, PassKind kind)
{
    std::size_t posted = 0;
    std::size_t most = 1;
    for (std::size_t pass = 0; pass < exchanges.input_of.size(); ++pass) {
        for (const Message& message : exchanges.gaps[pass].receives)
            if (message.kind == kind)
                posted = message.number + 1;
        const std::optional<Message>& input = exchanges.input_of[pass];
        if (input && input->kind == kind && input->number < posted)
            most = std::max(most, posted - input->number);
    }
    return most;
}

std::string stream_name(PassKind kind, Direction direction)
{
    return std::string("pp ") + (kind == PassKind::forward ? "forward " : "backward ") +
           (direction == Direction::send ? "send" : "receive");
}

} // namespace

ExchangeWriter::ExchangeWriter(StageWriter& writer, const StageExchanges& exchanges,
                               const JobWork& work)
    : writer_(writer),
      exchanges_(exchanges),
      work_(work),
      scatters_(writer.job().strategy.vpp > 1 && !*writer.job().strategy.sequence_parallel),
      gathered_(writer.event())
{
    for (const PassKind kind : kinds)
        for (std::size_t i = 0; i < ring_size(exchanges, kind); ++i)
            received_[index_of(kind)].push_back(writer.event());
}

// Where the framework blocks, the host waits for the input of the pass that comes next. For sends
// it has no reason to wait.
void ExchangeWriter::write_gap(std::size_t gap)
{
    const Gap& messages = exchanges_.gaps[gap];
    const Job& job = writer_.job();
    const bool blocks = job.software.blocking_p2p && !*job.strategy.overlap.pp;
    if (messages.send)
        write(*messages.send, Direction::send, Waiting::host_goes_on);
    for (const Message& message : messages.receives) {
        const bool next = gap < exchanges_.input_of.size() && exchanges_.input_of[gap] == message;
        write(message, Direction::receive,
              blocks && next ? Waiting::host_blocks : Waiting::host_goes_on);
    }
}

EventId ExchangeWriter::input_of(std::size_t pass)
{
    const std::optional<Message>& input = exchanges_.input_of[pass];
    if (!input)
        return writer_.never();
    const std::vector<EventId>& ring = received_[index_of(input->kind)];
    const EventId received = ring[input->number % ring.size()];
    if (!scatters_ || writer_.job().strategy.tp == 1)
        return received;
    writer_.transfer({.kind = CollectiveKind::all_gather,
                      .group = GroupKind::tp,
                      .bytes = boundary_bytes(*input),
                      .phase = phase_of(input->kind),
                      .stream = "tp",
                      .waits = {received, writer_.tail()},
                      .record = gathered_,
                      .index = {static_cast<std::uint16_t>(input->micro_batch)}});
    return gathered_;
}

// s b h (/ (t c)) elements: the output of the layer before the boundary.
Bytes ExchangeWriter::boundary_bytes(const Message& message) const
{
    const auto& stage = work_.stages[static_cast<std::size_t>(message.boundary)];
    return work_.kinds[stage.back()].work.output;
}

// Moving a message takes a channel or two and no bandwidth worth naming from the compute beside it.
CostId ExchangeWriter::cost_of(const Message& message)
{
    const Strategy& strategy = writer_.job().strategy;
    const auto shares = static_cast<std::uint64_t>(scatters_ ? strategy.tp : 1);
    return writer_.plan().transfer({.kind = CollectiveKind::send_receive,
                                    .bytes = boundary_bytes(message) / shares,
                                    .backend = strategy.backend,
                                    .interference = Interference::none});
}

// Activations go to the next stage, gradients to the one before.
void ExchangeWriter::write(const Message& message, Direction direction, Waiting waiting)
{
    PlanBuilder& plan = writer_.plan();
    const bool sends = direction == Direction::send;
    const bool to_next = (message.kind == PassKind::forward) == sends;
    const std::string name = stream_name(message.kind, direction);
    const std::vector<EventId>& ring = received_[index_of(message.kind)];
    writer_.op({.op = {.kind = OpKind::exchange,
                       .stream = plan.communication_stream(name),
                       .label = plan.transfer_label(sends ? "pp send" : "pp receive",
                                                    phase_of(message.kind),
                                                    CollectiveKind::send_receive, GroupKind::pp),
                       .blocks_host = waiting == Waiting::host_blocks},
                .name = name,
                .waits = {writer_.computed(), writer_.tail()},
                .record = sends ? EventId::none() : ring[message.number % ring.size()],
                .parts = {{.direction = direction,
                           .peer = to_next ? next_stage : previous_stage,
                           .channel = static_cast<std::uint8_t>(index_of(message.kind)),
                           .cost = cost_of(message)}},
                .index = {static_cast<std::uint16_t>(message.micro_batch)}});
    if (waiting == Waiting::host_blocks)
        writer_.host_work("pp bookkeeping", writer_.job().software.blocking_p2p_time,
                          phase_of(message.kind));
}

} // namespace trainyard
