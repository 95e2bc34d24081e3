#include "gui/model/live_run.h"
#include "tests/catch.h"
#include "tests/support/random_scenario.h"

#include <QCoreApplication>
#include <QEventLoop>

using namespace trainyard;
using namespace trainyard::gui;
using namespace trainyard::testing;

namespace {

// All that the window is answered: the headline, then the same with records.
std::vector<std::shared_ptr<const RunView>> answers(LiveRun& live, const ScenarioFile& file)
{
    std::vector<std::shared_ptr<const RunView>> out;
    const auto taking =
        QObject::connect(&live, &LiveRun::finished,
                         [&](const std::shared_ptr<const RunView>& run) { out.push_back(run); });
    live.request(file, Detail::ops);
    while (out.empty() || live.busy())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 50);
    QObject::disconnect(taking);
    return out;
}

} // namespace

// One session answers the window, from whatever it remembers of runs before; each scenario has one
// of its own to be told against.
TEST_CASE("fifty random scenarios have the same figures in the window, bit for bit")
{
    int argc = 0;
    const QCoreApplication application(argc, nullptr);
    LiveRun live;
    Random random(11);
    const std::vector<SoftwareClass> software = all_software();
    for (int possible = 0, drawn = 0; possible < 50; ++drawn) {
        REQUIRE(drawn < 5000);
        const ScenarioFile file = random_scenario(random, software);
        const Checked<Outcome> told = Session().simulate(file);
        if (!told && drawn % 10 != 0)
            continue; // most are refused
        INFO("scenario " << drawn << ": " << to_text(file.json, JsonStyle::compact));
        const auto runs = answers(live, file);
        if (!told) {
            REQUIRE(runs.size() == 1);
            CHECK(runs.front()->problems == told.error());
            continue;
        }
        ++possible;
        CHECK(runs.size() == 2);
        const RunFigures figures = run_figures(*told);
        for (const std::shared_ptr<const RunView>& run : runs) {
            REQUIRE(run->outcome);
            CHECK(static_cast<const StepFigures&>(run->summary) == figures);
            CHECK(run->summary.critical == figures.critical);
            CHECK(run->outcome->memory == told->memory);
            CHECK(run->outcome->result->step_ends == told->result->step_ends);
        }
        CHECK(runs.back()->recorded);
    }
}
