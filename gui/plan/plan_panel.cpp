#include "gui/plan/plan_panel.h"

#include "gui/model/headline.h"
#include "gui/model/qt_text.h"
#include "gui/model/way_out.h"
#include "gui/plan/plan_form.h"
#include "gui/widgets/elided.h"
#include "gui/widgets/table_part.h"

#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>
#include <QTimer>
#include <QToolButton>

namespace trainyard::gui {

namespace {

// A picture without a display shows what is found by then, on a busy machine the first that is.
constexpr int pictured_after_ms = 4000;
constexpr int given_up_after_ms = 60'000;
constexpr int looked_at_every_ms = 100;

} // namespace

PlanPanel::~PlanPanel() = default;

std::vector<Panel*> PlanPanel::parts()
{
    std::vector<Panel*> out{first_};
    if (second_->shows_plot()) // of clusters alone
        out.push_back(second_);
    out.insert(out.end(), {left_out_, this});
    return out;
}

void PlanPanel::paint_to(QPainter& painter, const QSize& size)
{
    const TableData rows = table();
    if (rows.rows.empty())
        paint_message(painter, size, plan_ ? plan_->headline : tr("Nothing was planned yet."),
                      palette());
    else
        paint_table(painter, size, rows, palette());
}

bool PlanPanel::busy() const
{
    return job_.running() || check_task_.busy() || export_task_.busy() || choices_task_.busy() ||
           way_out_task_.busy();
}

void PlanPanel::cancel()
{
    job_.cancel();
    check_task_.cancel();
    export_task_.cancel();
    way_out_task_.cancel();
}

void PlanPanel::prepare_picture()
{
    if (plan_ || job_.running())
        return;
    start();
    auto* const look = new QTimer(&job_);
    connect(look, &QTimer::timeout, this, [this, look, waited = 0]() mutable {
        waited += looked_at_every_ms;
        const bool found = !job_.progress().best.isEmpty();
        if (waited >= given_up_after_ms || (found && waited >= pictured_after_ms))
            job_.cancel();
        if (!job_.running() || job_.cancelled())
            look->deleteLater();
    });
    look->start(looked_at_every_ms);
}

PlanQuestion PlanPanel::question() const
{
    return form_->question();
}

void PlanPanel::set_question(const PlanQuestion& question)
{
    form_->set_question(question);
    follow_question();
}

bool PlanPanel::stale() const
{
    if (!plan_)
        return false;
    const Json& now = const_cast<Workspace&>(workspace_).document().json();
    const bool other = !(now == asked_of_) && !(now == opened_as_);
    return !(form_->question() == asked_) || (asks_for_scenario(asked_) && other);
}

void PlanPanel::start()
{
    const RunView* const run = workspace_.run().get();
    const bool of_scenario = form_->question().model.empty();
    std::optional<double> now;
    if (of_scenario && workspace_.current() && run != nullptr && run->summary.fits)
        now = run->summary.work_per_s();
    asked_ = form_->question();
    asked_of_ = workspace_.document().json();
    opened_as_ = Json();
    note_.clear();
    found_.reset();
    show_answer();
    job_.start(asked_, workspace_.document().read(), now);
}

void PlanPanel::follow_price()
{
    const Price& price = workspace_.price();
    const auto typed = [](double count) {
        return count > 0 ? typed_count(count).toStdString() : std::string();
    };
    const std::string hourly = typed(price.per_device_hour);
    form_->set_defaults({typed(price.tokens), hourly.empty() ? hourly : hourly + "/h"});
    show_answer();
}

bool PlanPanel::checked() const
{
    return !check_timer_->isActive() && !check_task_.busy();
}

// What is typed is looked at a moment after the last key, in the background: it may name files.
void PlanPanel::follow_question()
{
    check_timer_->start();
    tell();
}

void PlanPanel::check()
{
    if (!in_sight())
        return;
    check_task_.start([this, question = form_->question(), scenario = workspace_.document().read()](
                          const WorkControl&) -> BackgroundTask::Answer {
        return [this, problems = problems_of(question, scenario)] { take_problems(problems); };
    });
}

void PlanPanel::take_problems(const Problems& problems)
{
    possible_ = !has_errors(problems);
    form_->show_problems(problems);
    tell();
}

void PlanPanel::refuse(const Problems& problems)
{
    take_problems(problems);
    note_ = problems.empty()
                ? tr("This cannot be planned.")
                : tr("This cannot be planned: %1.").arg(text_of(problems.front().message));
    show_answer();
    emit answered();
}

void PlanPanel::take(const std::shared_ptr<const ShownPlan>& plan)
{
    found_ = plan;
    show_answer();
    emit answered();
}

void PlanPanel::follow_job()
{
    tell();
    emit busyChanged();
}

void PlanPanel::tell()
{
    const bool running = job_.running();
    start_->setVisible(!running);
    start_->setEnabled(possible_);
    start_->setText(plan_ ? tr("Plan again") : tr("Plan"));
    cancel_->setVisible(running);
    cancel_->setEnabled(!job_.cancelled());
    progress_->setVisible(running);
    const bool old = stale();
    const bool none = plan_ && plan_->kind == PlanKind::layouts && plan_->entries.empty() && !old;
    smallest_->setVisible(none && plan_->smallest);
    if (plan_)
        smallest_->setText(smallest_offer(plan_->smallest_gpus));
    // What the scenario is keeps it from running; else only the memory to spare is lacking.
    nearest_->setVisible(none && has_errors(workspace_.problems()));
    nearest_->setEnabled(!way_out_task_.busy());
    for (PlanChart* const chart : {first_, second_})
        chart->set_stale(old);
    if (running) {
        tell_progress();
        return;
    }
    QString text = plan_ ? note_ : QString();
    if (way_out_task_.busy())
        text = tr("Looking for settings that fit ...");
    if (old)
        text = tr("Of an earlier question or scenario: plan again. ") + text;
    else if (plan_ && plan_->interrupted && text.isEmpty())
        text = tr("Ended early: what was found until then.");
    state_->set_text(text);
}

void PlanPanel::tell_progress()
{
    const PlanProgress& now = job_.progress();
    progress_->setRange(0, now.total > 0 ? 1000 : 0);
    if (now.total > 0)
        progress_->setValue(static_cast<int>(1000 * now.done / now.total));
    if (job_.cancelled()) {
        state_->set_text(tr("Putting together what was found ..."));
        return;
    }
    QStringList parts;
    if (!now.stage.isEmpty() && asked_.kind == PlanKind::clusters)
        parts << now.stage;
    if (now.sizes > 0)
        parts << tr("%L1 sizes looked at").arg(now.sizes);
    if (now.points > 0)
        parts << tr("%L1 layouts, %L2 simulated").arg(now.points).arg(now.simulated);
    else if (now.total > 0)
        parts << tr("%L1 of %L2 layouts looked at")
                     .arg(now.done, 0, 'f', 0)
                     .arg(now.total, 0, 'f', 0);
    if (now.possible > 0 && asked_.kind == PlanKind::layouts)
        parts << tr("%L1 with room for them").arg(now.possible);
    const QString best = in_currency(now.best, workspace_.price());
    if (!best.isEmpty())
        parts << tr("best so far %1").arg(best);
    state_->set_text(parts.join(QStringLiteral("; ")));
    headline_->setText(best.isEmpty() ? tr("Searching ...") : tr("Best so far: %1").arg(best));
}

std::optional<std::size_t> PlanPanel::current() const
{
    const QModelIndex at = view_->currentIndex();
    return at.isValid() ? std::optional(rows_->entry(at.row())) : std::nullopt;
}

} // namespace trainyard::gui
