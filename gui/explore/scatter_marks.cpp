// What is picked out of the scatter: the marked, the current, the pinned, and the open scenario.

#include "gui/explore/scatter_chart.h"
#include "gui/widgets/labels.h"

#include <cmath>

namespace trainyard::gui {

void ScatterChart::draw_marks()
{
    const auto copy = [this](const CloudPoints& from, CloudPoints& to) {
        to = {};
        for (const std::uint32_t point : marks_.points())
            if (point < from.size()) {
                to.x.push_back(from.x[point]);
                to.y.push_back(from.y[point]);
                to.style.push_back(0);
            }
    };
    copy(points_, marked_);
    copy(others_, marked_others_);
    mark_cloud_->forget();
    mark_strip_cloud_->forget();
    current_->data()->clear();
    const auto current = marks_.current();
    if (current && *current < points_.size() && !std::isnan(points_.x[*current]))
        current_->addData(points_.x[*current], points_.y[*current]);
    set_pinned(pinned_);
    replot(rpQueuedReplot);
}

void ScatterChart::set_here(std::optional<std::uint32_t> point)
{
    here_ = point;
    if (!zoomed_)
        fit_ranges();
    draw_here();
}

// On the axes of the points that can be.
std::optional<QPointF> ScatterChart::coordinates_of(std::uint32_t point) const
{
    if (!store_.has(point) || !store_.feasible(point))
        return {};
    if (point < points_.size())
        return QPointF(points_.x[point], points_.y[point]);
    return QPointF(value_of(store_, point, axes_.x), value_of(store_, point, axes_.y));
}

void ScatterChart::draw_here()
{
    here_mark_->data()->clear();
    here_strip_mark_->data()->clear();
    here_name_->setVisible(false);
    if (here_ && store_.has(*here_)) {
        std::optional<QPointF> at = coordinates_of(*here_);
        const bool can_be = at.has_value();
        if (!at) // beside the grid: does not fit, or cannot be
            at = QPointF(place_across(*here_).first,
                         *here_ < others_.size()                            ? others_.y[*here_]
                         : std::isnan(store_.figure(*here_, "step_time_s")) ? 0
                                                                            : 1);
        if (!std::isnan(at->x()) && !std::isnan(at->y())) {
            (can_be ? here_mark_ : here_strip_mark_)->addData(at->x(), at->y());
            QCPAxisRect* const rect = can_be ? axisRect(0) : strip_;
            here_name_->position->setAxes(rect->axis(QCPAxis::atBottom),
                                          rect->axis(QCPAxis::atLeft));
            here_name_->setClipAxisRect(rect);
            here_name_->position->setCoords(*at);
            here_name_->setVisible(can_be); // in the strip there is no room
        }
    }
    draw_front();
}

// Where it is whole and hides least.
void ScatterChart::place_name()
{
    if (!here_name_->visible())
        return;
    const QPointF at = here_name_->position->pixelPosition();
    const QRectF room = axisRect(0)->rect();
    const QSize size = fontMetrics().size(0, here_name_->text());
    std::optional<std::size_t> least;
    for (const Qt::Alignment side :
         {Qt::AlignHCenter | Qt::AlignTop, Qt::AlignHCenter | Qt::AlignBottom,
          Qt::AlignLeft | Qt::AlignVCenter, Qt::AlignRight | Qt::AlignVCenter,
          Qt::AlignLeft | Qt::AlignTop, Qt::AlignLeft | Qt::AlignBottom,
          Qt::AlignRight | Qt::AlignTop, Qt::AlignRight | Qt::AlignBottom})
    {
        QRectF text({}, size);
        text.moveCenter(at);
        if (side & Qt::AlignTop)
            text.moveTop(at.y() + name_gap);
        else if (side & Qt::AlignBottom)
            text.moveBottom(at.y() - name_gap);
        if (side & Qt::AlignLeft)
            text.moveLeft(at.x() + name_gap);
        else if (side & Qt::AlignRight)
            text.moveRight(at.x() - name_gap);
        // What is cut counts as all the points there are.
        const std::size_t hidden =
            room.contains(text) ? cloud_->inside(text).size() : points_.size() + 1;
        if (!least || hidden < *least) {
            least = hidden;
            here_name_->setPositionAlignment(side);
        }
    }
}

void ScatterChart::set_pinned(const std::vector<std::uint32_t>& points)
{
    pinned_ = points;
    for (QCPItemText* const pin : pins_)
        removeItem(pin);
    pins_.clear();
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (points[i] >= points_.size() || std::isnan(points_.x[points[i]]))
            continue;
        auto* const pin = new QCPItemText(this);
        pin->position->setCoords(points_.x[points[i]], points_.y[points[i]]);
        pin->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
        pin->setPadding(QMargins(5, 0, 0, 3));
        pin->setText(QStringLiteral("%1").arg(i + 1));
        pin->setFont(bold(font()));
        pin->setColor(palette().color(QPalette::Text));
        pins_.push_back(pin);
    }
    replot(rpQueuedReplot);
}

} // namespace trainyard::gui
