#include "sim/study/perturbed_links.h"

#include "sim/base/diagnostic.h"
#include "sim/base/random.h"
#include "sim/study/perturbation.h"
#include "sim/topology/perturbed_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace trainyard {

namespace {

// Whether `pattern`, which has a star, matches all of `text`; "*" stands for any letters. What
// stands between two stars may be taken where it comes first: no later place leaves more behind it.
bool matches(std::string_view pattern, std::string_view text)
{
    const auto first = pattern.find('*');
    const auto last = pattern.rfind('*');
    const std::string_view head = pattern.substr(0, first);
    const std::string_view tail = pattern.substr(last + 1);
    if (text.size() < head.size() + tail.size() || !text.starts_with(head) || !text.ends_with(tail))
        return false;
    text = text.substr(head.size(), text.size() - head.size() - tail.size());
    pattern = pattern.substr(first, last - first);
    while (!pattern.empty()) {
        pattern.remove_prefix(1);
        const std::string_view between = pattern.substr(0, pattern.find('*'));
        const auto found = text.find(between);
        if (found == std::string_view::npos)
            return false;
        text.remove_prefix(found + between.size());
        pattern.remove_prefix(between.size());
    }
    return true;
}

// "node3/nic2 out" is also called "node3/nic2".
std::string_view without_direction(std::string_view name)
{
    for (const std::string_view way : {" up", " down", " out", " in"})
        if (name.ends_with(way))
            return name.substr(0, name.size() - way.size());
    return name;
}

// Numbers as ranges: "0-7, 16".
std::string ranges(const std::vector<int>& numbers)
{
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
            ++last;
        text += text.empty() ? "" : ", ";
        text += last == i ? fmt::format("{}", numbers[i])
                          : fmt::format("{}-{}", numbers[i], numbers[last]);
        i = last + 1;
    }
    return text;
}

bool reaches(const Topology& topology, int from, int to)
{
    return !topology
                .path(make_id<DeviceId>(static_cast<std::size_t>(from)),
                      make_id<DeviceId>(static_cast<std::size_t>(to)))
                .empty();
}

// Ranks beside `self` of which that holds; asked once of each other node, since its devices relay
// for each other.
template <class Holds>
std::vector<int> other_ranks(const Topology& topology, int world, int self, const Holds& holds)
{
    const auto node_of = [&](int rank) {
        return topology.model().placement(make_id<DeviceId>(static_cast<std::size_t>(rank))).node;
    };
    std::map<NodeId, bool> known;
    std::vector<int> ranks;
    for (int rank = 0; rank < world; ++rank) {
        if (rank == self)
            continue;
        const NodeId node = node_of(rank);
        const auto found = known.find(node);
        const bool is = found != known.end() ? found->second : holds(rank);
        if (node != node_of(self))
            known.emplace(node, is);
        if (is)
            ranks.push_back(rank);
    }
    return ranks;
}

} // namespace

std::vector<std::vector<LinkId>> links_matching(const std::vector<std::string>& patterns,
                                                const Topology& topology)
{
    // Each name is written once; patterns without a star are looked up.
    std::unordered_map<std::string_view, std::vector<std::size_t>> whole;
    std::vector<std::size_t> open;
    std::vector<std::size_t> fabric;
    for (std::size_t i = 0; i < patterns.size(); ++i)
        if (patterns[i] == "fabric")
            fabric.push_back(i);
        else if (patterns[i].find('*') != std::string::npos)
            open.push_back(i);
        else if (!patterns[i].empty())
            whole[patterns[i]].push_back(i);
    std::vector<std::vector<LinkId>> found(patterns.size());
    const std::size_t links =
        fabric.empty() && open.empty() && whole.empty() ? 0 : topology.link_count();
    for (std::size_t l = 0; l < links; ++l) {
        const auto id = make_id<LinkId>(l);
        if (!fabric.empty() && topology.model().trunk(id))
            for (const std::size_t i : fabric)
                found[i].push_back(id);
        if (open.empty() && whole.empty())
            continue;
        const std::string name = topology.link_name(id);
        const std::string_view plain = without_direction(name);
        for (const std::size_t i : open)
            if (matches(patterns[i], name) || matches(patterns[i], plain))
                found[i].push_back(id);
        const auto add = [&](std::string_view text) {
            if (const auto exact = whole.find(text); exact != whole.end())
                for (const std::size_t i : exact->second)
                    found[i].push_back(id);
        };
        add(name);
        if (plain != name)
            add(plain);
    }
    return found;
}

std::vector<std::vector<LinkId>> links_by_entry(const std::vector<Perturbation>& perturbations,
                                                const Topology& topology)
{
    std::vector<std::string> patterns; // each once
    std::unordered_map<std::string_view, std::size_t> places;
    for (const Perturbation& p : perturbations)
        if (places.emplace(p.link, patterns.size()).second)
            patterns.push_back(p.link);
    const std::vector<std::vector<LinkId>> found = links_matching(patterns, topology);
    std::vector<std::vector<LinkId>> out;
    out.reserve(perturbations.size());
    for (const Perturbation& p : perturbations)
        out.push_back(found[places[p.link]]);
    return out;
}

std::string link_name_hint(std::string_view pattern, const Topology& topology)
{
    if (pattern == "fabric")
        return "this cluster has no links between switches";
    std::set<std::string> names;
    for (std::size_t i = 0; i < topology.link_count() && names.size() < 100'000; ++i)
        names.emplace(without_direction(topology.link_name(make_id<LinkId>(i))));
    const std::vector<std::string> all(names.begin(), names.end());
    const std::string near = did_you_mean(pattern, all);
    if (!near.empty())
        return fmt::format("did you mean \"{}\"?", near);
    return all.empty() ? "it has none" : fmt::format("names are such as \"{}\"", all.front());
}

std::shared_ptr<const Topology> perturbed_topology(const std::shared_ptr<const Topology>& sound,
                                                   const std::vector<Perturbation>& perturbations,
                                                   std::uint64_t seed)
{
    std::unordered_map<LinkId, LinkState> states;
    std::optional<std::uint64_t> collisions;
    const std::vector<std::vector<LinkId>> links = links_by_entry(perturbations, *sound);
    for (std::size_t i = 0; i < perturbations.size(); ++i) {
        const Perturbation& p = perturbations[i];
        if (p.ecmp)
            collisions = hash_key(sound->model().ecmp_seed(), seed);
        if (!p.changes_links() || p.has_window())
            continue;
        for (const LinkId id : links[i]) {
            LinkState& state = states[id];
            if (p.dead)
                state.dead = true;
            else
                state.share *= p.share_left();
            state.latency += p.latency;
        }
    }
    if (states.empty() && !collisions)
        return sound;
    // Aliased: the sound cluster lives as long as the perturbed one.
    return std::make_shared<const Topology>(std::make_shared<PerturbedModel>(
        std::shared_ptr<const TopologyModel>(sound, &sound->model()), std::move(states),
        collisions));
}

Problems partition_problems(const std::vector<Perturbation>& perturbations,
                            const Topology& perturbed, int world)
{
    const auto dead = std::ranges::find_if(
        perturbations, [](const Perturbation& p) { return p.dead && !p.has_window(); });
    if (dead == perturbations.end())
        return {};
    for (int rank = 0; rank < world; ++rank) {
        const int next = (rank + 1) % world;
        if (rank == next || (reaches(perturbed, rank, next) && reaches(perturbed, next, rank)))
            continue;
        const int from = reaches(perturbed, rank, next) ? next : rank;
        const std::vector<int> lost = other_ranks(
            perturbed, world, from, [&](int other) { return !reaches(perturbed, from, other); });
        // With it, from the same.
        const std::vector<int> cut_off =
            other_ranks(perturbed, world, lost.front(), [&](int other) {
                return other == from || (!std::ranges::binary_search(lost, other) &&
                                         !reaches(perturbed, other, lost.front()));
            });
        return {{"", 0, fmt::format("/perturbations/{}/link", dead - perturbations.begin()),
                 fmt::format("the dead links partition the job: rank{} {} cannot reach rank{} {}",
                             cut_off.size() > 1 ? "s" : "", ranges(cut_off),
                             lost.size() > 1 ? "s" : "", ranges(lost)),
                 "leave them a way, or run on other devices", Severity::error}};
    }
    return {};
}

} // namespace trainyard
