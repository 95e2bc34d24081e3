// The search for the best layout against brute force, and what it says of the rest.

#include "sim/study/pareto_front.h"
#include "sim/study/search/search.h"
#include "sim/study/session.h"
#include "tests/unit/study/swept.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

using namespace trainyard;

namespace {

struct SmallSpace {
    const char* scenario;
    std::vector<Override> changes;
    std::vector<const char*> axes;
};

// Dense and with experts (whose TP may be any), on one node and on several; what is not listed
// keeps a value or two.
std::vector<SmallSpace> small_spaces()
{
    const Override short_step{"training.global_batch", "64"};
    std::vector<SmallSpace> out;
    for (const char* zero : {"strategy.zero=1", "strategy.zero=1,3"})
        for (const char* recompute :
             {"training.recompute=none,full", "training.recompute=none,full:1,full:3"})
            for (const char* micro : {"training.micro_batch=1,2", "training.micro_batch=2,4"}) {
                out.push_back({"llama3-8b-h100-8.json",
                               {{"training.global_batch", "16"}},
                               {"strategy.tp=1,2,4", "strategy.pp=1,2", "strategy.vpp=1,2",
                                "strategy.cp=1", "strategy.schedule=1f1b", zero, recompute, micro,
                                "training.global_batch=8,16,24"}});
                out.push_back(
                    {"mixtral-8x7b-ep8-h100-64.json",
                     {short_step},
                     {"strategy.tp=1,2", "strategy.pp=2,4", "strategy.vpp=1,2", "strategy.ep=4,8",
                      "strategy.etp=1", "strategy.schedule=1f1b,zb-v", zero, recompute, micro}});
            }
    // Stages of ZeRO as the framework has them.
    out.push_back({"llama3-8b-h100-8.json",
                   {{"training.global_batch", "16"}},
                   {"strategy.tp=1,2,4", "strategy.pp=1,2", "strategy.vpp=1,2", "strategy.cp=1",
                    "training.micro_batch=1,2", "training.recompute=none,full"}});
    for (const char* micro : {"training.micro_batch=1", "training.micro_batch=1,2"})
        out.push_back({"mixtral-8x7b-ep8-h100-64.json",
                       {short_step},
                       {"strategy.tp=1,2,4", "strategy.pp=2,4", "strategy.vpp=1", "strategy.ep=2,4",
                        "strategy.etp=1,2,4", "strategy.schedule=1f1b", "strategy.zero=1",
                        "training.recompute=none,full", micro}});
    for (const char* schedule : {"strategy.schedule=1f1b,zb-h1", "strategy.schedule=zb-v,dualpipe",
                                 "strategy.schedule=dualpipe,dualpipev", "strategy.schedule=zb-h2"})
        out.push_back({"llama3-70b-h100-64.json",
                       {short_step},
                       {"strategy.tp=4,8", "strategy.pp=2,4", "strategy.vpp=1,2", "strategy.cp=1,2",
                        "strategy.zero=1", "training.micro_batch=1", "training.recompute=none,full",
                        schedule}});
    return out;
}

SearchBase base_of(const SmallSpace& small)
{
    Checked<SearchBase> base = search_base(shipped(small.scenario, small.changes));
    if (!base)
        FAIL(render(base.error(), ""));
    return std::move(*base);
}

SearchSpace space_of(const SmallSpace& small, const SearchBase& base)
{
    SearchSpace space = usual_space(base.file.scenario, base.facts);
    for (const char* axis : small.axes)
        if (const Problems problems = restrict(space, parse_axis(axis).value()); !problems.empty())
            FAIL(render(problems, ""));
    return space;
}

// Every combination, one by one.
std::vector<LayoutChoice> all_points(const SearchSpace& space)
{
    std::vector<LayoutChoice> out;
    LayoutChoice c;
    for (const int tp : space.tp)
        for (const int cp : space.cp)
            for (const int pp : space.pp)
                for (const int ep : space.ep)
                    for (const int etp : space.etp)
                        for (const int zero : space.zero)
                            for (const PipelineSchedule* schedule : space.schedules)
                                for (const int vpp : space.vpp)
                                    for (const std::int64_t micro : space.micro_batches)
                                        for (const RecomputeChoice& recompute : space.recompute)
                                            for (const std::int64_t batch : space.global_batches)
                                                out.push_back({tp, cp, pp, vpp, ep, etp, zero,
                                                               schedule, batch, micro, recompute});
    return out;
}

// The least time per sequence of all that can be and leave room.
std::optional<Seconds> brute_force(const SearchSpace& space, const SearchBase& base,
                                   double headroom)
{
    Session session;
    std::optional<Seconds> best;
    for (const LayoutChoice& choice : all_points(space)) {
        if (base.facts.devices % (choice.tp * choice.cp * choice.pp) != 0 ||
            choice.zero > space.most_zero(choice))
            continue;
        SimulateRequest request;
        request.unfit = Unfit::refuse;
        const Checked<Outcome> outcome = session.simulate(scenario_of(choice, base), request);
        if (!outcome || outcome->memory.peak() / outcome->memory.capacity > 1 - headroom)
            continue;
        const Seconds time =
            to_seconds(outcome->result->step_time) / static_cast<double>(choice.global_batch);
        best = std::min(best.value_or(time), time);
    }
    return best;
}

SearchResult searched(const SmallSpace& small, std::size_t top, int threads)
{
    const SearchBase base = base_of(small);
    Session session;
    return search(base, {.space = space_of(small, base), .top = top, .threads = threads}, session);
}

std::uint64_t excluded(const SearchResult& result)
{
    return std::accumulate(
        result.excluded.begin(), result.excluded.end(), std::uint64_t{0},
        [](std::uint64_t sum, const auto& count) { return sum + count.second.points; });
}

} // namespace

TEST_CASE("a search finds the step of brute force on each of 23 small spaces")
{
    int found = 0;
    const std::vector<SmallSpace> spaces = small_spaces();
    REQUIRE(spaces.size() == 23);
    for (const SmallSpace& small : spaces) {
        INFO(small.scenario << " " << small.axes[5] << " " << small.axes.back());
        const SearchBase base = base_of(small);
        const SearchSpace space = space_of(small, base);
        Session session;
        const SearchResult result = search(base, {.space = space, .top = 3}, session);
        const std::optional<Seconds> best = brute_force(space, base, 0.05);
        REQUIRE(best.has_value() == !result.best.empty());
        CHECK(result.points == all_points(space).size());
        CHECK(excluded(result) + result.best.size() == result.points);
        CHECK(result.open == 0);
        CHECK(result.simulated <= result.possible);
        if (best)
            CHECK(result.best.front().step_time /
                      static_cast<double>(result.best.front().choice.global_batch) ==
                  *best);
        found += best ? 1 : 0;
    }
    CHECK(found >= 16);
}

TEST_CASE("a search with a tolerance misses no more than that, and is the same on any threads")
{
    for (const SmallSpace& small : small_spaces()) {
        INFO(small.scenario << " " << small.axes[5] << " " << small.axes.back());
        const SearchBase base = base_of(small);
        SearchRequest request{.space = space_of(small, base), .top = 1};
        Session session;
        const SearchResult exact = search(base, request, session);
        request.tolerance = 0.1;
        const SearchResult near = search(base, request, session);
        request.threads = 1;
        const SearchResult alone = search(base, request, session);
        REQUIRE(near.best.size() == exact.best.size());
        CHECK(near.simulated <= exact.simulated);
        if (exact.best.empty())
            continue;
        const auto pace = [](const SearchResult& result) {
            return result.best.front().step_time /
                   static_cast<double>(result.best.front().choice.global_batch);
        };
        CHECK(pace(near) * 0.9 <= pace(exact));
        CHECK(alone.best.front().choice == near.best.front().choice);
        CHECK(alone.simulated == near.simulated);
    }
}

TEST_CASE("the layouts that nothing is both quicker and smaller than are those of brute force")
{
    const std::vector<SmallSpace> spaces = small_spaces();
    std::size_t most = 0;
    for (const std::size_t i : {0, 1, 8, 16, 19}) {
        const SmallSpace& small = spaces[i];
        INFO(small.scenario << " " << small.axes[5] << " " << small.axes.back());
        const SearchBase base = base_of(small);
        SearchRequest request{.space = space_of(small, base), .top = 1, .front = true};
        Session session;
        std::vector<std::vector<double>> points; // that fit: time per sequence, memory
        for (const LayoutChoice& choice : all_points(request.space)) {
            if (base.facts.devices % (choice.tp * choice.cp * choice.pp) != 0)
                continue;
            SimulateRequest simulate;
            simulate.unfit = Unfit::refuse;
            const Checked<Outcome> outcome = session.simulate(scenario_of(choice, base), simulate);
            if (outcome && outcome->memory.peak() <= room_of(base, request))
                points.push_back(
                    {per_sequence(to_seconds(outcome->result->step_time), choice).value(),
                     static_cast<double>(outcome->memory.peak().value())});
        }
        std::vector<std::vector<double>> expected;
        for (const std::size_t point : pareto_front(points))
            expected.push_back(points[point]);
        std::ranges::sort(expected);
        const SearchResult result = search(base, request, session);
        REQUIRE(result.front);
        CHECK(result.front->open == 0);
        std::vector<std::vector<double>> found;
        for (const FrontLayout& layout : result.front->layouts)
            found.push_back({per_sequence(layout.step_time, layout.choice).value(),
                             static_cast<double>(layout.memory.value())});
        CHECK(found == expected);
        most = std::max(most, found.size());
        request.threads = 1;
        CHECK(search(base, request, session).front->layouts == result.front->layouts);
    }
    CHECK(most >= 4);
}

TEST_CASE("no bound of a space's point is above its simulation")
{
    const std::vector<SmallSpace> spaces = {
        {"mixtral-8x7b-ep8-h100-64.json", // groups of a layer lie as pp and dp let them
         {{"strategy.rank_order", "tp-cp-pp-dp"}, {"training.global_batch", "64"}},
         {"strategy.pp=1,2,4", "strategy.tp=2,4", "strategy.ep=4,8", "strategy.etp=1",
          "strategy.vpp=1", "strategy.schedule=1f1b", "training.recompute=none,full:1",
          "training.micro_batch=1,2"}},
        {"llama3-8b-h100-8.json", // gradients of one micro-batch and of several
         {{"strategy.overlap.dp", "false"}},
         {"strategy.zero=1,2", "strategy.pp=1", "strategy.tp=1,2,4", "strategy.schedule=1f1b",
          "strategy.vpp=1", "training.recompute=none,full"}},
        {"llama3-70b-h100-64.json",
         {{"strategy.rank_order", "dp-tp-cp-pp"}, {"training.global_batch", "64"}},
         {"strategy.cp=1", "strategy.pp=2,4,8", "strategy.tp=4,8", "strategy.vpp=1,2",
          "strategy.schedule=1f1b", "training.recompute=none", "training.micro_batch=1"}}};
    for (const SmallSpace& small : spaces) {
        INFO(small.scenario);
        const SearchBase base = base_of(small);
        const Bytes room = device_memory(base.parts.cost->profile()).capacity;
        Session session;
        int simulated = 0;
        for (const PossibleLayout& layout :
             possible_layouts(space_of(small, base), base, room, {}).layouts) {
            SimulateRequest request;
            request.memory = AllocatorView::nobody;
            const Checked<Outcome> outcome =
                session.simulate(scenario_of(layout.choice, base), request);
            if (!outcome)
                continue;
            ++simulated;
            CHECK(layout.least.time <= to_seconds(outcome->result->step_time));
            CHECK(layout.least.memory <= outcome->memory.peak());
        }
        CHECK(simulated >= 8);
    }
}

TEST_CASE("one stage is searched whatever schedule comes first")
{
    const SearchResult result = searched({"llama3-8b-h100-8.json",
                                          {},
                                          {"strategy.schedule=zb-h1,1f1b", "strategy.pp=1",
                                           "strategy.zero=1", "training.recompute=selective"}},
                                         1, 1);
    REQUIRE(result.best.size() == 1);
    CHECK(result.best.front().choice.schedule->name() == "1f1b");
    CHECK(result.best.front().choice.recompute.kind == Recompute::selective);
}

TEST_CASE("what a search finds and counts does not depend on its threads")
{
    const SmallSpace small{"llama3-70b-h100-64.json",
                           {{"training.global_batch", "32"}},
                           {"strategy.cp=1,2", "strategy.schedule=1f1b,zb-v",
                            "training.recompute=none,full:2,full", "training.micro_batch=1,2"}};
    const SearchResult one = searched(small, 5, 1);
    const SearchResult four = searched(small, 5, 4);
    REQUIRE(one.best.size() == 5);
    for (std::size_t i = 0; i < one.best.size(); ++i) {
        CHECK(one.best[i].choice == four.best[i].choice);
        CHECK(one.best[i].step_time == four.best[i].step_time);
        CHECK(one.best[i].bound <= one.best[i].step_time);
        CHECK((i == 0 || one.best[i - 1].step_time <= one.best[i].step_time));
    }
    CHECK(one.simulated == four.simulated);
    REQUIRE(one.excluded.size() == four.excluded.size());
    for (const auto& [why, count] : one.excluded)
        CHECK(four.excluded.at(why).points == count.points);
}

TEST_CASE("layouts that are shown differ in their sizes")
{
    const SearchResult result = searched({"llama3-8b-h100-8.json", {}, {}}, 4, 0);
    REQUIRE(result.best.size() == 4);
    for (std::size_t i = 1; i < result.best.size(); ++i) {
        const LayoutChoice& a = result.best[i - 1].choice;
        const LayoutChoice& b = result.best[i].choice;
        CHECK(std::tuple(a.tp, a.cp, a.pp, a.zero) != std::tuple(b.tp, b.cp, b.pp, b.zero));
    }
}

TEST_CASE("a search that is cancelled says how much quicker a layout may be that it left open")
{
    const SearchBase base = base_of({"llama3-8b-h100-8.json", {}, {}});
    const SearchSpace space = usual_space(base.file.scenario, base.facts);
    Session session;
    CancelFlag cancel;
    SearchRequest request{.space = space, .top = 1, .threads = 1};
    request.work = {&cancel, [&](std::string_view stage, double done, double) {
                        if (stage.starts_with("simulating") && done >= 1)
                            cancel.cancel();
                    }};
    const SearchResult result = search(base, request, session);
    CHECK(result.open > 0);
    REQUIRE(result.least_open);
    CHECK(result.gap() >= 0);
    CHECK(result.gap() <= 1);
    CHECK(excluded(result) + result.best.size() + result.open == result.points);
    // What is open may be that much quicker, no more.
    const SearchResult whole = search(base, {.space = space, .top = 1}, session);
    if (!result.best.empty())
        CHECK(whole.best.front().step_time >= result.best.front().step_time * (1 - result.gap()));
}

TEST_CASE("a search tells of more and more layouts and of a best that only gets better")
{
    const SearchBase base = base_of({"llama3-8b-h100-8.json", {}, {}});
    SearchRequest request{.space = usual_space(base.file.scenario, base.facts), .threads = 2};
    std::vector<SearchNews> told; // one call at a time: no lock is needed
    request.listener = [&](const SearchNews& news) { told.push_back(news); };
    Session session;
    const SearchResult result = search(base, request, session);
    REQUIRE(told.size() >= 2);
    for (std::size_t i = 1; i + 1 < told.size(); ++i) {
        CHECK(told[i].simulated >= told[i - 1].simulated);
        if (told[i - 1].best) {
            REQUIRE(told[i].best);
            CHECK(per_sequence(told[i].best->step_time, told[i].best->choice) <=
                  per_sequence(told[i - 1].best->step_time, told[i - 1].best->choice));
        }
    }
    // In the end what was found.
    CHECK(told.back().points == result.points);
    CHECK(told.back().possible == result.possible);
    CHECK(told.back().simulated == result.simulated);
    REQUIRE(told.back().best);
    CHECK(told.back().best->choice == result.best.front().choice);
    CHECK(told.back().best->step_time == result.best.front().step_time);
}

TEST_CASE("a search that is cancelled at once leaves every point open")
{
    const SearchBase base = base_of({"llama3-8b-h100-8.json", {}, {}});
    CancelFlag cancel;
    cancel.cancel();
    SearchRequest request;
    request.space = usual_space(base.file.scenario, base.facts);
    request.work = {&cancel, {}};
    Session session;
    const SearchResult result = search(base, request, session);
    CHECK(result.best.empty());
    CHECK(result.open == result.points);
    CHECK(result.gap() == 1);
}

TEST_CASE("where nothing fits a search names the layout that needs the least")
{
    const SearchBase base = base_of({"llama3-405b-h100-16k.json",
                                     {{"topology", "h100-1x8"}, {"training.global_batch", "16"}},
                                     {}});
    Session session;
    const SearchResult result =
        search(base, {.space = usual_space(base.file.scenario, base.facts)}, session);
    CHECK(result.best.empty());
    REQUIRE(result.nearest);
    CHECK(result.nearest->memory > result.capacity);
    CHECK(excluded(result) == result.points);
}

TEST_CASE("the scenario's own layout is in the usual space")
{
    for (const char* name : {"llama3-70b-h100-64.json", "mixtral-8x7b-ep8-h100-64.json",
                             "llama3-405b-h100-16k.json", "llama2-7b-tp2-pp2-dp2.json"})
    {
        const ScenarioFile file = shipped(name);
        const SearchBase base = search_base(file).value();
        const SearchSpace space = usual_space(file.scenario, base.facts);
        const Strategy& own = file.scenario.strategy;
        const auto has = [](const auto& values, const auto& value) {
            return std::ranges::find(values, value) != values.end();
        };
        CHECK(has(space.tp, own.tp));
        CHECK(has(space.cp, own.cp));
        CHECK(has(space.pp, own.pp));
        CHECK(has(space.vpp, own.vpp));
        CHECK(has(space.ep, own.ep));
        CHECK(has(space.zero, own.zero));
        CHECK(has(space.micro_batches, file.scenario.training.micro_batch));
    }
}

TEST_CASE("layouts that the framework does not start are looked at where they are asked for")
{
    const auto has_sharded_stages = [](const std::vector<Override>& changes, const char* axis) {
        const SearchBase base = search_base(shipped("llama3-70b-h100-64.json", changes)).value();
        SearchSpace space = usual_space(base.file.scenario, base.facts);
        for (const char* one : {"strategy.tp=8", "strategy.cp=1", "strategy.pp=2", "strategy.vpp=1",
                                "training.micro_batch=1", axis})
            REQUIRE(restrict(space, parse_axis(one).value()).empty());
        const PossibleLayouts possible =
            possible_layouts(space, base, Bytes(std::uint64_t{1} << 60), {});
        CHECK(possible.excluded.contains({Exclusion::framework, "/strategy/zero"}) ==
              (space.zero_with_stages < 3));
        return std::ranges::any_of(possible.layouts, [](const PossibleLayout& layout) {
            return layout.choice.zero == 3 && layout.choice.pp > 1;
        });
    };
    const Override titan{"software.framework", "torchtitan"};
    const Override deepspeed{"software.framework", "deepspeed"};
    CHECK_FALSE(has_sharded_stages({}, "strategy.schedule=1f1b"));
    CHECK_FALSE(has_sharded_stages({deepspeed}, "strategy.schedule=1f1b"));
    CHECK(has_sharded_stages({titan}, "strategy.schedule=1f1b"));
    CHECK(has_sharded_stages({}, "strategy.zero=3"));
    CHECK(has_sharded_stages({{"strategy.zero", "3"}, {"strategy.pp", "2"}},
                             "strategy.schedule=1f1b"));
}

TEST_CASE("schedules are those of the framework, and what the scenario has")
{
    const auto schedules = [](const char* framework, const char* own) {
        const SearchBase base =
            search_base(shipped("llama3-70b-h100-64.json",
                                {{"software.framework", framework}, {"strategy.schedule", own}}))
                .value();
        std::set<std::string> out;
        for (const PipelineSchedule* one : usual_space(base.file.scenario, base.facts).schedules)
            out.insert(std::string(one->name()));
        return out;
    };
    CHECK(schedules("megatron-core", "1f1b") == std::set<std::string>{"1f1b"});
    CHECK(schedules("megatron-core", "zb-h1") == std::set<std::string>{"1f1b", "zb-h1"});
    CHECK(schedules("torchtitan", "1f1b") == std::set<std::string>{"1f1b", "zb-v", "dualpipev"});
    CHECK(schedules("my own", "1f1b").contains("dualpipe"));
}

TEST_CASE("stages that outnumber the layers leave those at the ends to embedding and head")
{
    // As the 405B was trained: 126 layers over 16 x 8 stages, the outer two without any.
    const ScenarioFile file = shipped("llama3-405b-h100-16k.json");
    const SearchBase base = search_base(file).value();
    const Strategy& own = file.scenario.strategy;
    LayoutChoice choice{.tp = own.tp,
                        .pp = own.pp,
                        .vpp = own.vpp,
                        .zero = own.zero,
                        .schedule = find_schedule("1f1b"),
                        .global_batch = file.scenario.training.global_batch,
                        .micro_batch = 1};
    choice.recompute = {Recompute::full, 1};
    CHECK(changes_of(choice, base.facts, file.scenario).empty());
}

TEST_CASE("values of a search that are none are refused with those that would be")
{
    SearchSpace space;
    const auto refusal = [&](std::string_view text) {
        const Problems problems = restrict(space, parse_axis(text).value());
        REQUIRE(problems.size() == 1);
        return problems.front().message + (problems.front().hint.empty() ? "" : "; ") +
               problems.front().hint;
    };
    CHECK(refusal("strategy.tp=1,x") == "\"x\" is no size from 1 on");
    CHECK(refusal("strategy.tp=0") == "\"0\" is no size from 1 on");
    CHECK(refusal("strategy.zero=7") == "\"7\" is no ZeRO stage from 0 to 3");
    CHECK(refusal("strategy.schedule=1f2b") == "\"1f2b\" is no schedule");
    CHECK(refusal("training.recompute=selective:3") ==
          "\"selective:3\" is no way to recompute (none, selective, full, full:4)");
    CHECK(refusal("strategy.ttp=1") ==
          "is no field that is searched; did you mean \"strategy.tp\"?");
    CHECK(refusal("tp=1") == "is no field that is searched; did you mean \"strategy.tp\"?");
    CHECK(refusal("strategy.tp=auto,2") ==
          "\"auto\" is all the usual values and stands for itself alone; --grid strategy.tp=auto, "
          "or values alone");
    space.tp = {1, 2, 4};
    CHECK(restrict(space, parse_axis("strategy.tp=auto").value()).empty());
    CHECK(space.tp == std::vector{1, 2, 4});
}

TEST_CASE("changes make the best scenario from the one that was asked about")
{
    const ScenarioFile file = shipped("llama3-70b-h100-64.json");
    const SearchBase base = search_base(file).value();
    LayoutChoice choice{.tp = 8,
                        .pp = 2,
                        .zero = 3,
                        .schedule = find_schedule("1f1b"),
                        .global_batch = 128,
                        .micro_batch = 2};
    choice.recompute = {Recompute::full, 3};
    const std::vector<Override> changes = changes_of(choice, base.facts, file.scenario);
    const ScenarioFile changed = shipped("llama3-70b-h100-64.json", changes);
    Scenario expected = file.scenario;
    apply(choice, base.facts, expected);
    CHECK(changed.scenario == expected);
}
