#include "sim/base/build_info.h"
#include "sim/study/capacity/scaling_curves.h"
#include "sim/study/capacity/sized_cluster.h"
#include "sim/study/capacity/strategy_guide.h"
#include "sim/study/session.h"
#include "tests/catch.h"

#include <cmath>

using namespace trainyard;

namespace {

CapacityRequest scaling_request(GpuRange sizes)
{
    CapacityRequest request;
    request.model = {"llama-3.1-8b", {}};
    request.folder = data_dir() / "scenarios";
    for (const char* axis :
         {"strategy.schedule=1f1b", "strategy.pp=1", "strategy.vpp=1", "strategy.zero=1",
          "strategy.tp=1,2,4", "training.micro_batch=1,2", "training.recompute=none,full"})
        request.axes.push_back(parse_axis(axis).value());
    request.batch = TokenRange{1e6, 1e6};
    request.scaling = sizes;
    return request;
}

ClusterScaling scaled(const CapacityRequest& request)
{
    Session session;
    return cluster_scaling(request, cluster_kind("h100", request.folder).value(), session);
}

std::int64_t batch_of(const ScaledSize& size)
{
    return size.sized.outcome->job.training.global_batch;
}

} // namespace

TEST_CASE("the fit of Amdahl's law gives back the serial share that speedups were made of")
{
    const std::vector<double> more{1, 2, 4, 8, 64};
    for (const double serial : {0.0, 0.01, 0.2, 1.0}) {
        std::vector<double> speedups;
        for (const double m : more)
            speedups.push_back(AmdahlLaw{serial}.speedup(m));
        CHECK_THAT(fitted_law(more, speedups).serial, WithinAbs(serial, 1e-12));
    }
    // What grows faster than its cluster has nothing serial; one size says nothing.
    CHECK(fitted_law({1, 2}, {1, 2.2}).serial == 0);
    CHECK(fitted_law({1}, {1}).serial == 0);
}

TEST_CASE("more GPUs pay up to where the serial share takes as long as the rest")
{
    // S = 1 / (s + (1 - s) / m): S^2 / m is largest at m = (1 - s) / s, 16 for s = 1/17.
    const std::vector<double> more{1, 2, 4, 8, 16, 32, 64};
    std::vector<double> speedups;
    for (const double m : more)
        speedups.push_back(AmdahlLaw{1.0 / 17}.speedup(m));
    CHECK(more[knee(more, speedups)] == 16);
    CHECK(knee(more, more) == 6); // ideal: all of them
}

TEST_CASE("strong scaling keeps the batch, weak scaling the batch of a GPU, and they meet")
{
    const ClusterScaling scaling = scaled(scaling_request({8, 64}));
    REQUIRE(scaling.strong.sizes.size() == 4);
    REQUIRE(scaling.weak.sizes.size() == 4);
    const std::int64_t batch = batch_of(scaling.strong.sizes.back());
    for (std::size_t i = 0; i < 4; ++i) {
        const int gpus = 8 << i;
        CHECK(scaling.strong.sizes[i].sized.gpus == gpus);
        CHECK(batch_of(scaling.strong.sizes[i]) == batch);
        CHECK(batch_of(scaling.weak.sizes[i]) * 64 == batch * gpus);
    }
    CHECK(scaling.strong.sizes.back().sized.outcome->step_time.value ==
          scaling.weak.sizes.back().sized.outcome->step_time.value);
    CHECK(scaling.strong.law.has_value());
    CHECK_FALSE(scaling.weak.law.has_value());
}

TEST_CASE("speedup is of work per second, against the smallest size")
{
    const ClusterScaling scaling = scaled(scaling_request({8, 64}));
    for (const ScalingCurve* const curve : {&scaling.strong, &scaling.weak}) {
        const ScaledSize& first = curve->sizes.front();
        CHECK(first.speedup == 1);
        CHECK(first.efficiency == 1);
        for (const ScaledSize& size : curve->sizes) {
            const double pace =
                static_cast<double>(batch_of(size)) / size.sized.outcome->step_time.value.value();
            const double first_pace =
                static_cast<double>(batch_of(first)) / first.sized.outcome->step_time.value.value();
            CHECK_THAT(size.speedup, WithinRel(pace / first_pace, 1e-12));
            CHECK_THAT(size.efficiency * size.sized.gpus / first.sized.gpus,
                       WithinRel(size.speedup, 1e-12));
        }
    }
}

TEST_CASE("what communication leaves bounds the speedup, and is it where the rest is leanest")
{
    const ClusterScaling scaling = scaled(scaling_request({8, 64}));
    for (const ScalingCurve* const curve : {&scaling.strong, &scaling.weak}) {
        REQUIRE(curve->sizes.size() == 4);
        for (const ScaledSize& size : curve->sizes)
            CHECK(size.communication >= size.speedup * (1 - 1e-12));
        const ScaledSize& leanest = curve->sizes[curve->leanest];
        CHECK_THAT(leanest.communication, WithinRel(leanest.speedup, 1e-12));
    }
}

TEST_CASE("sizes within a range: powers of two, then thirds between them, then what there is")
{
    const ClusterKind h100 = cluster_kind("h100", {}).value();
    const auto sizes = [](const ClusterKind& kind, GpuRange range) {
        std::vector<int> out;
        for (const ClusterSize& size : sizes_within(range, kind))
            out.push_back(size.gpus());
        return out;
    };
    using Sizes = std::vector<int>;
    CHECK(sizes(h100, {8, 64}) == Sizes{8, 16, 32, 64});
    CHECK(sizes(h100, {1, 16}) == Sizes{1, 2, 4, 8, 16}); // parts of a node, too
    CHECK(sizes(h100, {16, 30}) == Sizes{16, 24});
    CHECK(sizes(h100, {20, 30}) == Sizes{24});
    CHECK(sizes(h100, {40, 56}) == Sizes{40, 48, 56});
    CHECK(sizes(h100, {9, 15}).empty());
    CHECK(sizes(h100, {7, 13}) == Sizes{8});
    CHECK(sizes(cluster_kind("gb200", {}).value(), {1, 4}) == Sizes{1, 2, 4});
    CHECK(sizes_within(std::nullopt, h100).empty());
}

TEST_CASE("a range between two sizes has none, and a model that fits nowhere has no curve")
{
    CHECK(scaled(scaling_request({9, 15})).strong.sizes.empty());
    CapacityRequest request = scaling_request({8, 8});
    request.model = {"llama-3.1-405b", {}};
    CHECK(scaled(request).strong.sizes.empty());
}

TEST_CASE("a guide advises the simplest family near the quickest, and each family has its sizes")
{
    CapacityRequest request = scaling_request({8, 16});
    request.guide = request.scaling;
    Session session;
    const StrategyGuide guide =
        strategy_guide(request, cluster_kind("h100", request.folder).value(), session);
    REQUIRE(guide.sizes.size() == 2);
    for (const GuideSize& size : guide.sizes) {
        const auto at = [&](StrategyFamily family) -> const SizedCluster& {
            return size.best[static_cast<std::size_t>(family)];
        };
        // 8.03 B parameters of 16 bytes each do not fit into 80 GB; what ZeRO and TP leave of them
        // does.
        CHECK_FALSE(at(StrategyFamily::ddp).outcome);
        CHECK(at(StrategyFamily::ddp).least_memory);
        CHECK_FALSE(at(StrategyFamily::experts).outcome); // a dense model
        REQUIRE(at(StrategyFamily::zero_3).outcome);
        REQUIRE(at(StrategyFamily::tensor).outcome);
        CHECK(at(StrategyFamily::zero_3).scenario->strategy.zero == 3);
        CHECK(at(StrategyFamily::zero_3).scenario->strategy.tp == 1);
        CHECK(at(StrategyFamily::tensor).scenario->strategy.tp > 1);
        CHECK(at(StrategyFamily::tensor).scenario->strategy.pp == 1);
        REQUIRE(size.quickest);
        REQUIRE(size.advised);
        const double most = pace_of(at(*size.quickest));
        for (std::size_t i = 0; i < strategy_family_count; ++i)
            if (size.best[i].outcome) {
                CHECK(pace_of(size.best[i]) <= most);
                if (static_cast<StrategyFamily>(i) < *size.advised)
                    CHECK(pace_of(size.best[i]) < (1 - near_enough) * most);
            }
        CHECK(pace_of(at(*size.advised)) >= (1 - near_enough) * most);
    }
}

TEST_CASE("the tensor family cuts experts as it cuts the rest")
{
    CapacityRequest request = scaling_request({16, 16});
    request.model = {"mixtral-8x7b", {}};
    request.guide = request.scaling;
    Session session;
    const StrategyGuide guide =
        strategy_guide(request, cluster_kind("a100", request.folder).value(), session);
    REQUIRE(guide.sizes.size() == 1);
    const SizedCluster& tensor =
        guide.sizes[0].best[static_cast<std::size_t>(StrategyFamily::tensor)];
    REQUIRE(tensor.outcome);
    CHECK(tensor.scenario->strategy.tp > 1);
    CHECK(tensor.scenario->strategy.etp == tensor.scenario->strategy.tp);
    CHECK(tensor.scenario->strategy.ep == 1);
    // Of all together no less can be.
    CHECK(pace_of(guide.sizes[0].best[static_cast<std::size_t>(StrategyFamily::all)]) >=
          0.97 * pace_of(tensor));
}
