#include "tests/support/naive_engine.h"

#include <algorithm>
#include <limits>

namespace trainyard::test {

namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

// The level at which a link is full when each user takes the lesser of the level and its demand.
std::uint64_t water_level(std::uint64_t capacity,
                          std::vector<std::pair<std::uint64_t, std::uint64_t>> users)
{
    std::sort(users.begin(), users.end()); // (demand, coefficient)
    u128 left = static_cast<u128>(capacity) << 16;
    u128 wanting = 0;
    for (const auto& [demand, coefficient] : users)
        wanting += coefficient;
    for (const auto& [demand, coefficient] : users) {
        const u128 share = left / wanting;
        if (demand >= share)
            return static_cast<std::uint64_t>(share);
        left -= static_cast<u128>(demand) * coefficient;
        wanting -= coefficient;
    }
    return unlimited;
}

} // namespace

std::vector<std::uint64_t> naive_max_min(const std::vector<std::uint64_t>& capacities,
                                         const std::vector<NaiveDemand>& demands)
{
    std::vector<std::uint64_t> levels(capacities.size(), unlimited);
    // What a demand could take if link `but` were not there.
    const auto allowed = [&](const NaiveDemand& demand, std::size_t but) {
        std::uint64_t rate = demand.ceiling;
        for (const LinkUse& use : demand.links)
            if (use.link.value != but && use.coefficient > 0)
                rate = std::min(rate, levels[use.link.value]);
        return rate;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t l = 0; l < capacities.size(); ++l) {
            std::vector<std::pair<std::uint64_t, std::uint64_t>> users;
            for (const NaiveDemand& demand : demands) {
                std::uint64_t coefficient = 0;
                for (const LinkUse& use : demand.links)
                    if (use.link.value == l)
                        coefficient += use.coefficient;
                if (coefficient > 0)
                    users.emplace_back(allowed(demand, l), coefficient);
            }
            const std::uint64_t level = water_level(capacities[l], users);
            changed = changed || level != levels[l];
            levels[l] = level;
        }
    }
    std::vector<std::uint64_t> rates;
    for (const NaiveDemand& demand : demands)
        rates.push_back(allowed(demand, capacities.size()));
    return rates;
}

} // namespace trainyard::test
