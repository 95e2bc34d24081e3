#include "small_program.h"
#include "tests/catch.h"
#include "tests/support/flaws.h"
#include "tests/support/program_text.h"

using namespace trainyard;

TEST_CASE("what the builder wrote reads back op by op")
{
    const Program program = test::small_program();
    CHECK(flaws(program).empty());
    CHECK(
        to_text(program) ==
        "block \"layer\"\n"
        "   0 compute    forward              on compute  cost 0  kernels 3  waits 1  records 0\n"
        "   1 collective gradients            on network  group 0  cost 0  waits 0  records 1\n"
        "   2 exchange   activations          on network  to 0 channel 0 cost 1  from 0 channel 0 "
        "cost 1\n"
        "role \"worker\"\n"
        "   0 layer  layer 0  events 0 1\n"
        "   1 layer  layer 1  events 0 1\n");
}

TEST_CASE("a block used twice counts twice")
{
    const Program program = test::small_program();
    CHECK(op_count(program, program.roles[0]) == 6);
}

TEST_CASE("equal labels and memory effects share an entry")
{
    Program program;
    const LabelId first = label_id(program, {"a", Phase::forward});
    CHECK(label_id(program, {"a", Phase::backward}) != first);
    CHECK(label_id(program, {"a", Phase::forward}) == first);
    CHECK(program.labels.size() == 2);
    CHECK(memory_effect_id(program, {1, 2}) == memory_effect_id(program, {1, 2}));
    CHECK(program.memory_effects.size() == 1);
}
