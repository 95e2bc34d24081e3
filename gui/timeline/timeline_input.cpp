// Keys, mouse, wheel and fingers of TimelineCanvas.

#include "gui/timeline/slice_facts.h"
#include "gui/timeline/timeline_canvas.h"

#include <QApplication>
#include <QGestureEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QNativeGestureEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr double zoom_step = 1.35;
constexpr double pan_step = 0.15; // of the width in sight
constexpr std::size_t tooltip_facts = 12;

QString tooltip_of(const SliceFacts& facts)
{
    QString text = QStringLiteral("<b>%1</b><br>%2<table>")
                       .arg(QString::fromStdString(facts.title).toHtmlEscaped(),
                            QString::fromStdString(facts.place).toHtmlEscaped());
    for (std::size_t i = 0; i < std::min(facts.facts.size(), tooltip_facts); ++i)
        text += QStringLiteral("<tr><td>%1&nbsp;&nbsp;</td><td>%2</td></tr>")
                    .arg(QString::fromStdString(facts.facts[i].name).toHtmlEscaped(),
                         QString::fromStdString(facts.facts[i].value).toHtmlEscaped());
    return text + QStringLiteral("</table>");
}

} // namespace

SimTime TimelineCanvas::pointed_time() const
{
    const QPoint position = viewport()->mapFromGlobal(QCursor::pos());
    const QRect body = frame().body;
    return scale().time_at(body.contains(position) ? position.x() : body.center().x());
}

void TimelineCanvas::zoom(double factor, SimTime about)
{
    view_.show(scale().zoomed(factor, about));
}

// Stops at the ends.
void TimelineCanvas::pan(double pixels)
{
    view_.show(scale().panned(pixels));
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
            layout_.toggle(model_->row_at(scene_.pinned).track);
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
        std::size_t at = line ? *line : layout_.first_line(scene_.scroll);
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

void TimelineCanvas::mousePressEvent(QMouseEvent* event)
{
    if (model_ == nullptr)
        return;
    pressed_ = last_ = event->pos();
    if (measuring_) {
        measuring_ = false;
        return;
    }
    const SceneFrame at = frame();
    if (at.axis.contains(event->pos())) {
        drag_ = Drag::scrub;
        view_.set_cursor(scale().time_at(event->pos().x()));
    } else if (at.names.contains(event->pos())) {
        if (const auto line = layout_.line_at(event->pos().y() - at.names.top() + scene_.scroll)) {
            layout_.toggle(layout_.lines()[*line].track);
            layout_changed();
        }
    } else if (at.body.contains(event->pos())) {
        const bool pans =
            event->button() == Qt::MiddleButton || (event->modifiers() & Qt::ShiftModifier) != 0;
        drag_ = pans ? Drag::pan : Drag::pressed;
    }
}

void TimelineCanvas::mouseMoveEvent(QMouseEvent* event)
{
    if (model_ == nullptr)
        return;
    if (measuring_ && scene_.measured) {
        scene_.measured->to = scale().time_at(event->pos().x());
        viewport()->update();
    }
    if (drag_ == Drag::pressed &&
        std::abs(event->pos().x() - pressed_.x()) >= QApplication::startDragDistance())
        drag_ = Drag::select;
    if (drag_ == Drag::none)
        hover(event->pos());
    else
        drag_to(event->pos());
    last_ = event->pos();
}

void TimelineCanvas::drag_to(const QPoint& position)
{
    if (drag_ == Drag::scrub)
        view_.set_cursor(scale().time_at(position.x()));
    if (drag_ == Drag::pan) {
        pan(last_.x() - position.x());
        verticalScrollBar()->setValue(verticalScrollBar()->value() + last_.y() - position.y());
    }
    if (drag_ == Drag::select) {
        const SimTime a = scale().time_at(pressed_.x());
        const SimTime b = scale().time_at(position.x());
        Selection selection = view_.selection();
        selection.range = TimeRange{std::max(std::min(a, b), scene_.range.from),
                                    std::min(std::max(a, b), scene_.range.to)};
        writing_ = true;
        view_.select(selection);
        writing_ = false;
        scene_.selected = selection.range;
        viewport()->update();
    }
}

void TimelineCanvas::mouseReleaseEvent(QMouseEvent* event)
{
    if (model_ != nullptr && drag_ == Drag::pressed)
        pin(slice_at(event->pos()));
    drag_ = Drag::none;
}

void TimelineCanvas::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (model_ == nullptr || !frame().body.contains(event->pos())) {
        mousePressEvent(event);
        return;
    }
    if (const std::uint32_t slice = slice_at(event->pos()); slice != nothing) {
        pin(slice);
        fitPinned();
    }
}

void TimelineCanvas::hover(const QPoint& position)
{
    const std::uint32_t slice = slice_at(position);
    if (slice == scene_.hovered)
        return;
    scene_.hovered = slice;
    if (scene_.pinned == nothing)
        update_relations();
    viewport()->update();
}

void TimelineCanvas::leave()
{
    hover({-1, -1});
}

// Up and down scrolls, with control it zooms about the pointer, with shift or sideways it pans,
// with alt lines grow.
void TimelineCanvas::wheelEvent(QWheelEvent* event)
{
    if (model_ == nullptr)
        return;
    const QPoint delta = event->angleDelta();
    const double notches = (delta.y() != 0 ? delta.y() : delta.x()) / 120.0;
    event->accept();
    if ((event->modifiers() & Qt::ControlModifier) != 0) {
        zoom(std::pow(zoom_step, notches), scale().time_at(event->position().x()));
    } else if ((event->modifiers() & Qt::AltModifier) != 0) {
        layout_.set_line_height(layout_.line_height() + (notches > 0 ? 1 : -1));
        layout_changed();
    } else if ((event->modifiers() & Qt::ShiftModifier) != 0 ||
               std::abs(delta.x()) > std::abs(delta.y()))
    {
        pan(-notches * pan_step * frame().body.width());
    } else {
        verticalScrollBar()->setValue(verticalScrollBar()->value() -
                                      static_cast<int>(std::lround(notches * 3)) *
                                          layout_.line_height());
    }
}

bool TimelineCanvas::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::ToolTip)
        return show_tooltip(static_cast<QHelpEvent*>(event));
    if (event->type() == QEvent::Leave)
        leave();
    if (event->type() == QEvent::Gesture)
        return gesture(static_cast<QGestureEvent*>(event));
    if (event->type() == QEvent::NativeGesture)
        return native_gesture(static_cast<QNativeGestureEvent*>(event));
    return QAbstractScrollArea::viewportEvent(event);
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

bool TimelineCanvas::gesture(QGestureEvent* event)
{
    const auto* pinch = static_cast<QPinchGesture*>(event->gesture(Qt::PinchGesture));
    if (pinch == nullptr || model_ == nullptr)
        return false;
    if ((pinch->changeFlags() & QPinchGesture::ScaleFactorChanged) != 0 && pinch->scaleFactor() > 0)
        zoom(pinch->scaleFactor(),
             scale().time_at(viewport()->mapFromGlobal(pinch->hotSpot()).x()));
    event->accept();
    return true;
}

// A touchpad's.
bool TimelineCanvas::native_gesture(QNativeGestureEvent* event)
{
    if (event->gestureType() != Qt::ZoomNativeGesture || model_ == nullptr)
        return false;
    zoom(std::clamp(1 + event->value(), 0.2, 5.0), scale().time_at(event->position().x()));
    return true;
}

bool TimelineCanvas::show_tooltip(QHelpEvent* event)
{
    if (model_ == nullptr)
        return false;
    const SceneFrame at = frame();
    if (const std::uint32_t slice = slice_at(event->pos()); slice != nothing) {
        QToolTip::showText(event->globalPos(), tooltip_of(facts_of(*model_, slice)), viewport());
        return true;
    }
    if (at.names.contains(event->pos()))
        if (const auto line = layout_.line_at(event->pos().y() - at.names.top() + scene_.scroll)) {
            const Track& track = model_->data.tracks[layout_.lines()[*line].track];
            const std::string text =
                track.detail.empty() ? track.name : track.name + ": " + track.detail;
            QToolTip::showText(event->globalPos(), QString::fromStdString(text), viewport());
            return true;
        }
    QToolTip::hideText();
    return true;
}

} // namespace trainyard::gui
