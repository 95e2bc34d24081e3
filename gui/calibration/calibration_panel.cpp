#include "gui/calibration/calibration_panel.h"

#include "gui/calibration/ask_machine.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/progress_strip.h"
#include "sim/cost/profile_library.h"

#include <QActionGroup>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QStyle>
#include <QToolBar>
#include <QTreeView>

namespace trainyard::gui {

CalibrationPanel::CalibrationPanel(Workspace& workspace, QWidget* parent)
    : Panel(parent),
      workspace_(workspace),
      calibration_(workspace.document().undo_stack()),
      model_(new CurveList(this)),
      tools_(new QToolBar),
      list_(new QTreeView),
      stack_(new QStackedWidget),
      curve_(new CurvePanel),
      matrix_(new MatrixPanel),
      log_(new TablePart(QStringLiteral("calibration-log"), tr("What was fitted"))),
      form_(new MeasureForm),
      said_(new QLabel),
      progress_(new ProgressStrip),
      shown_(calibration_.fitted())
{
    make_tools();
    make_body();
    connect(form_, &MeasureForm::grew, this,
            [this](const QString& samples) { calibration_.follow(samples.toStdString()); });
    connect(form_, &MeasureForm::failed, this, [this](const QString& complaint) {
        const QStringList lines = complaint.split('\n');
        emit told({{"", 0, "", "measuring: " + lines.front().trimmed().toStdString(),
                    lines.mid(1).join(' ').simplified().toStdString(), Severity::error}});
    });
    connect(form_, &MeasureForm::ended, this, &CalibrationPanel::take_measured);
    connect(&calibration_, &Calibration::changed, this, &CalibrationPanel::follow_fits);
    connect(&calibration_, &Calibration::busyChanged, this, &CalibrationPanel::follow_busy);
    connect(&calibration_, &Calibration::busyChanged, this, &Panel::busyChanged);
    connect(&calibration_, &Calibration::progressed, progress_, &ProgressStrip::set);
    connect(progress_, &ProgressStrip::cancelled, this, &CalibrationPanel::cancel);
    connect(&use_task_, &BackgroundTask::busyChanged, this, &Panel::busyChanged);
    connect(&use_task_, &BackgroundTask::failed, this, [this](const QString& message) {
        emit told({{"", 0, "", message.toStdString(), "", Severity::error}});
    });
    connect(&calibration_, &Calibration::refitted, this, &CalibrationPanel::say);
    connect(&calibration_, &Calibration::logged, this,
            [this] { log_->set_table(table_of(calibration_.log())); });
    connect(&calibration_, &Calibration::told, this, &CalibrationPanel::told);
    connect(&calibration_, &Calibration::opened, this, &CalibrationPanel::opened);
    connect(&calibration_, &Calibration::saved, this,
            [this](const QString& file, const QString& notes) {
                saved_ = file;
                said_->setToolTip(notes);
                say(tr("saved %1: name it as a scenario's profile, or use it in this one")
                        .arg(QFileInfo(file).fileName()));
                follow_tools();
            });
    connect(curve_, &CurvePanel::excludeWanted, this,
            [this](const std::vector<Bytes>& sizes, bool excluded) {
                if (curve_->curve())
                    calibration_.set_excluded(curve_->curve()->study, sizes, excluded);
            });
    connect(&curve_->plot(), &CurvePlot::markChanged, this, &CalibrationPanel::follow_tools);
    connect(&workspace, &Workspace::runChanged, this, &CalibrationPanel::follow_run);
    connect(this, &Panel::sightChanged, this, &CalibrationPanel::follow_run);
    follow_run();
    follow_tools();
}

QAction* CalibrationPanel::add_tool(const QString& text, const QString& tip)
{
    QAction* const action = tools_->addAction(text);
    action->setToolTip(tip);
    return action;
}

void CalibrationPanel::make_tools()
{
    tools_->setMinimumWidth(240); // where it is narrow, the last ones go into a menu
    time_ = add_tool(tr("Time"), tr("Time over size"));
    bandwidth_ = add_tool(tr("Bus bandwidth"), tr("Bus bandwidth over size, as nccl-tests counts"));
    auto* const quantity = new QActionGroup(this);
    for (QAction* const action : {time_, bandwidth_}) {
        action->setCheckable(true);
        quantity->addAction(action);
    }
    time_->setChecked(true);
    connect(quantity, &QActionGroup::triggered, this, [this](const QAction* action) {
        curve_->set_quantity(action == time_ ? CurveAxis::time : CurveAxis::bus_bandwidth);
    });
    tools_->addSeparator();
    toggle_ = add_tool(tr("Exclude"), tr("Keep the marked point out of the fit (X)"));
    connect(toggle_, &QAction::triggered, curve_, &CurvePanel::toggle_mark);
    all_back_ = add_tool(tr("Take all back"), tr("Every excluded point counts again"));
    connect(all_back_, &QAction::triggered, &calibration_, &Calibration::include_all);
    alike_ = add_tool(tr("All alike"), tr("This collective's other groups and algorithms beside "
                                          "it; Ctrl+click in the list chooses single ones"));
    connect(alike_, &QAction::triggered, this, &CalibrationPanel::choose_alike);
    tools_->addSeparator();
    save_ = add_tool(tr("Save profile ..."), tr("Write the profile that trainyard fit -o writes"));
    connect(save_, &QAction::triggered, this, &CalibrationPanel::ask_save);
    use_ = add_tool(tr("Use in scenario"), tr("The saved profile becomes the scenario's"));
    connect(use_, &QAction::triggered, this, &CalibrationPanel::use_in_scenario);
    tools_->addSeparator();
    log_shown_ = add_tool(tr("Log"), tr("What was read, saved and refused in this session"));
    log_shown_->setCheckable(true);
    connect(log_shown_, &QAction::toggled, this, &CalibrationPanel::follow_stack);
    measure_ = add_tool(tr("Measure ..."), tr("Measure this machine, or a cluster"));
    measure_->setCheckable(true);
    connect(measure_, &QAction::toggled, this, &CalibrationPanel::show_form);
    close_ = add_tool(tr("Close files"), tr("Close the measured files"));
    connect(close_, &QAction::triggered, &calibration_, &Calibration::close_files);
}

void CalibrationPanel::make_body()
{
    list_->setModel(model_);
    list_->setRootIsDecorated(false);
    list_->setIndentation(fontMetrics().horizontalAdvance('m'));
    list_->setUniformRowHeights(true);
    list_->setAlternatingRowColors(true);
    list_->setTextElideMode(Qt::ElideRight);
    list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    list_->setAccessibleName(tr("fitted curves and pair matrices"));
    list_->header()->setStretchLastSection(false);
    list_->header()->setSectionResizeMode(CurveList::name_column, QHeaderView::Stretch);
    for (const int column :
         {CurveList::ranks_column, CurveList::error_column, CurveList::count_column})
        list_->header()->setSectionResizeMode(column, QHeaderView::ResizeToContents);
    connect(list_->selectionModel(), &QItemSelectionModel::currentChanged, this,
            &CalibrationPanel::follow_choice);
    connect(list_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &CalibrationPanel::follow_choice);
    stack_->addWidget(curve_);
    stack_->addWidget(matrix_);
    stack_->addWidget(log_);
    form_area_ = new QScrollArea;
    form_area_->setWidget(form_);
    form_area_->setWidgetResizable(true);
    form_area_->setFrameShape(QFrame::NoFrame);
    form_area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    form_area_->setMinimumWidth(form_->minimumSizeHint().width() +
                                style()->pixelMetric(QStyle::PM_ScrollBarExtent));
    form_area_->hide();
    auto* const left = new QSplitter(Qt::Vertical);
    left->addWidget(list_);
    left->addWidget(form_area_);
    left->setStretchFactor(0, 1);
    left->setStretchFactor(1, 0);
    left->setChildrenCollapsible(false);
    auto* const body = new QSplitter(Qt::Horizontal);
    body->addWidget(left);
    body->addWidget(stack_);
    body->setStretchFactor(0, 0);
    body->setStretchFactor(1, 1);
    body->setSizes({300, 600});
    said_->setTextFormat(Qt::PlainText);
    said_->setWordWrap(true);
    said_->setAccessibleName(tr("what the last change did"));
    said_->setMargin(3);
    say(tr(
        "Click a point or press X to exclude it or take it back; Shift+drag takes several. Wheel "
        "zooms, drag pans, F fits, arrows step."));
    in_a_column(this, {tools_, {body, 1}, said_, progress_}, {.spacing = 2});
}

void CalibrationPanel::show_form(bool shown)
{
    form_area_->setVisible(shown);
    if (shown)
        form_->ask_program();
}

// What was measured stays: of a run that was stopped or failed, too.
void CalibrationPanel::take_measured(const QString& samples, const QString& profile)
{
    if (samples.isEmpty())
        calibration_.end_following();
    else
        calibration_.open(samples.toStdString());
    if (profile.isEmpty())
        return;
    saved_ = profile;
    say(tr("measured: %1 is a profile; use it in this scenario, or name it in another")
            .arg(QFileInfo(profile).fileName()));
    follow_tools();
}

// Only while it is looked at.
void CalibrationPanel::follow_run()
{
    if (in_sight() && workspace_.run())
        calibration_.set_run(workspace_.run()->outcome);
}

void CalibrationPanel::cancel()
{
    if (calibration_.cancel())
        say(tr("Cancelled: the curves are the last ones. The next change fits them again."));
}

void CalibrationPanel::follow_busy()
{
    if (calibration_.busy()) {
        progress_->begin(tr("reading and fitting"));
        return;
    }
    progress_->end();
    follow_tools();
}

void CalibrationPanel::follow_tools()
{
    const std::optional<std::size_t> mark = curve_->plot().mark();
    const bool on_curve = chosen_.matrix == nullptr;
    const bool back = mark && curve_->plot().series().points[*mark].excluded;
    toggle_->setText(back ? tr("Take back") : tr("Exclude"));
    toggle_->setEnabled(on_curve && mark);
    all_back_->setEnabled(!calibration_.excluded().empty());
    save_->setEnabled(calibration_.can_save());
    use_->setEnabled(!saved_.isEmpty() && workspace_.document().json().is_object() &&
                     !workspace_.document().json().members().empty());
    close_->setEnabled(!calibration_.files().empty());
    alike_->setEnabled(on_curve && chosen_.curve != nullptr);
    for (QAction* const action : {time_, bandwidth_})
        action->setEnabled(on_curve);
}

void CalibrationPanel::ask_save()
{
    if (const Problems refused = calibration_.refused_to_save(); !refused.empty()) {
        emit told(refused);
        return;
    }
    FitRequest machine;
    if (const MachineQuestion unsaid = calibration_.unsaid(); unsaid.any()) {
        const std::optional<FitRequest> said = ask_machine(this, unsaid);
        if (!said)
            return;
        machine = *said;
    }
    const QString file = QFileDialog::getSaveFileName(
        this, tr("Save the profile"), QStringLiteral("measured.json"), tr("Profiles (*.json)"));
    if (!file.isEmpty())
        calibration_.save(file.toStdString(), machine);
}

void CalibrationPanel::use_in_scenario()
{
    if (saved_.isEmpty())
        return;
    // Of the cluster that the scenario had when it ran last.
    const std::shared_ptr<const RunView> run = workspace_.run();
    use_task_.start([this, file = saved_.toStdString(), outcome = run ? run->outcome : nullptr](
                        const WorkControl&) -> BackgroundTask::Answer {
        const Checked<ProfileFile> profile = load_profile(file);
        Problems problems = profile ? Problems{} : profile.error();
        if (profile && outcome)
            problems = mismatches(profile->profile, *outcome->topology);
        if (has_errors(problems)) {
            for (Diagnostic& one : problems)
                one.file = file;
            return [this, problems] { emit told(problems); };
        }
        return [this, file] {
            if (const auto problem = workspace_.document().set("profile", file))
                emit told({*problem});
        };
    });
}

void CalibrationPanel::say(const QString& text)
{
    said_->setText(text);
}

std::vector<KeyHelp> CalibrationPanel::key_help() const
{
    return {
        {tr("arrow keys, Home, End"), tr("from point to point, from pair to pair")},
        {tr("X, Space, Return"), tr("keep the point out of the fit, or take it back")},
        {"W S, + -", tr("closer, further")},
        {"F", tr("fit all")},
        {tr("Esc"), tr("lets go of the point")},
    };
}

std::vector<Panel*> CalibrationPanel::parts()
{
    if (stack_->currentWidget() == matrix_)
        return {matrix_, curve_, log_};
    if (stack_->currentWidget() == log_)
        return {log_, curve_, matrix_};
    return {curve_, matrix_, log_};
}

void CalibrationPanel::paint_to(QPainter& painter, const QSize& size)
{
    parts().front()->paint_to(painter, size);
}

TableData CalibrationPanel::table() const
{
    return static_cast<const Panel*>(stack_->currentWidget())->table();
}

} // namespace trainyard::gui
