#include "gui/explore/range_slider.h"

#include "gui/widgets/theme.h"

#include <QKeyEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr int side = 7; // half of an end's width

} // namespace

RangeSlider::RangeSlider(int count, QWidget* parent)
    : QWidget(parent), count_(count), high_(count - 1)
{
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void RangeSlider::set_range(int low, int high)
{
    low_ = std::clamp(low, 0, count_ - 1);
    high_ = std::clamp(high, low_, count_ - 1);
    update();
}

double RangeSlider::place(int value) const
{
    return side + (width() - 2.0 * side) * value / std::max(1, count_ - 1);
}

int RangeSlider::value_at(double x) const
{
    const double part = (x - side) / std::max(1.0, width() - 2.0 * side);
    return std::clamp(static_cast<int>(std::lround(part * (count_ - 1))), 0, count_ - 1);
}

void RangeSlider::move_to(int value)
{
    const int low = upper_ ? low_ : std::min(value, high_);
    const int high = upper_ ? std::max(value, low_) : high_;
    if (low == low_ && high == high_)
        return;
    set_range(low, high);
    emit moved(low_, high_);
}

void RangeSlider::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double middle = height() / 2.0;
    const SignColours signs = sign_colours(palette());
    painter.setPen(QPen(signs.grid, 4, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(QPointF(place(0), middle), QPointF(place(count_ - 1), middle));
    const QColor accent = isEnabled() ? palette().color(QPalette::Highlight) : signs.quiet;
    painter.setPen(QPen(accent, 4, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(QPointF(place(low_), middle), QPointF(place(high_), middle));
    for (const bool upper : {false, true}) {
        const bool active = hasFocus() && upper == upper_;
        painter.setPen(QPen(active ? palette().color(QPalette::Text) : signs.quiet, 1.5));
        painter.setBrush(active ? accent : palette().color(QPalette::Button));
        painter.drawEllipse(QPointF(place(upper ? high_ : low_), middle), side - 2.0, side - 2.0);
    }
}

void RangeSlider::mousePressEvent(QMouseEvent* event)
{
    const double x = event->position().x();
    const double to_low = std::abs(x - place(low_));
    const double to_high = std::abs(x - place(high_));
    // Where both ends lie together, the side decides.
    upper_ = to_low == to_high ? x > place(high_) : to_high < to_low;
    move_to(value_at(x));
    update();
}

void RangeSlider::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons() & Qt::LeftButton)
        move_to(value_at(event->position().x()));
}

void RangeSlider::keyPressEvent(QKeyEvent* event)
{
    const int end = upper_ ? high_ : low_;
    switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Down:
        move_to(std::max(0, end - 1));
        return;
    case Qt::Key_Right:
    case Qt::Key_Up:
        move_to(std::min(count_ - 1, end + 1));
        return;
    case Qt::Key_Home:
        move_to(0);
        return;
    case Qt::Key_End:
        move_to(count_ - 1);
        return;
    case Qt::Key_Space:
        upper_ = !upper_;
        update();
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

QSize RangeSlider::sizeHint() const
{
    return {120, 2 * side + 4};
}

} // namespace trainyard::gui
