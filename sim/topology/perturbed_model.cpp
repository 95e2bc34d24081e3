#include "sim/topology/perturbed_model.h"

#include <algorithm>

namespace trainyard {

namespace {

double left_of(const LinkState& state)
{
    return state.dead ? 0.0 : state.share;
}

} // namespace

PerturbedModel::PerturbedModel(std::shared_ptr<const TopologyModel> sound,
                               std::unordered_map<LinkId, LinkState> states,
                               std::optional<std::uint64_t> seed)
    : TopologyView(std::move(sound)),
      states_(std::move(states)),
      seed_(seed.value_or(whole().ecmp_seed())),
      collisions_(seed.has_value())
{
    for (const auto& [id, state] : states_) {
        some_dead_ = some_dead_ || state.dead;
        if (const std::optional<Trunk> trunk = whole().trunk(id))
            lost_[trunk->number] += whole().link(id).capacity.value() * (1.0 - left_of(state));
    }
}

Link PerturbedModel::link(LinkId id) const
{
    Link link = whole().link(id);
    if (const auto found = states_.find(id); found != states_.end()) {
        link.capacity = left_of(found->second) * link.capacity;
        link.latency += found->second.latency;
    }
    return link;
}

std::optional<Trunk> PerturbedModel::trunk(LinkId id) const
{
    std::optional<Trunk> trunk = whole().trunk(id);
    if (!trunk)
        return trunk;
    if (const auto found = lost_.find(trunk->number); found != lost_.end())
        trunk->capacity = Bandwidth(std::max(0.0, trunk->capacity.value() - found->second));
    return trunk;
}

bool PerturbedModel::is_dead(LinkId id) const
{
    const auto found = states_.find(id);
    return found != states_.end() && found->second.dead;
}

std::vector<LinkId> PerturbedModel::route(DeviceId from, DeviceId to, PathChoice& choice) const
{
    std::vector<LinkId> usual = whole().route(from, to, choice);
    const auto dead = [this](LinkId link) { return is_dead(link); };
    if (!some_dead_ || std::ranges::none_of(usual, dead))
        return usual;
    return whole().route_around(from, to, choice, dead);
}

std::vector<LinkId> PerturbedModel::route_around(DeviceId from, DeviceId to, PathChoice& choice,
                                                 const CutLinks& cut) const
{
    return whole().route_around(from, to, choice,
                                [&](LinkId link) { return is_dead(link) || cut(link); });
}

bool PerturbedModel::rerouted(DeviceId from, DeviceId to) const
{
    if (!some_dead_)
        return false;
    for (std::uint64_t flow = 0; flow < 16; ++flow) {
        FlowHash choice(seed_, from, to, flow);
        if (std::ranges::none_of(whole().route(from, to, choice),
                                 [this](LinkId link) { return is_dead(link); }))
            return false;
    }
    return true;
}

Topology in_good_state(const Topology& topology)
{
    return Topology(
        std::shared_ptr<const TopologyModel>(std::shared_ptr<void>(), &topology.model().sound()));
}

} // namespace trainyard
