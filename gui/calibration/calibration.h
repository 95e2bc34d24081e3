#pragma once

// Measurements at work: files are read and curves fitted in the background; which files and which
// sizes count can be undone.

#include "gui/calibration/ask_machine.h"
#include "gui/calibration/fit_log.h"
#include "gui/calibration/fitted.h"
#include "gui/model/background_task.h"

#include <QUndoStack>
#include <deque>

namespace trainyard::gui {

class Calibration : public QObject {
    Q_OBJECT

public:
    // Steps go onto `undo`, which lives at least as long.
    explicit Calibration(QUndoStack& undo, QObject* parent = nullptr);

    // Files beside those that are open, one after the other. What is wrong with one, or doubtful,
    // is `told`.
    void open(const std::string& file);
    void close_files();
    std::vector<std::string> files() const;
    // The samples of a run that still measures, as far as they go: read again at each call. No step
    // to undo; opening the same file at the run's end is one.
    void follow(const std::string& file);
    void end_following();

    // Of the scenario that is open; null: none.
    void set_run(std::shared_ptr<const Outcome> run);
    const std::shared_ptr<const Outcome>& run() const { return state_.run; }

    // Keeps those sizes of a curve out of its fit, or takes them back in: one step to undo.
    void set_excluded(const CurveStudy& curve, const std::vector<Bytes>& sizes, bool excluded);
    void include_all();
    const Exclusions& excluded() const { return state_.excluded; }

    // Never null.
    const std::shared_ptr<const Fitted>& fitted() const { return fitted_; }
    bool busy() const { return file_task_.busy() || fit_task_.busy(); }
    // Ends what runs and waits; what is shown stays. True where something did.
    bool cancel();

    // What a profile can be made of: of the files, else of the scenario's profile.
    bool can_save() const;
    // Why it would be a wrong one; empty: it would not.
    Problems refused_to_save() const;
    // What the measurements do not say of their machine.
    MachineQuestion unsaid() const;
    // As `trainyard fit -o` writes it, in the background: `saved`, or what is wrong is `told`.
    // `machine`: what the measurements do not say.
    void save(const std::string& file, const FitRequest& machine = {});

    // What was read, saved and refused, in this session and before in the one that was opened.
    const FitLog& log() const { return log_; }
    void set_log(FitLog log);

signals:
    void logged();
    void busyChanged();
    void progressed(const QString& stage, double done, double total);
    void changed(); // what is fitted
    // Of curves that were fitted again, what that did to them.
    void refitted(const QString& what);
    void told(const trainyard::Problems& problems); // errors, or warnings
    void opened();                                  // a file, which is among files() now
    void saved(const QString& file, const QString& notes);

private:
    class Step;

    void push(CalibrationState after, const QString& what);
    void take(const CalibrationState& state);
    void refit();
    void catch_up();
    void with_file(BackgroundTask::Work work);
    void next_file();
    void note(FitLogEntry::What what, std::vector<std::string> files, std::string result);
    void refuse(std::vector<std::string> files, const Problems& problems);
    void show(const std::shared_ptr<const Fitted>& fitted);

    QUndoStack& undo_;
    CalibrationState state_;
    std::shared_ptr<const Fitted> fitted_;
    std::deque<BackgroundTask::Work> waiting_; // for the file before
    FitLog log_;
    std::string followed_;     // file that grows; empty: none
    BackgroundTask grow_task_; // reads it
    BackgroundTask file_task_; // reads or writes
    BackgroundTask fit_task_;
};

} // namespace trainyard::gui
