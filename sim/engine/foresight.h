#pragma once

// Fetches what the events to come will touch while those before them are handled. A run on many
// lanes would else wait for memory most of the time: hardly two events in a row are of one lane.
//
// In three stages, as each leads to the next: the target of an event while it lies in the bucket
// behind the front, its lanes and who waits for it some places before its turn, the links and
// transfers of these shortly before. Few lines at a time: of many at once the processor drops most.

#include "sim/engine/accounting.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/rates.h"
#include "sim/engine/transfer_table.h"

namespace trainyard::engine {

class Foresight {
public:
    Foresight(const RunState& run, EventQueue& queue, const TransferTable& table,
              const Accounting& accounting, const Rates& rates)
        : run_(run),
          queue_(queue),
          table_(table),
          accounting_(accounting),
          rates_(rates),
          worth_it_(run.lanes.size() >= least_lanes)
    {
        if (worth_it_)
            find_compute_stream();
    }

    // Before the first event in front is taken.
    void look()
    {
        if (worth_it_)
            look_ahead();
    }

private:
    static constexpr std::size_t least_lanes = 4096; // fewer fit into the caches

    void find_compute_stream();
    void look_ahead();
    void fetch_target(const Event& event) const;
    void fetch_lanes(const Event& event) const;
    void fetch_links(const Event& event) const;
    void fetch_stream(std::uint32_t stream) const;
    void fetch_waiters(std::uint32_t stream) const;
    void fetch_joined(std::uint32_t stream) const;
    void fetch_transfer(std::uint32_t channel) const;
    void fetch_members(const Transfer& transfer) const;

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
