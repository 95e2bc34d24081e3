#include "sim/base/parallel.h"
#include "sim/study/memo.h"
#include "tests/catch.h"

#include <atomic>
#include <stdexcept>
#include <thread>

using namespace trainyard;

TEST_CASE("what one thread makes, others that ask for it meanwhile wait for")
{
    Memo<int> memo(4);
    std::atomic<int> made = 0;
    std::atomic<int> right = 0;
    for_each_index(64, 8, [&](std::size_t index) {
        const auto value = memo.find_or_make(index % 2, [&]() -> std::optional<int> {
            ++made;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            return static_cast<int>(index % 2);
        });
        right += *value == static_cast<int>(index % 2);
    });
    CHECK(made == 2);
    CHECK(memo.built() == 2);
    CHECK(right == 64);
}

TEST_CASE("what could not be made is made again by the next who asks")
{
    Memo<int> memo(4);
    CHECK(memo.find_or_make(1, [] { return std::optional<int>(); }) == nullptr);
    CHECK_THROWS_AS(
        memo.find_or_make(1, []() -> std::optional<int> { throw std::runtime_error("no"); }),
        std::runtime_error);
    CHECK(*memo.find_or_make(1, [] { return std::optional<int>(7); }) == 7);
    CHECK(memo.built() == 1);
}

TEST_CASE("a memo keeps what was used last")
{
    Memo<int> memo(2);
    const auto ask = [&](std::uint64_t key) {
        const int before = memo.built();
        memo.find_or_make(key, [] { return std::optional<int>(0); });
        return memo.built() > before; // anew
    };
    CHECK(ask(1));
    CHECK(ask(2));
    CHECK_FALSE(ask(1));
    CHECK(ask(3)); // drops 2
    CHECK_FALSE(ask(1));
    CHECK(ask(2));
}
