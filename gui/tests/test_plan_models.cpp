// What lies behind the planner's screen, without a window.

#include "gui/plan/plan_job.h"
#include "gui/plan/plan_plots.h"
#include "gui/plan/plan_rows.h"
#include "sim/base/build_info.h"
#include "sim/report/plan/plan_report.h"
#include "sim/study/problems.h"
#include "sim/study/session.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

const Checked<ScenarioFile>& small_scenario()
{
    static const Checked<ScenarioFile> file =
        read_scenario_file((data_dir() / "scenarios" / "gpt2-xl-fsdp-4.json").string());
    REQUIRE(file);
    return file;
}

std::vector<std::string> pointers(const Problems& problems)
{
    std::vector<std::string> out;
    for (const Diagnostic& problem : problems) {
        CHECK(problem.file.empty());
        CHECK(problem.message.find("--") == std::string::npos);
        CHECK(problem.hint.find("--") == std::string::npos);
        out.push_back(problem.pointer);
    }
    std::ranges::sort(out);
    return out;
}

PlanQuestion training_question()
{
    PlanQuestion question;
    question.kind = PlanKind::clusters;
    question.model = "gpt2-xl";
    question.tokens = "20B";
    question.clusters = {{"8xh100", "2.5/h"}, {"16xa100", "1.5/h"}};
    return question;
}

ShownPlan planned(const PlanQuestion& question)
{
    Checked<PlanTask> task = plan_task(question, small_scenario());
    REQUIRE(task);
    std::size_t told = 0;
    const Checked<ShownPlan> plan =
        run_plan(std::move(*task), std::nullopt, {}, [&](const PlanProgress&) { ++told; });
    REQUIRE(plan);
    CHECK(told > 0);
    return *plan;
}

double number(const ShownPlan& plan, std::size_t entry, const char* heading)
{
    for (std::size_t i = 0; i < plan.columns.size(); ++i)
        if (plan.columns[i].heading == QLatin1String(heading))
            return plan.entries[entry].cells[i].number;
    FAIL(heading);
    return 0;
}

} // namespace

TEST_CASE("what is wrong with a text of the planner points to its field and names no option")
{
    PlanQuestion question = training_question();
    question.tokens = "20X";
    question.within = "2";
    question.budget = "a lot";
    question.mtbf = "50000h";
    question.checkpoint = "soon";
    question.batch = "4M...";
    question.clusters = {{"h999", "2.5/h"}, {"100xh100", "h100=2/h"}, {"h100", "2.5"}};
    CHECK(pointers(problems_of(question, small_scenario())) ==
          std::vector<std::string>{"/batch", "/budget", "/checkpoint", "/clusters/0", "/clusters/1",
                                   "/mtbf", "/prices/1", "/prices/2", "/tokens", "/within"});
}

TEST_CASE("a question that lacks something says what")
{
    PlanQuestion question = training_question();
    question.tokens.clear();
    CHECK(pointers(problems_of(question, small_scenario())) == std::vector<std::string>{"/tokens"});
    question = training_question();
    question.clusters.clear();
    CHECK(pointers(problems_of(question, small_scenario())) ==
          std::vector<std::string>{"/clusters"});
    question = training_question();
    question.budget = "1M";
    question.clusters[1].price.clear();
    CHECK(pointers(problems_of(question, small_scenario())) == std::vector<std::string>{"/prices"});
    CHECK(problems_of(training_question(), small_scenario()).empty());
}

TEST_CASE("a wrong scenario matters where it is asked for")
{
    const Checked<ScenarioFile> none = tl::unexpected(one_problem("there is none"));
    PlanQuestion question = training_question();
    CHECK_FALSE(asks_for_scenario(question));
    CHECK(problems_of(question, none).empty());
    question.clusters.push_back({"this", ""});
    CHECK(asks_for_scenario(question));
    CHECK(problems_of(question, none).front().message == "there is none");
    CHECK(asks_for_scenario(PlanQuestion{}));
    CHECK_FALSE(problems_of(PlanQuestion{}, none).empty());
}

TEST_CASE("a planner's question comes back from a session as it was")
{
    PlanQuestion question = training_question();
    question.within = "30d";
    question.mtbf = "50000h/gpu";
    question.headroom = 7.5;
    question.front = true;
    CHECK(plan_question_from(to_json(question)) == question);
    CHECK(plan_question_from(to_json(PlanQuestion{})) == PlanQuestion{});
    CHECK(plan_question_from(Json("nonsense")) == PlanQuestion{});
    CHECK(plan_question_from(Json::Object{{"clusters", 3}, {"tokens", 4}}) == PlanQuestion{});
}

TEST_CASE("the layouts shown are those of the library, with the scenario's own beside them")
{
    PlanQuestion question;
    question.tokens = "1B";
    question.price = "2/h";
    const ShownPlan plan = planned(question);
    Session session;
    const auto layouts = plan_layouts(*small_scenario(), {}, session, {});
    REQUIRE(layouts);
    const PlanReport& report = layouts->report;
    REQUIRE_FALSE(report.rows.empty());
    for (std::size_t i = 0; i < report.rows.size(); ++i) {
        CHECK(plan.entries[i].name.toStdString() == report.rows[i].layout);
        CHECK(number(plan, i, "step [s]") == report.rows[i].step_time.value.value());
        CHECK(number(plan, i, "MFU [%]") == 100 * report.rows[i].mfu);
        REQUIRE(plan.entries[i].scenario);
        CHECK(plan.entries[i].scenario->scenario == layouts->planned[i].scenario);
    }
    CHECK(plan.entries.front().chosen);
    CHECK(plan.headline.contains(QString::fromStdString(report.rows.front().layout)));
    REQUIRE(report.own);
    const PlanEntry& own = plan.entries.back();
    CHECK(own.own);
    CHECK_FALSE(own.scenario);
    CHECK(number(plan, plan.entries.size() - 1, "against the scenario [%]") == 0);
    CHECK(number(plan, 0, "against the scenario [%]") ==
          Approx(100 * (slowdown(report.rows.front(), *report.own) - 1)));
    // A price and hours of 4 GPUs.
    CHECK(number(plan, 0, "cost [$]") == Approx(number(plan, 0, "days") * 24 * 4 * 2));
    std::uint64_t left_out = 0;
    for (const PlanLeftOut& one : plan.left_out)
        left_out += one.layouts;
    CHECK(left_out + report.rows.size() == report.search.points);
}

TEST_CASE("while layouts are searched the best so far is told with its figures")
{
    Checked<PlanTask> task = plan_task({}, small_scenario());
    REQUIRE(task);
    std::vector<PlanProgress> told;
    const Checked<ShownPlan> plan =
        run_plan(*task, std::nullopt, {}, [&](const PlanProgress& now) { told.push_back(now); });
    REQUIRE(plan);
    const auto with_best =
        std::ranges::find_if(told, [](const PlanProgress& now) { return !now.best.isEmpty(); });
    REQUIRE(with_best != told.end());
    CHECK(with_best->points > 0);
    CHECK(with_best->possible > 0);
    CHECK(told.back().simulated > 0);
    CHECK(told.back().best.contains(plan->entries.front().name));
    // The figures are those of the report.
    const auto& base = std::get<LayoutTask>(*task).base;
    Session session;
    const auto answer = plan_layouts(*small_scenario(), {}, session, {});
    REQUIRE(answer);
    const PlanRow& best = answer->report.rows.front();
    const LayoutNews news = news_of({best.choice, best.step_time.value, best.bound}, base);
    CHECK(news.layout == best.layout);
    CHECK(news.mfu == Approx(best.mfu));
    CHECK(news.work_per_s == Approx(best.work_per_s()));
}

TEST_CASE("of two clusters the cheaper one is told first, as the library has it")
{
    const ShownPlan plan = planned(training_question());
    CHECK(plan.headline.startsWith("Cheapest: "));
    REQUIRE(plan.entries.size() == 2);
    CHECK(plan.entries.front().chosen);
    CHECK(number(plan, 0, "cost [$]") < number(plan, 1, "cost [$]"));
    CHECK(plan.headline.contains(plan.entries.front().name));
    Checked<PlanTask> task = plan_task(training_question(), small_scenario());
    REQUIRE(task);
    Session session;
    const auto answer = plan_clusters(std::get<CapacityRequest>(*task), session);
    REQUIRE(answer);
    REQUIRE(answer->plan.best);
    const CapacityRow& best = *answer->report.chosen_of(*answer->plan.best);
    CHECK(number(plan, 0, "days") == best.training->time.mean().value() / 86'400);
    CHECK(number(plan, 0, "cost [$]") == *best.training->cost.money);
    CHECK(std::ranges::any_of(plan.verdicts, [](const QString& text) {
        return text.contains("costs") && text.contains("more");
    }));
}

TEST_CASE("this is the cluster of the scenario, also for another model")
{
    PlanQuestion question = training_question();
    question.clusters = {{"this", "2/h"}};
    const Checked<ScenarioFile> nodes =
        read_scenario_file((data_dir() / "scenarios" / "llama3-70b-h100-64.json").string());
    const Checked<PlanTask> task = plan_task(question, nodes);
    REQUIRE(task);
    // A node that nothing joins to others is taken as it is.
    const Checked<PlanTask> alone = plan_task(question, small_scenario());
    REQUIRE(alone);
    CHECK(std::get<CapacityRequest>(*alone).clusters.front().nodes == 1);
    CHECK(std::get<CapacityRequest>(*alone).clusters.front().gpus_per_node == 4);
    const auto& request = std::get<CapacityRequest>(*task);
    CHECK_FALSE(request.scenario);
    REQUIRE(request.clusters.size() == 1);
    CHECK(request.clusters.front().gpus_per_node == 8);
    CHECK_FALSE(request.clusters.front().nodes);
    CHECK(request.clusters.front().prices.gpu_hour == 2);
}

TEST_CASE("charts show each size and layout once, the chosen ones marked")
{
    PlanQuestion question = training_question();
    question.within = "30d";
    question.clusters = {{"h100", "2.5/h"}};
    const ShownPlan clusters = planned(question);
    const std::vector<PlanPlot> plots = plots_of(clusters);
    REQUIRE(plots.size() == 2); // days and cost
    REQUIRE(plots[0].series.size() == 1);
    const auto chosen = std::ranges::find_if(plots[0].series[0].dots, &PlanDot::chosen);
    REQUIRE(chosen != plots[0].series[0].dots.end());
    CHECK(clusters.entries[chosen->entry].chosen);
    CHECK(chosen->x == clusters.entries[chosen->entry].gpus);

    PlanQuestion with_front;
    with_front.front = true;
    const ShownPlan layouts = planned(with_front);
    const std::vector<PlanPlot> one = plots_of(layouts);
    REQUIRE(one.size() == 1);
    std::vector<std::size_t> entries;
    for (const PlanSeries& series : one[0].series)
        for (const PlanDot& dot : series.dots)
            entries.push_back(dot.entry);
    std::ranges::sort(entries);
    CHECK(std::ranges::adjacent_find(entries) == entries.end());
    CHECK(entries.size() == layouts.entries.size());
    // Along the front less memory takes more time.
    const std::vector<PlanDot>& front = one[0].series[0].dots;
    for (std::size_t i = 1; i < front.size(); ++i)
        CHECK(front[i].y <= front[i - 1].y);
}

TEST_CASE("rows are sorted by numbers, what is not known last either way")
{
    auto plan = std::make_shared<ShownPlan>();
    plan->columns = {{"name", 0}, {"days", 4}};
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    for (const auto& [name, days] :
         {std::pair("a", 10.0), std::pair("b", unknown), std::pair("c", 9.5)})
    {
        PlanEntry entry;
        entry.cells = {{name, unknown}, {{}, days}};
        plan->entries.push_back(std::move(entry));
    }
    PlanRows rows;
    rows.show(plan);
    const auto order = [&] {
        std::string out;
        for (const QStringList& row : rows.table().rows)
            out += row.front().toStdString();
        return out;
    };
    CHECK(order() == "abc");
    rows.sort(1, Qt::AscendingOrder);
    CHECK(order() == "cab");
    rows.sort(1, Qt::DescendingOrder);
    CHECK(order() == "acb");
    CHECK(rows.table().rows[0][1] == "10.00");
    CHECK(rows.table().rows[2][1].isEmpty());
    rows.sort(-1, Qt::AscendingOrder);
    CHECK(order() == "abc");
}

TEST_CASE("where nothing fits the nearest is told, and what was left out")
{
    const std::vector<Override> larger{{"model", "llama-3.1-405b"}};
    const Checked<ScenarioFile> large = changed_scenario(*small_scenario(), larger);
    REQUIRE(large);
    Checked<PlanTask> task = plan_task({}, large);
    REQUIRE(task);
    const Checked<ShownPlan> plan = run_plan(std::move(*task), std::nullopt, {}, [](auto&) {});
    REQUIRE(plan);
    CHECK(plan->entries.empty());
    CHECK(plan->headline.contains("No layout fits"));
    CHECK_FALSE(plan->left_out.empty());
    CHECK(plots_of(*plan).empty());
}
