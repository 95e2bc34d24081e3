#include "sim/engine/rates.h"

#include "sim/engine/slowdown.h"

#include <algorithm>
#include <limits>

namespace trainyard::engine {

Rates::Rates(RunState& run, EventQueue& queue, Accounting& accounting,
             std::unique_ptr<LinkSharing> sharing)
    : run_(run),
      queue_(queue),
      accounting_(accounting),
      sharing_(std::move(sharing)),
      slows_compute_(interferes(run.binding.costs) || has_windows(run.binding)),
      disturbed_(sharing_ != nullptr || slows_compute_)
{
    if (slows_compute_) {
        devices_.resize(run.lanes.size());
        run.draining.resize(run.streams.size());
        accounting_.keep_fractions();
    }
    if (sharing_) {
        link_work_.resize(run.binding.links.size());
        way_work_.resize(run.ways.size());
    }
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
    if (sm_share == 0)
        return;
    devices_[lane].resident += sm_share;
    mark(lane);
}

void Rates::remove_resident(std::uint32_t lane, std::uint32_t sm_share)
{
    if (sm_share == 0)
        return;
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
    if (!sharing_ || transfer.links.empty())
        return set_rate(transfer, id, transfer.cost->ceiling);
    begun_.push_back(id);
    transfer.unplanned = true;
    if (transfer.flow == nobody) {
        transfer.counted = transfer.remaining;
        transfer.rate = ByteRate(0);
        transfer.flow = sharing_->add(id, transfer.cost->ceiling, transfer.links);
    } else {
        transfer.counted += transfer.remaining;
    }
}

void Rates::end_transfer(std::uint32_t id)
{
    Transfer& transfer = run_.transfers[id];
    settle_transfer(transfer);
    set_traffic(transfer, 0);
    transfer.rate = ByteRate(0);
    if (transfer.flow == nobody)
        return;
    sharing_->remove(transfer.flow);
    transfer.flow = nobody;
    const u128 moved = transfer.counted - transfer.remaining;
    if (transfer.way == nobody)
        count_bytes(transfer.links, moved);
    else if (links_open_)
        way_work_[transfer.way] += moved;
}

// What someone who leaves links has moved over them since they were opened.
void Rates::count_bytes(std::span<const LinkUse> links, u128 moved)
{
    if (links_open_)
        for (const LinkUse& use : links)
            link_work_[use.link.value] += moved * use.coefficient;
}

void Rates::count_kept(std::span<const LinkUse> links, ByteRate rate, u128 moved)
{
    if (moved == 0)
        return;
    sharing_->note_kept(rate, links);
    count_bytes(links, moved);
}

void Rates::share()
{
    if (!sharing_)
        return;
    for (const RateChange& change : sharing_->settle())
        changes_.push_back(change);
}

const std::vector<std::uint32_t>& Rates::slowed()
{
    slowed_.clear();
    const auto look_at = [&](std::uint32_t id) {
        const Transfer& transfer = run_.transfers[id];
        if (transfer.may_step && transfer.flow != nobody &&
            sharing_->rate(transfer.flow) < transfer.cost->ceiling)
            slowed_.push_back(id);
    };
    for (const RateChange& change : changes_)
        look_at(change.owner);
    for (const std::uint32_t id : begun_)
        look_at(id);
    std::ranges::sort(slowed_);
    slowed_.erase(std::unique(slowed_.begin(), slowed_.end()), slowed_.end());
    return slowed_;
}

void Rates::settle()
{
    if (sharing_)
        sharing_->note_loads();
    for (const RateChange& change : changes_) {
        Transfer& transfer = run_.transfers[change.owner];
        if (transfer.flow == nobody)
            continue;
        const ByteRate rate = sharing_->rate(transfer.flow);
        if (transfer.unplanned || transfer.rate != rate)
            set_rate(transfer, change.owner, rate);
    }
    changes_.clear();
    for (const std::uint32_t id : begun_) {
        Transfer& transfer = run_.transfers[id];
        if (transfer.flow != nobody && transfer.unplanned)
            plan_end(transfer, id);
    }
    begun_.clear();
    for (const std::uint32_t lane : dirty_)
        settle_device(lane);
    dirty_.clear();
}

void Rates::set_rate(Transfer& transfer, std::uint32_t id, ByteRate rate)
{
    settle_transfer(transfer);
    transfer.rate = rate;
    set_traffic(transfer, traffic_of(*transfer.cost, rate, transfer.abreast));
    plan_end(transfer, id);
}

void Rates::plan_end(Transfer& transfer, std::uint32_t id)
{
    ++transfer.version;
    transfer.unplanned = false;
    if (transfer.rate < transfer.cost->ceiling)
        run_.transfers[transfer.parent == nobody ? id : transfer.parent].disturbed = true;
    if (transfer.rate.value() > 0)
        queue_.push({run_.now + time_to_finish(Work{transfer.remaining}, transfer.rate),
                     id | transfer_bit, transfer.version});
}

// What has been moved until now at the present rate.
void Rates::settle_transfer(Transfer& transfer)
{
    transfer.remaining =
        remaining_after(Work{transfer.remaining}, transfer.rate, run_.now - transfer.settled).value;
    transfer.settled = run_.now;
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
    if (!sharing_)
        return;
    for (Transfer& transfer : run_.transfers)
        if (transfer.flow != nobody) {
            settle_transfer(transfer);
            transfer.counted = transfer.remaining;
        }
    links_open_ = true;
    opened_ = run_.now;
    sharing_->watch_loads();
}

std::vector<LinkTotals> Rates::link_totals()
{
    for (std::size_t way = 0; way < way_work_.size(); ++way)
        count_bytes(run_.ways[way].links, way_work_[way]);
    std::vector<LinkTotals> totals;
    for (std::size_t l = 0; l < link_work_.size(); ++l)
        totals.push_back({.link = make_id<LinkId>(l),
                          .bytes = static_cast<double>(link_work_[l]) / 65536.0 * 1e-12,
                          .busiest_share = sharing_->busiest_share(make_id<LinkId>(l))});
    return totals;
}

std::vector<std::uint32_t> Rates::stalled() const
{
    std::vector<std::uint32_t> result;
    for (std::uint32_t id = 0; id < run_.transfers.size(); ++id)
        if (run_.transfers[id].flow != nobody && run_.transfers[id].rate.value() == 0)
            result.push_back(run_.transfers[id].parent == nobody ? id : run_.transfers[id].parent);
    std::ranges::sort(result);
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
}

} // namespace trainyard::engine
