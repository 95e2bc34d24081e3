#include "sim/study/pareto_front.h"
#include "tests/catch.h"

#include <algorithm>
#include <random>

using namespace trainyard;

namespace {

// By the definition: nobody is at least as good in all, and better in one or first.
std::vector<std::size_t> by_pairs(const std::vector<std::vector<double>>& points)
{
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < points.size(); ++i) {
        bool beaten = false;
        for (std::size_t j = 0; j < points.size() && !beaten; ++j) {
            const bool as_good =
                std::ranges::equal(points[j], points[i], std::ranges::less_equal());
            beaten = j != i && as_good && (points[j] != points[i] || j < i);
        }
        if (!beaten)
            out.push_back(i);
    }
    return out;
}

} // namespace

TEST_CASE("a front of one, two or three numbers is that of all pairs")
{
    std::mt19937 random(7);
    for (const std::size_t numbers : {1, 2, 3})
        for (const int values : {3, 10, 1000}) // few values: many equal ones
            for (const std::size_t count : {0, 1, 2, 30, 200}) {
                std::uniform_int_distribution<int> value(0, values);
                std::vector<std::vector<double>> points(count, std::vector<double>(numbers));
                for (std::vector<double>& point : points)
                    for (double& number : point)
                        number = value(random);
                CHECK(pareto_front(points) == by_pairs(points));
            }
}

TEST_CASE("nobody on a front beats another, and whoever is off it is beaten by one on it")
{
    // Days against cost: 3 is dearer than 1 and takes as long, 4 is worse than 0 in both.
    const std::vector<std::vector<double>> points{{10, 3}, {5, 6}, {2, 20}, {5, 7}, {12, 4}};
    CHECK(pareto_front(points) == std::vector<std::size_t>{0, 1, 2});
}
