#include "sim/api/evaluation.h"
#include "sim/report/summary.h"
#include "sim/study/sweep.h"
#include "tests/catch.h"
#include "tests/support/random_scenario.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

// What a session of its own finds, without what others left behind.
Checked<Outcome> alone(const ScenarioFile& file)
{
    SimulateRequest request;
    request.unfit = Unfit::refuse;
    return Session().simulate(file, request);
}

ScenarioFile drawn_scenario(Random& random, const std::vector<SoftwareClass>& software)
{
    return in_fidelity(random_scenario(random, software), Fidelity::alpha_beta);
}

} // namespace

TEST_CASE("many random scenarios at once have the figures of each simulated alone, bit for bit")
{
    Random random(41);
    const std::vector<SoftwareClass> software = all_software();
    std::vector<ScenarioFile> files;
    for (int i = 0; i < 400; ++i)
        files.push_back(drawn_scenario(random, software));
    Session session;
    EvaluationOptions options;
    options.threads = 2;
    const std::vector<Evaluated> found = evaluate_scenarios(files, session, options);
    REQUIRE(found.size() == files.size());
    int feasible = 0;
    for (std::size_t i = 0; i < files.size(); ++i) {
        INFO("scenario " << i << ": " << to_text(files[i].json, JsonStyle::compact));
        if (!found[i].feasible() && i % 10 != 0)
            continue; // most are refused
        const Checked<Outcome> told = alone(files[i]);
        REQUIRE(told.has_value() == found[i].feasible());
        if (!told) {
            CHECK(told.error() == found[i].problems);
            continue;
        }
        ++feasible;
        CHECK(static_cast<const StepFigures&>(found[i]) == run_figures(*told));
        CHECK(found[i].input_hash == told->input_hash);
    }
    CHECK(feasible >= 20);
}

TEST_CASE("points of a sweep over a random scenario are the scenarios with their changes")
{
    Random random(42);
    const std::vector<SoftwareClass> software = all_software();
    Session session;
    SweepOptions options;
    options.threads = 1;
    int feasible = 0;
    for (int drawn = 0; feasible < 20; ++drawn) {
        REQUIRE(drawn < 2000);
        const ScenarioFile base = drawn_scenario(random, software);
        if (!alone(base))
            continue;
        const SweepGrid grid{
            {*parse_axis("training.micro_batch=1,2"), *parse_axis("training.recompute=none,full")}};
        const auto check = [&](SweepPoint&& point) {
            INFO("point " << point.index << " of " << to_text(base.json, JsonStyle::compact));
            const Checked<ScenarioFile> file = changed_scenario(base, point.changes);
            REQUIRE(file);
            const Checked<Outcome> told = alone(*file);
            REQUIRE(told.has_value() == point.feasible());
            if (!told)
                return;
            ++feasible;
            CHECK(run_figures(*point.outcome) == run_figures(*told));
        };
        sweep(base, grid, session, options, check);
    }
}

TEST_CASE("cancelled work leaves what was done whole and marks the rest")
{
    Random random(43);
    const std::vector<SoftwareClass> software = all_software();
    std::vector<ScenarioFile> files;
    for (int i = 0; i < 60; ++i)
        files.push_back(drawn_scenario(random, software));
    CancelFlag cancel;
    EvaluationOptions options;
    options.threads = 1;
    options.work.cancel = &cancel;
    options.work.progress = [&](std::string_view, double done, double) {
        if (done >= 20)
            cancel.cancel();
    };
    Session session;
    const std::vector<Evaluated> found = evaluate_scenarios(files, session, options);
    REQUIRE(found.size() == files.size());
    CHECK(std::ranges::count(found, true, &Evaluated::cut_short) == 40);
    for (const Evaluated& one : found)
        CHECK((one.cut_short ? !one.feasible() && one.problems.empty()
                             : one.feasible() || !one.problems.empty()));
}
