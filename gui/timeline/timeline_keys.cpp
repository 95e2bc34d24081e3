// Keys of TimelineCanvas.

#include "gui/timeline/slice_facts.h"
#include "gui/timeline/timeline_canvas.h"

#include <QKeyEvent>
#include <algorithm>

namespace trainyard::gui {

SimTime TimelineCanvas::pointed_time() const
{
    const QPoint position = viewport()->mapFromGlobal(QCursor::pos());
    const QRect body = frame().body;
    return scale().time_at(body.contains(position) ? position.x() : body.center().x());
}

void TimelineCanvas::keyPressEvent(QKeyEvent* event)
{
    const bool plain = (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier)) == 0;
    if (model_ == nullptr || !plain || !(key_moves(event->key()) || key_commands(*event)))
        QAbstractScrollArea::keyPressEvent(event);
}

bool TimelineCanvas::key_moves(int key)
{
    switch (key) {
    case Qt::Key_W:
        zoom(zoom_step, pointed_time());
        return true;
    case Qt::Key_S:
        zoom(1 / zoom_step, pointed_time());
        return true;
    case Qt::Key_A:
        pan(-pan_step * frame().body.width());
        return true;
    case Qt::Key_D:
        pan(pan_step * frame().body.width());
        return true;
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
        step(key);
        return true;
    default:
        return false;
    }
}

bool TimelineCanvas::key_commands(const QKeyEvent& event)
{
    const bool shift = (event.modifiers() & Qt::ShiftModifier) != 0;
    if (event.text() == QLatin1String("/")) {
        emit searchWanted();
        return true;
    }
    if (event.text() == QLatin1String("[") || event.text() == QLatin1String("]")) {
        const Toward toward = event.text() == QLatin1String("[") ? Toward::previous : Toward::next;
        const std::uint32_t slice =
            scene_.pinned == nothing ? nothing : same_name(model_->data, scene_.pinned, toward);
        if (slice != nothing)
            go_to(slice);
        return true;
    }
    if (event.key() == Qt::Key_T || event.key() == Qt::Key_H || event.key() == Qt::Key_O) {
        arrange_lanes(event.key(), shift);
        return true;
    }
    switch (event.key()) {
    case Qt::Key_F:
        if (shift)
            fitHeight();
        else if (const TimeRange before = scene_.range; scene_.pinned != nothing) {
            fitPinned();
            if (scene_.range == before) // the second time
                fitAll();
        } else
            fitAll();
        return true;
    case Qt::Key_M:
        measure();
        return true;
    case Qt::Key_P:
        setPathShown(!scene_.path);
        return true;
    case Qt::Key_N:
        go_to_match(shift ? Toward::previous : Toward::next);
        return true;
    case Qt::Key_Plus:
    case Qt::Key_Minus:
        layout_.set_line_height(layout_.line_height() + (event.key() == Qt::Key_Plus ? 2 : -2));
        layout_changed();
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
        if (scene_.pinned != nothing) {
            const std::uint32_t track = model_->row_at(scene_.pinned).track;
            const std::uint32_t parent = model_->data.tracks[track].parent;
            layout_.toggle(layout_.can_open(track) || parent == nothing ? track : parent);
            layout_changed();
        }
        return true;
    case Qt::Key_Escape:
        escape();
        return true;
    default:
        return false;
    }
}

// T: to the top, or back. H: hide, with shift show what is hidden. O: the next order.
void TimelineCanvas::arrange_lanes(int key, bool shift)
{
    if (key == Qt::Key_O) {
        const auto at = std::ranges::find(lane_orders, order_);
        setOrder(at + 1 == lane_orders.end() ? lane_orders.front() : *(at + 1));
    } else if (key == Qt::Key_H && shift)
        showHidden();
    else if (const std::uint32_t track = current_track(); track != nothing) {
        if (key == Qt::Key_T)
            toggle_pinned(track);
        else
            hide(track);
    }
}

// Left and right: on the row; up and down: on the next line, at the same time. The first key picks
// something in sight.
void TimelineCanvas::step(int key)
{
    const TimelineData& shown = model_->data;
    const SimTime middle = scene_.range.from + scene_.range.length() / 2;
    const auto pick = [&](std::size_t line, SimTime time) {
        const std::uint32_t row = shown.tracks[layout_.lines()[line].track].row;
        if (row == nothing)
            return nothing;
        const std::uint32_t slice = shown.first_ending_after(shown.rows[row], time);
        return std::min(slice, shown.rows[row].end() - 1);
    };
    const auto line = scene_.pinned == nothing
                          ? std::nullopt
                          : layout_.line_of(model_->row_at(scene_.pinned).track);
    std::uint32_t slice = nothing;
    if (line && (key == Qt::Key_Left || key == Qt::Key_Right))
        slice =
            neighbour(shown, scene_.pinned, key == Qt::Key_Left ? Toward::previous : Toward::next);
    else {
        const SimTime time =
            line ? std::max(shown.slices.start[scene_.pinned], scene_.range.from) : middle;
        const bool down = key != Qt::Key_Up;
        const int held = layout_.held_height(frame().body.height());
        std::size_t at = line ? *line : layout_.first_line(scene_.scroll + held);
        if (!line)
            slice = pick(at, time);
        while (slice == nothing && (down ? at + 1 < layout_.lines().size() : at > 0))
            slice = pick(down ? ++at : --at, time);
    }
    if (slice == nothing)
        return;
    reveal_line(model_->row_at(slice).track);
    if (shown.slices.end[slice] <= scene_.range.from ||
        shown.slices.start[slice] >= scene_.range.to)
        go_to(slice);
    else
        pin(slice);
}

// One thing after the other.
void TimelineCanvas::escape()
{
    if (scene_.measured) {
        scene_.measured.reset();
        measuring_ = false;
        viewport()->update();
    } else if (view_.selection().range) {
        Selection selection = view_.selection();
        selection.range.reset();
        view_.select(selection);
    } else
        pin(nothing);
}

// What is selected, else the pinned slice, else from the pointer on until the key or the button is
// pressed again.
void TimelineCanvas::measure()
{
    if (measuring_) {
        measuring_ = false;
    } else if (scene_.selected) {
        scene_.measured = scene_.selected;
    } else if (scene_.pinned != nothing) {
        scene_.measured = TimeRange{model_->data.slices.start[scene_.pinned],
                                    model_->data.slices.end[scene_.pinned]};
    } else {
        measuring_ = true;
        scene_.measured = TimeRange{pointed_time(), pointed_time()};
    }
    viewport()->update();
}

// The window's shortcuts may use the same letters: here they are the timeline's. Escape is the
// window's while it can cancel something.
bool TimelineCanvas::event(QEvent* event)
{
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if ((key->modifiers() & (Qt::ControlModifier | Qt::AltModifier)) == 0 &&
            key->key() != Qt::Key_Escape && !key->text().isEmpty())
        {
            event->accept();
            return true;
        }
    }
    return QAbstractScrollArea::event(event);
}

} // namespace trainyard::gui
