#include "sim/base/fields.h"
#include "sim/strategy/training.h"
#include "tests/catch.h"

using namespace trainyard;

TEST_CASE("a strategy survives being written and read again")
{
    Strategy strategy;
    strategy.tp = 4;
    strategy.pp = 4;
    strategy.vpp = 2;
    strategy.dp = 3;
    strategy.sequence_parallel = false;
    strategy.overlap.tp = true;
    strategy.stage_layers = {1, 2, 3, 4, 5, 6, 7, 8};
    strategy.rank_order = "tp-pp-dp";
    strategy.backend = Backend::gloo;

    Problems problems;
    const Json written = fields_of<Strategy>().write(strategy);
    Strategy again;
    fields_of<Strategy>().read(Reader(written, "strategy.json", problems), again);
    CHECK(problems.empty());
    CHECK(again == strategy);
}

TEST_CASE("a training without a batch is refused, and so are sizes below one")
{
    const auto json = parse_json(R"({"micro_batch": 0, "recompute": "some"})", "training.json");
    REQUIRE(json);
    Problems problems;
    Training training;
    fields_of<Training>().read(Reader(*json, "training.json", problems), training);
    REQUIRE(problems.size() == 3);
    CHECK_THAT(problems[0].message, ContainsSubstring("global_batch"));
    CHECK(problems[1].pointer == "/micro_batch");
    CHECK(problems[2].pointer == "/recompute");
}
