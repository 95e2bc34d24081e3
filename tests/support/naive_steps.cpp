#include "tests/support/naive_steps.h"

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
    if (cost.pattern == TrafficPattern::all_to_all) {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = 1; k < n; ++k) {
                const std::size_t to = (i + k) % n;
                add(i, to, static_cast<std::int64_t>(k) - 1, ways, i * n + to);
                if (k > 1)
                    sends.back().own_before = sends.size() - 2;
            }
    } else if (cost.pattern == TrafficPattern::neighbours) {
        for (std::size_t i = 0; i < n; ++i)
            add(i, (i + 1) % n, 0, ways, i);
    } else if (is_chain(kind)) {
        const std::size_t first = kind == CollectiveKind::reduce ? 1 : 0;
        const std::size_t chunks = 8 * n;
        for (std::size_t hop = 0; hop + 1 < n; ++hop)
            for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
                const std::size_t from = first + hop;
                add(from, (from + 1) % n, static_cast<std::int64_t>(hop + chunk), ways, from);
                if (chunk > 0)
                    sends.back().own_before = sends.size() - 2;
                if (hop > 0)
                    sends.back().data_before = (hop - 1) * chunks + chunk;
            }
    } else {
        const std::size_t steps = (kind == CollectiveKind::all_reduce ? 2 : 1) * (n - 1);
        for (std::size_t k = 0; k < steps; ++k)
            for (std::size_t i = 0; i < n; ++i) {
                add(i, (i + 1) % n, static_cast<std::int64_t>(k), ways, i);
                if (k == 0)
                    continue;
                sends.back().own_before = (k - 1) * n + i;
                sends.back().data_before = (k - 1) * n + (i + n - 1) % n;
            }
    }
}

void NaiveSteps::add(std::size_t from, std::size_t to, std::int64_t round, const Ways& ways,
                     std::size_t way)
{
    NaiveSend send;
    send.from = from;
    send.to = to;
    send.round = round;
    send.links.assign(ways[way].begin(), ways[way].end());
    sends.push_back(std::move(send));
    rounds_ = std::max(rounds_, round + 1);
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
            if (!coming || !over(send.own_before) || !over(send.data_before))
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
