#include "sim/strategy/lower/exchange_writer.h"

#include <algorithm>

namespace trainyard {

namespace {

std::size_t index_of(PassKind kind)
{
    return kind == PassKind::forward ? 0 : 1;
}

Phase phase_of(PassKind kind)
{
    return kind == PassKind::forward ? Phase::forward : Phase::backward;
}

using Sender = std::pair<PassKind, int>; // kind of message, device

Sender sender_of(const Message& message)
{
    return {message.kind, message.from};
}

// By kind and sender the events that messages need: from the one that a pass waits for to the
// latest posted by then.
std::map<Sender, std::size_t> ring_sizes(const StageExchanges& exchanges)
{
    std::map<Sender, std::size_t> posted;
    std::map<Sender, std::size_t> most;
    for (std::size_t pass = 0; pass < exchanges.input_of.size(); ++pass) {
        for (const Message& message : exchanges.gaps[pass].receives) {
            posted[sender_of(message)] = message.number + 1;
            most.try_emplace(sender_of(message), 1);
        }
        const std::optional<Message>& input = exchanges.input_of[pass];
        if (!input)
            continue;
        const std::size_t latest = posted[sender_of(*input)];
        if (input->number < latest)
            most[sender_of(*input)] = std::max(most[sender_of(*input)], latest - input->number);
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
                               const JobWork& work, const std::vector<int>& peers)
    : writer_(writer),
      exchanges_(exchanges),
      work_(work),
      peers_(peers),
      scatters_(writer.job().strategy.vpp > 1 && !*writer.job().strategy.sequence_parallel),
      gathered_{writer.event(), writer.event()}
{
    for (const auto& [sender, size] : ring_sizes(exchanges))
        for (std::size_t i = 0; i < size; ++i)
            received_[sender].push_back(writer.event());
}

// Is it the input of the pass, or of one of the two, that come next?
bool ExchangeWriter::next_needs(const Message& message, std::size_t gap) const
{
    const auto is_input = [&](std::size_t pass) {
        return pass < exchanges_.input_of.size() && exchanges_.input_of[pass] == message;
    };
    return is_input(gap) || (gap + 1 < exchanges_.gaps.size() && exchanges_.gaps[gap + 1].between &&
                             is_input(gap + 1));
}

// Where the framework blocks, the host waits for the input of the pass that comes next. For sends
// it has no reason to wait.
void ExchangeWriter::write_gap(std::size_t gap)
{
    const Gap& messages = exchanges_.gaps[gap];
    const Job& job = writer_.job();
    const bool blocks = job.software.blocking_p2p && !*job.strategy.overlap.pp;
    for (const Message& message : messages.sends)
        write(message, Direction::send, Waiting::host_goes_on);
    for (const Message& message : messages.receives)
        write(message, Direction::receive,
              blocks && next_needs(message, gap) ? Waiting::host_blocks : Waiting::host_goes_on);
}

EventId ExchangeWriter::received(const Message& message) const
{
    const std::vector<EventId>& ring = received_.at(sender_of(message));
    return ring[message.number % ring.size()];
}

std::optional<EventId> ExchangeWriter::input_of(std::size_t pass)
{
    const std::optional<Message>& input = exchanges_.input_of[pass];
    if (!input)
        return std::nullopt;
    if (!scatters_ || writer_.job().strategy.tp == 1)
        return received(*input);
    const EventId gathered = gathered_[index_of(input->kind)];
    writer_.transfer({.kind = CollectiveKind::all_gather,
                      .group = GroupKind::tp,
                      .bytes = boundary_bytes(*input),
                      .phase = phase_of(input->kind),
                      .stream = "tp",
                      .waits = {received(*input), writer_.tail()},
                      .record = gathered,
                      .index = {static_cast<std::uint16_t>(input->micro_batch)}});
    return gathered;
}

// s b h (/ (t c)) elements: the output of the layer before the boundary.
Bytes ExchangeWriter::boundary_bytes(const Message& message) const
{
    const auto& stage = work_.stages[static_cast<std::size_t>(message.boundary)];
    return work_.kinds[stage.back()].work.output;
}

Bytes ExchangeWriter::sent_bytes(const Message& message) const
{
    return boundary_bytes(message) /
           static_cast<std::uint64_t>(scatters_ ? writer_.job().strategy.tp : 1);
}

// What was received lives until a pass takes it over, what is sent until the next message of its
// stream is.
Tensor ExchangeWriter::tensor_of(const Message& message, Direction direction) const
{
    const bool forward = message.kind == PassKind::forward;
    const bool sends = direction == Direction::send;
    const std::string what = forward ? "activations" : "gradients";
    return {.name = (sends ? "sent " : "received ") + what,
            .kind = MemoryKind::pipeline,
            .bytes = static_cast<std::int64_t>(sent_bytes(message).value()),
            .scope = sends ? TensorScope::use : TensorScope::micro_batch,
            .length_power = 1};
}

const TensorChanges& ExchangeWriter::taken_over(std::size_t pass)
{
    static const TensorChanges nothing;
    const std::optional<Message>& input = exchanges_.input_of[pass];
    if (!input)
        return nothing;
    std::vector<TensorChanges>& of_kind = taken_over_[index_of(input->kind)];
    const auto boundary = static_cast<std::size_t>(input->boundary);
    if (boundary >= of_kind.size())
        of_kind.resize(work_.stages.size());
    if (of_kind[boundary].empty())
        of_kind[boundary] = {frees(tensor_of(*input, Direction::receive), Moment::start)};
    return of_kind[boundary];
}

// Moving a message takes a channel or two and no bandwidth worth naming from the compute beside it.
CostId ExchangeWriter::cost_of(const Message& message)
{
    return writer_.plan().transfer({.kind = CollectiveKind::send_receive,
                                    .bytes = sent_bytes(message),
                                    .backend = backend_of(writer_.job().strategy, GroupKind::pp),
                                    .interference = Interference::none});
}

// Activations go to the next device of the ring and gradients to the one before, as a rule. Those
// that go elsewhere have streams of their own: one must not wait for the other's peer.
ExchangeWriter::Lane ExchangeWriter::lane_of(const Message& message, Direction direction) const
{
    const bool sends = direction == Direction::send;
    const int peer = sends ? message.to : message.from;
    const std::size_t usual = (message.kind == PassKind::forward) == sends ? 1 : 0;
    std::string name = stream_name(message.kind, direction);
    if (peers_[usual] == peer)
        return {std::move(name), make_id<PeerSlot>(usual)};
    const auto found = std::ranges::find(peers_, peer);
    const auto slot = static_cast<std::size_t>(found - peers_.begin());
    name += slot < 2 ? " against" : " across " + std::to_string(slot);
    return {std::move(name), make_id<PeerSlot>(slot)};
}

SingleOp ExchangeWriter::op_of(const Message& message, Direction direction, Waiting waiting)
{
    PlanBuilder& plan = writer_.plan();
    const bool sends = direction == Direction::send;
    const Lane lane = lane_of(message, direction);
    const Tensor tensor = tensor_of(message, direction);
    TensorChanges memory = {allocates(tensor)};
    if (sends)
        memory.push_back(frees(tensor));
    return {.op = {.kind = OpKind::exchange,
                   .stream = plan.communication_stream(lane.stream),
                   .label =
                       plan.transfer_label(sends ? "pp send" : "pp receive", phase_of(message.kind),
                                           CollectiveKind::send_receive, GroupKind::pp),
                   .blocks_host = waiting == Waiting::host_blocks},
            .name = lane.stream,
            .waits = {writer_.finished().begin(), writer_.finished().end()},
            .record = sends ? EventId::none() : received(message),
            .parts = {{.direction = direction,
                       .peer = lane.peer,
                       .channel = static_cast<std::uint8_t>(index_of(message.kind)),
                       .cost = cost_of(message)}},
            .memory = std::move(memory),
            .index = {static_cast<std::uint16_t>(message.micro_batch)}};
}

void ExchangeWriter::write(const Message& message, Direction direction, Waiting waiting)
{
    const bool sends = direction == Direction::send;
    const std::span<const EventId> waits = writer_.finished();
    const Written key{message.kind, direction,           sends ? message.to : message.from,
                      waiting,      sent_bytes(message), waits.size()};
    auto found = std::ranges::find(written_, key, &std::pair<Written, BlockId>::first);
    if (found == written_.end())
        found = written_.insert(found, {key, writer_.block_of(op_of(message, direction, waiting))});
    writer_.use(found->second, waits, sends ? EventId::none() : received(message),
                {static_cast<std::uint16_t>(message.micro_batch)});
    if (waiting == Waiting::host_blocks)
        writer_.host_work("pp bookkeeping", writer_.job().software.blocking_p2p_time,
                          phase_of(message.kind));
}

} // namespace trainyard
