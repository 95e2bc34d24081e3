// Max-min fair sharing against a fixpoint, and what must hold of any solution.

#include "sim/base/random.h"
#include "sim/engine/sharing.h"
#include "tests/catch.h"
#include "tests/support/naive_engine.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

struct System {
    std::vector<std::uint64_t> capacities;
    std::vector<NaiveDemand> demands;
};

// Small numbers, so that shares tie and round; now and then a dead link.
System random_system(std::uint64_t seed)
{
    Random random(hash_key(seed, 3));
    System system;
    const std::int64_t size = random.integer(0, 2) == 0 ? 1'000'000'000'000 : 40;
    const auto links = static_cast<std::size_t>(random.integer(1, 7));
    for (std::size_t l = 0; l < links; ++l)
        system.capacities.push_back(
            random.integer(0, 11) == 0 ? 0 : static_cast<std::uint64_t>(random.integer(1, size)));
    const std::int64_t demands = random.integer(0, 10);
    for (std::int64_t d = 0; d < demands; ++d) {
        NaiveDemand demand;
        demand.ceiling = static_cast<std::uint64_t>(random.integer(1, size));
        for (std::size_t l = 0; l < links; ++l)
            if (random.integer(0, 2) == 0)
                demand.links.push_back({make_id<LinkId>(l), random.integer(0, 1) == 0
                                                                ? 1U << 16
                                                                : static_cast<std::uint32_t>(
                                                                      random.integer(0, 300'000))});
        system.demands.push_back(std::move(demand));
    }
    return system;
}

struct Solution {
    std::vector<std::uint64_t> rates;
    std::vector<u128> loads; // x 2^16
};

Solution solve(const System& system)
{
    std::vector<ByteRate> capacities;
    for (const std::uint64_t capacity : system.capacities)
        capacities.emplace_back(capacity);
    std::vector<engine::Demand> demands;
    for (const NaiveDemand& demand : system.demands)
        demands.push_back({ByteRate(demand.ceiling), demand.links});
    engine::FairSharing sharing(capacities);
    Solution solution;
    for (const ByteRate rate : sharing.solve(demands))
        solution.rates.push_back(rate.value());
    for (std::size_t l = 0; l < capacities.size(); ++l)
        solution.loads.push_back(sharing.load(make_id<LinkId>(l)));
    return solution;
}

} // namespace

TEST_CASE("progressive filling equals the fixpoint of the links' water levels")
{
    for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
        const System system = random_system(seed);
        INFO("seed " << seed);
        REQUIRE(solve(system).rates == naive_max_min(system.capacities, system.demands));
    }
}

TEST_CASE("no link carries more than its capacity, and loads are the sum of rates")
{
    for (std::uint64_t seed = 0; seed < 5000; ++seed) {
        const System system = random_system(seed);
        const Solution solution = solve(system);
        std::vector<u128> loads(system.capacities.size());
        for (std::size_t d = 0; d < system.demands.size(); ++d)
            for (const LinkUse& use : system.demands[d].links)
                loads[use.link.value] += static_cast<u128>(solution.rates[d]) * use.coefficient;
        INFO("seed " << seed);
        REQUIRE((loads == solution.loads));
        for (std::size_t l = 0; l < loads.size(); ++l)
            REQUIRE((loads[l] <= static_cast<u128>(system.capacities[l]) << 16));
    }
}

TEST_CASE("whoever gets less than its ceiling meets a full link on which nobody gets more")
{
    for (std::uint64_t seed = 0; seed < 5000; ++seed) {
        const System system = random_system(seed);
        const Solution solution = solve(system);
        INFO("seed " << seed);
        const auto bottleneck = [&](std::size_t d, LinkId link) {
            u128 coefficients = 0;
            for (std::size_t other = 0; other < system.demands.size(); ++other)
                for (const LinkUse& use : system.demands[other].links)
                    if (use.link == link) {
                        if (solution.rates[other] > solution.rates[d])
                            return false;
                        coefficients += use.coefficient;
                    }
            const u128 left = (static_cast<u128>(system.capacities[link.value]) << 16) -
                              solution.loads[link.value];
            return left < coefficients; // not one byte per second more for all
        };
        for (std::size_t d = 0; d < system.demands.size(); ++d) {
            bool held = solution.rates[d] == system.demands[d].ceiling;
            for (const LinkUse& use : system.demands[d].links)
                held = held || bottleneck(d, use.link);
            REQUIRE(held);
        }
    }
}

TEST_CASE("an idle link and a second solve change nothing")
{
    System system = random_system(17);
    const auto before = solve(system).rates;
    system.capacities.push_back(5);
    CHECK(solve(system).rates == before);

    // One solver, two systems: nothing of the first remains.
    const std::vector<ByteRate> capacities{ByteRate(100), ByteRate(60)};
    engine::FairSharing sharing(capacities);
    const std::vector<LinkUse> both{{LinkId{0}}, {LinkId{1}}};
    const std::vector<LinkUse> first{{LinkId{0}}};
    const std::vector<engine::Demand> demands{{ByteRate(1000), both}, {ByteRate(1000), first}};
    CHECK(sharing.solve(demands) == std::vector{ByteRate(50), ByteRate(50)});
    CHECK(sharing.solve(std::span(demands).first(1)) == std::vector{ByteRate(60)});
    CHECK((sharing.load(LinkId{0}) == u128{60} << 16));
}
