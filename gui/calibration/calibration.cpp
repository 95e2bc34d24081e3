#include "gui/calibration/calibration.h"

#include "calibrate/fit/fit_profile.h"
#include "calibrate/fit/table_text.h"
#include "gui/model/qt_text.h"
#include "sim/base/files.h"
#include "sim/base/units.h"
#include "sim/cost/device_catalogue.h"

#include <fmt/core.h>

#include <QPointer>
#include <algorithm>

namespace trainyard::gui {

namespace {

// What the fit assumed and found, a line each.
QString said_by(const FittedProfile& fitted)
{
    std::string out;
    for (const std::string& one : fitted.assumed)
        out += "assumed: " + one + "\n";
    for (const std::string& one : fitted.found)
        out += "found: " + one + "\n";
    return text_of(out).trimmed();
}

// What a reader took for granted, left out or doubts.
Problems doubts(const std::string& file, const ImportNotes& notes)
{
    Problems out;
    const auto add = [&](const char* what, const std::vector<std::string>& lines) {
        for (const std::string& line : lines)
            out.push_back({file, 0, "", fmt::format("{}: {}", what, line), "", Severity::warning});
    };
    add("flagged", notes.flagged);
    add("assumed", notes.assumed);
    add("ignored", notes.ignored);
    return out;
}

std::string device_of(const Measurements& measured)
{
    for (const Sweep& sweep : measured.input.sweeps)
        for (const std::string& words : {sweep.device, sweep.hardware})
            if (const KnownDevice* const known = shipped_devices().named_in(words))
                return known->device.name;
    return shipped_devices().name_in(measured.input.topology_device);
}

} // namespace

// The whole state before and after: its parts are shared.
class Calibration::Step : public QUndoCommand {
public:
    Step(Calibration& calibration, CalibrationState after, const QString& what)
        : QUndoCommand(what),
          calibration_(&calibration),
          before_(calibration.state_),
          after_(std::move(after))
    {}

    void undo() override { show(before_); }
    void redo() override { show(after_); }

private:
    // The scenario's run is the one of now.
    void show(CalibrationState state)
    {
        if (!calibration_)
            return;
        state.run = calibration_->state_.run;
        state.growing = calibration_->state_.growing;
        calibration_->take(state);
    }

    QPointer<Calibration> calibration_;
    CalibrationState before_;
    CalibrationState after_;
};

Calibration::Calibration(QUndoStack& undo, QObject* parent)
    : QObject(parent), undo_(undo), fitted_(std::make_shared<const Fitted>())
{
    connect(&file_task_, &BackgroundTask::busyChanged, this, &Calibration::next_file);
    for (const BackgroundTask* const task : {&file_task_, &fit_task_}) {
        connect(task, &BackgroundTask::busyChanged, this, &Calibration::busyChanged);
        connect(task, &BackgroundTask::progressed, this, &Calibration::progressed);
        connect(task, &BackgroundTask::failed, this, [this](const QString& message) {
            refuse(files(), {{"", 0, "", message.toStdString(), "", Severity::error}});
        });
    }
}

// One after the other: each adds to what those before brought.
void Calibration::with_file(BackgroundTask::Work work)
{
    waiting_.push_back(std::move(work));
    next_file();
}

void Calibration::next_file()
{
    if (file_task_.busy() || waiting_.empty())
        return;
    BackgroundTask::Work work = std::move(waiting_.front());
    waiting_.pop_front();
    file_task_.start(std::move(work));
}

void Calibration::open(const std::string& file)
{
    with_file([this, file](const WorkControl& work) -> BackgroundTask::Answer {
        Checked<Measurements> read = read_measurements(file, work);
        if (!read)
            return [this, file, problems = read.error()] {
                if (file == followed_)
                    end_following();
                refuse({file}, problems);
            };
        return [this, file, more = std::make_shared<Measurements>(std::move(*read))] {
            const Problems notes = doubts(file, more->input.notes);
            auto all = state_.measured ? std::make_shared<Measurements>(*state_.measured)
                                       : std::make_shared<Measurements>();
            append(*all, std::move(*more));
            if (file == followed_) { // it has come to its end
                followed_.clear();
                state_.growing.reset();
            }
            push({all, state_.run, state_.excluded},
                 tr("measurements %1")
                     .arg(text_of(std::filesystem::path(file).filename().string())));
            note(FitLogEntry::What::opened, {file}, {});
            if (!notes.empty())
                emit told(notes);
            emit opened();
        };
    });
}

void Calibration::close_files()
{
    if (state_.measured)
        push({nullptr, state_.run, state_.excluded}, tr("close the measurements"));
}

// A look while the one before is still read is left to the next.
void Calibration::follow(const std::string& file)
{
    followed_ = file;
    if (grow_task_.busy())
        return;
    grow_task_.start([this, file](const WorkControl& work) -> BackgroundTask::Answer {
        Checked<Measurements> read = read_measurements(file, work);
        if (!read)
            return {}; // nothing yet that a curve is made of
        return [this, file, more = std::make_shared<const Measurements>(std::move(*read))] {
            if (followed_ != file)
                return;
            CalibrationState state = state_;
            state.growing = more;
            take(state);
        };
    });
}

void Calibration::end_following()
{
    followed_.clear();
    grow_task_.cancel();
    if (!state_.growing)
        return;
    CalibrationState state = state_;
    state.growing.reset();
    take(state);
}

std::vector<std::string> Calibration::files() const
{
    return state_.measured ? state_.measured->files : std::vector<std::string>{};
}

void Calibration::set_run(std::shared_ptr<const Outcome> run)
{
    if (run == state_.run) {
        catch_up();
        return;
    }
    CalibrationState state = state_;
    state.run = std::move(run);
    take(state);
}

void Calibration::set_excluded(const CurveStudy& curve, const std::vector<Bytes>& sizes,
                               bool excluded)
{
    CalibrationState after = state_;
    for (const Bytes size : sizes) {
        const ExcludedSize one{curve.configuration, curve.buffers, size};
        if (excluded)
            after.excluded.insert(one);
        else
            after.excluded.erase(one);
    }
    if (after.excluded == state_.excluded) {
        catch_up();
        return;
    }
    const QString what =
        sizes.size() == 1 ? text_of(to_text(sizes.front())) : tr("%1 sizes").arg(sizes.size());
    push(std::move(after), excluded ? tr("exclude %1 of %2").arg(what, name_of(curve))
                                    : tr("take back %1 of %2").arg(what, name_of(curve)));
}

void Calibration::include_all()
{
    if (!state_.excluded.empty())
        push({state_.measured, state_.run, {}}, tr("take back all excluded points"));
}

void Calibration::set_log(FitLog log)
{
    log_ = std::move(log);
    emit logged();
}

void Calibration::note(FitLogEntry::What what, std::vector<std::string> files, std::string result)
{
    log_.push_back(fit_log_entry(what, std::move(files), std::move(result)));
    emit logged();
}

void Calibration::refuse(std::vector<std::string> files, const Problems& problems)
{
    note(FitLogEntry::What::refused, std::move(files), problems.front().message);
    emit told(problems);
}

void Calibration::push(CalibrationState after, const QString& what)
{
    undo_.push(new Step(*this, std::move(after), what));
}

void Calibration::take(const CalibrationState& state)
{
    state_ = state;
    refit();
}

void Calibration::refit()
{
    fit_task_.start([this, state = state_,
                     before = fitted_](const WorkControl& work) -> BackgroundTask::Answer {
        return [this, fitted = fit(state, before.get(), work)] { show(fitted); };
    });
}

// Fits what a cancel left.
void Calibration::catch_up()
{
    if (!busy() && !(fitted_->state == state_))
        refit();
}

void Calibration::show(const std::shared_ptr<const Fitted>& fitted)
{
    const QString what = change_text(*fitted_, *fitted);
    fitted_ = fitted;
    emit changed();
    if (!what.isEmpty())
        emit refitted(what);
}

bool Calibration::cancel()
{
    waiting_.clear();
    const bool file = file_task_.cancel();
    return fit_task_.cancel() || file;
}

bool Calibration::can_save() const
{
    return !sweeps_to_save(state_).empty();
}

Problems Calibration::refused_to_save() const
{
    return gui::refused_to_save(sweeps_to_save(state_));
}

MachineQuestion Calibration::unsaid() const
{
    if (!state_.measured)
        return {};
    const FitInput& input = state_.measured->input;
    const bool across = std::any_of(input.sweeps.begin(), input.sweeps.end(),
                                    [](const Sweep& sweep) { return sweep.nodes > 1; });
    return {device_of(*state_.measured).empty(), across && input.nics_per_node == 0};
}

void Calibration::save(const std::string& file, const FitRequest& machine)
{
    if (const Problems refused = refused_to_save(); !refused.empty()) {
        refuse(files(), refused);
        return;
    }
    with_file(
        [this, state = state_, file, machine](const WorkControl& work) -> BackgroundTask::Answer {
            const FitRequest request =
                completed(machine, state.measured ? state.measured->input : FitInput{}, file);
            const Checked<FittedProfile> fitted = fit_profile(sweeps_to_save(state), request);
            const std::vector<std::string> of =
                state.measured ? state.measured->files : std::vector<std::string>{};
            if (!fitted)
                return [this, of, problems = fitted.error()] { refuse(of, problems); };
            work.check();
            write_file(file, table_text(fitted->profile));
            return [this, of, file, notes = said_by(*fitted)] {
                note(FitLogEntry::What::saved, of, file);
                emit saved(text_of(file), notes);
            };
        });
}

} // namespace trainyard::gui
