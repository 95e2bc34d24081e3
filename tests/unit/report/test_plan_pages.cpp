#include "sim/base/build_info.h"
#include "sim/report/capacity/capacity_html.h"
#include "sim/report/figures.h"
#include "sim/report/plan/plan_html.h"
#include "sim/study/session.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {

// A page asks for nothing from elsewhere; what is opened is closed, and what divides by nothing is
// not shown.
void check_page(const std::string& html)
{
    const auto count = [&](const std::string& part) {
        std::size_t found = 0;
        for (std::size_t at = html.find(part); at != std::string::npos;
             at = html.find(part, at + 1))
            ++found;
        return found;
    };
    CHECK_THAT(html, StartsWith("<!DOCTYPE html>"));
    CHECK_THAT(html, EndsWith("</body></html>\n"));
    CHECK(count("http") == count("http://www.w3.org/2000/svg"));
    CHECK(count("<script") == 0);
    CHECK(count(" src=") == 0);
    for (const char* tag : {"svg", "table", "tr", "div", "section", "ul", "li"})
        CHECK(count(fmt::format("<{} ", tag)) + count(fmt::format("<{}>", tag)) ==
              count(fmt::format("</{}>", tag)));
    CHECK(count("=\"nan") + count("=\"inf") + count(" nan,") == 0);
}

PlanReport small_plan_report(std::initializer_list<const char*> axes)
{
    const Checked<ScenarioFile> file =
        read_scenario_file((data_dir() / "scenarios" / "llama3-8b-h100-8.json").string(), {});
    REQUIRE(file);
    const Checked<SearchBase> base = search_base(*file);
    REQUIRE(base);
    SearchRequest request{
        .space = usual_space(file->scenario, base->facts), .top = 3, .front = true};
    for (const char* axis : {"strategy.pp=1,2", "strategy.schedule=1f1b", "strategy.zero=1",
                             "strategy.vpp=1", "training.recompute=none"})
        REQUIRE(restrict(request.space, parse_axis(axis).value()).empty());
    for (const char* axis : axes)
        REQUIRE(restrict(request.space, parse_axis(axis).value()).empty());
    Session session;
    SearchResult result = search(*base, request, session);
    PlanOutcomes outcomes{outcomes_of(result, *base, session),
                          outcomes_of(*result.front, *base, session), session.simulate(*file)};
    return plan_report(*base, std::move(result), outcomes, request.headroom);
}

} // namespace

TEST_CASE("a plan's page has the best, why the second lost, the front and exact counts of the rest")
{
    const PlanReport report = small_plan_report({"training.micro_batch=1,2"});
    REQUIRE(report.rows.size() >= 2);
    REQUIRE_FALSE(report.front.empty());
    const std::string html = plan_html(report);
    check_page(html);
    for (const std::string& part :
         {report.rows.front().layout, std::string("The runner-up, "),
          std::string("Nothing is quicker"), std::string("none is both quicker and smaller"),
          std::string("tokens/s"), std::string("memory left on the fullest stage (% of a device)")})
        CHECK_THAT(html, ContainsSubstring(part));
    for (const LeftOut& one : left_out(report))
        CHECK_THAT(html, ContainsSubstring(">" + grouped(one.points) + "<"));
}

TEST_CASE("an interrupted plan whose open layouts cannot be quicker is proven")
{
    PlanReport report = small_plan_report({"training.micro_batch=1,2"});
    REQUIRE_FALSE(report.rows.empty());
    const RankedLayout& best = report.search.best.front();
    const Seconds pace = best.step_time / static_cast<double>(best.choice.global_batch);
    report.search.open = 5;
    report.search.least_open = 1.01 * pace;
    CHECK_THAT(proof_text(report), ContainsSubstring("the best is proven"));
    CHECK_THAT(plan_html(report), ContainsSubstring("Nothing is quicker"));
    report.search.least_open = 0.9 * pace;
    CHECK_THAT(proof_text(report), ContainsSubstring("may be up to 10.0 % quicker"));
    CHECK_THAT(plan_html(report), !ContainsSubstring("Nothing is quicker"));
}

TEST_CASE("a plan's page of a space in which nothing fits says so")
{
    const PlanReport report = small_plan_report({"training.micro_batch=8", "strategy.tp=1"});
    REQUIRE(report.rows.empty());
    const std::string html = plan_html(report);
    check_page(html);
    CHECK_THAT(html, ContainsSubstring("No layout"));
}

TEST_CASE("a capacity plan's page has days, cost, goodput and the goal's lines")
{
    CapacityRequest request;
    request.model = {"llama-3.1-8b", {}};
    request.folder = data_dir() / "scenarios";
    for (const char* name : {"h100", "a100"}) {
        Checked<ClusterKind> kind = cluster_kind(name, request.folder);
        REQUIRE(kind);
        kind->prices.gpu_hour = 2;
        kind->name += " <&";
        request.clusters.push_back(std::move(*kind));
    }
    for (const char* axis : {"strategy.schedule=1f1b", "strategy.pp=1", "strategy.vpp=1",
                             "strategy.zero=1", "training.recompute=none,full"})
        request.axes.push_back(parse_axis(axis).value());
    request.training.tokens = 1e12;
    request.training.deadline = Seconds(30 * 86400.0);
    request.training.budget = 2e5;
    request.training.failures.mtbf_per_gpu = Seconds(50'000 * 3600.0);
    Session session;
    const Checked<CapacityPlan> plan = capacity_plan(request, session);
    REQUIRE(plan);
    REQUIRE(plan->best);
    const ClusterAnswer& best = plan->clusters[*plan->best];
    const WholeTraining& training = *best.sizes[*best.chosen].training;
    const CapacityReport report = capacity_report(
        request, *plan, TrainingReport{training, training_sensitivities(training), {}});
    const std::string html = capacity_html(report);
    check_page(html);
    for (const char* part :
         {"wall time (days)", "cost (currency of the prices)", "goodput (% of wall time)",
          ">deadline 30.0 d<", ">budget $ 200 k<", "energy (MWh)", "Pareto front over",
          "h100 &lt;&amp;", "What matters most", "Area of a mark"})
        CHECK_THAT(html, ContainsSubstring(part));
    CHECK_THAT(html, !ContainsSubstring("h100 <&"));
}
