// Mouse, wheel and fingers of TimelineCanvas.

#include "gui/model/qt_text.h"
#include "gui/timeline/slice_facts.h"
#include "gui/timeline/timeline_canvas.h"

#include <QApplication>
#include <QGestureEvent>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QNativeGestureEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr std::size_t tooltip_facts = 12;

QString tooltip_of(const SliceFacts& facts)
{
    QString text =
        QStringLiteral("<b>%1</b><br>%2<table>").arg(escaped(facts.title), escaped(facts.place));
    for (std::size_t i = 0; i < std::min(facts.facts.size(), tooltip_facts); ++i)
        text += QStringLiteral("<tr><td>%1&nbsp;&nbsp;</td><td>%2</td></tr>")
                    .arg(escaped(facts.facts[i].name), escaped(facts.facts[i].value));
    return text + QStringLiteral("</table>");
}

} // namespace

void TimelineCanvas::zoom(double factor, SimTime about)
{
    view_.show(scale().zoomed(factor, about));
}

// Stops at the ends. By whole pixels: what stays in sight need not be made again.
void TimelineCanvas::pan(double pixels)
{
    view_.show(scale().panned(std::round(pixels)));
}

void TimelineCanvas::mousePressEvent(QMouseEvent* event)
{
    if (model_ == nullptr || event->button() == Qt::RightButton) // a menu's
        return;
    pressed_ = last_ = event->pos();
    if (measuring_) {
        measuring_ = false;
        return;
    }
    const SceneFrame at = frame();
    const bool counters = at.counters.contains(event->pos()) && event->pos().x() >= at.body.left();
    if (at.axis.contains(event->pos()) || counters) {
        drag_ = Drag::scrub;
        view_.set_cursor(scale().time_at(event->pos().x()));
    } else if (at.names.contains(event->pos())) {
        if (const auto line = line_at(scene_, at, event->pos().y())) {
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
    point_at(event->pos());
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

// The moment whose values the counters say.
void TimelineCanvas::point_at(const QPoint& position)
{
    const SceneFrame at = frame();
    const bool over_time = position.x() >= at.body.left() && position.x() <= at.body.right();
    const auto pointed = over_time ? std::optional(scale().time_at(position.x())) : scene_.cursor;
    if (pointed == scene_.pointed)
        return;
    scene_.pointed = pointed;
    if (at.counters.height() > 0)
        viewport()->update(at.counters);
}

// Also where a layout is restored below the pointer, before there is a run.
void TimelineCanvas::leave()
{
    if (scene_.model == nullptr)
        return;
    hover({-1, -1});
    point_at({-1, -1});
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
        if (const auto line = line_at(scene_, at, event->pos().y())) {
            const Track& track = model_->data.tracks[layout_.lines()[*line].track];
            const std::string text =
                track.detail.empty() ? track.name : track.name + ": " + track.detail;
            QToolTip::showText(event->globalPos(), text_of(text), viewport());
            return true;
        }
    QToolTip::hideText();
    return true;
}

} // namespace trainyard::gui
