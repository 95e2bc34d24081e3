#include "sim/base/random.h"
#include "sim/engine/event_queue.h"
#include "tests/catch.h"

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

TEST_CASE("both queues give the same events at every instant")
{
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Random random(seed);
        EventQueue plain(QueueKind::plain);
        EventQueue radix(QueueKind::radix);
        const std::int64_t far = std::int64_t{1} << random.integer(1, 50);
        SimTime now{};
        for (int i = 0; i < 200; ++i) {
            for (std::int64_t n = random.integer(0, 3); n > 0; --n) {
                const Event event{now + SimTime(random.integer(0, far)),
                                  static_cast<std::uint32_t>(random.integer(0, 9)),
                                  static_cast<std::uint32_t>(random.integer(0, 2))};
                plain.push(event);
                radix.push(event);
            }
            REQUIRE(plain.empty() == radix.empty());
            if (plain.empty())
                continue;
            const std::vector<Event> instant = take_instant(plain);
            now = instant.front().time;
            const bool same = take_instant(radix) == instant;
            REQUIRE(same);
        }
    }
}

TEST_CASE("an event at time 0 is due from the start")
{
    for (const QueueKind kind : {QueueKind::plain, QueueKind::radix}) {
        EventQueue queue(kind);
        queue.push({SimTime(0), 1, 0});
        CHECK(queue.due(SimTime(0)));
    }
}

TEST_CASE("many events that come before those already in front are taken in order")
{
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Random random(seed);
        EventQueue plain(QueueKind::plain);
        EventQueue radix(QueueKind::radix);
        const std::int64_t far = std::int64_t{1} << random.integer(2, 40);
        for (int i = 0; i < 2; ++i)
            for (EventQueue* queue : {&plain, &radix})
                queue->push({SimTime(1 + i * far), 0, 0});
        plain.advance();
        radix.advance(); // now the first is in front, and what comes behind it is pushed there
        for (std::uint32_t i = 0; i < 1000; ++i) {
            const Event event{SimTime(random.integer(1, 1 + far)), i, 0};
            plain.push(event);
            radix.push(event);
        }
        while (!plain.empty()) {
            REQUIRE_FALSE(radix.empty());
            const bool same = take_instant(plain) == take_instant(radix);
            REQUIRE(same);
        }
        CHECK(radix.empty());
    }
}

TEST_CASE("an event of the present that comes while the present is handled is handled in it")
{
    for (const QueueKind kind : {QueueKind::plain, QueueKind::radix}) {
        EventQueue queue(kind);
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
}
