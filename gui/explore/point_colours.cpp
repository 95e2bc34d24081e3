#include "gui/explore/point_colours.h"

#include "gui/explore/ranges.h"
#include "gui/explore/words.h"
#include "gui/model/choices.h"
#include "gui/topology/link_colours.h"
#include "gui/widgets/theme.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr std::array<QCPScatterStyle::ScatterShape, PointColours::most_values> shapes{
    QCPScatterStyle::ssDisc,
    QCPScatterStyle::ssSquare,
    QCPScatterStyle::ssTriangle,
    QCPScatterStyle::ssDiamond,
    QCPScatterStyle::ssTriangleInverted,
    QCPScatterStyle::ssPlus,
    QCPScatterStyle::ssCross,
    QCPScatterStyle::ssCircle};

constexpr int bar_width = 14;
constexpr int most_bar_height = 180;
constexpr int key_gap = 6;

bool are_numbers(const std::vector<std::string>& values)
{
    return std::ranges::all_of(values, [](const auto& one) { return number_in(one).has_value(); });
}

// What stands at an end of the scale: of a field its value.
QString end_text(const PointColours& colours, const PointStore& store, double value)
{
    const Metric& metric = *colours.metric();
    if (!metric.axis)
        return number_text(value);
    const auto& values = store.grid().axes[*metric.axis].values;
    const auto at = static_cast<std::size_t>(std::max(0.0, std::round(value)));
    return value_text(values[std::min(at, values.size() - 1)]);
}

} // namespace

PointColours::PointColours(const PointStore& store, std::optional<Metric> metric)
    : metric_(std::move(metric))
{
    if (!metric_ || !metric_->axis)
        return;
    const std::vector<std::string>& values = store.grid().axes[*metric_->axis].values;
    if (values.size() <= most_values || !are_numbers(values)) {
        values_ = values.size();
        return;
    }
    low_ = 0;
    high_ = static_cast<double>(values.size() - 1);
    any_ = true;
}

bool PointColours::follow(const PointStore& store)
{
    if (!scaled() || metric_->axis) {
        followed_ = store.size();
        return false;
    }
    const std::pair before(low_, high_);
    for (; followed_ < store.size(); ++followed_) {
        if (!store.feasible(followed_))
            continue;
        const double value = value_of(store, followed_, *metric_);
        if (std::isnan(value))
            continue;
        low_ = any_ ? std::min(low_, value) : value;
        high_ = any_ ? std::max(high_, value) : value;
        any_ = true;
    }
    return std::pair(low_, high_) != before;
}

bool PointColours::logarithmic() const
{
    constexpr double much = 30;
    return scaled() && !metric_->axis && low_ > 0 && high_ > much * low_;
}

double PointColours::place_of(double value) const
{
    if (!(high_ > low_))
        return 0.5;
    const double at = logarithmic() ? std::log(value / low_) / std::log(high_ / low_)
                                    : (value - low_) / (high_ - low_);
    return std::clamp(at, 0.0, 1.0);
}

std::uint8_t PointColours::style_of(const PointStore& store, std::uint32_t point) const
{
    if (!metric_)
        return 0;
    const double value = value_of(store, point, *metric_);
    if (std::isnan(value) || (scaled() && !any_))
        return scaled() ? unknown_style : 0;
    if (!scaled())
        return static_cast<std::uint8_t>(
            static_cast<std::size_t>(std::max(0.0, std::round(value))) % most_values);
    return static_cast<std::uint8_t>(
        std::min(place_of(value) * steps, static_cast<double>(steps - 1)));
}

std::vector<PointStyle> PointColours::styles(const QPalette& palette) const
{
    const bool dark = theme_of(palette) == Theme::dark;
    std::vector<PointStyle> out;
    if (!scaled())
        for (std::size_t i = 0; i < most_values; ++i) {
            const QColor colour = series_colour(i);
            out.push_back({dark ? colour.lighter(115) : colour.darker(115), shapes[i], true});
        }
    for (std::size_t step = 0; scaled() && step < steps; ++step)
        out.push_back({scale_colour(palette, static_cast<double>(step) / (steps - 1)),
                       QCPScatterStyle::ssDisc, true});
    if (scaled())
        out.push_back({sign_colours(palette).quiet, QCPScatterStyle::ssCircle, false});
    return out;
}

QString PointColours::name_of(const PointStore& store, std::size_t value) const
{
    QStringList names;
    const auto& values = store.grid().axes[*metric_->axis].values;
    for (std::size_t i = value; i < values.size(); i += most_values)
        names << value_text(values[i]);
    return QStringLiteral("%1 %2").arg(metric_->title, names.join(QStringLiteral(", ")));
}

QColor scale_colour(const QPalette& palette, double at)
{
    // The lightest fifth of what links have would not stand out as a dot.
    constexpr double first = 0.2;
    return LinkColours(palette).of_use(first + (1 - first) * at);
}

QSize size_of_colours(const PointColours& colours, const PointStore& store,
                      const QFontMetrics& letters)
{
    if (!colours.metric())
        return {};
    const int line = letters.height() + 2;
    if (colours.scaled()) {
        int wide = letters.horizontalAdvance(colours.metric()->label());
        for (const double end : {colours.low(), colours.high()})
            wide = std::max(wide, bar_width + key_gap +
                                      letters.horizontalAdvance(end_text(colours, store, end)));
        return {wide, 2 * line + most_bar_height};
    }
    int wide = 0;
    const std::size_t lines = std::min(colours.values(), PointColours::most_values);
    for (std::size_t i = 0; i < lines; ++i)
        wide = std::max(wide, letters.horizontalAdvance(colours.name_of(store, i)));
    return {wide + bar_width + key_gap, static_cast<int>(lines) * line};
}

namespace {

void paint_bar(QPainter& painter, const QRect& rect, const PointColours& colours,
               const PointStore& store, const QPalette& palette)
{
    const QFontMetrics letters(painter.font(), painter.device());
    const int line = letters.height() + 2;
    painter.drawText(QRect(rect.left(), rect.top(), rect.width(), line),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     letters.elidedText(colours.metric()->label(), Qt::ElideRight, rect.width()));
    const int height = std::min(most_bar_height, rect.height() - 2 * line);
    if (height < 2 * line)
        return;
    const QRect bar(rect.left(), rect.top() + line + line / 2, bar_width, height);
    for (int y = 0; y < bar.height(); ++y)
        painter.fillRect(QRect(bar.left(), bar.top() + y, bar.width(), 1),
                         scale_colour(palette, 1 - (y + 0.5) / bar.height()));
    painter.drawRect(bar.adjusted(0, 0, -1, -1));
    const double low = colours.low();
    const double high = colours.high();
    for (const double at : {0.0, 0.5, 1.0}) {
        const double value =
            colours.logarithmic() ? low * std::pow(high / low, at) : low + at * (high - low);
        const int y = bar.bottom() - static_cast<int>(at * bar.height());
        painter.drawText(QRect(bar.right() + key_gap, y - line / 2, rect.width(), line),
                         Qt::AlignLeft | Qt::AlignVCenter, end_text(colours, store, value));
    }
}

} // namespace

void paint_colours(QPainter& painter, const QRect& rect, const PointColours& colours,
                   const PointStore& store, const QPalette& palette)
{
    if (!colours.metric())
        return;
    painter.setPen(palette.color(QPalette::Text));
    if (colours.scaled()) {
        paint_bar(painter, rect, colours, store, palette);
        return;
    }
    const QFontMetrics letters(painter.font(), painter.device());
    const int line = letters.height() + 2;
    const std::vector<PointStyle> styles = colours.styles(palette);
    for (std::size_t i = 0; i < std::min(colours.values(), PointColours::most_values); ++i) {
        const int y = rect.top() + static_cast<int>(i) * line;
        if (y + line > rect.bottom() + 1)
            break;
        painter.fillRect(QRect(rect.left(), y + line / 2 - 2, bar_width, 4), styles[i].colour);
        painter.setPen(palette.color(QPalette::Text));
        painter.drawText(QRect(rect.left() + bar_width + key_gap, y, rect.width(), line),
                         Qt::AlignLeft | Qt::AlignVCenter,
                         letters.elidedText(colours.name_of(store, i), Qt::ElideRight,
                                            rect.width() - bar_width - key_gap));
    }
}

} // namespace trainyard::gui
