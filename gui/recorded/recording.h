#pragma once

// Traces of a job that ran, read in the background, beside the simulated step of the scenario that
// is open.

#include "gui/model/background_task.h"
#include "gui/timeline/timeline_model.h"
#include "sim/study/traced/side_by_side.h"

#include <QObject>

namespace trainyard::gui {

// All ranks that were read.
struct RecordedJob {
    std::vector<std::string> files;
    JobTrace job;
    RunSummary run;
    std::vector<int> steps; // that all ranks have; empty where the traces say nothing of times
};

// What is shown of them. Immutable and shared.
struct RecordedView {
    std::shared_ptr<const RecordedJob> recorded;   // never null
    int step = 0;                                  // that the timeline shows
    RunSummary run;                                // with what the scenario's constants expect
    std::optional<SideBySide> sides;               // with the scenario; nothing: it stands alone
    Problems alone;                                // why it does, though there is a scenario
    std::shared_ptr<const TimelineModel> timeline; // null: no times are stated
};

class Recording : public QObject {
    Q_OBJECT

public:
    // Simulates in `session`, which lives longer.
    explicit Recording(Session& session, QObject* parent = nullptr);

    // In place of what was read before. What cannot be read is `told`, and changes nothing.
    void open(std::vector<std::string> files);
    // More ranks of the same job.
    void add(const std::vector<std::string>& files);
    void close();
    const std::vector<std::string>& files() const;

    // The scenario to simulate beside; null: none.
    void set_scenario(std::shared_ptr<const ScenarioFile> scenario);
    void show_step(int step);

    // Null: nothing is read.
    const std::shared_ptr<const RecordedView>& view() const { return view_; }
    bool busy() const { return read_task_.busy() || view_task_.busy() || write_task_.busy(); }
    // True where something ran.
    bool cancel();

    // What `trainyard import trace` writes: a page where the name ends in .html, else run.json.
    // In the background: `saved`, or `told`. Requires a view.
    void save(const std::string& file);

signals:
    void busyChanged();
    void progressed(const QString& stage, double done, double total);
    void changed();
    void told(const trainyard::Problems& problems);
    void opened(); // files() are now what is shown, or will be soon
    void saved(const QString& file);

private:
    void make_view();
    void show(std::shared_ptr<const RecordedView> view);

    Session& session_;
    std::shared_ptr<const RecordedJob> job_;
    std::shared_ptr<const ScenarioFile> scenario_;
    std::optional<int> step_; // that was asked for
    std::shared_ptr<const RecordedView> view_;
    BackgroundTask free_task_; // lets go of large traces
    BackgroundTask read_task_;
    BackgroundTask view_task_;
    BackgroundTask write_task_;
};

} // namespace trainyard::gui
