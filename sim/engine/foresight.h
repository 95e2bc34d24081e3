#pragma once

// Fetches what the events to come will touch while those before them are handled. A run on many
// lanes would else wait for memory most of the time: hardly two events in a row are of one lane.
//
// In stages, as each leads to the next: the target of an event while it lies in the bucket behind
// the front; then, some places before its turn, the lanes that it touches; the links of its
// transfer and who waits for it; at last the transfers that these will join. Few lines at a time:
// of many at once the processor drops some.

#include "sim/engine/accounting.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/rates.h"
#include "sim/engine/transfer_table.h"

namespace trainyard::engine {

class Foresight {
public:
    Foresight(const RunState& run, EventQueue& queue, const TransferTable& table,
              const Accounting& accounting, const Rates& rates, bool wanted);

    // Before the first event in front is taken.
    void look()
    {
        if (worth_it_)
            look_ahead();
    }

private:
    // What is fetched of the transfer that an op will join: its place in the tables, its channel,
    // itself.
    enum class Depth : std::uint8_t { place, channel, transfer };

    void look_ahead();
    void fetch_target(const Event& event) const;
    void fetch(const Event& event, std::size_t stage) const;
    void fetch_for_stream(std::uint32_t stream, std::size_t stage) const;
    void fetch_for_message(const Transfer& transfer, std::size_t stage) const;
    void fetch_for_collective(const Transfer& transfer, std::size_t stage) const;
    void fetch_stream(std::uint32_t stream) const;
    void fetch_join(std::uint32_t lane, const FlatOp& op, Depth depth) const;
    void fetch_next(std::uint32_t stream, Depth depth) const;
    template <class Visit>
    void for_each_waiter(std::uint32_t stream, const Visit& visit) const;

    const RunState& run_;
    EventQueue& queue_;
    const TransferTable& table_;
    const Accounting& accounting_;
    const Rates& rates_;
    bool worth_it_;
    std::uint32_t compute_ = 0; // stream of most kinds
    std::size_t seen_ = 0;      // of those that come next
    std::size_t per_event_ = 1; // of them, while one event is handled
};

} // namespace trainyard::engine
