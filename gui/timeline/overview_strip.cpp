#include "gui/timeline/overview_strip.h"

#include "gui/model/qt_text.h"
#include "gui/timeline/stacks.h"
#include "gui/timeline/time_text.h"
#include "sim/study/breakdown.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr double key_pan = 0.25; // of the width in sight
constexpr double key_zoom = 1.35;

} // namespace

OverviewStrip::OverviewStrip(ViewState& view, QWidget* parent) : QWidget(parent), view_(view)
{
    setFixedHeight(fontMetrics().height() * 2 + 4);
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("The whole step, with what is in sight"));
    setToolTip(tr("All of the step. Drag the window or its ends; a click goes there; a double "
                  "click shows all."));
    connect(&view_, &ViewState::rangeChanged, this, qOverload<>(&QWidget::update));
    connect(&view_, &ViewState::cursorChanged, this, qOverload<>(&QWidget::update));
}

void OverviewStrip::set_model(std::shared_ptr<const TimelineModel> model)
{
    model_ = std::move(model);
    held_.reset();
    picture_ = {};
    update();
}

void OverviewStrip::set_span(int left, int width)
{
    if (left == left_ && width == width_)
        return;
    left_ = left;
    width_ = std::max(1, width);
    picture_ = {};
    update();
}

TimeScale OverviewStrip::band() const
{
    return {view_.whole(), static_cast<double>(left_), static_cast<double>(width_)};
}

void OverviewStrip::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange)
        picture_ = {};
    QWidget::changeEvent(event);
}

void OverviewStrip::resizeEvent(QResizeEvent* event)
{
    picture_ = {};
    QWidget::resizeEvent(event);
}

// Stacks as in the lanes.
void OverviewStrip::paint_shares()
{
    const double ratio = devicePixelRatioF();
    const auto columns = static_cast<std::size_t>(std::max(1L, std::lround(width_ * ratio)));
    const int rows = std::max(1, static_cast<int>(std::lround((height() - 4) * ratio)));
    QImage image(static_cast<int>(columns), rows, QImage::Format_RGB32);
    image.fill(palette().color(QPalette::Base));
    std::vector<Bucket> cells(model_->overview.empty() ? 0 : columns);
    for (std::size_t x = 0; x < cells.size(); ++x)
        cells[x] = model_->overview[x * model_->overview.size() / columns];
    paint_stacks(cells, cell_colours(TimelineColours(palette())),
                 reinterpret_cast<QRgb*>(image.bits()),
                 image.bytesPerLine() / static_cast<std::ptrdiff_t>(sizeof(QRgb)), rows);
    picture_ = QPixmap::fromImage(image);
    picture_.setDevicePixelRatio(ratio);
}

void OverviewStrip::paint_window(QPainter& painter) const
{
    const OverviewWindow window = window_of(band(), view_.range());
    QColor veil = palette().color(QPalette::Base);
    veil.setAlphaF(0.66F);
    const QRectF all(left_, 2, width_, height() - 4);
    painter.fillRect(QRectF(all.left(), all.top(), window.left - all.left(), all.height()), veil);
    painter.fillRect(QRectF(window.right, all.top(), all.right() - window.right, all.height()),
                     veil);
    painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(
        QRectF(window.left + 1, all.top(), window.right - window.left - 2, all.height() - 1));
    // Ends that look as if they could be held.
    painter.setPen(Qt::NoPen);
    painter.setBrush(palette().color(QPalette::Highlight));
    for (const double x : {window.left, window.right - 4})
        painter.drawRect(QRectF(x, all.center().y() - 6, 4, 12));
}

void OverviewStrip::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::AlternateBase));
    if (model_ == nullptr)
        return;
    if (picture_.isNull())
        paint_shares();
    painter.drawPixmap(left_, 2, picture_);
    painter.setPen(palette().color(QPalette::PlaceholderText));
    const QRect names(6, 0, left_ - 10, height());
    const QString length = text_of(time_text(view_.range().length()));
    painter.drawText(names, Qt::AlignVCenter | Qt::AlignLeft,
                     fontMetrics().elidedText(view_.range() == view_.whole()
                                                  ? tr("whole step, all in sight")
                                                  : tr("whole step, %1 in sight").arg(length),
                                              Qt::ElideRight, names.width()));
    paint_window(painter);
    if (view_.cursor() > view_.whole().from) {
        painter.setPen(QPen(palette().color(QPalette::Text), 1, Qt::DotLine));
        const double x = std::round(band().x_of(view_.cursor())) + 0.5;
        painter.drawLine(QPointF(x, 2), QPointF(x, height() - 2));
    }
    if (hasFocus()) {
        painter.setPen(palette().color(QPalette::Highlight));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void OverviewStrip::show_grip(double x)
{
    const OverviewGrip grip = held_.value_or(grip_at(window_of(band(), view_.range()), x));
    if (grip == OverviewGrip::left || grip == OverviewGrip::right)
        setCursor(Qt::SizeHorCursor);
    else if (grip == OverviewGrip::middle)
        setCursor(held_ ? Qt::ClosedHandCursor : Qt::OpenHandCursor);
    else
        unsetCursor();
}

void OverviewStrip::mousePressEvent(QMouseEvent* event)
{
    if (model_ == nullptr || event->button() != Qt::LeftButton)
        return;
    pressed_ = event->position().x();
    before_ = view_.range();
    held_ = grip_at(window_of(band(), before_), pressed_);
    if (held_ == OverviewGrip::outside) {
        view_.show(centred(band(), before_, pressed_));
        before_ = view_.range();
        held_ = OverviewGrip::middle;
    }
    show_grip(pressed_);
}

void OverviewStrip::mouseMoveEvent(QMouseEvent* event)
{
    const double x = event->position().x();
    if (held_)
        view_.show(dragged(band(), before_, *held_, x - pressed_));
    if (model_ != nullptr)
        show_grip(x);
}

void OverviewStrip::mouseReleaseEvent(QMouseEvent* event)
{
    held_.reset();
    if (model_ != nullptr)
        show_grip(event->position().x());
}

void OverviewStrip::mouseDoubleClickEvent(QMouseEvent*)
{
    if (model_ != nullptr)
        view_.show_all();
}

void OverviewStrip::keyPressEvent(QKeyEvent* event)
{
    const TimeScale scale{view_.range(), 0, 1};
    const SimTime middle = view_.range().from + view_.range().length() / 2;
    switch (model_ == nullptr ? 0 : event->key()) {
    case Qt::Key_Left:
        view_.show(scale.panned(-key_pan));
        return;
    case Qt::Key_Right:
        view_.show(scale.panned(key_pan));
        return;
    case Qt::Key_Up:
        view_.show(scale.zoomed(key_zoom, middle));
        return;
    case Qt::Key_Down:
        view_.show(scale.zoomed(1 / key_zoom, middle));
        return;
    case Qt::Key_Home:
        view_.show(centred(band(), view_.range(), band().left));
        return;
    case Qt::Key_End:
        view_.show(centred(band(), view_.range(), band().left + band().width));
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

} // namespace trainyard::gui
