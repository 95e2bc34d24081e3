// Which field explains how much.

#include "sim/report/sweep/main_effects.h"
#include "tests/catch.h"

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

using namespace trainyard;
using Catch::Matchers::WithinAbs;

namespace {

const SweepGrid three_fields{
    {{"a", {"0", "1"}}, {"b", {"0", "1", "2"}}, {"c", {"0", "1", "2", "3"}}}};

// Figures of all points by their three values.
MainEffects effects_of(const std::function<double(int, int, int)>& figure)
{
    std::vector<std::size_t> indices(three_fields.points());
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    std::vector<double> values;
    for (const std::size_t index : indices)
        values.push_back(figure(static_cast<int>(index / 12), static_cast<int>(index / 4 % 3),
                                static_cast<int>(index % 4)));
    return main_effects(three_fields, indices, values);
}

} // namespace

TEST_CASE("shares of fields that only add up are those of their variances")
{
    // Var a = 9 * 1/4, Var b = 4 * 2/3, c has none.
    const MainEffects found = effects_of([](int a, int b, int) { return 7 + 3 * a + 2 * b; });
    const double all = 9.0 / 4 + 8.0 / 3;
    CHECK(found.whole);
    CHECK_FALSE(found.few);
    CHECK_THAT(found.effects[0].share, WithinAbs(9.0 / 4 / all, 1e-12));
    CHECK_THAT(found.effects[1].share, WithinAbs(8.0 / 3 / all, 1e-12));
    CHECK_THAT(found.effects[2].share, WithinAbs(0, 1e-12));
    CHECK_THAT(found.added, WithinAbs(1, 1e-12));
    CHECK_THAT(found.deviation, WithinAbs(std::sqrt(all), 1e-12));
    CHECK(found.effects[1].means == std::vector<double>{8.5, 10.5, 12.5});
}

TEST_CASE("what only two fields together decide is no field's")
{
    // +-1 as a and the parity of c say: each alone has mean 0.
    const MainEffects found =
        effects_of([](int a, int, int c) { return (a == 1) == (c % 2 == 1) ? 1.0 : -1.0; });
    for (const MainEffect& effect : found.effects)
        CHECK_THAT(effect.share, WithinAbs(0, 1e-12));
    CHECK_THAT(found.added, WithinAbs(0, 1e-12));
}

TEST_CASE("on a full grid the sum of the shares is what the fields explain one by one")
{
    const MainEffects found =
        effects_of([](int a, int b, int c) { return (1 + a) * (1.5 + b) + std::pow(c, b); });
    double sum = 0;
    for (const MainEffect& effect : found.effects)
        sum += effect.share;
    CHECK_THAT(found.added, WithinAbs(sum, 1e-9));
    CHECK(found.added < 1);
}

TEST_CASE("of points that are not known nothing counts, and fields that go together overlap")
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    // Only points with b = 0 and a = 0, or b = 1 and a = 1: either says all.
    const MainEffects found = effects_of([&](int a, int b, int) { return a == b ? 5.0 * a : nan; });
    CHECK(found.points == 8);
    CHECK_FALSE(found.whole);
    CHECK(found.few); // of six values beyond the first of each axis
    CHECK_THAT(found.effects[0].share, WithinAbs(1, 1e-12));
    CHECK_THAT(found.effects[1].share, WithinAbs(1, 1e-12));
    CHECK_THAT(found.added, WithinAbs(1, 1e-9));
    CHECK(std::isnan(found.effects[1].means[2]));
}

TEST_CASE("where all figures are the same nothing explains them")
{
    const MainEffects found = effects_of([](int, int, int) { return 0.1; });
    for (const MainEffect& effect : found.effects)
        CHECK(effect.share == 0);
    const MainEffects none = main_effects(three_fields, {}, {});
    CHECK(none.points == 0);
    CHECK(none.few);
    CHECK(none.effects.size() == 3);
}
