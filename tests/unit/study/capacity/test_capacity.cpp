#include "sim/base/build_info.h"
#include "sim/study/capacity/cluster_front.h"
#include "sim/study/capacity/sized_cluster.h"
#include "sim/study/session.h"
#include "tests/catch.h"

#include <algorithm>

using namespace trainyard;

namespace {

// A small model and few layouts, so that a size takes some hundredths of a second.
CapacityRequest small_request(std::initializer_list<const char*> clusters)
{
    CapacityRequest request;
    request.model = {"llama-3.1-8b", {}};
    request.folder = data_dir() / "scenarios";
    for (const char* name : clusters) {
        Checked<ClusterKind> kind = cluster_kind(name, request.folder);
        REQUIRE(kind);
        kind->prices.gpu_hour = 2;
        request.clusters.push_back(std::move(*kind));
    }
    for (const char* axis :
         {"strategy.schedule=1f1b", "strategy.pp=1,2", "strategy.vpp=1", "strategy.zero=1",
          "strategy.tp=1,2,4", "training.micro_batch=1,2", "training.recompute=none,full"})
        request.axes.push_back(parse_axis(axis).value());
    request.training.tokens = 1e12;
    request.training.failures.mtbf_per_gpu = Seconds(50'000 * 3600.0);
    request.training.checkpoints.time = Seconds(60);
    return request;
}

CapacityPlan planned(const CapacityRequest& request)
{
    Session session;
    Checked<CapacityPlan> plan = capacity_plan(request, session);
    REQUIRE(plan);
    return std::move(*plan);
}

const SizedCluster& chosen(const CapacityPlan& plan, std::size_t kind = 0)
{
    REQUIRE(plan.clusters[kind].chosen);
    return plan.clusters[kind].sizes[*plan.clusters[kind].chosen];
}

} // namespace

TEST_CASE("the fewest GPUs that meet a deadline: fewer do not")
{
    CapacityRequest request = small_request({"h100"});
    request.training.deadline = Seconds(20 * 86'400.0);
    const CapacityPlan plan = planned(request);
    const SizedCluster& fewest = chosen(plan);
    CHECK(fewest.meets_deadline());
    CHECK(*fewest.training->in_time >= 0.9);
    // 1e12 tokens x 6 x 8e9 at 989 TFLOP/s are 28 GPUs for 20 days; nobody gets half of that again
    // for nothing.
    CHECK(fewest.gpus > 28);
    CHECK(fewest.gpus <= 28 * 4);
    CHECK(plan.best == 0);

    // One node fewer by itself.
    request.clusters[0].nodes = fewest.nodes - 1;
    const CapacityPlan fewer = planned(request);
    REQUIRE(fewer.clusters[0].sizes.size() == 1);
    CHECK_FALSE(fewer.clusters[0].sizes[0].meets_deadline());
    CHECK_FALSE(fewer.best);
}

TEST_CASE("sizes are in order, each once, and larger ones are not slower by much")
{
    CapacityRequest request = small_request({"h100"});
    request.training.deadline = Seconds(10 * 86'400.0);
    const CapacityPlan plan = planned(request);
    const std::vector<SizedCluster>& sizes = plan.clusters[0].sizes;
    REQUIRE(sizes.size() > 1);
    for (std::size_t i = 1; i < sizes.size(); ++i) {
        CHECK(sizes[i - 1].nodes < sizes[i].nodes);
        if (sizes[i - 1].training && sizes[i].training)
            CHECK(sizes[i].training->time.mean() < sizes[i - 1].training->time.mean() * 1.1);
    }
}

TEST_CASE("a size as given is the only one that is looked at")
{
    CapacityRequest request = small_request({"32xh100", "16xa100"});
    const CapacityPlan plan = planned(request);
    REQUIRE(plan.clusters.size() == 2);
    CHECK(chosen(plan, 0).gpus == 32);
    CHECK(chosen(plan, 1).gpus == 16);
    // No deadline: the cheaper one is best, whatever it takes.
    const auto cost = [&](std::size_t kind) { return *chosen(plan, kind).training->cost.money; };
    CHECK(plan.best == (cost(0) < cost(1) ? 0 : 1));
}

TEST_CASE("a goal without tokens asks for the most that time and money allow")
{
    CapacityRequest request = small_request({"h100"});
    request.training.tokens = 0;
    request.training.deadline = Seconds(10 * 86'400.0);
    request.training.budget = 50'000;
    const CapacityPlan plan = planned(request);
    const SizedCluster& most = chosen(plan);
    CHECK(*most.training->cost.money <= 50'000);
    CHECK(most.meets_deadline());
    for (const SizedCluster& sized : plan.clusters[0].sizes)
        if (sized.training)
            CHECK(sized.training->request.tokens <= most.training->request.tokens);
    // A few tokens more are too many.
    WholeTrainingRequest more = most.training->request;
    more.tokens *= 1.01;
    const Checked<WholeTraining> training = whole_training(more);
    REQUIRE(training);
    CHECK_FALSE((training->meets_budget() && training->meets_deadline()));
}

TEST_CASE("an interrupted size keeps the best layout so far, which is not proven")
{
    CapacityRequest request = small_request({"32xh100"});
    request.axes.clear();
    request.threads = 1;
    CancelFlag flag;
    request.work.cancel = &flag;
    request.listener.search = [&](const SearchNews& news) {
        if (news.best)
            flag.cancel();
    };
    const CapacityPlan plan = planned(request);
    CHECK(plan.interrupted);
    CHECK(plan.best == 0);
    CHECK(chosen(plan).unproven.value_or(0) > 0);
    CHECK(chosen(plan).training);
}

TEST_CASE("batches are fitted into the range that is given")
{
    CapacityRequest request = small_request({"24xh100"});
    request.batch = TokenRange{1e6, 2e6};
    const CapacityPlan plan = planned(request);
    const double batch = chosen(plan).training->request.batch_tokens;
    CHECK(batch >= 1e6);
    CHECK(batch <= 2e6);
}

TEST_CASE("a budget that the leanest cluster misses is met by larger, cheaper ones")
{
    CapacityRequest request = small_request({"h100"});
    request.training.failures.spare_nodes = 1; // doubles the cost of a single node
    const CapacityPlan free = planned(request);
    const double dear = *chosen(free).training->cost.money; // of the fewest GPUs that run
    request.training.budget = 0.97 * dear;
    const CapacityPlan plan = planned(request);
    const std::vector<SizedCluster>& sizes = plan.clusters[0].sizes;
    CHECK(sizes.size() > 1);
    REQUIRE(plan.best);
    CHECK(*chosen(plan).training->cost.money <= *request.training.budget);
    CHECK(chosen(plan).gpus > chosen(free).gpus);
}

TEST_CASE("models without tokens count samples")
{
    CapacityRequest request;
    request.model = {"resnet-50", {}};
    request.folder = data_dir() / "scenarios";
    request.clusters.push_back(cluster_kind("8xh100", request.folder).value());
    request.training.tokens = 1e9;
    const CapacityPlan plan = planned(request);
    const WholeTrainingRequest& training = chosen(plan).training->request;
    CHECK(training.unit == "samples");
    CHECK(training.batch_tokens ==
          static_cast<double>(chosen(plan).outcome->job.training.global_batch));
}

TEST_CASE("a node of a rack is a tray, not its NVLink domain")
{
    CapacityRequest request = small_request({"72xgb200"});
    const CapacityPlan plan = planned(request);
    CHECK(chosen(plan).training->request.gpus_per_node == 4);
    CHECK(with_step_of(*chosen(plan).outcome, {}).gpus_per_node == 4);
}

TEST_CASE("what no size changes is refused before any is looked at")
{
    Session session;
    CapacityRequest request = small_request({"h100"});
    request.model = {"nope.json", {}};
    CHECK_FALSE(capacity_plan(request, session));
    request = small_request({"h100"});
    request.axes.push_back({"strategy.foo", {"1"}});
    CHECK_FALSE(capacity_plan(request, session));
    request = small_request({"h100"});
    request.clusters[0].prices.node_hour = 20;
    CHECK_FALSE(capacity_plan(request, session));
}

TEST_CASE("a model that fits nowhere says how much a device needs at least")
{
    CapacityRequest request = small_request({"h100"});
    request.model = {"llama-3.1-405b", {}};
    request.training.deadline = Seconds(1e9);
    request.most_gpus = 16;
    const CapacityPlan plan = planned(request);
    CHECK_FALSE(plan.best);
    REQUIRE(!plan.clusters[0].sizes.empty());
    for (const SizedCluster& sized : plan.clusters[0].sizes) {
        CHECK_FALSE(sized.training);
        REQUIRE(sized.least_memory);
        CHECK(*sized.least_memory > Bytes(80'000'000'000));
    }
}

TEST_CASE("a cluster that is too small names the smallest of its kind that runs")
{
    CapacityRequest request = small_request({"8xh100"});
    request.model = {"llama-3.1-70b", {}};
    request.axes.clear();
    for (const char* axis : {"strategy.schedule=1f1b", "strategy.vpp=1", "strategy.zero=1",
                             "training.micro_batch=1", "training.recompute=full"})
        request.axes.push_back(parse_axis(axis).value());
    request.batch = TokenRange{1e6, 1e6};
    const CapacityPlan plan = planned(request);
    CHECK_FALSE(plan.best);
    REQUIRE(plan.clusters[0].smallest);
    const int nodes = plan.clusters[0].smallest->nodes;
    CHECK(nodes > 1);
    REQUIRE(plan.clusters[0].smallest->outcome);
    Session session;
    for (int fewer = 1; fewer < nodes; ++fewer) {
        request.clusters[0].nodes = fewer;
        CHECK_FALSE(sized_cluster(request, request.clusters[0], fewer, session).outcome);
    }
}

TEST_CASE("with prices larger clusters are looked at as long as they cost less")
{
    CapacityRequest request = small_request({"h100"});
    request.training.deadline = Seconds(40 * 86'400.0);
    request.training.failures.repair = Seconds(30 * 86'400.0); // of a spare node that is paid
    const CapacityPlan plan = planned(request);
    const std::vector<SizedCluster>& sizes = plan.clusters[0].sizes;
    const std::size_t fewest = *plan.clusters[0].chosen;
    REQUIRE(fewest + 1 < sizes.size());
    // The last is the first that costs no less than the one before; without prices there is none.
    const auto money = [&](std::size_t i) { return *sizes[i].training->cost.money; };
    CHECK(money(sizes.size() - 1) >= money(sizes.size() - 2));
    for (std::size_t i = fewest + 1; i + 1 < sizes.size(); ++i)
        CHECK(money(i) < money(i - 1));
    request.clusters[0].prices = {};
    CHECK(planned(request).clusters[0].sizes.size() <= sizes.size());
    CHECK(*planned(request).clusters[0].chosen == fewest);
}

TEST_CASE("a budget without prices, and no goal at all, are refused")
{
    Session session;
    CapacityRequest request = small_request({"h100"});
    request.clusters[0].prices = {};
    request.training.budget = 1e6;
    CHECK_FALSE(capacity_plan(request, session));
    request.training.budget.reset();
    request.training.tokens = 0;
    CHECK_FALSE(capacity_plan(request, session));
}

TEST_CASE("clusters are read as people write them")
{
    const auto kind = [](const char* text) { return cluster_kind(text, data_dir() / "scenarios"); };
    REQUIRE(kind("256xh100"));
    CHECK(kind("256xh100")->nodes == 32);
    CHECK(kind("256xh100")->gpus_per_node == 8);
    CHECK_FALSE(kind("h100")->nodes);
    CHECK(kind("16XH100-SXM5-80GB")->nodes == 2);
    for (const char* bad : {"100xh100", "0xh100", "-8xh100", "99999999999xh100", "h999",
                            "none.json", "my-h100-typo", "topologies/h100-does-not-exist.json"})
    {
        INFO(bad);
        CHECK_FALSE(kind(bad));
    }
    REQUIRE(kind("../topologies/h100-1x4.json"));
    CHECK(kind("../topologies/h100-1x4.json")->nodes == 1); // nothing joins it to others
    REQUIRE(kind("16x../topologies/a100-2x8-tcp25.json"));
    CHECK(kind("16x../topologies/a100-2x8-tcp25.json")->gpu.empty());
}

TEST_CASE("the front of clusters: whoever is off it is no better than one on it in any objective")
{
    CapacityRequest request = small_request({"h100", "a100"});
    request.training.deadline = Seconds(20 * 86'400.0);
    const CapacityPlan plan = planned(request);
    const ClusterFront front = cluster_front(plan, {});
    CHECK(front.objectives ==
          std::vector<Objective>{Objective::days, Objective::cost, Objective::energy});
    REQUIRE(front.places.size() >= 2);
    const auto values = [&](const ClusterFront::Place& place) {
        std::vector<double> out;
        for (const Objective objective : front.objectives)
            out.push_back(*value_of(objective, plan.clusters[place.kind].sizes[place.size]));
        return out;
    };
    for (std::size_t kind = 0; kind < plan.clusters.size(); ++kind)
        for (std::size_t size = 0; size < plan.clusters[kind].sizes.size(); ++size) {
            const ClusterFront::Place place{kind, size};
            if (!plan.clusters[kind].sizes[size].training ||
                std::ranges::find(front.places, place) != front.places.end())
                continue;
            CHECK(std::ranges::any_of(front.places, [&](const ClusterFront::Place& other) {
                return std::ranges::equal(values(other), values(place), std::ranges::less_equal());
            }));
        }
}

TEST_CASE("where more is better a front keeps the most: memory that stays free")
{
    CapacityRequest request = small_request({"16xh100", "32xh100"});
    const CapacityPlan plan = planned(request);
    const ClusterFront front = cluster_front(plan, {Objective::gpus, Objective::headroom});
    const auto free_of = [&](std::size_t kind) {
        return *value_of(Objective::headroom, plan.clusters[kind].sizes.front());
    };
    // 16 GPUs are fewer than 32: they are on it whatever stays free; 32 only where more does.
    REQUIRE_FALSE(front.places.empty());
    CHECK(front.places.front() == ClusterFront::Place{0, 0});
    CHECK(front.places.size() == (free_of(1) > free_of(0) ? 2 : 1));
}

TEST_CASE("a plan tells of each size as it begins and ends, in between of its layouts")
{
    CapacityRequest request = small_request({"16xh100", "8xa100"});
    std::vector<std::string> told;
    request.listener.begun = [&](const ClusterKind& kind, int nodes) {
        told.push_back("begun " + kind.name + " " + std::to_string(nodes));
    };
    request.listener.ended = [&](const ClusterKind& kind, const SizedCluster& sized) {
        told.push_back("ended " + kind.name + " " + std::to_string(sized.nodes));
    };
    std::size_t layouts = 0;
    request.listener.search = [&](const SearchNews& news) { layouts += news.best ? 1 : 0; };
    planned(request);
    CHECK(told ==
          std::vector<std::string>{"begun h100 2", "ended h100 2", "begun a100 1", "ended a100 1"});
    CHECK(layouts >= 2); // each size has one in the end
}

TEST_CASE("what contradicts itself in a question points to its text")
{
    CapacityRequest request = small_request({"h100"});
    const auto pointer = [](const CapacityRequest& asked) {
        const Problems problems = problems_of(asked);
        REQUIRE(problems.size() == 1);
        CHECK(problems.front().file.empty());
        return problems.front().pointer;
    };
    request.batch = TokenRange{4e6, 1e6};
    CHECK(pointer(request) == "/batch");
    request.batch.reset();
    request.training.deadline = Seconds(0);
    CHECK(pointer(request) == "/within");
    request.training.deadline.reset();
    request.training.tokens = 0;
    CHECK(pointer(request) == "/tokens");
    request.training.budget = 1e6;
    request.clusters.front().prices = {};
    CHECK(pointer(request) == "/prices");
    request.clusters.clear();
    CHECK(pointer(request) == "/clusters");
}
