// Keys and mouse of the curve's plot.

#include "gui/calibration/curve_plot.h"

#include <QKeyEvent>
#include <QToolTip>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr double sample_reach = 9; // pixels around a point

double distance(const QPointF& a, const QPointF& b)
{
    return std::hypot(a.x() - b.x(), a.y() - b.y());
}

} // namespace

std::optional<std::size_t> CurvePlot::point_at(const QPointF& position) const
{
    std::optional<std::size_t> nearest;
    double least = sample_reach;
    for (std::size_t i = 0; i < series_.points.size(); ++i) {
        const CurvePoint& point = series_.points[i];
        double away = distance(position_of(i), position);
        if (point.residual)
            away = std::min(away,
                            distance({position_of(i).x(),
                                      below_->axis(QCPAxis::atLeft)->coordToPixel(*point.residual)},
                                     position));
        if (away <= least) {
            least = away;
            nearest = i;
        }
    }
    return nearest;
}

QString CurvePlot::facts_at(const QPointF& position) const
{
    if (const auto point = point_at(position))
        return series_.points[*point].facts;
    QCPAxis* const sizes = above_->axis(QCPAxis::atBottom);
    QCPAxis* const values = above_->axis(QCPAxis::atLeft);
    for (const CurvePoint& point : series_.replaced)
        if (distance({sizes->coordToPixel(static_cast<double>(point.size.value())),
                      values->coordToPixel(point.value)},
                     position) <= sample_reach)
            return point.facts;
    for (std::size_t i = 0; i < series_.switches.size(); ++i)
        if (above_->rect().contains(position.toPoint()) &&
            std::abs(sizes->coordToPixel(static_cast<double>(series_.switches[i].value())) -
                     position.x()) <= sample_reach / 2)
            return series_.switch_of[i];
    return {};
}

void CurvePlot::set_mark(std::optional<std::size_t> mark)
{
    if (mark && *mark >= series_.points.size())
        mark.reset();
    if (mark == mark_)
        return;
    mark_ = mark;
    replot(rpQueuedReplot);
    emit markChanged();
}

void CurvePlot::step_mark(int by)
{
    const auto count = static_cast<int>(series_.points.size());
    if (count == 0)
        return;
    const int from = mark_ ? static_cast<int>(*mark_) + by : (by > 0 ? 0 : count - 1);
    set_mark(static_cast<std::size_t>(std::clamp(from, 0, count - 1)));
}

void CurvePlot::zoom(double factor)
{
    QCPAxis* const sizes = above_->axis(QCPAxis::atBottom);
    const double middle = std::sqrt(sizes->range().lower * sizes->range().upper);
    sizes->scaleRange(factor,
                      mark_ ? static_cast<double>(series_.points[*mark_].size.value()) : middle);
    replot(rpQueuedReplot);
}

void CurvePlot::pan(double share)
{
    QCPAxis* const sizes = above_->axis(QCPAxis::atBottom);
    sizes->moveRange(std::pow(sizes->range().upper / sizes->range().lower, share));
    replot(rpQueuedReplot);
}

bool CurvePlot::event(QEvent* event)
{
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* const key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_Escape && mark_)
            event->accept(); // else it cancels what runs
    }
    return Chart::event(event);
}

void CurvePlot::keyPressEvent(QKeyEvent* event)
{
    const bool shifted = event->modifiers().testFlag(Qt::ShiftModifier);
    switch (event->key()) {
    case Qt::Key_Left:
        shifted ? pan(-0.1) : step_mark(-1);
        break;
    case Qt::Key_Right:
        shifted ? pan(0.1) : step_mark(1);
        break;
    case Qt::Key_Home:
        set_mark(0);
        break;
    case Qt::Key_End:
        set_mark(series_.points.empty() ? std::nullopt : std::optional(series_.points.size() - 1));
        break;
    case Qt::Key_X:
    case Qt::Key_Space:
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (mark_)
            emit toggleWanted({*mark_});
        break;
    case Qt::Key_Plus:
    case Qt::Key_W:
        zoom(0.7);
        break;
    case Qt::Key_Minus:
    case Qt::Key_S:
        zoom(1 / 0.7);
        break;
    case Qt::Key_F:
        show_all();
        break;
    case Qt::Key_Escape:
        set_mark(std::nullopt);
        break;
    default:
        Chart::keyPressEvent(event);
    }
}

void CurvePlot::mousePressEvent(QMouseEvent* event)
{
    pressed_ = event->pos();
    setSelectionRectMode(event->modifiers().testFlag(Qt::ShiftModifier) ? QCP::srmCustom
                                                                        : QCP::srmNone);
    Chart::mousePressEvent(event);
}

void CurvePlot::mouseMoveEvent(QMouseEvent* event)
{
    Chart::mouseMoveEvent(event);
    if (event->buttons() != Qt::NoButton)
        return;
    const QString facts = facts_at(event->position());
    if (facts.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(event->globalPosition().toPoint(), facts, this);
    setCursor(point_at(event->position()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void CurvePlot::mouseReleaseEvent(QMouseEvent* event)
{
    const bool clicked =
        event->button() == Qt::LeftButton && (event->pos() - pressed_).manhattanLength() < 4;
    Chart::mouseReleaseEvent(event);
    if (!clicked)
        return;
    const auto point = point_at(event->position());
    set_mark(point);
    if (point)
        emit toggleWanted({*point});
}

void CurvePlot::mouseDoubleClickEvent(QMouseEvent* event)
{
    Chart::mouseDoubleClickEvent(event);
    if (!point_at(event->position()))
        show_all();
}

} // namespace trainyard::gui
