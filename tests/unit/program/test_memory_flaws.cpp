#include "sim/program/builder.h"
#include "tests/catch.h"
#include "tests/support/flaws.h"

using namespace trainyard;

namespace {

const Tensor kept{"kept", MemoryKind::activations, 100, TensorScope::layer_of_micro_batch};
const Tensor inner{"inner", MemoryKind::workspace, 30, TensorScope::use};
const Tensor staging{"staging", MemoryKind::pinned_host, 7, TensorScope::use};

// A role that uses one block per list of changes, each of one op.
Program program_of(const std::vector<TensorChanges>& ops)
{
    Program program;
    add_stream(program, {"host", StreamKind::host});
    const StreamId compute = add_stream(program, {"compute", StreamKind::compute});
    const LabelId label = label_id(program, {.name = "work", .phase = Phase::forward});
    RoleBuilder role("rank");
    for (const TensorChanges& changes : ops) {
        BlockBuilder block("block");
        block.op({.kind = OpKind::compute,
                  .stream = compute,
                  .label = label,
                  .cost = CostId{0},
                  .memory = memory_effect_id(program, changes)});
        role.use(add_block(program, std::move(block).build()));
    }
    add_role(program, std::move(role).build());
    return program;
}

} // namespace

TEST_CASE("an effect sums what its tensors take and give back, on the device")
{
    const Program program = program_of(
        {{allocates(kept), allocates(inner), allocates(staging), frees(inner), frees(staging)},
         {frees(kept)}});
    CHECK(flaws(program).empty());
    REQUIRE(program.memory_effects.size() == 2);
    CHECK(program.memory_effects[0].at_start == 130);
    CHECK(program.memory_effects[0].at_end == -30);
    CHECK(program.memory_effects[1].at_start == 0);
    CHECK(program.memory_effects[1].at_end == -100);
}

TEST_CASE("equal lists of changes are stored once")
{
    Program program;
    const TensorChanges changes = {allocates(kept), frees(kept)};
    CHECK(memory_effect_id(program, changes) == memory_effect_id(program, changes));
    CHECK(program.tensors.size() == 1);
    CHECK(program.memory_events.size() == 2);
}

TEST_CASE("a step must give back what it takes")
{
    CHECK(flaws(program_of({{allocates(kept)}})) ==
          std::vector<std::string>{
              "role \"rank\": a step allocates \"kept\" 1 times more than it frees"});
    CHECK(flaws(program_of({{allocates(kept)}, {frees(kept)}})).empty());
}

TEST_CASE("a tensor of one use comes and goes within its block")
{
    CHECK(flaws(program_of({{allocates(inner)}, {frees(inner)}})) ==
          std::vector<std::string>{"block \"block\": ends with \"inner\"",
                                   "block \"block\": frees what it does not hold: \"inner\""});
}

TEST_CASE("what a role holds always is its static memory")
{
    Program program = program_of({{}});
    hold(program, program.roles[0], {"weights", MemoryKind::parameters, 1000});
    hold(program, program.roles[0], {"moments", MemoryKind::pinned_host, 4000});
    CHECK(program.roles[0].static_memory == 1000);
    CHECK(flaws(program).empty());
    program.roles[0].static_memory = 999;
    CHECK(flaws(program).size() == 1);
}

TEST_CASE("effects must be those of their events")
{
    Program program = program_of({{allocates(kept)}, {frees(kept)}});
    program.memory_effects[0].at_start = 99;
    CHECK(flaws(program) ==
          std::vector<std::string>{"memory effect 0: its bytes are not those of its events"});
    program.memory_effects[0].event_count = 9;
    CHECK(flaws(program) == std::vector<std::string>{"memory effect 0: events out of range"});
}
