#include "sim/strategy/bind/classes.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace trainyard {

namespace {

using Signature = std::vector<std::uint32_t>;

// Numbers signatures in the order in which ranks show them.
std::vector<std::uint32_t> numbered(const std::vector<Signature>& signatures)
{
    std::map<Signature, std::uint32_t> numbers;
    std::vector<std::uint32_t> out;
    out.reserve(signatures.size());
    for (const Signature& signature : signatures)
        out.push_back(
            numbers.emplace(signature, static_cast<std::uint32_t>(numbers.size())).first->second);
    return out;
}

// A group as a number: its slot, shape and the set of colours in it.
std::vector<std::uint32_t> group_colours(const Neighbourhood& n,
                                         const std::vector<std::uint32_t>& colour)
{
    std::vector<Signature> signatures;
    signatures.reserve(n.groups.size());
    for (const RankGroup& group : n.groups) {
        Signature colours;
        for (const RankId member : group.members)
            colours.push_back(colour[member.value]);
        std::ranges::sort(colours);
        colours.erase(std::unique(colours.begin(), colours.end()), colours.end());
        colours.push_back(group.shape);
        colours.push_back(static_cast<std::uint32_t>(group.slot));
        signatures.push_back(std::move(colours));
    }
    return numbered(signatures);
}

std::vector<std::uint32_t> refined(const Neighbourhood& n, const std::vector<std::uint32_t>& colour)
{
    const std::vector<std::uint32_t> groups = group_colours(n, colour);
    std::vector<Signature> signatures(colour.size());
    for (std::size_t rank = 0; rank < colour.size(); ++rank) {
        Signature& signature = signatures[rank];
        signature.push_back(colour[rank]);
        for (const auto& group_of : n.group_of)
            signature.push_back(group_of[rank] == no_group ? no_group : groups[group_of[rank]]);
        if (!n.peers.empty())
            for (const RankPeer& peer : n.peers[rank]) {
                signature.push_back(peer.shape);
                signature.push_back(colour[peer.rank.value]);
            }
    }
    return numbered(signatures);
}

std::uint32_t count(const std::vector<std::uint32_t>& colour)
{
    return colour.empty() ? 0 : *std::ranges::max_element(colour) + 1;
}

RankClasses classes_of(std::vector<std::uint32_t> colour)
{
    RankClasses classes;
    const std::uint32_t classes_count = count(colour);
    classes.first.resize(classes_count);
    classes.size.resize(classes_count, 0);
    for (std::uint32_t rank = 0; rank < colour.size(); ++rank)
        if (classes.size[colour[rank]]++ == 0)
            classes.first[colour[rank]] = RankId{rank};
    classes.class_of = std::move(colour);
    return classes;
}

} // namespace

RankClasses separate_ranks(std::size_t ranks)
{
    std::vector<std::uint32_t> colour(ranks);
    std::iota(colour.begin(), colour.end(), 0U);
    return classes_of(std::move(colour));
}

RankClasses alike_ranks(const Neighbourhood& neighbourhood,
                        const std::vector<std::uint32_t>& colour)
{
    std::vector<std::uint32_t> now = refined(neighbourhood, colour);
    for (std::uint32_t before = 0; before != count(now);) {
        before = count(now);
        now = refined(neighbourhood, now);
    }
    return classes_of(std::move(now));
}

} // namespace trainyard
