// What becomes of rows that are picked in the planner: opened, pinned, compared, written.

#include "gui/model/qt_text.h"
#include "gui/model/way_out.h"
#include "gui/plan/plan_panel.h"
#include "gui/widgets/elided.h"
#include "sim/api/plan_export.h"
#include "sim/api/scenarios.h"
#include "sim/base/field_values.h"
#include "sim/base/files.h"
#include "sim/study/problems.h"
#include "sim/study/session.h"

#include <QFileDialog>
#include <QKeyEvent>
#include <QMenu>
#include <QTableView>
#include <filesystem>

namespace trainyard::gui {

std::vector<KeyHelp> PlanPanel::key_help() const
{
    return {{tr("Return"), tr("in a text: plan; in the rows or a chart: open the row")},
            {QStringLiteral("B"), tr("pin the row as the baseline")},
            {QStringLiteral("P"), tr("pin the row to the comparison of the explorer")},
            {tr("arrow keys"), tr("from row to row, from dot to dot")}};
}

const PlanEntry* PlanPanel::usable(std::size_t entry) const
{
    const bool known = plan_ && entry < plan_->entries.size();
    return known && plan_->entries[entry].scenario ? &plan_->entries[entry] : nullptr;
}

Json PlanPanel::scenario_of(const PlanEntry& entry) const
{
    return scenario_beside(*entry.scenario, const_cast<Workspace&>(workspace_).document());
}

void PlanPanel::open(std::size_t entry)
{
    const PlanEntry* const one = usable(entry);
    if (one == nullptr)
        return;
    note_ = tr("Opened %1").arg(one->name);
    // Before others hear of it: the answer is as good for what it opened.
    opened_as_ = scenario_of(*one);
    workspace_.document().replace(opened_as_, tr("open %1").arg(one->name));
    tell();
}

void PlanPanel::open_smallest()
{
    if (!plan_ || !plan_->smallest)
        return;
    const QString what = smallest_->text();
    workspace_.document().replace(scenario_beside(*plan_->smallest, workspace_.document()), what);
}

void PlanPanel::find_way_out()
{
    const Checked<ScenarioFile> file = workspace_.document().read();
    if (!file || way_out_task_.busy())
        return;
    const std::shared_ptr<const RunView> run =
        workspace_.current() && workspace_.run() ? workspace_.run() : std::make_shared<RunView>();
    nearest_->setEnabled(false);
    way_out_task_.start([this, run,
                         file = *file](const WorkControl& work) -> BackgroundTask::Answer {
        step_back();
        Session session;
        return [this, found = nearest_that_fits(*run, file, session, work)] {
            note_ = found.layout || !found.set.empty() ? take_way_out(workspace_.document(), found)
                                                       : text_of(found.why_none);
            tell();
        };
    });
}

void PlanPanel::pin_baseline(std::size_t entry)
{
    const PlanEntry* const one = usable(entry);
    if (one == nullptr)
        return;
    workspace_.pin_baseline_of(scenario_of(*one), workspace_.document().file());
    note_ = tr("The baseline is %1").arg(one->name);
    tell();
}

void PlanPanel::compare(std::size_t entry)
{
    const PlanEntry* const one = usable(entry);
    if (one == nullptr)
        return;
    emit compareWanted({one->name, scenario_of(*one), workspace_.document().file(), std::nullopt});
    note_ = tr("Pinned %1 to the explorer's comparison, or let go of it").arg(one->name);
    tell();
}

namespace {

// The text of the file, or why there is none.
Checked<std::string> exported_text(const PlannedScenario& planned, std::optional<JobKind> kind,
                                   const std::string& file)
{
    if (!kind)
        return scenario_text(planned.scenario, planned.base, file);
    const ExportedPlan plan =
        exported_plan({planned}, {*kind}, std::filesystem::path(file).parent_path());
    if (plan.files.size() < 2) // the scenario alone
        return tl::unexpected(one_problem(plan.talk, "export the scenario, or another layout"));
    return plan.files.back().content;
}

} // namespace

void PlanPanel::export_to(std::size_t entry, std::optional<JobKind> kind, const std::string& file)
{
    const PlanEntry* const one = usable(entry);
    if (one == nullptr)
        return;
    export_task_.start(
        [this, planned = *one->scenario, kind, file](const WorkControl&) -> BackgroundTask::Answer {
            const Checked<std::string> text = exported_text(planned, kind, file);
            if (!text)
                return [this, problems = text.error()] { emit told(problems); };
            write_file(file, *text);
            return [this, file] {
                note_ = tr("Wrote %1").arg(text_of(file));
                tell();
            };
        });
}

void PlanPanel::ask_export(std::size_t entry, std::optional<JobKind> kind)
{
    const PlanEntry* const one = usable(entry);
    if (one == nullptr)
        return;
    QString name = text_of(one->scenario->name);
    name += kind ? QStringLiteral("-") + text_of(to_name(*kind)) : QStringLiteral(".json");
    const QString file = QFileDialog::getSaveFileName(
        this,
        kind ? tr("Export the settings of %1").arg(text_of(to_name(*kind)))
             : tr("Export the scenario"),
        name);
    if (!file.isEmpty())
        export_to(entry, kind, file.toStdString());
}

void PlanPanel::show_menu(std::size_t entry, const QPoint& global)
{
    const bool possible = usable(entry) != nullptr;
    auto* const menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const auto add = [&](const QString& text, auto what) {
        menu->addAction(text, this, what)->setEnabled(possible);
    };
    add(tr("Open\tReturn"), [this, entry] { open(entry); });
    add(tr("Pin as baseline\tB"), [this, entry] { pin_baseline(entry); });
    add(tr("Compare\tP"), [this, entry] { compare(entry); });
    menu->addSeparator();
    add(tr("Export the scenario ..."), [this, entry] { ask_export(entry, std::nullopt); });
    for (const std::string& name : FieldValue<JobKind>::names())
        add(tr("Export the settings of %1 ...").arg(text_of(name)),
            [this, entry, name] { ask_export(entry, from_name<JobKind>(name)); });
    menu->popup(global);
}

// One row in the table and its dots are picked together.
void PlanPanel::follow_entry(std::size_t entry)
{
    if (picking_)
        return;
    picking_ = true;
    if (const auto row = rows_->row_of(entry))
        view_->setCurrentIndex(rows_->index(*row, 0));
    for (PlanChart* const chart : {first_, second_})
        chart->set_current(entry);
    picking_ = false;
}

bool PlanPanel::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != view_ || event->type() != QEvent::KeyPress)
        return Panel::eventFilter(watched, event);
    const auto entry = current();
    if (!entry)
        return false;
    switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
        open(*entry);
        return true;
    case Qt::Key_B:
        pin_baseline(*entry);
        return true;
    case Qt::Key_P:
        compare(*entry);
        return true;
    default:
        return false;
    }
}

} // namespace trainyard::gui
