#pragma once

// Writes a stage's sends and receives into its role: each direction and kind on its own stream.
//
// Interleaved passes without sequence parallelism send a TP rank's share of the boundary tensor,
// which all TP ranks hold, and gather it again behind (Narayanan 2021, section 4.1).

#include "sim/strategy/lower/exchanges.h"
#include "sim/strategy/lower/stage_writer.h"

#include <array>

namespace trainyard {

class ExchangeWriter {
public:
    // `exchanges` and `work` must outlive the writer.
    ExchangeWriter(StageWriter& writer, const StageExchanges& exchanges, const JobWork& work);

    // The gap before pass `gap`, or after the last one.
    void write_gap(std::size_t gap);
    // Called before a pass: what its first layer must wait for.
    EventId input_of(std::size_t pass);

private:
    enum class Waiting { host_blocks, host_goes_on };

    void write(const Message& message, Direction direction, Waiting waiting);
    Bytes boundary_bytes(const Message& message) const;
    CostId cost_of(const Message& message);

    StageWriter& writer_;
    const StageExchanges& exchanges_;
    const JobWork& work_;
    bool scatters_;
    std::array<std::vector<EventId>, 2> received_; // by kind, a ring over message numbers
    EventId gathered_;
};

} // namespace trainyard
