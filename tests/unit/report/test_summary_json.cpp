#include "sim/report/text/summary_json.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("the JSON result has every key that tools rely on")
{
    const Json result = to_json(small_outcome(), small_summary());
    for (const char* key : {"step_time_s",
                            "step_time_interval_s",
                            "grade",
                            "tokens_per_s",
                            "samples_per_s",
                            "tokens_per_s_per_gpu",
                            "mfu",
                            "hfu",
                            "fits",
                            "memory_bytes",
                            "breakdown_s",
                            "communication_exposed_fraction",
                            "communication_summed_fraction",
                            "compute_utilization",
                            "scaling_efficiency",
                            "network_utilization",
                            "collectives",
                            "bottleneck",
                            "links",
                            "engine",
                            "trainyard",
                            "inputs",
                            "warnings"})
    {
        INFO(key);
        CHECK(result.find(key) != nullptr);
    }
    for (const char* key : {"tier", "fidelity", "ranks", "ops", "events", "wall_ms"})
        CHECK(result.find("engine")->find(key) != nullptr);
}

TEST_CASE("the JSON result survives being written and read")
{
    const Json result = to_json(small_outcome(), small_summary());
    const Checked<Json> again = parse_json(to_text(result), "result.json");
    REQUIRE(again);
    CHECK(*again == result);
}

TEST_CASE("the JSON breakdown adds up to the step time")
{
    const Json result = to_json(small_outcome(), small_summary());
    for (const char* which : {"critical", "mean"}) {
        double sum = 0;
        const Json& shares = *result.find("breakdown_s")->find(which);
        CHECK(shares.members().size() == time_kind_count);
        for (const Json::Member& part : shares.members())
            sum += part.second.as_double();
        CHECK_THAT(sum, WithinRel(result.find("step_time_s")->as_double(), 1e-9));
    }
}

TEST_CASE("memory is given by stage and kind, in bytes, with peak and capacity")
{
    const Json result = to_json(small_outcome(), small_summary());
    const Json& memory = *result.find("memory_bytes");
    CHECK(memory.find("peak")->as_integer() == 60'000'000'000);
    CHECK(memory.find("capacity")->as_integer() == 80'000'000'000);
    REQUIRE(memory.find("stages")->items().size() == 2);
    const Json& stage = memory.find("stages")->items()[1];
    CHECK(stage.find("kinds")->find("logits")->as_integer() == 5'000'000'000);
    CHECK(stage.find("total")->as_integer() == 45'000'000'000);
}

TEST_CASE("what is not known is null, not zero")
{
    Summary summary = small_summary();
    summary.scaling_efficiency.reset();
    summary.scaling_base_gpus = 0;
    summary.node_latency = Seconds(0);
    const Json result = to_json(small_outcome(), summary);
    CHECK(result.find("scaling_efficiency")->is_null());
    CHECK(result.find("scaling_base_gpus")->is_null());
    CHECK(result.find("node_to_node")->is_null());
}

TEST_CASE("the interval is low and high, around the step time")
{
    const Json result = to_json(small_outcome(), small_summary());
    const Json::Array& interval = result.find("step_time_interval_s")->items();
    REQUIRE(interval.size() == 2);
    CHECK(interval[0].as_double() < result.find("step_time_s")->as_double());
    CHECK(interval[1].as_double() > result.find("step_time_s")->as_double());
}

TEST_CASE("warnings keep their place in the file")
{
    Outcome outcome = small_outcome();
    outcome.warnings = {{"s.json", 7, "/strategy/tp", "odd size", "use 8", Severity::warning}};
    const Json result = to_json(outcome, small_summary());
    const Json& warning = result.find("warnings")->items().at(0);
    CHECK(warning.find("line")->as_integer() == 7);
    CHECK(warning.find("pointer")->as_string() == "/strategy/tp");
    CHECK(warning.find("hint")->as_string() == "use 8");
}
