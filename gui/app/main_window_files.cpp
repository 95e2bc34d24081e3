// The window's files: what is opened, saved, exported, and found again after a crash.

#include "gui/app/main_window.h"
#include "gui/app/start_page.h"
#include "gui/calibration/calibration_panel.h"
#include "gui/explore/explore_panel.h"
#include "gui/new/origin_view.h"
#include "gui/plan/plan_panel.h"
#include "gui/recorded/recorded_panel.h"
#include "gui/scenario/scenario_panel.h"
#include "gui/timeline/timeline_panel.h"
#include "gui/widgets/export.h"
#include "sim/base/build_info.h"
#include "sim/base/files.h"
#include "sim/base/input_limits.h"

#include <QApplication>
#include <QDir>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>

namespace trainyard::gui {

namespace fs = std::filesystem;

namespace {

constexpr int most_recent = 12;

bool is_same_file(const fs::path& a, const fs::path& b)
{
    std::error_code ignored;
    return fs::equivalent(a, b, ignored);
}

// Whether the file lies among the scenarios that come with the program.
bool is_shipped(const fs::path& file)
{
    std::error_code failed;
    const fs::path inside = fs::relative(file, data_dir() / "scenarios", failed);
    return !failed && !inside.empty() && *inside.begin() != "..";
}

// Where it is; of one that came with the program a name in the folder of the user's own files.
// Without a file it is named after its model.
QString proposed_name(const Document& document)
{
    const fs::path file(document.file());
    if (!file.empty() && !is_shipped(file))
        return QString::fromStdString(file.string());
    std::string name = file.filename().string();
    if (const Json* const model = document.find("model"); name.empty())
        name =
            (model != nullptr && model->is_string() ? fs::path(model->as_string()).stem().string()
                                                    : std::string("scenario")) +
            ".json";
    return QDir::home().filePath(QString::fromStdString(name));
}

QString proposed_session(const Document& document)
{
    fs::path name(proposed_name(document).toStdString());
    return QString::fromStdString(name.replace_extension(".trainyard.json").string());
}

QString path_text(const fs::path& path)
{
    return QString::fromStdString(path.string());
}

// As it is where nothing is known of the folder that it is relative to (it was removed).
fs::path absolute(const fs::path& path)
{
    std::error_code unknown;
    const fs::path found = fs::absolute(path, unknown);
    return unknown ? path : found;
}

QMessageBox::StandardButton ask_recovery(QWidget* parent, const std::string& file)
{
    const QString name =
        file.empty() ? MainWindow::tr("a scenario without a file") : QString::fromStdString(file);
    return QMessageBox::question(
        parent, MainWindow::tr("Recover"),
        MainWindow::tr("Trainyard ended unexpectedly while %1 was open. Open it as it was?")
            .arg(name),
        QMessageBox::Yes | QMessageBox::Discard | QMessageBox::Cancel);
}

// Whether the scenario's file says what it says.
bool is_in_its_file(const ScenarioFile& scenario)
{
    std::error_code ignored;
    if (!fs::is_regular_file(scenario.file, ignored))
        return false;
    const Checked<Json> json = read_json_file(scenario.file, input_limits);
    return json && *json == scenario.json;
}

// Another program, or another window, wrote it meanwhile.
bool ask_replace(QWidget* parent, const std::string& file)
{
    return QMessageBox::warning(
               parent, MainWindow::tr("Changed meanwhile"),
               MainWindow::tr(
                   "%1 is not as it was when it was opened here. Saving replaces what it "
                   "has now; \"Save scenario as\" keeps both.")
                   .arg(path_text(file)),
               QMessageBox::Save | QMessageBox::Cancel, QMessageBox::Cancel) == QMessageBox::Save;
}

bool ask_forget(QWidget* parent)
{
    return QMessageBox::question(
               parent, MainWindow::tr("Not applied"),
               MainWindow::tr("What was typed as JSON is not applied yet. Forget it?"),
               QMessageBox::Discard | QMessageBox::Cancel) == QMessageBox::Discard;
}

} // namespace

void MainWindow::open_later(const std::string& file)
{
    ++unopened_;
    opener_.open(file);
}

bool MainWindow::open(const std::vector<std::string>& files)
{
    unopened_ = 0;
    for (const std::string& file : files)
        open_later(file);
    while (opener_.busy())
        QApplication::processEvents(QEventLoop::ExcludeUserInputEvents |
                                    QEventLoop::WaitForMoreEvents);
    return unopened_ == 0;
}

// Once all files that were asked for together are known.
void MainWindow::open_traces()
{
    if (opener_.busy() || traces_.empty())
        return;
    if (traces_.size() == 1)
        add_recent(path_text(absolute(traces_.front())));
    recorded_->recording().open(std::exchange(traces_, {}));
}

void MainWindow::take_opened(const std::string& file, Checked<Opened> content)
{
    attempt([&] {
        if (!content) {
            tell(content.error());
            return;
        }
        if (auto* const part = std::get_if<OpenedPart>(&*content)) {
            take_part(*part);
            return;
        }
        if (auto* const job = std::get_if<OpenedJob>(&*content)) {
            take_job(std::move(*job));
            return;
        }
        if (auto* const traces = std::get_if<OpenedTraces>(&*content)) {
            traces_.insert(traces_.end(), traces->files.begin(), traces->files.end());
            --unopened_;
            return;
        }
        if (auto* const measured = std::get_if<OpenedMeasurements>(&*content)) {
            calibration_->calibration().open(measured->file);
            --unopened_;
            return;
        }
        if (auto* const sweep = std::get_if<OpenedSweep>(&*content)) {
            take_sweep(std::move(*sweep));
            return;
        }
        if (!may_leave())
            return;
        --unopened_;
        if (auto* const scenario = std::get_if<OpenedScenario>(&*content)) {
            workspace_.document().load(std::move(scenario->json),
                                       absolute(scenario->file).string());
            origin_->show_nothing();
        } else
            take(std::move(std::get<SessionContent>(*content)), file);
        add_recent(path_text(absolute(file)));
    });
}

// Its own scenario comes with it, unless it is the one that is open.
void MainWindow::take_sweep(OpenedSweep sweep)
{
    Document& document = workspace_.document();
    const std::string file = fs::absolute(sweep.saved->file).string();
    if (!sweep.scenario && document.json().members().empty()) {
        tell({{file, 0, "", "does not say which scenario was swept",
               "open that scenario first, then this file", Severity::error}});
        return;
    }
    if (sweep.scenario && !*sweep.scenario) {
        tell(sweep.scenario->error());
        return;
    }
    const Checked<ScenarioFile> open = document.read();
    if (sweep.scenario &&
        !(open && is_scenario_of(**sweep.scenario, sweep.saved->title.grid, *open))) {
        if (!may_leave())
            return;
        const ScenarioFile& own = (*sweep.scenario)->own;
        document.load(own.json, fs::absolute(own.file).string());
        if (!is_in_its_file(own))
            document.mark_unsaved();
        origin_->show_nothing();
    }
    --unopened_;
    add_recent(path_text(file));
    explore_->show_saved(std::move(sweep.saved));
    show_panel(explore_->key());
}

void MainWindow::take(SessionContent content, const std::string& session)
{
    follow_moved_files(content, session);
    if (std::error_code ignored; !content.file.empty() && !fs::exists(content.file, ignored))
        tell(
            {{session, 0, "/file", content.file + " is not there any more",
              "the session has the scenario: File > Save scenario as writes it anew; what it names "
              "by relative paths is looked for in the old folder",
              Severity::warning}});
    workspace_.set_price(content.price);
    timeline_->restore(lane_state_from(content.lanes)); // what the run to come records
    workspace_.document().load(std::move(content.scenario), content.file);
    origin_->show_unknown();
    if (content.baseline.is_object())
        workspace_.pin_baseline_of(std::move(content.baseline), content.baseline_file.empty()
                                                                    ? content.file
                                                                    : content.baseline_file);
    else
        workspace_.clear_baseline();
    if (content.explore.is_object())
        explore_->restore(explore_state_from(content.explore));
    if (content.plan.is_object())
        plan_->set_question(plan_question_from(content.plan));
    Calibration& calibration = calibration_->calibration();
    if (content.measured != calibration.files()) {
        calibration.close_files();
        for (const std::string& measured : content.measured)
            calibration.open(measured);
    }
    calibration.set_log(fit_log_from(content.fit_log));
    if (!content.recorded.empty() && content.recorded != recorded_->recording().files())
        recorded_->recording().open(content.recorded);
    if (content.range)
        workspace_.view().show_when_known(*content.range);
    workspace_.view().select_when_known(content.selection);
    if (!content.layout.empty())
        restore_layout(QByteArray::fromBase64(QByteArray::fromStdString(content.layout)));
    if (!content.view.empty())
        show_panel(QString::fromStdString(content.view));
}

SessionContent MainWindow::content()
{
    SessionContent content;
    content.file = workspace_.document().file();
    content.scenario = workspace_.document().json();
    if (workspace_.baseline() != nullptr) {
        content.baseline = workspace_.baseline()->file->json;
        content.baseline_file = workspace_.baseline()->file->file;
    }
    content.range = workspace_.view().range();
    content.selection = workspace_.view().selection();
    content.price = workspace_.price();
    content.lanes = to_json(timeline_->lanes());
    content.explore = to_json(explore_->state());
    content.plan = to_json(plan_->question());
    for (const std::string& measured : calibration_->calibration().files())
        content.measured.push_back(absolute(measured).string());
    content.fit_log = to_json(calibration_->calibration().log());
    for (const std::string& trace : recorded_->recording().files())
        content.recorded.push_back(absolute(trace).string());
    content.layout = saveState().toBase64().toStdString();
    for (const Panel* const one : panels_)
        if (one->in_sight())
            content.view = one->key().toStdString();
    return content;
}

bool MainWindow::save_session(const std::string& file)
{
    return attempt([&] {
        write_file(file, to_text(to_json(content())) + "\n");
        add_recent(path_text(absolute(file)));
    });
}

void MainWindow::add_recent(const QString& file)
{
    recent_.removeAll(file);
    recent_.prepend(file);
    while (recent_.size() > most_recent)
        recent_.removeLast();
    start_->set_recent(recent_);
    remember();
}

bool MainWindow::offer_recovery(const std::string& of)
{
    for (const fs::path& file : autosave_.left_behind()) {
        Checked<SessionContent> content = tl::unexpected(Problems{});
        attempt([&] {
            if (Checked<Json> json = read_json_file(file.string()))
                content = session_from(*json, file.string());
        });
        if (!of.empty() && !(content && is_same_file(content->file, of)))
            continue; // asked when no other is wanted
        const auto answer = content ? ask_recovery(this, content->file) : QMessageBox::Discard;
        if (answer == QMessageBox::Cancel)
            return false; // asked again next time
        if (answer == QMessageBox::Yes) {
            take(std::move(*content), file.string());
            workspace_.document().mark_unsaved();
            if (attempt([&] { autosave_.write(this->content()); }))
                Autosave::forget(file);
            return true;
        }
        Autosave::forget(file);
    }
    return false;
}

void MainWindow::ask_open()
{
    const QStringList files = QFileDialog::getOpenFileNames(
        this, tr("Open"), QString(),
        tr("All that can be opened (*.json *.jsonl *.yaml *.yml *.toml *.sh *.log *.txt *.xml "
           "*.out *.gz *.et *.sqlite *.csv *.db);;"
           "Scenarios, sessions, models, topologies, jobs (*.json *.yaml *.yml *.toml *.sh *.txt "
           "*.log);;"
           "Measurements (*.log *.txt *.json *.jsonl *.xml *.out);;"
           "Sweeps and stores of plans (*.json *.csv *.db);;"
           "Traces, one a rank (*.json *.gz *.et *.sqlite *.txt *.log);;"
           "All files (*)"));
    for (const QString& file : files)
        open_later(file.toStdString());
}

// What came with the program stays as it came: a copy is saved.
bool MainWindow::save_scenario()
{
    if (!workspace_.document().named() || is_shipped(workspace_.document().file()))
        return save_scenario_as();
    bool written = false;
    return attempt([&] {
               Document& document = workspace_.document();
               if (document.would_lose() && !ask_replace(this, document.file()))
                   return;
               document.save(document.file());
               written = true;
           }) &&
           written;
}

bool MainWindow::save_scenario_as()
{
    const QString file = QFileDialog::getSaveFileName(this, tr("Save the scenario"),
                                                      proposed_name(workspace_.document()),
                                                      tr("Scenarios (*.json)"));
    if (file.isEmpty())
        return false;
    return attempt([&] {
        workspace_.document().save(file.toStdString());
        add_recent(file);
    });
}

void MainWindow::ask_save_session()
{
    const QString file = QFileDialog::getSaveFileName(this, tr("Save the session"),
                                                      proposed_session(workspace_.document()),
                                                      tr("Sessions (*.trainyard.json)"));
    if (!file.isEmpty())
        save_session(file.toStdString());
}

void MainWindow::ask_export(Panel& part)
{
    QString chosen;
    QString file = QFileDialog::getSaveFileName(
        this, tr("Export %1").arg(part.title()), part.key() + QStringLiteral(".png"),
        tr("Picture (*.png);;Vector picture (*.svg);;Table (*.csv)"), &chosen);
    if (file.isEmpty())
        return;
    if (QFileInfo(file).suffix().isEmpty()) // as the list of kinds says: "Table (*.csv)"
        file += chosen.section('*', 1).section(')', 0, 0);
    export_to(part, file.toStdString());
}

bool MainWindow::export_to(Panel& part, const std::string& file)
{
    return attempt([&] { export_view(part, part.size(), file); });
}

bool MainWindow::may_leave()
{
    if (!places_.remember)
        return true;
    if (scenario_->typed() && !ask_forget(this))
        return false;
    if (!workspace_.document().modified())
        return true;
    const auto answer =
        QMessageBox::question(this, tr("Unsaved changes"),
                              tr("Save the changes to %1?").arg(workspace_.document().title()),
                              QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel);
    if (answer == QMessageBox::Cancel)
        return false;
    return answer == QMessageBox::Discard || save_scenario();
}

} // namespace trainyard::gui
