#pragma once

// Writes a stage's sends and receives into its role: each direction and kind on its own stream.
//
// Interleaved passes without sequence parallelism send a TP rank's share of the boundary tensor,
// which all TP ranks hold, and gather it again behind (Narayanan 2021, section 4.1).

#include "sim/strategy/lower/exchanges.h"
#include "sim/strategy/lower/stage_writer.h"

#include <array>
#include <map>

namespace trainyard {

class ExchangeWriter {
public:
    // All must outlive the writer. `peers`: devices by peer slot.
    ExchangeWriter(StageWriter& writer, const StageExchanges& exchanges, const JobWork& work,
                   const std::vector<int>& peers);

    // The gap before pass `gap`, or after the last one.
    void write_gap(std::size_t gap);
    // Called before a pass: what its first layer must wait for; none when its input was made here.
    std::optional<EventId> input_of(std::size_t pass);
    // The first layer of a pass takes over the tensor that was received for it.
    const TensorChanges& taken_over(std::size_t pass);

private:
    enum class Waiting { host_blocks, host_goes_on };

    // A kind of message with one peer, in one direction: its stream, and how the peer is called.
    struct Lane {
        std::string stream;
        PeerSlot peer;
    };

    // A block of one exchange: messages that agree in all of this share it. Nothing else of a
    // message goes into its op: stream, label, tensor and cost follow from these.
    struct Written {
        PassKind kind;
        Direction direction;
        int peer; // device
        Waiting waiting;
        Bytes bytes;
        std::size_t waits; // for how many events

        bool operator==(const Written&) const = default;
    };

    void write(const Message& message, Direction direction, Waiting waiting);
    SingleOp op_of(const Message& message, Direction direction, Waiting waiting);
    bool next_needs(const Message& message, std::size_t gap) const;
    Lane lane_of(const Message& message, Direction direction) const;
    EventId received(const Message& message) const;
    Bytes boundary_bytes(const Message& message) const;
    Bytes sent_bytes(const Message& message) const;
    Tensor tensor_of(const Message& message, Direction direction) const;
    CostId cost_of(const Message& message);

    StageWriter& writer_;
    const StageExchanges& exchanges_;
    const JobWork& work_;
    const std::vector<int>& peers_;
    bool scatters_;
    // By kind and sender: a ring over message numbers.
    std::map<std::pair<PassKind, int>, std::vector<EventId>> received_;
    std::array<EventId, 2> gathered_;                      // by kind
    std::array<std::vector<TensorChanges>, 2> taken_over_; // by kind and boundary
    std::vector<std::pair<Written, BlockId>> written_;     // a handful
};

} // namespace trainyard
