#include "calibrate/measure/nccl/cuda_facts.h"
#include "calibrate/measure/plan/kernels.h"
#include "calibrate/measure/plan/plan.h"
#include "tests/catch.h"

#include <algorithm>

using namespace trainyard;

namespace {

std::vector<std::vector<int>> members_of(const std::vector<std::string>& hosts)
{
    std::vector<std::vector<int>> out;
    for (const GroupSpec& group : groups_of(hosts))
        out.push_back(group.members);
    return out;
}

std::vector<RankFacts> ranks_on(const std::vector<std::string>& hosts, const std::string& backend)
{
    std::vector<RankFacts> out;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        RankFacts facts;
        facts.place.rank = static_cast<int>(i);
        facts.place.ranks = static_cast<int>(hosts.size());
        facts.host = hosts[i];
        facts.facts.name = backend;
        out.push_back(facts);
    }
    return out;
}

bool has_part(const MeasurePlan& plan, LocalKind kind)
{
    for (const PlannedGroup& group : plan.groups)
        for (const TimedWork& work : group.singles)
            if (const auto* local = std::get_if<LocalWork>(&work); local && local->kind == kind)
                return true;
    return false;
}

} // namespace

TEST_CASE("the groups of a node are its first ranks by doublings, all of them, and every second")
{
    CHECK(members_of({}).empty());
    CHECK(members_of({"a"}).empty());
    CHECK(members_of({"a", "a"}) == std::vector<std::vector<int>>{{0, 1}});
    CHECK(members_of({"a", "a", "a"}) == std::vector<std::vector<int>>{{0, 1}, {0, 1, 2}});
    CHECK(members_of(std::vector<std::string>(8, "a")) ==
          std::vector<std::vector<int>>{
              {0, 1}, {0, 1, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7}, {0, 2, 4, 6}});
}

TEST_CASE("the groups across nodes are whole nodes, and one rank of each")
{
    // Ranks of two nodes in turn.
    CHECK(members_of({"a", "b", "a", "b"}) ==
          std::vector<std::vector<int>>{{0, 2}, {0, 1}, {0, 2, 1, 3}});
    const auto three = members_of({"a", "a", "b", "b", "c", "c"});
    CHECK(std::count(three.begin(), three.end(), std::vector<int>{0, 2, 4}) == 1);
    CHECK(std::count(three.begin(), three.end(), std::vector<int>{0, 1, 2, 3, 4, 5}) == 1);
}

TEST_CASE("one rank alone has kernels to time and no collective")
{
    const MeasurePlan plan = plan_of({}, ranks_on({"a"}, "nccl"));
    REQUIRE(plan.groups.size() == 1);
    CHECK(plan.groups.front().curves.empty());
    CHECK(has_part(plan, LocalKind::gemm));
    CHECK(has_part(plan, LocalKind::launch_graph));
    for (const TimedWork& work : plan.groups.front().singles)
        CHECK(std::holds_alternative<LocalWork>(work));
}

TEST_CASE("a plan of parts has these and no others")
{
    PlanOptions options;
    options.parts = {PlanPart::pairs};
    const MeasurePlan plan = plan_of(options, ranks_on({"a", "a", "a"}, "gloo"));
    REQUIRE(plan.groups.size() == 1);
    CHECK(plan.groups.front().curves.empty());
    std::size_t one_way = 0;
    for (const TimedWork& work : plan.groups.front().singles)
        if (const auto* exchange = std::get_if<ExchangeWork>(&work))
            one_way += exchange->messages.size() == 1 ? 1 : 0;
    CHECK(one_way == 6); // ordered pairs of three
}

TEST_CASE("reductions are timed for every type, what only moves bytes for one")
{
    PlanOptions options;
    options.parts = {PlanPart::collectives};
    options.collectives = {CollectiveKind::all_reduce, CollectiveKind::all_gather};
    options.types = {ElementType::bfloat16, ElementType::float32};
    const MeasurePlan plan = plan_of(options, ranks_on({"a", "a"}, "nccl"));
    REQUIRE(plan.groups.size() == 1);
    CHECK(plan.groups.front().curves.size() == 3);
}

TEST_CASE("forced algorithms have a communicator each beside the library's own choice")
{
    PlanOptions options;
    options.parts = {PlanPart::collectives};
    options.collectives = {CollectiveKind::all_reduce};
    options.forced = true;
    const MeasurePlan plan = plan_of(options, ranks_on({"a", "a"}, "nccl"));
    CHECK(plan.groups.size() == 7); // auto, and two algorithms with three protocols
}

TEST_CASE("a quick plan is several times shorter")
{
    const auto ranks = ranks_on(std::vector<std::string>(8, "a"), "nccl");
    PlanOptions quick;
    quick.quick = true;
    CHECK(plan_of(quick, ranks).points() * 3 < plan_of({}, ranks).points());
}

TEST_CASE("products of 8 bits are planned on GPUs, of shapes that there are")
{
    int narrow = 0;
    for (const LocalWork& work : gemm_shapes({.on_cpu = false, .quick = false}))
        if (work.type == ElementType::float8_e4m3) {
            ++narrow;
            CHECK(cannot_multiply_type(work, 90).empty());
        }
    CHECK(narrow == 4 * 4 * 4); // 4 of 5 numbers of rows: one row alone is no multiple of 16
    for (const LocalWork& work : gemm_shapes({.on_cpu = true, .quick = false}))
        CHECK(work.type == ElementType::float32);
}
