#include "sim/report/figures.h"
#include "sim/report/headline.h"
#include "sim/study/sensitivity/scaling.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("throughput is the global batch per step time")
{
    const Summary summary = summarize(small_outcome());
    CHECK_THAT(summary.samples_per_s, WithinRel(4 / 0.1, 1e-12));
    CHECK_THAT(summary.tokens_per_s, WithinRel(4 * 2048 / 0.1, 1e-12));
    CHECK_THAT(summary.tokens_per_s_per_gpu(), WithinRel(summary.tokens_per_s / 4, 1e-12));
}

TEST_CASE("a range of usual MFU is named where it holds: dense transformers in 16 bit on GPUs")
{
    Outcome outcome = small_outcome();
    outcome.job.training.precision = Precision::bf16;
    const auto mfu = [&] { return headline_rows(summarize(outcome)).back(); };
    CHECK_THAT(mfu().note, EndsWith("; 35 to 50 % usual"));
    CHECK(mfu().verdict.has_value());
    std::get<Transformer>(outcome.job.model.architecture).moe.emplace();
    CHECK_THAT(mfu().note, !ContainsSubstring("usual"));
    CHECK_FALSE(mfu().verdict.has_value());
}

TEST_CASE("a share that one decimal shows as zero has no sign")
{
    CHECK(percent(-0.0004) == "0.0 %");
    CHECK(percent(-0.0006) == "-0.1 %");
    CHECK(percent(0) == "0.0 %");
}

TEST_CASE("a model without tokens is measured in samples")
{
    Outcome outcome = small_outcome();
    LayerList layers;
    layers.layers.push_back({});
    outcome.job.model.architecture = layers;
    const Summary summary = summarize(outcome);
    CHECK(summary.tokens_per_s == 0.0);
    CHECK(summary.samples_per_s > 0.0);
}

TEST_CASE("a summary's fractions are the mean lane's times over the step")
{
    const Summary summary = summarize(small_outcome());
    CHECK(summary.critical_rank == 0);
    CHECK_THAT(summary.compute_utilization, WithinRel(62 / 100.0, 1e-12));
    CHECK_THAT(summary.communication_summed_fraction, WithinRel(9 / 100.0, 1e-12));
    CHECK_THAT(summary.communication_exposed_fraction, WithinRel(7 / 100.0, 1e-12));
    CHECK_THAT(summary.bubble_share, WithinRel(31 / 100.0, 1e-12));
    CHECK(summary.fits);
    CHECK(summary.bottleneck.kind == BottleneckClass::bubble);
}

TEST_CASE("a single GPU has no communication, no bubble and no way between nodes")
{
    const Summary summary = summarize(single_gpu_outcome());
    CHECK(summary.communication_summed_fraction == 0.0);
    CHECK(summary.bubble_share == 0.0);
    CHECK(summary.node_latency.value() == 0.0);
    CHECK(summary.collectives.empty());
    CHECK_THAT(summary.compute_utilization, WithinRel(1.0, 1e-12));
    CHECK(summary.bottleneck.kind == BottleneckClass::compute);
}

TEST_CASE("scaling is perfect when a replica's step takes as long among many as alone")
{
    CHECK(scaling_efficiency(Seconds(2), Seconds(2)) == 1.0);
    CHECK_THAT(scaling_efficiency(Seconds(2), Seconds(2.5)), WithinRel(0.8, 1e-12));
}

TEST_CASE("smaller sizes keep whole replicas and whole expert groups")
{
    Job job = small_outcome().job;
    job.strategy.dp = 12;
    CHECK(smaller_replica_counts(job) == std::vector<int>{1, 2, 3, 4, 6});
    // 4 experts' ranks must fit into tp x cp x dp.
    job.strategy.ep = 4;
    CHECK(smaller_replica_counts(job) == std::vector<int>{4});
    job.strategy.ep = 1;
    job.strategy.dp = 1;
    CHECK(smaller_replica_counts(job).empty());
}
