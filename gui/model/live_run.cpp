#include "gui/model/live_run.h"

#include "sim/study/problems.h"
#include "sim/study/stages.h"

#include <chrono>

namespace trainyard::gui {

namespace {

Problems problem(std::string message, std::string hint = {})
{
    return {{"", 0, "", std::move(message), std::move(hint), Severity::error}};
}

} // namespace

SimulateRequest headline_request(const WorkControl& work)
{
    SimulateRequest ask;
    ask.work = work;
    return ask;
}

LiveRun::LiveRun(QObject* parent) : QObject(parent)
{
    connect(&task_, &BackgroundTask::progressed, this, &LiveRun::progressed);
}

void LiveRun::request(ScenarioFile file, Detail detail, const LaneChoice& lanes)
{
    run({std::make_shared<const ScenarioFile>(std::move(file)), detail, lanes}, nullptr);
    emit started();
}

void LiveRun::cancel()
{
    if (task_.cancel())
        emit stopped();
}

// The headline first (null: none yet), then the same with records.
void LiveRun::run(const Request& request, const std::shared_ptr<const RunView>& headline)
{
    task_.start([this, request, headline](const WorkControl& work) -> BackgroundTask::Answer {
        return [this, request, view = simulate(request, headline.get(), work)] {
            take(request, view);
        };
    });
}

void LiveRun::take(const Request& request, const std::shared_ptr<const RunView>& view)
{
    if (request.detail == Detail::ops && view->outcome && !view->recorded)
        run(request, view);
    emit finished(view);
}

// What went wrong is a result, too, with its hint.
std::shared_ptr<const RunView> LiveRun::simulate(const Request& request, const RunView* headline,
                                                 const WorkControl& work)
{
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    auto view = std::make_shared<RunView>();
    view->file = request.file;
    view->lanes = request.lanes;
    SimulateRequest ask = headline_request(work);
    if (headline != nullptr)
        ask.record = chosen_lanes(*headline->outcome, request.lanes);
    try {
        Checked<Outcome> outcome = session_.simulate(*request.file, ask);
        if (outcome) {
            view->problems = outcome->warnings;
            view->recorded = headline != nullptr;
            view->summary = run_figures(*outcome);
            append(view->problems, fit_problems(outcome->memory));
            view->outcome = std::make_shared<const Outcome>(std::move(*outcome));
        } else
            view->problems = std::move(outcome.error());
    } catch (const WorldError& error) {
        view->problems = problem(error.message);
    } catch (const std::bad_alloc&) {
        view->problems = problem("there is not enough memory for this simulation",
                                 "fewer steps, or run.fold = true");
    }
    view->wall_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    if (headline != nullptr)
        view->wall_ms += headline->wall_ms;
    return view;
}

} // namespace trainyard::gui
