#pragma once

// A plan in the background: what it has come to is told while it runs, and a cancelled one answers
// with what it found.

#include "gui/model/background_task.h"
#include "gui/plan/shown_plan.h"

class QTimer;

namespace trainyard::gui {

// How far a plan has come.
struct PlanProgress {
    QString stage;
    double done = 0;
    double total = 0;           // 0: not known
    std::uint64_t points = 0;   // of the space, or of the spaces of all sizes so far
    std::uint64_t possible = 0; // with room for them
    std::uint64_t simulated = 0;
    std::size_t sizes = 0; // of clusters, looked at
    QString best;          // so far; empty: none yet
};

// Throws Cancelled and WorldError. `tell` is called by any thread.
Checked<ShownPlan> run_plan(PlanTask task, std::optional<double> now, const WorkControl& work,
                            const std::function<void(const PlanProgress&)>& tell);

class PlanJob : public QObject {
    Q_OBJECT

public:
    explicit PlanJob(QObject* parent = nullptr);
    ~PlanJob() override; // cancels and waits

    // What ran before is cancelled and forgotten. `now`: as shown_clusters takes it.
    void start(const PlanQuestion& question, const Checked<ScenarioFile>& scenario,
               std::optional<double> now);
    // Ends the search; the answer comes as soon as what was found is put together.
    void cancel();

    bool running() const { return task_.busy(); }
    bool cancelled() const;
    const PlanProgress& progress() const { return progress_; }

signals:
    void progressed();
    void answered(const std::shared_ptr<const trainyard::gui::ShownPlan>& plan);
    void refused(const trainyard::Problems& problems); // nothing was run
    void failed(const QString& message);
    void busyChanged();

private:
    struct Shared;
    static Checked<ShownPlan> planned(const PlanQuestion& question,
                                      const Checked<ScenarioFile>& scenario,
                                      std::optional<double> now, Shared& shared);
    void take_progress();
    void stop();

    QTimer* timer_;
    std::shared_ptr<Shared> shared_;
    PlanProgress progress_;
    BackgroundTask task_; // a plan has threads of its own
};

} // namespace trainyard::gui
