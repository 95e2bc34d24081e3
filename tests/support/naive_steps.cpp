#include "tests/support/naive_steps.h"

#include <algorithm>

namespace trainyard::test {

namespace {

bool is_chain(CollectiveKind kind)
{
    return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
}

const Ways* ways_for(const Group& group, CollectiveKind kind, TrafficPattern pattern)
{
    if (pattern == TrafficPattern::all_to_all)
        return &group.pairs;
    if (pattern == TrafficPattern::neighbours)
        return &group.neighbour_hops;
    if (pattern == TrafficPattern::tree)
        return &group.tree_ways;
    if (pattern == TrafficPattern::ring && kind != CollectiveKind::barrier)
        return &group.ring_hops;
    return nullptr;
}

} // namespace

bool NaiveSteps::known(const Group& group, CollectiveKind kind, TrafficPattern pattern)
{
    const Ways* const ways = ways_for(group, kind, pattern);
    return ways != nullptr && !ways->empty() && group.members.size() > 1;
}

NaiveSteps::NaiveSteps(const Group& group, CollectiveKind kind, const TransferCost& cost)
    : ceiling_(cost.ceiling.value()), work_(cost.work.value), members_(group.members.size())
{
    const std::size_t n = group.members.size();
    const Ways& ways = *ways_for(group, kind, cost.pattern);
    const auto needs = [&](std::size_t send) { sends.back().before.push_back(send); };
    if (cost.pattern == TrafficPattern::all_to_all) {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = 1; k < n; ++k) {
                const std::size_t to = (i + k) % n;
                add(i, to, ways, i * n + to);
                if (k > 1)
                    needs(sends.size() - 2);
            }
    } else if (cost.pattern == TrafficPattern::neighbours) {
        for (std::size_t i = 0; i < n; ++i)
            add(i, (i + 1) % n, ways, i);
    } else if (cost.pattern == TrafficPattern::tree) {
        add_trees(group);
    } else if (is_chain(kind)) {
        const std::size_t first = kind == CollectiveKind::reduce ? 1 : 0;
        const std::size_t chunks = 8 * n;
        for (std::size_t hop = 0; hop + 1 < n; ++hop)
            for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
                const std::size_t from = first + hop;
                add(from, (from + 1) % n, ways, from);
                if (chunk > 0)
                    needs(sends.size() - 2);
                if (hop > 0)
                    needs((hop - 1) * chunks + chunk);
            }
    } else {
        const std::size_t steps = (kind == CollectiveKind::all_reduce ? 2 : 1) * (n - 1);
        for (std::size_t k = 0; k < steps; ++k)
            for (std::size_t i = 0; i < n; ++i) {
                add(i, (i + 1) % n, ways, i);
                if (k == 0)
                    continue;
                needs((k - 1) * n + i);
                needs((k - 1) * n + (i + n - 1) % n);
            }
    }
    find_rounds();
}

// 64 chunks; sends 2 x 64 e + chunk go up edge e, those behind them down.
void NaiveSteps::add_trees(const Group& group)
{
    constexpr std::size_t chunks = 64;
    const auto& edges = group.tree_edges;
    for (std::size_t e = 0; e < edges.size(); ++e)
        for (const bool up : {true, false})
            for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
                const std::size_t from = up ? edges[e].child : edges[e].parent;
                add(from, up ? edges[e].parent : edges[e].child, group.tree_ways,
                    2 * e + (up ? 0 : 1));
                sends.back().abreast =
                    static_cast<std::size_t>(std::ranges::count(edges, from, &TreeEdge::child) +
                                             std::ranges::count(edges, from, &TreeEdge::parent));
                std::vector<std::size_t>& before = sends.back().before;
                if (chunk > 0)
                    before.push_back(sends.size() - 2);
                bool root = true;
                for (const TreeEdge& edge : edges)
                    root = root && !(edge.tree == edges[e].tree && edge.child == from);
                for (std::size_t other = 0; other < edges.size(); ++other) {
                    if (edges[other].tree != edges[e].tree)
                        continue;
                    if (edges[other].parent == from && (up || root))
                        before.push_back(2 * chunks * other + chunk);
                    if (edges[other].child == from && !up)
                        before.push_back(2 * chunks * other + chunks + chunk);
                }
            }
}

void NaiveSteps::add(std::size_t from, std::size_t to, const Ways& ways, std::size_t way)
{
    NaiveSend send;
    send.from = from;
    send.to = to;
    send.links.assign(ways[way].begin(), ways[way].end());
    sends.push_back(std::move(send));
}

// One more than the last of those that must be over before.
void NaiveSteps::find_rounds()
{
    for (bool changed = true; changed;) {
        changed = false;
        for (NaiveSend& send : sends)
            for (const std::size_t before : send.before)
                if (send.round <= sends[before].round) {
                    send.round = sends[before].round + 1;
                    changed = true;
                }
    }
    for (const NaiveSend& send : sends)
        rounds_ = std::max(rounds_, send.round + 1);
}

bool NaiveSteps::free(const NaiveSend& send) const
{
    return members_[send.from] && std::ranges::all_of(send.before, [&](std::size_t before) {
               return sends[before].end.has_value();
           });
}

void NaiveSteps::come(std::size_t member, std::uint32_t scale, std::int64_t latency)
{
    members_[member] = Coming{work_ * scale >> 20, latency};
}

bool NaiveSteps::settle(std::int64_t now)
{
    // Of a count of picoseconds, what belongs to rounds before this one.
    const auto before = [&](u128 count, std::int64_t round) {
        return count * static_cast<u128>(round) / static_cast<u128>(rounds_);
    };
    bool changed = false;
    for (NaiveSend& send : sends) {
        if (!send.moves_from) {
            const std::optional<Coming>& coming = members_[send.from];
            if (!free(send))
                continue;
            const u128 whole = ceiling_ == 0 ? 0 : coming->work / ceiling_;
            send.remaining = (before(whole, send.round + 1) - before(whole, send.round)) * ceiling_;
            if (send.round + 1 == rounds_)
                send.remaining += coming->work - whole * ceiling_;
            const auto latency = static_cast<u128>(coming->latency);
            send.moves_from = now + static_cast<std::int64_t>(before(latency, send.round + 1) -
                                                              before(latency, send.round));
            changed = true;
        }
        if (!send.end && *send.moves_from <= now && send.remaining == 0) {
            send.end = now;
            changed = true;
        }
    }
    return changed;
}

bool NaiveSteps::done(std::size_t member) const
{
    if (!members_[member])
        return false;
    for (const NaiveSend& send : sends)
        if ((send.from == member || send.to == member) && !send.end)
            return false;
    return true;
}

} // namespace trainyard::test
