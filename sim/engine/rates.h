#pragma once

// Everything that drains at a rate which others change: transfers over shared links, compute beside
// communication. Not used where neither can happen: there every end is known at the start.
//
// Rates are settled once per instant, after all that happens at it. A rate that does not change is
// not touched, so its event stays valid.

#include "sim/engine/accounting.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/flow/link_sharing.h"

#include <memory>

namespace trainyard::engine {

class Rates {
public:
    // `sharing`: none where links are not shared.
    Rates(RunState& run, EventQueue& queue, Accounting& accounting,
          std::unique_ptr<LinkSharing> sharing);

    // Whether any end depends on rates that may change; whether one of compute does.
    bool disturbed() const { return disturbed_; }
    bool slows_compute() const { return slows_compute_; }
    // Whether the transfer moves at its ceiling from its latency on and nobody notices.
    bool undisturbed(const Transfer& transfer) const
    {
        return !disturbed_ || (sharing_ && transfer.links.empty() &&
                               !(slows_compute_ && transfer.cost->traffic_share > 0));
    }
    // A communication kernel takes or leaves SMs of a lane.
    void add_resident(std::uint32_t lane, std::uint32_t sm_share);
    void remove_resident(std::uint32_t lane, std::uint32_t sm_share);

    // Compute of `duration` > 0, alone on the device, starts at the head of `stream`; its event
    // comes when it has drained.
    void start_compute(std::uint32_t stream, SimTime duration);
    void end_compute(std::uint32_t stream) { run_.draining[stream].remaining = 0; }
    bool drains(std::uint32_t stream) const
    {
        return slows_compute_ && run_.draining[stream].remaining > 0;
    }

    // The link carries that much from now on, where links are shared.
    void set_capacity(LinkId link, ByteRate capacity)
    {
        if (sharing_)
            sharing_->set_capacity(link, capacity);
    }

    // The lane's compute drains at this speed (of 2^20) times its share from now on.
    void set_speed(std::uint32_t lane, std::uint32_t speed);

    // The work of a transfer begins to drain, or has drained. One that ended at this instant and
    // was not ended here keeps its place on its links.
    void start_transfer(std::uint32_t transfer);
    void end_transfer(std::uint32_t transfer);

    // Finds the rates of transfers for the time from now on. Whoever takes a slowed transfer apart
    // then has them found once more.
    void share();
    // Those that may go on step by step and were given less than their ceiling. Valid until the
    // next `share`.
    const std::vector<std::uint32_t>& slowed();

    // Whoever shares links, none in a fidelity that does not.
    LinkSharing* sharing() const { return sharing_.get(); }
    // Someone who kept links for himself has moved that much work over them.
    void count_kept(std::span<const LinkUse> links, ByteRate rate, u128 moved);

    // Grants the rates found.
    void settle();

    std::uint32_t share(std::uint32_t lane) const
    {
        return slows_compute_ ? devices_[lane].share : full_share;
    }

    // The measured step begins for the links.
    void open_links();
    // Once, at the end.
    std::vector<LinkTotals> link_totals();

    // The transfers that drain at rate 0; of the sends of a collective, the collective.
    std::vector<std::uint32_t> stalled() const;

private:
    struct Device {
        std::uint64_t resident = 0; // sum of SM shares
        std::uint64_t traffic = 0;
        std::uint32_t share = full_share; // communication leaves to compute
        std::uint32_t speed = full_share; // of the window that it is in
        std::uint32_t rate = full_share;  // at which compute drains
        bool dirty = false;
    };

    void mark(std::uint32_t lane);
    void set_rate(Transfer& transfer, std::uint32_t id, ByteRate rate);
    void settle_transfer(Transfer& transfer);
    void set_traffic(Transfer& transfer, std::uint32_t traffic);
    void add_traffic(std::uint32_t stream, std::uint32_t before, std::uint32_t after);
    void plan_end(Transfer& transfer, std::uint32_t id);
    void count_bytes(std::span<const LinkUse> links, u128 moved);
    void settle_device(std::uint32_t lane);

    RunState& run_;
    EventQueue& queue_;
    Accounting& accounting_;
    std::unique_ptr<LinkSharing> sharing_;
    bool slows_compute_;
    bool disturbed_;
    std::vector<Device> devices_;      // by lane
    std::vector<std::uint32_t> dirty_; // lanes
    std::vector<RateChange> changes_;  // found, not yet granted
    std::vector<std::uint32_t> begun_; // transfers that begin to drain at this instant
    std::vector<std::uint32_t> slowed_;
    std::vector<u128> way_work_;  // by RunState::way_of: of messages, not yet the links'
    std::vector<u128> link_work_; // by LinkId: byte-picoseconds-per-second x 2^16
    bool links_open_ = false;
    SimTime opened_{}; // the links
};

} // namespace trainyard::engine
