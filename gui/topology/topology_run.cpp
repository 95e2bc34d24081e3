#include "gui/topology/topology_run.h"

namespace trainyard::gui {

namespace {

std::shared_ptr<const Topology> sound_of(const Outcome& outcome)
{
    return outcome.sound ? outcome.sound : outcome.topology;
}

WayUse use_of(std::span<const LinkId> links, const TopologyRun& run,
              const std::vector<double>& loads)
{
    WayUse use;
    use.links = static_cast<std::uint32_t>(links.size());
    for (const LinkId link : links) {
        const double capacity = run.capacity[link.value];
        const double load = loads[link.value];
        use.capacity += capacity;
        use.load += load;
        use.dead += run.state[link.value] == LinkState::dead ? 1 : 0;
        use.changed += run.state[link.value] == LinkState::changed ? 1 : 0;
        const double part = capacity > 0 ? load / capacity : 0;
        if (part > use.worst || !use.busiest.valid()) {
            use.worst = part;
            use.busiest = link;
        }
    }
    return use;
}

} // namespace

TopologyRun::TopologyRun(std::shared_ptr<const Outcome> of,
                         std::shared_ptr<const ClusterGraph> known, const WorkControl& work)
    : outcome(std::move(of)), graph(std::move(known))
{
    const std::shared_ptr<const Topology> sound = sound_of(*outcome);
    if (graph == nullptr || graph->topology != sound) {
        work.report("laying out the cluster", 0, 0);
        graph = std::make_shared<const ClusterGraph>(sound);
    }
    work.check();
    work.report("finding the ways of transfers", 0, 0);
    loads = std::make_unique<const LinkLoads>(outcome, work);
    const Topology& now = *outcome->topology;
    for (std::size_t i = 0; i < now.link_count(); ++i) {
        const auto id = make_id<LinkId>(i);
        const Link link = now.link(id);
        capacity.push_back(link.capacity.value());
        LinkState is = LinkState::sound;
        if (&now != sound.get()) {
            const Link good = sound->link(id);
            if (link.capacity.value() <= 0)
                is = LinkState::dead;
            else if (link.capacity != good.capacity || link.latency != good.latency)
                is = LinkState::changed;
        }
        state.push_back(is);
    }
}

LoadTime step_of(const Outcome& outcome)
{
    const std::vector<SimTime>& ends = outcome.result->step_ends;
    const SimTime from = ends.size() > 1 ? ends[ends.size() - 2] : SimTime(0);
    return {from, ends.empty() ? from : ends.back()};
}

std::vector<double> link_loads(const TopologyRun& run, LoadTime time)
{
    const LinkLoads& loads = *run.loads;
    std::vector<double> out(run.capacity.size());
    const bool counted = !run.outcome->result->links.empty() && time == step_of(*run.outcome);
    if (counted) {
        const double seconds = to_seconds(time.to - time.from).value();
        for (const LinkTotals& totals : run.outcome->result->links)
            out[totals.link.value] = totals.bytes / seconds;
        return out;
    }
    const std::vector<double> by_profile = loads.loads(
        time.moment() ? loads.rates_at(time.from) : loads.mean_rates(time.from, time.to));
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = by_profile[loads.profile_of(make_id<LinkId>(i))];
    return out;
}

std::vector<BundleUse> idle_uses(const TopologyLayout& layout)
{
    const Topology& topology = *layout.graph()->topology;
    const auto way_of = [&](std::span<const LinkId> links) {
        WayUse use;
        use.links = static_cast<std::uint32_t>(links.size());
        for (const LinkId link : links)
            use.capacity += topology.link(link).capacity.value();
        return use;
    };
    std::vector<BundleUse> uses;
    uses.reserve(layout.bundles().size());
    for (const Bundle& bundle : layout.bundles())
        uses.push_back({way_of(layout.there(bundle)), way_of(layout.back(bundle))});
    return uses;
}

std::vector<BundleUse> bundle_uses(const TopologyLayout& layout, const TopologyRun& run,
                                   const std::vector<double>& loads)
{
    std::vector<BundleUse> uses;
    uses.reserve(layout.bundles().size());
    for (const Bundle& bundle : layout.bundles())
        uses.push_back(
            {use_of(layout.there(bundle), run, loads), use_of(layout.back(bundle), run, loads)});
    return uses;
}

} // namespace trainyard::gui
