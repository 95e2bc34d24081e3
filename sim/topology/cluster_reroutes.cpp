// Paths of a compact cluster around dead links.

#include "sim/topology/cluster_routes.h"

#include <algorithm>

namespace trainyard {

namespace {

using Cut = std::function<bool(LinkId)>;

// Equal paths that a flow tries by its hash, so that flows spread over what is left; then it goes
// through all of them one by one.
constexpr std::uint64_t tries = 64;
constexpr std::uint64_t relay_tries = 8; // of each pair of relays

bool is_clear(const std::vector<LinkId>& path, const Cut& cut)
{
    return !path.empty() && std::ranges::none_of(path, cut);
}

// The flow's choices, each moved on by as much as try number `shift` says.
class ShiftedChoice final : public PathChoice {
public:
    ShiftedChoice(PathChoice& flow, std::uint64_t shift) : flow_(flow), shift_(shift) {}

    std::size_t choose(std::size_t hop, std::size_t choices) override
    {
        const std::size_t usual = flow_.choose(hop, choices);
        if (shift_ == 0 || choices <= 1)
            return usual;
        return (usual + static_cast<std::size_t>(hash_key(shift_, hop) % choices)) % choices;
    }

private:
    PathChoice& flow_;
    std::uint64_t shift_;
};

// Goes through all choices of a route, from those of the flow on.
class AllChoices final : public PathChoice {
public:
    explicit AllChoices(PathChoice& flow) : flow_(flow) {}

    std::size_t choose(std::size_t hop, std::size_t choices) override
    {
        if (asked_ == turns_.size())
            turns_.push_back({});
        Turn& turn = turns_[asked_++];
        turn.hop = hop;
        turn.choices = choices;
        return (flow_.choose(hop, choices) + turn.number) % choices;
    }

    // To the next route that differs up to link `cut` of this one; false behind the last.
    bool advance(std::size_t cut)
    {
        turns_.resize(asked_);
        asked_ = 0;
        while (!turns_.empty() && turns_.back().hop > cut)
            turns_.pop_back();
        while (!turns_.empty() && ++turns_.back().number >= turns_.back().choices)
            turns_.pop_back();
        return !turns_.empty();
    }

private:
    struct Turn {
        std::size_t hop = 0;
        std::size_t number = 0;
        std::size_t choices = 1;
    };

    PathChoice& flow_;
    std::vector<Turn> turns_; // in the order of the path
    std::size_t asked_ = 0;
};

std::vector<LinkId> joined(std::vector<LinkId> path, const std::vector<LinkId>& more)
{
    path.insert(path.end(), more.begin(), more.end());
    return path;
}

} // namespace

// One of the usual paths that is whole; empty when none is.
std::vector<LinkId> ClusterRoutes::clear_route(DeviceId from, DeviceId to, PathChoice& choice,
                                               const Cut& cut, std::uint64_t most_tries) const
{
    for (std::uint64_t shift = 0; shift < most_tries; ++shift) {
        ShiftedChoice shifted(choice, shift);
        std::vector<LinkId> path = route(from, to, shifted);
        if (is_clear(path, cut))
            return path;
    }
    return {};
}

// One of the usual paths that is whole, whichever; empty when none is. Complexity: all equal paths
// up to the first dead link of each.
std::vector<LinkId> ClusterRoutes::any_clear_route(DeviceId from, DeviceId to, PathChoice& choice,
                                                   const Cut& cut) const
{
    std::vector<LinkId> path = clear_route(from, to, choice, cut, tries);
    if (!path.empty())
        return path;
    AllChoices all(choice);
    std::size_t first_cut = 0;
    do {
        path = route(from, to, all);
        if (is_clear(path, cut))
            return path;
        first_cut = static_cast<std::size_t>(std::ranges::find_if(path, cut) - path.begin());
    } while (all.advance(first_cut));
    return {};
}

// Between devices of one node: NVLink, else PCIe.
std::vector<LinkId> ClusterRoutes::clear_inside(DeviceId from, DeviceId to, PathChoice& choice,
                                                const Cut& cut) const
{
    std::vector<LinkId> usual = any_clear_route(from, to, choice, cut);
    if (!usual.empty())
        return usual;
    const auto gpus = static_cast<std::uint32_t>(node_.gpus);
    const std::vector<LinkId> path =
        over_pcie(static_cast<int>(from.value / gpus), static_cast<int>(from.value % gpus),
                  static_cast<int>(to.value % gpus));
    return is_clear(path, cut) ? path : std::vector<LinkId>{};
}

std::vector<LinkId> ClusterRoutes::around(DeviceId from, DeviceId to, PathChoice& choice,
                                          const Cut& cut) const
{
    const auto gpus = static_cast<std::uint32_t>(node_.gpus);
    const std::uint32_t from_first = from.value / gpus * gpus;
    const std::uint32_t to_first = to.value / gpus * gpus;
    if (from_first == to_first)
        return clear_inside(from, to, choice, cut);
    std::vector<LinkId> usual = any_clear_route(from, to, choice, cut);
    if (!usual.empty())
        return usual;
    std::vector<std::vector<LinkId>> best;
    for (std::uint32_t g = from_first; g < from_first + gpus; ++g)
        for (std::uint32_t h = to_first; h < to_first + gpus; ++h) {
            std::vector<LinkId> path =
                clear_route(DeviceId{g}, DeviceId{h}, choice, cut, relay_tries);
            if (path.empty())
                continue;
            if (g != from.value) {
                const std::vector<LinkId> first = clear_inside(from, DeviceId{g}, choice, cut);
                if (first.empty())
                    continue;
                path = joined(first, path);
            }
            if (h != to.value) {
                const std::vector<LinkId> last = clear_inside(DeviceId{h}, to, choice, cut);
                if (last.empty())
                    continue;
                path = joined(std::move(path), last);
            }
            if (best.empty() || path.size() < best.front().size())
                best.clear();
            if (best.empty() || path.size() == best.front().size())
                best.push_back(std::move(path));
        }
    return best.empty() ? std::vector<LinkId>{} : best[choice.choose(0, best.size())];
}

} // namespace trainyard
