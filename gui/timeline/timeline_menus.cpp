// Menus of TimelineCanvas: of an operation, and of a lane.

#include "gui/model/qt_text.h"
#include "gui/timeline/slice_facts.h"
#include "gui/timeline/timeline_canvas.h"

#include <QActionGroup>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QMenu>
#include <algorithm>

namespace trainyard::gui {

namespace {

// The member whose lane comes after this slice's; after the last one the first.
std::uint32_t next_peer(const std::vector<std::uint32_t>& peers, std::uint32_t slice)
{
    if (peers.empty())
        return nothing;
    const auto after =
        std::ranges::find_if(peers, [&](std::uint32_t peer) { return peer > slice; });
    return after == peers.end() ? *std::ranges::min_element(peers) : *after;
}

// What the step's length hangs on when the slice starts.
std::uint32_t path_slice_at(const TimelineModel& model, SimTime time)
{
    const auto piece = std::partition_point(model.path.begin(), model.path.end(),
                                            [&](const PathPiece& p) { return p.to <= time; });
    return piece == model.path.end() ? nothing : model.slice_of(0, piece->record);
}

} // namespace

std::uint32_t TimelineCanvas::track_at(int y) const
{
    const auto line = line_at(scene_, frame(), y);
    return line ? layout_.lines()[*line].track : nothing;
}

std::uint32_t TimelineCanvas::current_track() const
{
    if (model_ == nullptr)
        return nothing;
    if (scene_.pinned != nothing) {
        const Line* line = line_showing(scene_, model_->row_at(scene_.pinned).track);
        return line == nullptr ? nothing : line->track;
    }
    const QPoint at = viewport()->mapFromGlobal(QCursor::pos());
    const SceneFrame here = frame();
    return here.body.contains(at) || here.names.contains(at) ? track_at(at.y()) : nothing;
}

void TimelineCanvas::toggle_pinned(std::uint32_t track)
{
    layout_.set_pinned(track, !layout_.pinned(track));
    keep_marks();
    layout_changed();
}

void TimelineCanvas::hide(std::uint32_t track)
{
    layout_.hide(track);
    keep_marks();
    layout_changed();
}

void TimelineCanvas::copy_facts(std::uint32_t slice) const
{
    const SliceFacts facts = facts_of(*model_, slice);
    QString text = QStringLiteral("%1\t%2\n").arg(text_of(facts.title), text_of(facts.place));
    for (const Fact& fact : facts.facts)
        text += QStringLiteral("%1\t%2\n").arg(text_of(fact.name), text_of(fact.value));
    QGuiApplication::clipboard()->setText(text);
}

void TimelineCanvas::add_slice_actions(QMenu& menu, std::uint32_t slice)
{
    const Relations relations = relations_of(*model_, slice);
    const auto leads = [&](const QString& text, std::uint32_t to) {
        menu.addAction(text, this, [this, to] { go_to(to); })
            ->setEnabled(to != nothing && to != slice);
    };
    leads(tr("Go to what it waited for"),
          relations.caused_by != nothing ? relations.caused_by : relations.last_to_come);
    leads(tr("Go to the next of its peers (%L1)").arg(relations.peers.size()),
          next_peer(relations.peers, slice));
    leads(tr("Go to the critical path at its time"),
          path_slice_at(*model_, model_->data.slices.start[slice]));
    const QString name = text_of(model_->data.names[model_->data.slices.name[slice]]);
    menu.addAction(tr("Find all \"%1\"").arg(name), this,
                   [this, name] { emit searchForWanted(name); });
    menu.addAction(tr("Fit it"), this, [this, slice] {
        pin(slice);
        fitPinned();
    });
    menu.addAction(tr("Copy what is known of it"), this, [this, slice] { copy_facts(slice); });
}

void TimelineCanvas::add_order_actions(QMenu& menu)
{
    auto* const orders = new QActionGroup(&menu);
    for (const LaneOrder order : lane_orders) {
        QAction* const action = menu.addAction(tr("Ranks %1").arg(text_of(title_of(order))), this,
                                               [this, order] { setOrder(order); });
        action->setCheckable(true);
        action->setChecked(order == order_);
        orders->addAction(action);
    }
}

void TimelineCanvas::add_lane_actions(QMenu& menu, std::uint32_t track)
{
    const QString name = text_of(model_->data.tracks[track].name);
    const bool pinned = layout_.pinned(track);
    menu.addAction(pinned ? tr("Put %1 back").arg(name) : tr("Put %1 at the top").arg(name), this,
                   [this, track] { toggle_pinned(track); });
    menu.addAction(tr("Hide %1").arg(name), this, [this, track] { hide(track); });
    if (layout_.can_open(track))
        menu.addAction(layout_.open(track) ? tr("Fold %1").arg(name) : tr("Unfold %1").arg(name),
                       this, [this, track] {
                           layout_.toggle(track);
                           layout_changed();
                       });
    menu.addAction(tr("Show what is hidden (%L1)").arg(layout_.hidden_count()), this,
                   &TimelineCanvas::showHidden)
        ->setEnabled(layout_.hidden_count() > 0);
    menu.addSeparator();
    add_order_actions(menu);
}

void TimelineCanvas::contextMenuEvent(QContextMenuEvent* event)
{
    if (model_ == nullptr)
        return;
    const bool by_key = event->reason() == QContextMenuEvent::Keyboard;
    const SceneFrame at = frame();
    const std::uint32_t slice = by_key ? scene_.pinned : slice_at(event->pos());
    const bool on_lane = at.body.contains(event->pos()) || at.names.contains(event->pos());
    const std::uint32_t track = by_key    ? current_track()
                                : on_lane ? track_at(event->pos().y())
                                          : nothing;
    if (slice == nothing && track == nothing)
        return;
    auto* const menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    connect(this, &TimelineCanvas::pinnedChanged, menu, &QMenu::close); // it may be another run's
    if (slice != nothing) {
        add_slice_actions(*menu, slice);
        menu->addSeparator();
    }
    if (track != nothing)
        add_lane_actions(*menu, track);
    const QPoint place = by_key && slice != nothing
                             ? rect_of(scene_, at, slice, 3).center().toPoint()
                             : event->pos();
    menu->popup(viewport()->mapToGlobal(place));
}

} // namespace trainyard::gui
