// Costs know what an oversubscribed fabric leaves to rings; fidelity bundle finds it by sharing the
// links. Where everyone does the same and no flows collide, both agree.

#include "tests/catch.h"
#include "tests/support/cluster_text.h"
#include "tests/support/pick.h"
#include "tests/unit/strategy/plans.h"

#include <fmt/core.h>

#include <string_view>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

struct Fabric {
    const char* kind;
    int nodes_per_unit;
    double ratio;
    double nic = 400; // Gb/s
};

// Every leaf has one wide uplink to one spine: no two flows can collide by their hashes.
Topology one_spine(int nodes, const Fabric& fabric, const char* node)
{
    const int nics = std::string_view(fabric.kind) == "rail" ? 1 : 8; // of a node on a leaf
    const double below = fabric.nic * nics * fabric.nodes_per_unit;
    const std::string text = fmt::format(
        R"({{"format": "trainyard.topology/1", "generator": "cluster", "nodes": {}, "node": "{}",
             "fabric": {{"kind": "{}", "network": {{"preset": "ib_ndr", "switch_ports": 512}},
                         "nodes_per_unit": {}, "oversubscription": {}, "uplink_rate": "{} Gb/s"}}}})",
        nodes, node, fabric.kind, fabric.nodes_per_unit, fabric.ratio, below / fabric.ratio);
    return testing::topology_of(text);
}

SimTime step_time(const Plan& plan, const Job& job, const Topology& cluster, Fidelity fidelity)
{
    BindOptions options;
    options.links = fidelity == Fidelity::bundle ? LinkDetail::sums : LinkDetail::none;
    options.folding = fidelity == Fidelity::bundle ? Folding::none : Folding::replicas;
    return run(plan.program, bind(plan, job, cluster, h100_costs(), options), 2, fidelity)
        .step_time;
}

double ratio(SimTime a, SimTime b)
{
    return static_cast<double>(a.value()) / static_cast<double>(b.value());
}

// Data parallelism over 16 nodes, all communication exposed.
Job random_job(Random& random)
{
    Strategy strategy;
    strategy.tp = pick<int>(random, {1, 2, 4, 8});
    strategy.dp = 128 / strategy.tp;
    strategy.zero = pick<int>(random, {0, 1, 3});
    strategy.overlap.dp = strategy.zero == 3;
    return job_of(small_decoder(), strategy, training_of(*strategy.dp));
}

} // namespace

TEST_CASE("on an oversubscribed fabric rings take what sharing the links gives them")
{
    Random random(99);
    int slowed = 0;
    for (int i = 0; i < 24; ++i) {
        const Fabric fabric{pick<const char*>(random, {"rail", "leaf-spine"}),
                            pick<int>(random, {1, 2, 4}), pick<double>(random, {1, 2, 4, 16})};
        const Job job = random_job(random);
        CAPTURE(fabric.kind, fabric.nodes_per_unit, fabric.ratio, job.strategy.tp,
                job.strategy.zero);
        const Plan plan = make_plan(job);
        const Topology thin = one_spine(16, fabric, "dgx-h100");
        const SimTime costs = step_time(plan, job, thin, Fidelity::alpha_beta);
        const SimTime links = step_time(plan, job, thin, Fidelity::bundle);
        CHECK(ratio(costs, links) > 0.97);
        CHECK(ratio(costs, links) < 1.03);
        const Fabric full{fabric.kind, fabric.nodes_per_unit, 1};
        const SimTime free =
            step_time(plan, job, one_spine(16, full, "dgx-h100"), Fidelity::alpha_beta);
        CHECK(costs >= free);
        slowed += ratio(costs, free) > 1.05;
    }
    CHECK(slowed > 4);
}

TEST_CASE("without contention costs and shared links agree on every kind of node")
{
    for (const char* node : {"dgx-h100", "dgx-a100", "aws-p5", "aws-p4d", "dgx1-v100", "mi300x-8",
                             "pcie-l40s-8", "oci-h100"})
    {
        const Topology cluster = one_spine(4, {"rail", 4, 1}, node);
        for (const int zero : {0, 3}) {
            Strategy strategy;
            strategy.dp = 32;
            strategy.zero = zero;
            strategy.overlap.dp = zero == 3;
            const Job job = job_of(small_decoder(), strategy, training_of(32));
            const Plan plan = make_plan(job);
            CAPTURE(node, zero);
            const double agreement = ratio(step_time(plan, job, cluster, Fidelity::bundle),
                                           step_time(plan, job, cluster, Fidelity::alpha_beta));
            CHECK(agreement > 0.99);
            CHECK(agreement < 1.01);
        }
    }
}

TEST_CASE("on an oversubscribed fabric a device with several NICs takes what all of them are given")
{
    Strategy strategy;
    strategy.dp = 128;
    strategy.zero = 1;
    strategy.overlap.dp = false;
    const Job job = job_of(small_decoder(), strategy, training_of(128));
    const Plan plan = make_plan(job);
    SimTime last{};
    for (const double oversubscription : {1.0, 2.0, 8.0}) {
        const Topology thin = one_spine(16, {"rail", 2, oversubscription, 100}, "aws-p5");
        const SimTime costs = step_time(plan, job, thin, Fidelity::alpha_beta);
        CAPTURE(oversubscription);
        CHECK(ratio(costs, step_time(plan, job, thin, Fidelity::bundle)) == Approx(1).margin(0.03));
        CHECK(costs >= last);
        last = costs;
    }
}

TEST_CASE("devices share NICs evenly that are not as many for each")
{
    Strategy strategy;
    strategy.dp = 12;
    strategy.zero = 1;
    strategy.overlap.dp = false;
    const Job job = job_of(small_decoder(), strategy, training_of(12));
    const Plan plan = make_plan(job);
    for (const int nics : {1, 2, 3, 4, 6}) {
        const Topology cluster = testing::topology_of(fmt::format(
            R"({{"format": "trainyard.topology/1", "generator": "cluster", "nodes": 3,
                 "node": {{"preset": "hgx-h100-4", "nics": {}}}, "fabric": {{"kind": "leaf-spine"}}}})",
            nics));
        CAPTURE(nics);
        CHECK(ratio(step_time(plan, job, cluster, Fidelity::alpha_beta),
                    step_time(plan, job, cluster, Fidelity::bundle)) == Approx(1).margin(0.02));
    }
}

TEST_CASE("messages feel the oversubscription of the switches they climb, no other")
{
    Strategy strategy;
    strategy.tp = 8;
    strategy.pp = 2;
    const Job job = job_of(small_decoder(), strategy, training_of(8));
    const Plan plan = make_plan(job);
    const auto time_on = [&](int nodes_per_unit, double ratio) {
        return step_time(plan, job, one_spine(4, {"leaf-spine", nodes_per_unit, ratio}, "dgx-h100"),
                         Fidelity::alpha_beta);
    };
    CHECK(time_on(2, 16) == time_on(2, 1)); // both stages on one leaf
    CHECK(time_on(1, 16) > time_on(1, 1));
    CHECK(time_on(1, 1) == time_on(2, 1));
}
