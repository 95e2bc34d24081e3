// What becomes of points that are picked in the explorer: opened, pinned, marked.

#include "gui/explore/explore_panel.h"
#include "gui/explore/here.h"
#include "sim/study/sweep_follow.h"

#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QTabWidget>
#include <QTableView>
#include <algorithm>

namespace trainyard::gui {

std::vector<KeyHelp> ExplorePanel::key_help() const
{
    return {
        {tr("arrow keys"), tr("from point to point")},
        {"[ ]", tr("along the Pareto front")},
        {tr("Return"), tr("open the point")},
        {"P", tr("pin the point to compare, or let it go")},
        {"F", tr("show all points")},
        {tr("Esc"), tr("lets go of marks")},
        {tr("parallel: left, right"), tr("from axis to axis; with Ctrl the axis moves")},
        {tr("parallel: up, down"), tr("from point to point along the axis")},
        {tr("parallel: Space"),
         tr("brush the point's value, or what is as good and better; Del lets go")},
        {tr("parallel: I"), tr("turn the axis over")},
        {tr("importance: up, down, Return"), tr("from bar to bar, and to its axis")},
    };
}

void ExplorePanel::open(std::uint32_t point)
{
    if (!swept_ || point >= store_.size())
        return;
    const std::size_t index = store_.index(point);
    if (const auto refused = workspace_.document().edit(swept_->edits(index))) {
        set_state(QString::fromStdString(refused->message));
        return;
    }
    opened_ = swept_->point_name(index);
    opened_as_ = workspace_.document().json();
    tell_plan();
}

void ExplorePanel::pin(std::uint32_t point)
{
    if (!swept_ || point >= store_.size() || !store_.feasible(point))
        return;
    const std::size_t index = store_.index(point);
    if (Checked<ScenarioFile> file = scenario_at(swept_->grid, index, *swept_->base))
        compare_->toggle({swept_->point_name(index), std::move(file->json), file->file, index});
}

void ExplorePanel::show_menu(std::uint32_t point, const QPoint& global)
{
    if (point >= store_.size())
        return; // the open scenario is open
    marks_.set_current(point);
    QMenu menu(this);
    menu.addAction(tr("Open\tReturn"), this, [this, point] { open(point); });
    const bool pinned = std::ranges::find(compare_->pins(), std::optional(store_.index(point)),
                                          &Pin::index) != compare_->pins().end();
    QAction* const pins =
        menu.addAction(pinned ? tr("Let go of the pin\tP") : tr("Pin to compare\tP"), this,
                       [this, point] { pin(point); });
    pins->setEnabled(store_.feasible(point));
    menu.exec(global);
}

// The open scenario among the points, or beside them.
void ExplorePanel::follow_here()
{
    if (!in_sight())
        return; // asked again then
    std::optional<std::uint32_t> here;
    std::optional<Guest> guest;
    if (swept_ && store_.size() > 0) {
        here = here_index_ ? store_.find(*here_index_) : std::nullopt;
        if (!here) {
            guest = guest_of(*swept_, workspace_.document(), cluster(),
                             workspace_.current() ? workspace_.run().get() : nullptr);
            // Until its run is there the figures of the one before stay.
            if (const auto& before = store_.guest_scenario(); before && !workspace_.current())
                guest->figures = before->figures;
            here = PointStore::guest;
        }
    }
    if (guest == store_.guest_scenario() && here == here_)
        return;
    if (!guest && marks_.current() == PointStore::guest)
        marks_.set_current(std::nullopt);
    rows_->set_here(std::nullopt);
    store_.set_guest(std::move(guest));
    here_ = here;
    rows_->set_here(here);
    scatter_->chart().set_here(here);
    parallel_->set_here(here);
}

void ExplorePanel::show_part(const QString& key)
{
    if (key == compare_->key()) {
        tabs_->setCurrentWidget(compare_);
        return;
    }
    for (int i = 0; i < pictures_->count(); ++i)
        if (static_cast<Panel*>(pictures_->widget(i))->key() == key) {
            tabs_->setCurrentIndex(0);
            pictures_->setCurrentIndex(i);
        }
}

// Chosen in one picture, it is that of all.
void ExplorePanel::follow_colour()
{
    parallel_->set_colour(scatter_->choice().colour);
}

void ExplorePanel::show_on_axis(const QString& key)
{
    ScatterChoice choice = scatter_->choice();
    choice.x = key;
    scatter_->set_choice(choice);
    show_part(scatter_->key());
    scatter_->chart().setFocus();
}

void ExplorePanel::follow_pins()
{
    tabs_->setTabText(1, compare_->pins().empty()
                             ? tr("Compare")
                             : tr("Compare (%1)").arg(compare_->pins().size()));
    std::vector<std::uint32_t> points;
    for (const Pin& pin : compare_->pins()) {
        const auto point = pin.index ? store_.find(*pin.index) : std::nullopt;
        points.push_back(point.value_or(std::numeric_limits<std::uint32_t>::max()));
    }
    scatter_->chart().set_pinned(points);
    parallel_->set_pinned(points);
}

void ExplorePanel::take_rows()
{
    if (following_)
        return;
    following_ = true;
    std::vector<std::uint32_t> points;
    const QItemSelection selected = view_->selectionModel()->selection();
    for (const QItemSelectionRange& range : selected)
        for (int row = range.top(); row <= range.bottom(); ++row)
            points.push_back(rows_->point(row));
    // One row is the current one, not a choice of many.
    marks_.mark(points.size() > 1 ? std::move(points) : std::vector<std::uint32_t>());
    const QModelIndex at = view_->currentIndex();
    marks_.set_current(at.isValid() ? std::optional(rows_->point(at.row())) : std::nullopt);
    following_ = false;
}

void ExplorePanel::follow_marks()
{
    rows_->repaint();
    count_->setText(
        marks_.points().empty()
            ? tr("%L1 rows").arg(rows_->shown_count())
            : tr("%L1 rows, %L2 marked").arg(rows_->shown_count()).arg(marks_.points().size()));
    if (following_)
        return;
    following_ = true;
    view_->clearSelection();
    following_ = false;
}

void ExplorePanel::follow_current()
{
    if (following_)
        return;
    following_ = true;
    const auto point = marks_.current();
    const auto row = point ? rows_->row_of(*point) : std::nullopt;
    if (row)
        view_->setCurrentIndex(rows_->index(*row, 0));
    else
        view_->selectionModel()->clear();
    following_ = false;
}

bool ExplorePanel::eventFilter(QObject* watched, QEvent* event)
{
    // Escape would otherwise be the window's, which cancels runs.
    const bool escape = event->type() == QEvent::ShortcutOverride &&
                        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape;
    if (watched == view_ && escape && marks_.any()) {
        event->accept();
        return true;
    }
    if (watched == view_ && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const auto point = marks_.current();
        if (point && (key == Qt::Key_P || key == Qt::Key_Return || key == Qt::Key_Enter)) {
            key == Qt::Key_P ? pin(*point) : open(*point);
            return true;
        }
        if (key == Qt::Key_Escape) {
            marks_.clear();
            return true;
        }
    }
    return Panel::eventFilter(watched, event);
}

} // namespace trainyard::gui
