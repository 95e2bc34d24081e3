// Steps of which repetitions are left out against the reference engine, which runs them all.

#include "sim/engine/ahead/runner.h"
#include "tests/catch.h"
#include "tests/support/flaws.h"
#include "tests/support/random_repeats.h"

#include <algorithm>
#include <array>

using namespace trainyard;
using namespace trainyard::test;

namespace {

struct Count {
    int exact = 0;
    int refused = 0;
};

// Where a run that leaves repetitions out comes to an end, all it says is as the reference has it.
void compare(const Program& program, const Binding& binding, int steps, Count& count)
{
    RunControl control;
    control.steps = steps;
    const engine::Omissions omissions = engine::ahead::find_omissions(program);
    if (omissions.empty()) // some lane takes no part in what repeats
        return;
    auto ran = engine::ahead::Runner(program, binding, control, omissions).run();
    ++(ran ? count.exact : count.refused);
    if (!ran)
        return;
    const auto reference = run_reference(program, binding, control);
    REQUIRE(reference.has_value());
    ran->events = reference->events;
    REQUIRE(ran->step_ends == reference->step_ends);
    for (std::size_t l = 0; l < ran->lanes.size(); ++l) {
        INFO("lane " << l);
        for (std::size_t k = 0; k < time_kind_count; ++k) {
            INFO("kind " << k);
            REQUIRE(ran->lanes[l].time[k].value() == reference->lanes[l].time[k].value());
        }
    }
    const bool equal = *ran == *reference;
    REQUIRE(equal);
}

// A lane that computes for 20 micro-batches of 100 ps each, and a sum that takes 900 ps behind
// them.
class LongTail {
public:
    LongTail() : role_("rank")
    {
        add_stream(program, {"host", StreamKind::host});
        add_stream(program, {"compute", StreamKind::compute});
        add_stream(program, {"sums", StreamKind::communication});
        add_group_slot(program, GroupKind::tp);
        binding.costs.compute.push_back(SimTime(100));
        TransferCost cost;
        cost.ceiling = ByteRate(1000);
        cost.work = work_done(cost.ceiling, SimTime(900));
        cost.bytes = Bytes(10);
        binding.costs.transfers.push_back({cost});
        Lane lane;
        lane.role = RoleId{0};
        lane.rank = RankId{0};
        lane.groups = {GroupId{0}};
        binding.lanes.push_back(lane);
        Group group;
        group.kind = GroupKind::tp;
        group.members = {LaneId{0}};
        group.ranks = 4;
        binding.groups.push_back(group);
        for (std::uint16_t m = 0; m < 20; ++m)
            computed.push_back(compute(role_.event(), m));
    }

    // Waits for an event; gives the one that it records.
    EventId compute(EventId wait, std::uint16_t micro_batch = BlockUse::no_index)
    {
        return write({.kind = OpKind::compute,
                      .stream = StreamId{1},
                      .label = label_id(program, {"compute", Phase::forward}),
                      .cost = CostId{0}},
                     wait, role_.event(), micro_batch);
    }
    EventId sum(EventId wait, EventId record)
    {
        return write({.kind = OpKind::collective,
                      .stream = StreamId{2},
                      .group = GroupSlot{0},
                      .label = label_id(program, {"sum", Phase::forward, CollectiveKind::all_reduce,
                                                  GroupKind::tp}),
                      .cost = CostId{0}},
                     wait, record, BlockUse::no_index);
    }
    EventId event() { return role_.event(); }

    void compare_steps()
    {
        add_role(program, std::move(role_).build());
        REQUIRE(flaws(program).empty());
        REQUIRE(flaws(program, binding).empty());
        REQUIRE(!engine::ahead::find_omissions(program).empty());
        Count count;
        for (int steps = 1; steps <= 5; ++steps) {
            INFO("steps " << steps);
            compare(program, binding, steps, count);
        }
    }

    Program program;
    Binding binding;
    std::vector<EventId> computed; // by micro-batch

private:
    EventId write(const Op& op, EventId wait, EventId record, std::uint16_t micro_batch)
    {
        BlockBuilder block(op.kind == OpKind::compute ? "compute" : "sum");
        const LocalEvent waited = block.event();
        const LocalEvent recorded = block.event();
        block.op(op).wait(waited).record(recorded);
        const std::array events{wait, record};
        // Blocks that are alike are one, so that micro-batches repeat.
        Block built = std::move(block).build();
        const auto known = std::ranges::find(program.blocks, built);
        const BlockId id = known == program.blocks.end()
                               ? add_block(program, std::move(built))
                               : make_id<BlockId>(known - program.blocks.begin());
        role_.use(id, events, micro_batch);
        return record;
    }

    RoleBuilder role_;
};

} // namespace

TEST_CASE("repetitions that are left out change no result")
{
    Count count;
    for (std::uint64_t seed = 0; seed < 12000; ++seed) {
        const int actions = 2 + static_cast<int>(seed % 19);
        const RandomRepeats random(seed, {.interference = seed % 3 != 0,
                                          .actions = actions,
                                          .repetitions = 8 + static_cast<int>(seed % 30),
                                          .repeated = 1 + actions / 2,
                                          .behind = actions,
                                          .lag = static_cast<int>(seed % 7),
                                          .host_time = seed % 5 == 0 ? 150 : 25});
        INFO("seed " << seed);
        REQUIRE(flaws(random.program).empty());
        compare(random.program, random.binding, 1 + static_cast<int>(seed % 4), count);
    }
    CHECK(count.exact > 600);
    CHECK(count.refused > 3000);
}

TEST_CASE("a sum that nobody waits for holds up the next step's alike")
{
    LongTail job;
    job.sum(job.computed.back(), job.event());
    job.compare_steps();
}

TEST_CASE("a sum behind the steady state may wait for any micro-batch of it")
{
    for (const std::size_t micro_batch : {0U, 1U, 2U, 3U, 4U, 10U, 17U, 18U, 19U}) {
        INFO("micro-batch " << micro_batch);
        LongTail job;
        job.sum(job.computed[micro_batch], job.event());
        job.compare_steps();
    }
}

TEST_CASE("compute behind the steady state may wait for the sum of the step before")
{
    LongTail job;
    const EventId summed = job.event();
    job.sum(job.compute(summed), summed);
    job.compare_steps();
}
