#include "sim/base/parallel.h"
#include "tests/catch.h"

#include <atomic>
#include <stdexcept>
#include <vector>

using namespace trainyard;

TEST_CASE("every index is worked on once, however many threads there are")
{
    for (const int threads : {0, 1, 3, 100}) {
        std::vector<std::atomic<int>> calls(50);
        for_each_index(calls.size(), threads, [&](std::size_t index) { ++calls[index]; });
        for (const std::atomic<int>& count : calls)
            CHECK(count == 1);
    }
    for_each_index(0, 4, [](std::size_t) { FAIL("there is nothing to do"); });
}

TEST_CASE("what a piece of work throws ends all and comes out")
{
    std::atomic<int> calls = 0;
    CHECK_THROWS_AS(for_each_index(1'000'000, 4,
                                   [&](std::size_t index) {
                                       ++calls;
                                       if (index == 10)
                                           throw std::runtime_error("enough");
                                   }),
                    std::runtime_error);
    CHECK(calls < 1'000'000);
}
