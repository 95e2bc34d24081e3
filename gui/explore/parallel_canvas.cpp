// Keys and mouse of the parallel coordinates, and what is painted in slices of time.

#include "gui/explore/parallel_panel.h"

#include <QMouseEvent>
#include <QPainter>
#include <QTimer>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr int axis_reach = 9;                 // points from an axis that still mean it
constexpr double line_reach = 6;              // likewise of a line
constexpr int least_drag = 4;                 // less is a click
constexpr std::chrono::milliseconds slice(8); // of each of the two pictures

} // namespace

ParallelCanvas::ParallelCanvas(ParallelPanel& panel) : panel_(panel), timer_(new QTimer(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setMinimumSize(200, 120);
    timer_->setSingleShot(true);
    connect(timer_, &QTimer::timeout, this, qOverload<>(&QWidget::update));
}

ParallelFrame ParallelCanvas::frame() const
{
    return ParallelFrame(size(), panel_.model_,
                         size_of_colours(panel_.colours_, panel_.store_, fontMetrics()),
                         fontMetrics());
}

void ParallelCanvas::forget()
{
    all_.forget();
    marked_.forget();
    if (focused_ && *focused_ >= panel_.model_.axes().size())
        focused_.reset();
    done_ = false;
    update();
}

void ParallelCanvas::forget_marked()
{
    marked_.forget();
    done_ = false;
    update();
}

void ParallelCanvas::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), palette().base());
    ParallelScene scene = panel_.scene();
    scene.hovered = hovered_;
    if (hasFocus())
        scene.focused = focused_;
    const ParallelFrame frame = this->frame();
    paint_axes(painter, scene, frame, palette());
    const double ratio = devicePixelRatioF();
    std::vector<int> columns;
    for (const int x : frame.x)
        columns.push_back(static_cast<int>((x - frame.lines.left()) * ratio));
    const QSize pixels = (QSizeF(frame.lines.size()) * ratio).toSize();
    const auto paint = [&](LineCloud& cloud, const LineCloud::Lines& lines, double opacity) {
        cloud.set_frame(pixels, columns);
        cloud.set_colours(line_colours(scene.colours, palette()));
        const bool whole = cloud.go_on(lines, slice);
        painter.setOpacity(opacity);
        painter.drawImage(frame.lines, cloud.picture());
        painter.setOpacity(1);
        return whole;
    };
    const bool any = !scene.marks.points().empty();
    bool whole = paint(all_, all_lines(scene), any ? 0.18 : 1);
    if (any)
        whole = paint(marked_, marked_lines(scene), 1) && whole;
    paint_picked(painter, scene, frame, palette());
    if (!whole)
        timer_->start(0);
    done_ = whole;
}

void ParallelCanvas::mousePressEvent(QMouseEvent* event)
{
    pressed_ = event->pos();
    pressed_axis_.reset();
    pressed_name_ = false;
    const ParallelFrame frame = this->frame();
    if (event->button() == Qt::RightButton) {
        if (const auto point = line_at(panel_.model_, frame, event->position(), line_reach))
            emit panel_.menuWanted(*point, event->globalPosition().toPoint());
        return;
    }
    if (event->button() != Qt::LeftButton)
        return;
    pressed_name_ = event->pos().y() < frame.lines.top() - 2;
    pressed_axis_ = frame.axis_at(event->pos().x(), pressed_name_ ? 60 : axis_reach);
    if (pressed_axis_)
        focused_ = pressed_axis_;
    update();
}

void ParallelCanvas::drag_brush(const QPoint& to)
{
    const ParallelFrame frame = this->frame();
    const ParallelAxis& axis = panel_.model_.axes()[*pressed_axis_];
    const double from = axis.value(std::clamp(frame.place_at(pressed_.y()), 0.0, 1.0));
    const double until = axis.value(std::clamp(frame.place_at(to.y()), 0.0, 1.0));
    Brush brush{std::min(from, until), std::max(from, until)};
    if (axis.metric.axis) { // whole values: those whose middle it reaches, else the nearest
        Brush values{std::ceil(brush.low), std::floor(brush.high)};
        if (values.low > values.high)
            values.low = values.high = std::round((brush.low + brush.high) / 2);
        brush = values;
    }
    panel_.brush(*pressed_axis_, brush);
}

void ParallelCanvas::mouseMoveEvent(QMouseEvent* event)
{
    if ((event->buttons() & Qt::LeftButton) != 0) {
        if (pressed_axis_ && !pressed_name_ &&
            std::abs(event->pos().y() - pressed_.y()) >= least_drag)
            drag_brush(event->pos());
        return;
    }
    const ParallelFrame frame = this->frame();
    const auto point = line_at(panel_.model_, frame, event->position(), line_reach);
    const bool on_axis = frame.axis_at(event->pos().x(), axis_reach).has_value();
    setCursor(on_axis ? Qt::SizeVerCursor : Qt::ArrowCursor);
    if (point == hovered_)
        return;
    hovered_ = point;
    if (point && panel_.describe_)
        QToolTip::showText(event->globalPosition().toPoint(), panel_.describe_(*point), this);
    else
        QToolTip::hideText();
    update();
}

// On an axis: the value there, or none of it. Else the line.
void ParallelCanvas::click(const QPoint& at)
{
    const ParallelFrame frame = this->frame();
    if (!pressed_axis_) {
        const auto point = line_at(panel_.model_, frame, at, line_reach);
        panel_.marks_.set_current(point);
        return;
    }
    const ParallelAxis& axis = panel_.model_.axes()[*pressed_axis_];
    std::optional<Brush> brush;
    if (axis.metric.axis) {
        const double value = std::round(axis.value(std::clamp(frame.place_at(at.y()), 0.0, 1.0)));
        const Brush one{value, value};
        const Brush* const before = panel_.model_.brush(*pressed_axis_);
        if (before == nullptr || !(*before == one))
            brush = one;
    }
    panel_.brush(*pressed_axis_, brush);
}

void ParallelCanvas::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    const QPoint way = event->pos() - pressed_;
    if (pressed_name_) {
        const auto to = frame().axis_at(event->pos().x(), width());
        if (pressed_axis_ && to && std::abs(way.x()) >= least_drag) {
            panel_.model_.move_axis(*pressed_axis_,
                                    static_cast<int>(*to) - static_cast<int>(*pressed_axis_));
            focused_ = to;
            panel_.changed_axes();
        }
    } else if (way.manhattanLength() < least_drag)
        click(event->pos());
    pressed_axis_.reset();
    pressed_name_ = false;
}

void ParallelCanvas::mouseDoubleClickEvent(QMouseEvent* event)
{
    const ParallelFrame frame = this->frame();
    const bool name = event->pos().y() < frame.lines.top() - 2;
    if (const auto axis = name ? frame.axis_at(event->pos().x(), 60) : std::nullopt) {
        panel_.model_.flip_axis(*axis);
        panel_.changed_axes();
    } else if (const auto point = line_at(panel_.model_, frame, event->position(), line_reach))
        emit panel_.opened(*point);
}

void ParallelCanvas::leaveEvent(QEvent*)
{
    hovered_.reset();
    update();
}

void ParallelCanvas::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        forget();
    QWidget::changeEvent(event);
}

void ParallelCanvas::move_focus(int by)
{
    const auto last = static_cast<int>(panel_.model_.axes().size()) - 1;
    if (last < 0)
        return;
    const int now = focused_ ? static_cast<int>(*focused_) + by : (by > 0 ? 0 : last);
    focused_ = static_cast<std::size_t>(std::clamp(now, 0, last));
    update();
}

bool ParallelCanvas::take_key(const QKeyEvent& event)
{
    ParallelModel& model = panel_.model_;
    const std::optional<std::uint32_t> current = panel_.marks_.current();
    const bool moves = (event.modifiers() & Qt::ControlModifier) != 0;
    const bool on_axis = focused_ && *focused_ < model.axes().size();
    switch (event.key()) {
    case Qt::Key_Left:
    case Qt::Key_Right: {
        const int by = event.key() == Qt::Key_Right ? 1 : -1;
        if (moves && on_axis) {
            model.move_axis(*focused_, by);
            panel_.changed_axes();
        }
        move_focus(by);
        return true;
    }
    case Qt::Key_Up:
    case Qt::Key_Down: {
        if (!on_axis)
            move_focus(1);
        if (!focused_)
            return true;
        const int by = event.key() == Qt::Key_Up ? 1 : -1;
        // Without a point, the one at the axis' other end.
        const auto next =
            current && *current < model.size()
                ? model.neighbour(*focused_, *current, by)
                : model.neighbour(*focused_, std::numeric_limits<std::uint32_t>::max(), by);
        if (next)
            panel_.marks_.set_current(next);
        return true;
    }
    case Qt::Key_Space:
        if (on_axis && current && panel_.store_.has(*current))
            panel_.brush(*focused_, model.brush_at(*focused_, *current));
        return true;
    case Qt::Key_Delete:
    case Qt::Key_Backspace:
        if (on_axis)
            panel_.brush(*focused_, std::nullopt);
        return true;
    case Qt::Key_I:
        if (on_axis) {
            model.flip_axis(*focused_);
            panel_.changed_axes();
        }
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (current)
            emit panel_.opened(*current);
        return true;
    case Qt::Key_P:
        if (current)
            emit panel_.pinWanted(*current);
        return true;
    case Qt::Key_F:
    case Qt::Key_Escape:
        panel_.clear();
        return true;
    default:
        return false;
    }
}

void ParallelCanvas::keyPressEvent(QKeyEvent* event)
{
    if (!take_key(*event))
        QWidget::keyPressEvent(event);
}

// Escape would otherwise be the window's, which cancels runs.
bool ParallelCanvas::event(QEvent* event)
{
    if (event->type() == QEvent::ShortcutOverride && panel_.marks_.any() &&
        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape)
    {
        event->accept();
        return true;
    }
    return QWidget::event(event);
}

} // namespace trainyard::gui
