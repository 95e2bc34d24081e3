// The lines of a layout: which links lie between which two things.

#include "gui/topology/topology_layout.h"

#include <tuple>
#include <unordered_map>

namespace trainyard::gui {

void TopologyLayout::bundle_links()
{
    bundles_.clear();
    inside_of_.assign(items_.size(), no_place);
    std::unordered_map<std::uint64_t, std::uint32_t> known;
    const auto below = [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(items_[a].low, items_[a].left, a) <=
               std::tuple(items_[b].low, items_[b].left, b);
    };
    // Links that follow each other mostly join the same two things.
    std::uint64_t last_key = ~std::uint64_t{0};
    std::uint32_t last = 0;
    const auto bundle_between = [&](std::uint32_t from, std::uint32_t to) {
        const auto [a, b] = below(from, to) ? std::pair(from, to) : std::pair(to, from);
        const std::uint64_t key = std::uint64_t{a} << 32 | b;
        if (key == last_key)
            return last;
        const auto [at, is_new] = known.emplace(key, static_cast<std::uint32_t>(bundles_.size()));
        if (is_new)
            bundles_.push_back({a, b});
        if (a == b)
            inside_of_[a] = at->second;
        last_key = key;
        return last = at->second;
    };
    const std::vector<PlacePair>& links = graph_->links;
    bundle_of_.resize(links.size());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> counts; // there, back
    std::vector<bool> is_back(links.size());
    for (std::size_t l = 0; l < links.size(); ++l) {
        const std::uint32_t from = item_of_[links[l].from];
        const std::uint32_t bundle = bundle_of_[l] = bundle_between(from, item_of_[links[l].to]);
        counts.resize(bundles_.size());
        is_back[l] = from != bundles_[bundle].a;
        ++(is_back[l] ? counts[bundle].second : counts[bundle].first);
    }
    std::uint32_t next = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> at;
    for (std::size_t i = 0; i < bundles_.size(); ++i) {
        bundles_[i].first = next;
        bundles_[i].back = next + counts[i].first;
        next = bundles_[i].end = bundles_[i].back + counts[i].second;
        at.emplace_back(bundles_[i].first, bundles_[i].back);
    }
    links_.resize(links.size());
    for (std::size_t l = 0; l < links.size(); ++l) {
        auto& [there, back] = at[bundle_of_[l]];
        links_[is_back[l] ? back++ : there++] = make_id<LinkId>(l);
    }
    for (const PlacePair& stub : graph_->stubs)
        if (const std::uint32_t from = item_of_[stub.from], to = item_of_[stub.to]; from != to) {
            Bundle& bundle = bundles_[bundle_between(from, to)];
            bundle.stub = bundle.first == bundle.end;
        }
}

} // namespace trainyard::gui
