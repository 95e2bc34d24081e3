#include "gui/plan/plan_job.h"

#include <QTimer>
#include <mutex>

namespace trainyard::gui {

namespace {

constexpr int told_every_ms = 33;

}

// Of the window and the threads that search.
struct PlanJob::Shared {
    CancelFlag stop; // in place of the task's own, whose answers are dropped
    std::mutex mutex;
    PlanProgress progress;

    void tell(const PlanProgress& now)
    {
        const std::lock_guard lock(mutex);
        progress = now;
    }
};

PlanJob::PlanJob(QObject* parent) : QObject(parent), timer_(new QTimer(this))
{
    timer_->setInterval(told_every_ms);
    connect(timer_, &QTimer::timeout, this, &PlanJob::take_progress);
    connect(&task_, &BackgroundTask::failed, this, &PlanJob::failed);
    connect(&task_, &BackgroundTask::busyChanged, this, [this] {
        if (task_.busy())
            timer_->start();
        else
            timer_->stop();
        emit busyChanged();
    });
}

PlanJob::~PlanJob()
{
    stop();
}

void PlanJob::stop()
{
    if (shared_)
        shared_->stop.cancel();
}

void PlanJob::cancel()
{
    if (!running())
        return;
    stop();
    emit progressed();
}

bool PlanJob::cancelled() const
{
    return shared_ && shared_->stop.cancelled();
}

Checked<ShownPlan> PlanJob::planned(const PlanQuestion& question,
                                    const Checked<ScenarioFile>& scenario,
                                    std::optional<double> now, Shared& shared)
{
    Checked<PlanTask> task = plan_task(question, scenario);
    if (!task)
        return tl::unexpected(std::move(task.error()));
    try {
        return run_plan(std::move(*task), now, {&shared.stop, {}},
                        [&](const PlanProgress& told) { shared.tell(told); });
    } catch (const Cancelled&) { // an answer, too: whoever asked waits for one
        ShownPlan nothing;
        nothing.kind = question.kind;
        nothing.headline = tr("Cancelled before anything was found.");
        nothing.interrupted = true;
        return nothing;
    }
}

void PlanJob::start(const PlanQuestion& question, const Checked<ScenarioFile>& scenario,
                    std::optional<double> now)
{
    stop();
    shared_ = std::make_shared<Shared>();
    progress_ = {};
    task_.start([this, question, scenario, now,
                 shared = shared_](const WorkControl&) -> BackgroundTask::Answer {
        step_back();
        Checked<ShownPlan> plan = planned(question, scenario, now, *shared);
        if (!plan)
            return [this, problems = std::move(plan.error())] { emit refused(problems); };
        return [this, shown = std::make_shared<const ShownPlan>(std::move(*plan))] {
            emit answered(shown);
        };
    });
    emit progressed();
}

void PlanJob::take_progress()
{
    if (!shared_)
        return;
    {
        const std::lock_guard lock(shared_->mutex);
        progress_ = shared_->progress;
    }
    emit progressed();
}

} // namespace trainyard::gui
