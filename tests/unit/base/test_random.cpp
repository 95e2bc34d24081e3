#include "sim/base/random.h"
#include "tests/catch.h"

#include <array>
#include <cmath>
#include <set>

using namespace trainyard;

TEST_CASE("random words are those of SplitMix64 on every machine")
{
    // Reference output of Vigna's splitmix64.c from state 0; ours adds the constant before mixing.
    CHECK(mix_bits(0) == 0xe220a8397b1dcdafULL);
    CHECK(mix_bits(0x9e3779b97f4a7c15ULL) == 0x6e789e6aa1b965f4ULL);
}

TEST_CASE("the same seed gives the same sequence and another seed another")
{
    Random a(7);
    Random b(7);
    Random c(8);
    int same = 0;
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t word = a.bits();
        CHECK(word == b.bits());
        same += word == c.bits() ? 1 : 0;
    }
    CHECK(same == 0);
}

TEST_CASE("a key is hashed with the place of its parts")
{
    std::set<std::uint64_t> seen;
    for (std::uint64_t a = 0; a < 20; ++a)
        for (std::uint64_t b = 0; b < 20; ++b)
            for (std::uint64_t c = 0; c < 20; ++c)
                seen.insert(hash_key(1, a, b, c));
    CHECK(seen.size() == 8000);
}

TEST_CASE("uniform numbers fill the interval from 0 to below 1 evenly")
{
    Random random(1);
    constexpr int count = 100'000;
    double sum = 0;
    std::array<int, 10> tenths{};
    for (int i = 0; i < count; ++i) {
        const double x = random.uniform();
        REQUIRE(x >= 0);
        REQUIRE(x < 1);
        sum += x;
        ++tenths[static_cast<std::size_t>(x * 10)];
    }
    // The mean's standard deviation is 1/sqrt(12 n) = 0.0009; a tenth's count's is 95.
    CHECK_THAT(sum / count, WithinAbs(0.5, 0.004));
    for (const int n : tenths)
        CHECK(std::abs(n - count / 10) < 400);
    CHECK(to_unit_interval(~0ULL) < 1.0);
}

TEST_CASE("integers reach both ends of their range and nothing beyond")
{
    Random random(2);
    std::set<std::int64_t> seen;
    for (int i = 0; i < 1000; ++i)
        seen.insert(random.integer(-2, 3));
    CHECK(seen == std::set<std::int64_t>{-2, -1, 0, 1, 2, 3});
    CHECK(random.integer(5, 5) == 5);
}

TEST_CASE("normal numbers have mean 0, variance 1 and the tails of a Gaussian")
{
    Random random(3);
    constexpr int count = 100'000;
    double sum = 0;
    double squares = 0;
    int beyond_two = 0;
    for (int i = 0; i < count; ++i) {
        const double x = random.normal();
        sum += x;
        squares += x * x;
        beyond_two += std::abs(x) > 2 ? 1 : 0;
    }
    CHECK_THAT(sum / count, WithinAbs(0.0, 0.015));
    CHECK_THAT(squares / count, WithinAbs(1.0, 0.02));
    CHECK_THAT(beyond_two / double{count}, WithinAbs(0.0455, 0.003));
}
