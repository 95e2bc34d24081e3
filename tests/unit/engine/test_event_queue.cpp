#include "sim/base/random.h"
#include "sim/engine/event_queue.h"
#include "tests/catch.h"

#include <algorithm>

using namespace trainyard;
using namespace trainyard::engine;

namespace {

// All events of the least time, sorted.
std::vector<Event> take_instant(EventQueue& queue)
{
    const SimTime now = queue.advance();
    std::vector<Event> instant;
    while (queue.due(now))
        instant.push_back(queue.pop());
    return instant;
}

} // namespace

TEST_CASE("the events of an instant come together, sorted")
{
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Random random(seed);
        EventQueue queue;
        std::vector<Event> pushed;
        for (int i = 0; i < 200; ++i) {
            pushed.push_back({SimTime(random.integer(0, 40)),
                              static_cast<std::uint32_t>(random.integer(0, 9)),
                              static_cast<std::uint32_t>(random.integer(0, 2))});
            queue.push(pushed.back());
        }
        std::vector<Event> taken;
        while (!queue.empty())
            for (const Event& event : take_instant(queue))
                taken.push_back(event);
        std::ranges::sort(pushed);
        CHECK(taken == pushed);
    }
}

TEST_CASE("an event at time 0 is due from the start")
{
    EventQueue queue;
    queue.push({SimTime(0), 1, 0});
    CHECK(queue.due(SimTime(0)));
}

TEST_CASE("an event of the present that comes while the present is handled is handled in it")
{
    EventQueue queue;
    queue.push({SimTime(5), 1, 0});
    queue.push({SimTime(9), 2, 0});
    CHECK(queue.advance() == SimTime(5));
    CHECK(queue.pop().target == 1);
    CHECK_FALSE(queue.due(SimTime(5)));
    queue.push({SimTime(5), 3, 0});
    queue.push({SimTime(7), 4, 0});
    REQUIRE(queue.due(SimTime(5)));
    CHECK(queue.pop().target == 3);
    CHECK(queue.advance() == SimTime(7));
    CHECK(queue.pop().target == 4);
    CHECK(queue.advance() == SimTime(9));
    CHECK(queue.pop().target == 2);
    CHECK(queue.empty());
}
