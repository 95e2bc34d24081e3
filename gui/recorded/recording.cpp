#include "gui/recorded/recording.h"

#include "gui/model/qt_text.h"
#include "gui/recorded/recorded_rows.h"
#include "sim/api/recorded_job.h"
#include "sim/api/traced_scenario.h"
#include "sim/base/files.h"
#include "sim/report/traces/recorded_html.h"
#include "sim/traces/rebuilt_step.h"

#include <algorithm>
#include <filesystem>

namespace trainyard::gui {

namespace {

constexpr std::size_t most_recorded_ranks = 64; // in the timeline

using RecordedRuns = std::vector<std::unique_ptr<const RecordedRun>>;

Checked<RecordedJob> read_job(const std::vector<std::string>& files, Session& session,
                              const WorkControl& work)
{
    TraceQuestion question;
    question.files = files;
    Checked<TraceAnswer> answer = read_recorded_job(question, session, work);
    if (!answer)
        return tl::unexpected(std::move(answer.error()));
    RecordedJob out{files, std::move(answer->job), std::move(answer->run), {}};
    if (out.run.times == TimesStated::timeline)
        out.steps = common_steps(out.job);
    return out;
}

std::shared_ptr<const TimelineModel> timeline_of(const RecordedView& view, RecordedRuns runs,
                                                 const WorkControl& work)
{
    if (view.recorded->steps.empty())
        return nullptr;
    work.report("laying out operations", 0, 0);
    const RecordedPicture picture =
        recorded_picture(view.recorded->job, view.step, most_recorded_ranks, work);
    std::optional<TimelineData> simulated;
    if (!runs.empty()) {
        const RecordedRun* const run = runs.front().get();
        simulated = make_timeline_data(std::span(&run, 1), work);
    }
    return std::make_shared<const TimelineModel>(
        recorded_rows(view.recorded->job, picture, simulated ? &*simulated : nullptr),
        std::move(runs));
}

// Simulates the scenario, where it is of the same job.
RecordedRuns add_sides(RecordedView& view, const ScenarioFile& scenario, Session& session,
                       const WorkControl& work)
{
    RecordedRuns runs;
    Checked<Outcome> outcome =
        simulate_beside(scenario, view.run, view.recorded->files.front(), session, work);
    if (!outcome) {
        view.alone = std::move(outcome.error());
        return runs;
    }
    view.sides = side_by_side(view.run, *outcome);
    view.sides->stages = layer_sides(view.recorded->job, *outcome);
    runs.push_back(
        std::make_unique<const RecordedRun>(std::make_shared<const Outcome>(std::move(*outcome))));
    return runs;
}

std::string report_of(const RecordedView& view, const std::string& file)
{
    const bool page = std::filesystem::path(file).extension() == ".html";
    if (!page)
        return to_text(run_document(view.run, view.sides ? &*view.sides : nullptr)) + "\n";
    const bool beside = view.sides && view.timeline && !view.timeline->runs.empty();
    if (!beside)
        return recorded_html(view.run, view.recorded->job, nullptr);
    const SimulatedBeside simulated{*view.timeline->runs.front()->outcome, *view.sides};
    return recorded_html(view.run, view.recorded->job, &simulated);
}

} // namespace

Recording::Recording(Session& session, QObject* parent) : QObject(parent), session_(session)
{
    for (const BackgroundTask* const task : {&read_task_, &view_task_, &write_task_}) {
        connect(task, &BackgroundTask::busyChanged, this, &Recording::busyChanged);
        connect(task, &BackgroundTask::progressed, this, &Recording::progressed);
        connect(task, &BackgroundTask::failed, this, [this](const QString& message) {
            emit told({{"", 0, "", message.toStdString(), "", Severity::error}});
        });
    }
}

const std::vector<std::string>& Recording::files() const
{
    static const std::vector<std::string> none;
    return job_ ? job_->files : none;
}

void Recording::open(std::vector<std::string> files)
{
    read_task_.start(
        [this, files = std::move(files)](const WorkControl& work) -> BackgroundTask::Answer {
            Checked<RecordedJob> read = read_job(files, session_, work);
            if (!read)
                return [this, problems = read.error()] { emit told(problems); };
            return [this, job = std::make_shared<const RecordedJob>(std::move(*read))] {
                job_ = job;
                step_.reset();
                make_view();
                emit opened();
            };
        });
}

void Recording::add(const std::vector<std::string>& more)
{
    std::vector<std::string> all = files();
    for (const std::string& file : more)
        if (std::find(all.begin(), all.end(), file) == all.end())
            all.push_back(file);
    open(std::move(all));
}

void Recording::close()
{
    read_task_.cancel();
    view_task_.cancel();
    job_.reset();
    show(nullptr);
}

void Recording::set_scenario(std::shared_ptr<const ScenarioFile> scenario)
{
    if (scenario == scenario_)
        return;
    scenario_ = std::move(scenario);
    if (job_)
        make_view();
}

void Recording::show_step(int step)
{
    if (!view_ || step == view_->step)
        return;
    step_ = step;
    make_view();
}

void Recording::make_view()
{
    view_task_.start([this, job = job_, scenario = scenario_,
                      step = step_](const WorkControl& work) -> BackgroundTask::Answer {
        auto view = std::make_shared<RecordedView>();
        view->recorded = job;
        view->run = job->run;
        if (!job->steps.empty())
            view->step = step.value_or(job->steps.front());
        RecordedRuns runs;
        if (scenario)
            runs = add_sides(*view, *scenario, session_, work);
        view->timeline = timeline_of(*view, std::move(runs), work);
        return [this, view] { show(view); };
    });
}

// What was shown before may hold gigabytes: letting go of it takes long.
void Recording::show(std::shared_ptr<const RecordedView> view)
{
    std::shared_ptr<const RecordedView> before = std::exchange(view_, std::move(view));
    emit changed();
    free_task_.start(
        [before = std::move(before)](const WorkControl&) -> BackgroundTask::Answer { return {}; });
}

bool Recording::cancel()
{
    const bool read = read_task_.cancel();
    const bool made = view_task_.cancel();
    return write_task_.cancel() || made || read;
}

void Recording::save(const std::string& file)
{
    write_task_.start([this, view = view_, file](const WorkControl&) -> BackgroundTask::Answer {
        write_file(file, report_of(*view, file));
        return [this, file] { emit saved(text_of(file)); };
    });
}

} // namespace trainyard::gui
