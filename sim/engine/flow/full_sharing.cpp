#include "sim/engine/flow/full_sharing.h"

#include <algorithm>

namespace trainyard::engine {

FullSharing::FullSharing(std::span<const ByteRate> capacities)
    : at_start_(capacities), capacities_(capacities.begin(), capacities.end()), solver_(capacities_)
{}

std::uint32_t FullSharing::add(std::uint32_t owner, ByteRate ceiling,
                               std::span<const LinkUse> links)
{
    std::uint32_t id = static_cast<std::uint32_t>(flows_.size());
    if (free_.empty()) {
        flows_.emplace_back();
    } else {
        id = free_.back();
        free_.pop_back();
    }
    flows_[id] = {ByteRate(0), owner, static_cast<std::uint32_t>(active_.size())};
    active_.push_back(id);
    demands_.push_back({ceiling, links});
    changed_ = true;
    return id;
}

void FullSharing::remove(std::uint32_t flow)
{
    const std::uint32_t place = flows_[flow].place;
    active_[place] = active_.back();
    demands_[place] = demands_.back();
    flows_[active_[place]].place = place;
    active_.pop_back();
    demands_.pop_back();
    free_.push_back(flow);
    changed_ = true;
}

void FullSharing::set_capacity(LinkId link, ByteRate capacity)
{
    capacities_[link.value] = capacity;
    changed_ = true;
}

std::span<const RateChange> FullSharing::settle()
{
    changes_.clear();
    if (!changed_)
        return changes_;
    changed_ = false;
    solved_ = true;
    const std::vector<ByteRate>& rates = solver_.solve(demands_);
    for (std::size_t i = 0; i < active_.size(); ++i) {
        Flow& flow = flows_[active_[i]];
        if (flow.rate == rates[i])
            continue;
        flow.rate = rates[i];
        changes_.push_back({flow.owner, flow.rate});
    }
    return changes_;
}

void FullSharing::note_loads()
{
    if (!solved_)
        return;
    solved_ = false;
    for (std::size_t l = 0; l < busiest_.size(); ++l)
        busiest_[l] = std::max(busiest_[l], solver_.load(make_id<LinkId>(l)));
}

void FullSharing::watch_loads()
{
    busiest_.resize(capacities_.size());
    changed_ = true;
}

double FullSharing::busiest_share(LinkId link) const
{
    return busiest_.empty() ? 0 : load_share(busiest_[link.value], at_start_[link.value]);
}

} // namespace trainyard::engine
