#include "sim/strategy/rank_layout.h"
#include "tests/catch.h"

#include <algorithm>
#include <numeric>
#include <set>

using namespace trainyard;

namespace {

Job job_with_sizes(int tp, int cp, int dp, int pp)
{
    Job job;
    job.strategy.tp = tp;
    job.strategy.cp = cp;
    job.strategy.dp = dp;
    job.strategy.pp = pp;
    return job;
}

Job job_with_sizes(int tp, int cp, int dp, int pp, int ep, int etp, std::string order)
{
    Job job = job_with_sizes(tp, cp, dp, pp);
    job.strategy.ep = ep;
    job.strategy.etp = etp;
    job.strategy.rank_order = std::move(order);
    return job;
}

std::vector<RankId> ranks(std::initializer_list<unsigned> values)
{
    std::vector<RankId> out;
    for (const unsigned v : values)
        out.push_back(RankId{v});
    return out;
}

const std::vector<Job> layouts = {
    job_with_sizes(1, 1, 1, 1),
    job_with_sizes(2, 1, 4, 4),
    job_with_sizes(2, 3, 5, 2),
    job_with_sizes(2, 2, 4, 2, 4, 1, "tp-cp-dp-pp"),
    job_with_sizes(2, 2, 4, 3, 4, 2, "tp-pp-dp-cp"),
    job_with_sizes(3, 2, 4, 2, 6, 2, "pp-tp-dp-cp"),
    job_with_sizes(4, 1, 6, 2, 3, 4, "dp-tp-pp"),
};

const std::vector<GroupKind> partitioning = {GroupKind::tp,  GroupKind::cp,   GroupKind::ep,
                                             GroupKind::etp, GroupKind::dp,   GroupKind::edp,
                                             GroupKind::pp,  GroupKind::world};

} // namespace

TEST_CASE("a rank's place leads back to the rank")
{
    for (const Job& job : layouts) {
        const RankLayout layout(job);
        for (unsigned r = 0; r < static_cast<unsigned>(layout.world()); ++r) {
            const RankPlace place = layout.place(RankId{r});
            REQUIRE(layout.rank(place) == RankId{r});
            REQUIRE(place.tp < job.strategy.tp);
            REQUIRE(place.cp < job.strategy.cp);
            REQUIRE(place.dp < job.dp());
            REQUIRE(place.pp < job.strategy.pp);
        }
    }
}

TEST_CASE("groups of a kind have one size, are ascending and partition the world")
{
    for (const Job& job : layouts) {
        const RankLayout layout(job);
        for (const GroupKind kind : partitioning) {
            CAPTURE(job.strategy.rank_order, layout.world(), to_name(kind));
            std::set<std::vector<RankId>> groups;
            for (unsigned r = 0; r < static_cast<unsigned>(layout.world()); ++r) {
                const std::vector<RankId> group = layout.members(kind, RankId{r});
                REQUIRE(group.size() == static_cast<std::size_t>(layout.group_size(kind)));
                REQUIRE(std::is_sorted(group.begin(), group.end()));
                REQUIRE(std::count(group.begin(), group.end(), RankId{r}) == 1);
                groups.insert(group);
            }
            // As many ranks as the world and every rank in its own group: no two groups overlap.
            REQUIRE(static_cast<int>(groups.size()) * layout.group_size(kind) == layout.world());
        }
    }
}

TEST_CASE("expert groups stay inside a pipeline stage, and etp, ep, edp meet in one rank")
{
    for (const Job& job : layouts) {
        const RankLayout layout(job);
        CHECK(layout.group_size(GroupKind::etp) * layout.group_size(GroupKind::ep) *
                  layout.group_size(GroupKind::edp) * layout.group_size(GroupKind::pp) ==
              layout.world());
        for (unsigned r = 0; r < static_cast<unsigned>(layout.world()); ++r) {
            std::vector<RankId> common = layout.members(GroupKind::ep, RankId{r});
            for (const RankId member : common)
                REQUIRE(layout.place(member).pp == layout.place(RankId{r}).pp);
            for (const GroupKind kind : {GroupKind::etp, GroupKind::edp}) {
                const std::vector<RankId> other = layout.members(kind, RankId{r});
                std::vector<RankId> both;
                std::set_intersection(common.begin(), common.end(), other.begin(), other.end(),
                                      std::back_inserter(both));
                REQUIRE(both == std::vector<RankId>{RankId{r}});
            }
        }
    }
}

TEST_CASE("16 ranks with TP 2, PP 4 form the groups of Megatron-LM's documentation")
{
    // megatron/core/parallel_state.py, initialize_model_parallel: "Let's say we have a total of 16
    // GPUs ... 2 GPUs to parallelize the model tensor, and 4 GPUs to parallelize the model
    // pipeline": 8 tensor groups [g0, g1] ..., 4 pipeline groups [g0, g4, g8, g12] ..., 8 data
    // groups [g0, g2], [g1, g3], [g4, g6] ...
    const RankLayout layout(job_with_sizes(2, 1, 2, 4));
    CHECK(layout.members(GroupKind::tp, RankId{15}) == ranks({14, 15}));
    CHECK(layout.members(GroupKind::pp, RankId{0}) == ranks({0, 4, 8, 12}));
    CHECK(layout.members(GroupKind::pp, RankId{7}) == ranks({3, 7, 11, 15}));
    CHECK(layout.members(GroupKind::dp, RankId{0}) == ranks({0, 2}));
    CHECK(layout.members(GroupKind::dp, RankId{6}) == ranks({4, 6}));
    CHECK(layout.members(GroupKind::embedding, RankId{13}) == ranks({1, 13}));
    CHECK(layout.members(GroupKind::embedding, RankId{5}) == ranks({5}));
}

TEST_CASE("with the pipeline before data parallelism its stages are neighbours")
{
    const RankLayout layout(job_with_sizes(2, 1, 2, 4, 1, 1, "tp-pp-dp"));
    CHECK(layout.members(GroupKind::pp, RankId{0}) == ranks({0, 2, 4, 6}));
    CHECK(layout.members(GroupKind::dp, RankId{0}) == ranks({0, 8}));
    // A stage's ranks 0, 1, 8, 9 are its experts' grid.
    const RankLayout experts(job_with_sizes(2, 1, 2, 4, 2, 2, "tp-pp-dp"));
    CHECK(experts.members(GroupKind::etp, RankId{8}) == ranks({8, 9}));
    CHECK(experts.members(GroupKind::ep, RankId{8}) == ranks({0, 8}));
}

TEST_CASE("the order of dimensions only renames ranks")
{
    // The members' places are the same set whatever numbers the ranks bear.
    const RankLayout a(job_with_sizes(2, 3, 2, 4));
    const RankLayout b(job_with_sizes(2, 3, 2, 4, 1, 1, "pp-dp-tp-cp"));
    const auto by_place = [](const RankPlace& x, const RankPlace& y) {
        return std::tuple(x.tp, x.cp, x.dp, x.pp) < std::tuple(y.tp, y.cp, y.dp, y.pp);
    };
    const auto places = [&](const RankLayout& layout, GroupKind kind, const RankPlace& place) {
        std::vector<RankPlace> out;
        for (const RankId rank : layout.members(kind, layout.rank(place)))
            out.push_back(layout.place(rank));
        std::sort(out.begin(), out.end(), by_place);
        return out;
    };
    for (const GroupKind kind : {GroupKind::tp, GroupKind::cp, GroupKind::dp, GroupKind::pp,
                                 GroupKind::embedding, GroupKind::world})
        for (unsigned r = 0; r < static_cast<unsigned>(a.world()); ++r)
            REQUIRE(places(a, kind, a.place(RankId{r})) == places(b, kind, a.place(RankId{r})));
}

TEST_CASE("an order of ranks names dimensions once each")
{
    CHECK(parse_rank_order("tp-cp-dp-pp") == std::array{0, 1, 2, 3});
    CHECK(parse_rank_order("tp-pp-dp") == std::array{0, 3, 2, 1});
    CHECK(parse_rank_order("") == std::array{0, 1, 2, 3});
    for (const char* bad : {"tp-tp", "tp-ep", "tp-", "-tp", "tp--dp", "tp,dp", "TP"})
        CHECK_FALSE(parse_rank_order(bad));
}

TEST_CASE("groups of a hundred thousand ranks come without tables")
{
    const RankLayout layout(job_with_sizes(8, 2, 512, 16, 64, 1, "tp-cp-dp-pp"));
    REQUIRE(layout.world() == 131072);
    std::size_t members = 0;
    for (unsigned r = 0; r < 131072; r += 64)
        members += layout.members(GroupKind::edp, RankId{r}).size();
    CHECK(members == 2048 * 128);
}
