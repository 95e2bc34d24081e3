#include "small_program.h"
#include "tests/catch.h"
#include "tests/support/flaws.h"

using namespace trainyard;

namespace {

// The only flaw of the small program after `change`.
template <class Change>
std::string flaw_after(const Change& change)
{
    Program program = test::small_program();
    change(program);
    const auto found = flaws(program);
    REQUIRE(found.size() == 1);
    return found[0];
}

} // namespace

TEST_CASE("an op may name only what the program has")
{
    const auto op = [](Program& program, int i) -> Op& {
        return program.blocks[0].ops[static_cast<std::size_t>(i)];
    };
    CHECK(flaw_after([&](Program& p) { op(p, 0).stream = StreamId{9}; }) ==
          "block \"layer\", op 0: no such stream");
    CHECK(flaw_after([&](Program& p) { op(p, 0).stream = host_stream; }) ==
          "block \"layer\", op 0: host ops, and only they, run on the host stream");
    CHECK(flaw_after([&](Program& p) { op(p, 1).label = LabelId::none(); }) ==
          "block \"layer\", op 1: no such label");
    CHECK(flaw_after([&](Program& p) { op(p, 0).scale = ScaleSlot{1}; }) ==
          "block \"layer\", op 0: no such scale slot");
    CHECK(flaw_after([&](Program& p) { op(p, 0).memory = MemoryEffectId{1}; }) ==
          "block \"layer\", op 0: no such memory effect");
    CHECK(flaw_after([&](Program& p) { op(p, 1).group = GroupSlot::none(); }) ==
          "block \"layer\", op 1: no such group slot");
    CHECK(flaw_after([&](Program& p) { op(p, 0).cost = CostId::none(); }) ==
          "block \"layer\", op 0: no cost");
    CHECK(flaw_after([&](Program& p) { op(p, 0).record = LocalEvent{2}; }) ==
          "block \"layer\", op 0: records an event that the block has not");
    CHECK(flaw_after([&](Program& p) { p.blocks[0].waits[0] = LocalEvent{2}; }) ==
          "block \"layer\", op 0: waits for an event that the block has not");
    CHECK(flaw_after([&](Program& p) { op(p, 1).wait_first = 2; }) ==
          "block \"layer\", op 1: waits out of range");
    CHECK(flaw_after([&](Program& p) { op(p, 1).part_count = 1; }) ==
          "block \"layer\", op 1: only an exchange has parts");
    CHECK(flaw_after([&](Program& p) { op(p, 2).part_count = 0; }) ==
          "block \"layer\", op 2: an exchange without parts");
    CHECK(flaw_after([&](Program& p) { op(p, 2).part_count = 3; }) ==
          "block \"layer\", op 2: parts out of range");
    CHECK(flaw_after([&](Program& p) { p.blocks[0].parts[1].peer = PeerSlot{1}; }) ==
          "block \"layer\", op 2: no such peer slot");
    CHECK(flaw_after([&](Program& p) { p.blocks[0].parts[1].cost = CostId::none(); }) ==
          "block \"layer\", op 2: an exchange part without cost");
}

TEST_CASE("a role uses blocks that exist and binds all their events")
{
    const auto use = [](Program& program) -> BlockUse& { return program.roles[0].order[1]; };
    CHECK(flaw_after([&](Program& p) { use(p).block = BlockId{1}; }) ==
          "role \"worker\", use 1: no such block");
    CHECK(flaw_after([&](Program& p) { use(p).event_first = 3; }) ==
          "role \"worker\", use 1: binds fewer than the 2 events of the block");
    CHECK(flaw_after([&](Program& p) { p.roles[0].events[3] = EventId::none(); }) ==
          "role \"worker\", use 1: local event 1 is bound to no event of the role");
}

TEST_CASE("stream 0 is the host and there is no other")
{
    CHECK(flaw_after([](Program& p) { p.streams[0].kind = StreamKind::copy; }) ==
          "streams: stream 0 must be the host");
    CHECK(flaw_after([](Program& p) { p.streams[2].kind = StreamKind::host; }) ==
          "streams: stream 2 is a second host");
}
