#include "sim/topology/cluster_links.h"

#include <algorithm>

namespace trainyard {
ClusterLinks::ClusterLinks(int nodes, const NodeTemplate& node, bool has_fabric,
                           const ClosShape& shape)
    : nodes_(to_size(nodes))
{
    const std::size_t gpus = to_size(node.gpus);
    const std::size_t switches = to_size(pcie_switch_count(node));
    const std::array<std::size_t, node_sections> sizes{
        node.nvlink.wiring == NvlinkWiring::switched ? 2 * gpus : 0,
        nvlink_wires(node).size(),
        2 * gpus,
        node.c2c.value() > 0 ? 2 * gpus : 0,
        switches > 1 ? 2 * switches : 0,
        has_fabric ? 2 * to_size(node.nics) : 0};
    for (std::size_t i = 0; i < node_sections; ++i)
        offset_[i + 1] = offset_[i] + sizes[i];
    leaf_base_ = nodes_ * offset_.back();
    spine_base_ = count_ = leaf_base_;
    if (!has_fabric)
        return;
    leaf_uplinks_ = to_size(shape.leaf_uplinks);
    spine_uplinks_ = to_size(shape.spine_uplinks);
    spine_base_ = leaf_base_ + 2 * leaf_uplinks_ * to_size(shape.leaves);
    count_ = spine_base_ + 2 * spine_uplinks_ * to_size(shape.spines());
}

LinkId ClusterLinks::id(const LinkPlace& place) const
{
    const std::size_t owner = to_size(place.owner);
    const std::size_t index = to_size(place.index);
    const std::size_t pair = 2 * index + (place.way == Way::down ? 1 : 0);
    switch (place.section) {
    case LinkSection::leaf:
        return make_id<LinkId>(leaf_base_ + 2 * leaf_uplinks_ * owner + pair);
    case LinkSection::spine:
        return make_id<LinkId>(spine_base_ + 2 * spine_uplinks_ * owner + pair);
    case LinkSection::wire:
        return make_id<LinkId>(owner * offset_.back() + offset_[1] + index);
    default:
        return make_id<LinkId>(owner * offset_.back() +
                               offset_[static_cast<std::size_t>(place.section)] + pair);
    }
}

LinkPlace ClusterLinks::place(LinkId id) const
{
    const auto paired = [](LinkSection section, std::size_t owner, std::size_t within) {
        return LinkPlace{section, static_cast<int>(owner), static_cast<int>(within / 2),
                         within % 2 == 0 ? Way::up : Way::down};
    };
    const std::size_t number = id.value;
    if (number >= spine_base_) {
        const std::size_t within = number - spine_base_;
        return paired(LinkSection::spine, within / (2 * spine_uplinks_),
                      within % (2 * spine_uplinks_));
    }
    if (number >= leaf_base_) {
        const std::size_t within = number - leaf_base_;
        return paired(LinkSection::leaf, within / (2 * leaf_uplinks_),
                      within % (2 * leaf_uplinks_));
    }
    const std::size_t node = number / offset_.back();
    const std::size_t within = number % offset_.back();
    const auto next = std::upper_bound(offset_.begin(), offset_.end(), within);
    const auto section = static_cast<std::size_t>(next - offset_.begin()) - 1;
    const std::size_t rest = within - offset_[section];
    if (section == static_cast<std::size_t>(LinkSection::wire))
        return {LinkSection::wire, static_cast<int>(node), static_cast<int>(rest), Way::up};
    return paired(static_cast<LinkSection>(section), node, rest);
}

} // namespace trainyard
