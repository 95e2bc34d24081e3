#include "sim/engine/rates.h"

#include "sim/engine/interference.h"

#include <algorithm>
#include <limits>

namespace trainyard::engine {

namespace {

bool has_windows(const Binding& binding)
{
    return std::any_of(binding.lanes.begin(), binding.lanes.end(),
                       [](const Lane& lane) { return !lane.windows.empty(); });
}

} // namespace

Rates::Rates(RunState& run, EventQueue& queue, Accounting& accounting, Fidelity fidelity)
    : run_(run),
      queue_(queue),
      accounting_(accounting),
      fidelity_(fidelity),
      disturbed_(fidelity == Fidelity::bundle || interferes(run.binding.costs) ||
                 has_windows(run.binding)),
      sharing_(run.binding.links)
{
    if (!disturbed_)
        return;
    devices_.resize(run.lanes.size());
    run.draining.resize(run.streams.size());
    usage_.resize(run.binding.links.size());
}

void Rates::mark(std::uint32_t lane)
{
    if (devices_[lane].dirty)
        return;
    devices_[lane].dirty = true;
    dirty_.push_back(lane);
}

void Rates::add_resident(std::uint32_t lane, std::uint32_t sm_share)
{
    devices_[lane].resident += sm_share;
    mark(lane);
}

void Rates::remove_resident(std::uint32_t lane, std::uint32_t sm_share)
{
    devices_[lane].resident -= sm_share;
    mark(lane);
}

void Rates::start_compute(std::uint32_t stream, SimTime duration)
{
    run_.draining[stream] = {static_cast<u128>(duration.value()) * full_share, run_.now, 0};
    run_.streams[stream].mark = SimTime(std::numeric_limits<std::int64_t>::max());
    mark(run_.lane_of(stream));
}

void Rates::set_speed(std::uint32_t lane, std::uint32_t speed)
{
    devices_[lane].speed = speed;
    mark(lane);
}

void Rates::start_transfer(std::uint32_t id)
{
    Transfer& transfer = run_.transfers[id];
    transfer.settled = run_.now;
    if (fidelity_ == Fidelity::bundle && !transfer.links->empty()) {
        moving_.push_back(id);
        moving_changed_ = true;
    } else {
        set_rate(transfer, id, transfer.cost->ceiling);
    }
}

void Rates::end_transfer(std::uint32_t id)
{
    Transfer& transfer = run_.transfers[id];
    settle_transfer(transfer);
    set_traffic(transfer, 0);
    const auto found = std::find(moving_.begin(), moving_.end(), id);
    if (found == moving_.end())
        return;
    *found = moving_.back();
    moving_.pop_back();
    moving_changed_ = true;
}

void Rates::settle()
{
    if (moving_changed_)
        share_links();
    moving_changed_ = false;
    for (const std::uint32_t lane : dirty_)
        settle_device(lane);
    dirty_.clear();
}

void Rates::share_links()
{
    demands_.clear();
    for (const std::uint32_t id : moving_)
        demands_.push_back({run_.transfers[id].cost->ceiling, *run_.transfers[id].links});
    const std::vector<ByteRate>& rates = sharing_.solve(demands_);
    for (std::size_t i = 0; i < moving_.size(); ++i) {
        Transfer& transfer = run_.transfers[moving_[i]];
        if (transfer.rate != rates[i])
            set_rate(transfer, moving_[i], rates[i]);
    }
    if (links_open_)
        note_loads();
}

void Rates::set_rate(Transfer& transfer, std::uint32_t id, ByteRate rate)
{
    settle_transfer(transfer);
    transfer.rate = rate;
    ++transfer.version;
    set_traffic(transfer, traffic_of(*transfer.cost, rate));
    if (rate.value() > 0)
        queue_.push({run_.now + time_to_finish(Work{transfer.remaining}, rate), id | transfer_bit,
                     transfer.version});
}

// What has been moved until now at the present rate.
void Rates::settle_transfer(Transfer& transfer)
{
    const u128 before = transfer.remaining;
    transfer.remaining =
        remaining_after(Work{before}, transfer.rate, run_.now - transfer.settled).value;
    transfer.settled = run_.now;
    if (links_open_ && fidelity_ == Fidelity::bundle)
        for (const LinkUse& use : *transfer.links)
            usage_[use.link.value].work += (before - transfer.remaining) * use.coefficient;
}

// A collective's traffic leaves every member, a message's its sender.
void Rates::set_traffic(Transfer& transfer, std::uint32_t traffic)
{
    if (transfer.traffic == traffic)
        return;
    const std::uint32_t before = transfer.traffic;
    transfer.traffic = traffic;
    if (transfer.sender != nobody)
        return add_traffic(transfer.sender, before, traffic);
    for (std::uint32_t member = transfer.first_member; member != nobody;
         member = run_.streams[member].next_member)
        add_traffic(member, before, traffic);
}

void Rates::add_traffic(std::uint32_t stream, std::uint32_t before, std::uint32_t after)
{
    if (run_.plan_of(stream).kind != StreamKind::communication)
        return;
    const std::uint32_t lane = run_.lane_of(stream);
    devices_[lane].traffic += after;
    devices_[lane].traffic -= before;
    mark(lane);
}

void Rates::settle_device(std::uint32_t lane)
{
    Device& device = devices_[lane];
    device.dirty = false;
    const std::uint32_t share = compute_share(device.resident, device.traffic);
    const std::uint32_t rate = draining_rate(share, device.speed);
    if (share != device.share || rate != device.rate) {
        LaneState& state = run_.lanes[lane];
        if (state.measured && state.last < run_.now) {
            accounting_.charge(lane);
            state.last = run_.now;
        }
        device.share = share;
        device.rate = rate;
    }
    const std::size_t count = run_.kind_of(lane).streams.size();
    for (std::size_t s = 0; s < count; ++s) {
        const std::uint32_t index = run_.stream_index(lane, s);
        StreamState& stream = run_.streams[index];
        Draining& drain = run_.draining[index];
        const bool draining = stream.state == HeadState::running &&
                              stream.kind == OpKind::compute && drain.remaining > 0;
        if (!draining)
            continue;
        drain.share = share;
        if (drain.rate == rate)
            continue;
        const ByteRate old{drain.rate};
        drain.remaining =
            remaining_after(Work{drain.remaining}, old, run_.now - drain.settled).value;
        drain.settled = run_.now;
        drain.rate = rate;
        ++stream.version;
        queue_.push({run_.now + time_to_finish(Work{drain.remaining}, ByteRate(rate)), index,
                     stream.version});
    }
}

void Rates::open_links()
{
    if (fidelity_ != Fidelity::bundle)
        return;
    for (const std::uint32_t id : moving_)
        settle_transfer(run_.transfers[id]);
    links_open_ = true;
    moving_changed_ = true; // so that the loads of this instant are noted
}

void Rates::note_loads()
{
    for (std::size_t l = 0; l < usage_.size(); ++l) {
        const std::uint64_t capacity = run_.binding.links[l].value();
        if (capacity == 0)
            continue;
        const double load = static_cast<double>(sharing_.load(make_id<LinkId>(l))) /
                            (static_cast<double>(capacity) * 65536.0);
        usage_[l].busiest = std::max(usage_[l].busiest, load);
    }
}

std::vector<LinkTotals> Rates::link_totals() const
{
    std::vector<LinkTotals> totals;
    if (fidelity_ != Fidelity::bundle)
        return totals;
    for (std::size_t l = 0; l < usage_.size(); ++l)
        totals.push_back({.link = make_id<LinkId>(l),
                          .bytes = static_cast<double>(usage_[l].work) / 65536.0 * 1e-12,
                          .busiest_share = usage_[l].busiest});
    return totals;
}

std::vector<std::uint32_t> Rates::stalled() const
{
    std::vector<std::uint32_t> result;
    for (const std::uint32_t id : moving_)
        if (run_.transfers[id].rate.value() == 0)
            result.push_back(id);
    return result;
}

} // namespace trainyard::engine
