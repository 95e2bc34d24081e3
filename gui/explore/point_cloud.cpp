#include "gui/explore/point_cloud.h"

#include "gui/explore/pixels.h"

#include <algorithm>
#include <cmath>

namespace trainyard::gui {

struct PointCloud::Place {
    explicit Place(const QCPAxis& axis) : logarithmic(axis.scaleType() == QCPAxis::stLogarithmic)
    {
        const QCPRange range = axis.range();
        const double low = axis.coordToPixel(range.lower);
        const double high = axis.coordToPixel(range.upper);
        const double from = logarithmic ? std::log(range.lower) : range.lower;
        const double to = logarithmic ? std::log(range.upper) : range.upper;
        scale = (high - low) / (to - from);
        origin = low - from * scale;
    }
    double pixel(double value) const
    {
        return origin + (logarithmic ? std::log(value) : value) * scale;
    }

    bool logarithmic;
    double scale;
    double origin;
};

PointCloud::PointCloud(QCPAxis* key, QCPAxis* value, const CloudPoints& points)
    : QCPAbstractPlottable(key, value), points_(points)
{
    setSelectable(QCP::stNone);
    removeFromLegend();
}

void PointCloud::set_styles(std::vector<PointStyle> styles, double size)
{
    styles_ = std::move(styles);
    size_ = size;
    stamps_.clear();
    forget();
}

void PointCloud::make_stamps(double ratio)
{
    const int side = 2 * static_cast<int>(std::ceil(size_ * ratio / 2)) + 3;
    stamps_.clear();
    for (const PointStyle& style : styles_) {
        QImage image(side, side, QImage::Format_ARGB32_Premultiplied);
        image.fill(Qt::transparent);
        QCPPainter painter(&image);
        painter.setRenderHint(QPainter::Antialiasing);
        QColor fill = style.colour;
        fill.setAlphaF(style.filled ? 0.8F : 0.F);
        QCPScatterStyle shape(style.shape, QPen(style.colour, ratio), QBrush(fill), size_ * ratio);
        shape.applyTo(&painter, QPen(style.colour, ratio));
        shape.drawShape(&painter, side / 2.0, side / 2.0);
        painter.end();
        stamps_.push_back(std::move(image));
    }
}

namespace {

void put(const QImage& stamp, QImage& picture, int left, int top)
{
    const int first_row = std::max(0, -top);
    const int last_row = std::min(stamp.height(), picture.height() - top);
    const int first = std::max(0, -left);
    const int last = std::min(stamp.width(), picture.width() - left);
    for (int row = first_row; row < last_row; ++row) {
        const auto* const from = reinterpret_cast<const QRgb*>(stamp.constScanLine(row));
        auto* const to = reinterpret_cast<QRgb*>(picture.scanLine(top + row)) + left;
        for (int i = first; i < last; ++i)
            if (from[i] != 0)
                to[i] = blended(from[i], to[i]);
    }
}

} // namespace

void PointCloud::stamp(std::size_t from, double ratio)
{
    const Place x(*mKeyAxis);
    const Place y(*mValueAxis);
    const QRect rect = clipRect();
    for (std::size_t i = from; i < points_.size(); ++i) {
        const double left = (x.pixel(points_.x[i]) - rect.left()) * ratio;
        const double top = (y.pixel(points_.y[i]) - rect.top()) * ratio;
        if (!(left >= -20 && top >= -20 && left < picture_.width() + 20 &&
              top < picture_.height() + 20))
            continue; // NaN too
        const int column = static_cast<int>(left);
        const int row = static_cast<int>(top);
        const std::uint8_t style = points_.style[i];
        if (column >= 0 && row >= 0 && column < picture_.width() && row < picture_.height()) {
            std::uint8_t& taken =
                taken_[static_cast<std::size_t>(row) * static_cast<std::size_t>(picture_.width()) +
                       static_cast<std::size_t>(column)];
            if (taken == style + 1)
                continue; // the same again would look the same
            taken = static_cast<std::uint8_t>(style + 1);
        }
        const QImage& image = stamps_[style];
        put(image, picture_, column - image.width() / 2, row - image.height() / 2);
    }
}

void PointCloud::draw(QCPPainter* painter)
{
    const QRect rect = clipRect();
    // Exported pictures are enlarged: twice the pixels keep them sharp.
    const bool vector = painter->modes().testFlag(QCPPainter::pmVectorized);
    const double ratio = vector ? 2 : mParentPlot->bufferDevicePixelRatio();
    const QSize size = (QSizeF(rect.size()) * ratio).toSize();
    const bool log = mKeyAxis->scaleType() == QCPAxis::stLogarithmic ||
                     mValueAxis->scaleType() == QCPAxis::stLogarithmic;
    if (picture_.size() != size || rect != drawn_rect_ || mKeyAxis->range() != drawn_key_ ||
        mValueAxis->range() != drawn_value_ || drawn_ > points_.size() || drawn_ == 0 ||
        stamps_.empty() || log != drawn_log_)
    {
        make_stamps(ratio);
        if (picture_.size() != size)
            picture_ = QImage(size, QImage::Format_ARGB32_Premultiplied);
        picture_.fill(Qt::transparent);
        taken_.assign(
            static_cast<std::size_t>(size.width()) * static_cast<std::size_t>(size.height()), 0);
        drawn_ = 0;
        drawn_rect_ = rect;
        drawn_key_ = mKeyAxis->range();
        drawn_value_ = mValueAxis->range();
        drawn_log_ = log;
    }
    if (picture_.isNull())
        return;
    stamp(drawn_, ratio);
    drawn_ = points_.size();
    painter->drawImage(rect, picture_);
}

std::optional<std::uint32_t> PointCloud::nearest(const QPointF& pixel, double within) const
{
    const Place x(*mKeyAxis);
    const Place y(*mValueAxis);
    std::optional<std::uint32_t> best;
    double least = within * within;
    for (std::size_t i = 0; i < points_.size(); ++i) {
        const double dx = x.pixel(points_.x[i]) - pixel.x();
        const double dy = y.pixel(points_.y[i]) - pixel.y();
        if (dx * dx + dy * dy <= least) {
            least = dx * dx + dy * dy;
            best = static_cast<std::uint32_t>(i);
        }
    }
    return best;
}

std::vector<std::uint32_t> PointCloud::inside(const QRectF& pixels) const
{
    const Place x(*mKeyAxis);
    const Place y(*mValueAxis);
    std::vector<std::uint32_t> out;
    for (std::size_t i = 0; i < points_.size(); ++i)
        if (pixels.contains({x.pixel(points_.x[i]), y.pixel(points_.y[i])}))
            out.push_back(static_cast<std::uint32_t>(i));
    return out;
}

QPointF PointCloud::pixel_of(std::uint32_t point) const
{
    return {Place(*mKeyAxis).pixel(points_.x[point]), Place(*mValueAxis).pixel(points_.y[point])};
}

double PointCloud::selectTest(const QPointF& pos, bool, QVariant*) const
{
    constexpr double reach = 8;
    const std::optional<std::uint32_t> point = nearest(pos, reach);
    return point ? 0 : -1;
}

QCPRange PointCloud::range_of(const std::vector<double>& values, bool& found,
                              QCP::SignDomain signs) const
{
    QCPRange out(std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest());
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::isnan(points_.x[i]) || std::isnan(points_.y[i]))
            continue;
        const double value = values[i];
        if ((signs == QCP::sdPositive && value <= 0) || (signs == QCP::sdNegative && value >= 0))
            continue;
        out.lower = std::min(out.lower, value);
        out.upper = std::max(out.upper, value);
    }
    found = out.lower <= out.upper;
    return found ? out : QCPRange();
}

QCPRange PointCloud::getKeyRange(bool& found, QCP::SignDomain signs) const
{
    return range_of(points_.x, found, signs);
}

QCPRange PointCloud::getValueRange(bool& found, QCP::SignDomain signs, const QCPRange&) const
{
    return range_of(points_.y, found, signs);
}

void PointCloud::drawLegendIcon(QCPPainter*, const QRectF&) const
{
    // Styles stand in the legend, not the cloud.
}

} // namespace trainyard::gui
