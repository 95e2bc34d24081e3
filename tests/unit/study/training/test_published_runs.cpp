#include "sim/study/training/run_scores.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {

// Invented: GPT-sized, 64 GPUs, tensor and pipeline parallelism.
Json run_with(const std::string& measured, const std::string& more = "")
{
    const std::string text = R"({
        "schema": {"format": "published-training-runs/1"},
        "runs": [{
            "id": "invented-7b", "model": "Invented 7B", "organisation": "Nobody",
            "date": "2024-05", "gpu": "H100 SXM5 80GB", "n_gpus": 64, "tokens": 1e11,
            "params_total": 7e9, "params_active": 7e9, "quality": "A", "flags": [],
            "architecture": {"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 32,
                             "ffn": 11008, "vocab": 32000, "gated_mlp": true},
            "config": {"tp": 2, "pp": 2, "zero": "zero-1", "seq_len": 4096, "micro_batch": 1,
                       "global_batch_sequences": 512, "precision": "bf16",
                       "framework": "Megatron-LM"},
            "measured": )" + measured +
                             more + "}]}";
    return *parse_json(text, "runs.json");
}

PublishedRun the_run(const Json& json)
{
    const auto file = published_runs_from(json, "runs.json");
    REQUIRE(file);
    REQUIRE(file->runs.size() == 1);
    return file->runs.front();
}

// A whole step has 512 x 4,096 tokens, the training 47,683.7 of them.
constexpr double batch = 512.0 * 4096;

} // namespace

TEST_CASE("files of trainings say so, files of steps do not")
{
    CHECK(holds_published_runs(run_with("{}")));
    CHECK_FALSE(holds_published_runs(*parse_json(R"([{"id": "a"}])", "a.json")));
    CHECK_FALSE(holds_published_runs(*parse_json(R"({"schema": {}, "runs": []})", "a.json")));
}

TEST_CASE("a step time is stated, or follows from tokens per second or operations per second")
{
    CHECK(the_run(run_with(R"({"step_time_s": 4.5})")).step->value == 4.5);
    CHECK_THAT(the_run(run_with(R"({"tokens_per_s_per_gpu": 8192})")).step->value,
               WithinRel(batch / (8192 * 64), 1e-12));
    // 6 N + 12 L h s FLOPs a token, 989 TFLOP/s.
    const double flops = (6 * 7e9 + 12.0 * 32 * 4096 * 4096) * batch;
    CHECK_THAT(the_run(run_with(R"({"mfu": 0.5})")).step->value,
               WithinRel(flops / (0.5 * 989e12 * 64), 2e-3));
    CHECK_THAT(the_run(run_with(R"({"tflops_per_gpu_hfu": 400})")).step->value,
               WithinRel(flops * 4 / 3 / (400e12 * 64), 1e-12));
    CHECK_FALSE(the_run(run_with("{}")).step);
}

TEST_CASE("goodput is stated, or the time of the steps over that of the training")
{
    CHECK(the_run(run_with(R"({"effective_training_time": 0.95})")).goodput->value == 0.95);
    const PublishedRun run = the_run(run_with(R"({"step_time_s": 4})", R"(, "days": 2.5)"));
    CHECK_THAT(run.goodput->value, WithinRel(1e11 / batch * 4 / (2.5 * 86400), 1e-12));
    CHECK(run.wall->value == 2.5 * 86400);
    // 34 days of training in 56.
    CHECK_THAT(the_run(run_with(R"({"wall_days": 56})", R"(, "days": 34)")).goodput->value,
               WithinRel(34.0 / 56, 1e-12));
    // Steps of ten days in two: one of the two is rounded.
    const PublishedRun odd = the_run(run_with(R"({"step_time_s": 18})", R"(, "days": 2)"));
    CHECK_FALSE(odd.goodput);
    CHECK(odd.assumptions.back().find("rounded") != std::string::npos);
}

TEST_CASE("a run with a value of another kind is unreadable, the others are not")
{
    const auto file = published_runs_from(run_with(R"({"mfu": "high"})"), "runs.json");
    REQUIRE(file);
    CHECK(file->runs.empty());
    REQUIRE(file->unreadable.size() == 1);
    CHECK(file->unreadable.front().problems.front().pointer == "/runs/0/measured/mfu");
}

TEST_CASE("step, goodput and wall time are scored apart")
{
    const auto file =
        published_runs_from(run_with(R"({"step_time_s": 4})", R"(, "days": 2.5)"), "runs.json");
    REQUIRE(file);
    const RunScores scores = score_runs({*file});
    REQUIRE(scores.runs.size() == 1);
    const RunScore& score = scores.runs.front();
    REQUIRE(score.step.scored());
    REQUIRE(score.goodput.scored());
    REQUIRE(score.wall.scored());
    // 64 GPUs fail every 781 h, and six times in ten wait a day for a repair: 2 %.
    CHECK(*score.goodput.predicted > 0.97);
    const double steps = std::ceil(1e11 / batch);
    CHECK_THAT(*score.wall.predicted, WithinRel(steps * *score.step.predicted, 0.03));
    CHECK_THAT(scores.step.median, WithinRel(std::abs(score.step.error()), 1e-12));
}
