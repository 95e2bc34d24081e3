#include "sim/study/search/nearest_batches.h"

#include "sim/strategy/misfits.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace trainyard {

namespace {

// Every number of replicas that the space has.
std::set<std::int64_t> replicas(const SearchSpace& space, const SpaceFacts& facts)
{
    std::set<std::int64_t> out;
    for (const int tp : space.tp)
        for (const int cp : space.cp)
            for (const int pp : space.pp)
                if (const std::int64_t ranks = std::int64_t{tp} * cp * pp;
                    facts.devices % ranks == 0)
                    out.insert(facts.devices / ranks);
    return out;
}

} // namespace

std::vector<std::int64_t> nearest_batches(const SearchSpace& space, const SearchBase& base,
                                          Bytes room, const WorkControl& work)
{
    const std::int64_t wanted = space.global_batches.front();
    std::set<std::int64_t> candidates;
    for (const std::int64_t dp : replicas(space, base.facts)) {
        const std::int64_t sequences = wanted / dp; // of a replica, rounded down
        if (sequences > 0)
            candidates.insert(std::min(sequences, most_micro_batches) * dp);
        if (sequences < most_micro_batches)
            candidates.insert((sequences + 1) * dp);
    }
    candidates.erase(wanted);
    // The leanest way to run each of the sizes.
    SearchSpace lean = space;
    lean.vpp = {1};
    lean.micro_batches = {1};
    lean.schedules.resize(1);
    lean.recompute = {space.recompute.back()};
    lean.global_batches.assign(candidates.begin(), candidates.end());
    std::set<std::int64_t> possible;
    const PossibleLayouts found = possible_layouts(lean, base, room, work);
    work.check();
    for (const PossibleLayout& layout : found.layouts)
        possible.insert(layout.choice.global_batch);
    std::vector<std::int64_t> out;
    const auto above = possible.upper_bound(wanted);
    if (above != possible.begin())
        out.push_back(*std::prev(above));
    if (above != possible.end())
        out.push_back(*above);
    return out;
}

std::int64_t batch_near(double wanted, int devices, double near)
{
    const std::int64_t whole = std::llround(wanted);
    if (whole > 0 && whole % devices == 0)
        return whole;
    // Shares of replicas that are powers of two times something make micro-batches of many sizes.
    for (std::int64_t replicas = devices; replicas > 1; --replicas)
        for (const std::int64_t share : {8, 4, 2, 1})
            if (const double unit = static_cast<double>(replicas * share);
                devices % replicas == 0 &&
                std::abs(std::round(wanted / unit) * unit - wanted) <= near * wanted)
                return std::llround(wanted / unit) * replicas * share;
    return std::max<std::int64_t>(1, whole);
}

} // namespace trainyard
