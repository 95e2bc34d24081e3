#include "gui/model/qt_text.h"
#include "gui/timeline/scene.h"

#include <QFontMetrics>
#include <QPolygonF>
#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

// Of sim/report/kinds.h's series: apart from each other and from kinds of time.
QColor colour_of(CounterKind kind)
{
    constexpr std::array<std::size_t, counter_count> series{0, 5, 1, 2};
    const std::string_view colour = series_colours[series[static_cast<std::size_t>(kind)]];
    return {QString::fromLatin1(colour.data(), static_cast<qsizetype>(colour.size()))};
}

class CounterPainter {
public:
    CounterPainter(QPainter& painter, const Scene& scene, const SceneFrame& frame)
        : painter_(painter), scene_(scene), frame_(frame), scale_(frame.scale(scene.range))
    {}

    void paint()
    {
        painter_.save();
        painter_.setFont(scene_.font);
        painter_.fillRect(frame_.counters, scene_.colours.background);
        painter_.fillRect(
            QRect(0, frame_.counters.top(), frame_.names.width(), frame_.counters.height()),
            scene_.colours.band);
        if (scene_.counters != nullptr)
            for (std::size_t i = 0; i < scene_.counters->size(); ++i)
                paint_row((*scene_.counters)[i], row(static_cast<int>(i)));
        painter_.setPen(scene_.colours.grid);
        painter_.drawLine(frame_.names.right(), frame_.counters.top(), frame_.names.right(),
                          frame_.counters.bottom());
        painter_.restore();
    }

private:
    QRect row(int index) const
    {
        return {0, frame_.counters.top() + index * frame_.counter, frame_.counters.width(),
                frame_.counter};
    }

    void paint_row(const CounterSeries& series, const QRect& place)
    {
        const QRect body(frame_.body.left(), place.top() + 2, frame_.body.width(),
                         place.height() - 3);
        painter_.setPen(scene_.colours.grid);
        painter_.drawLine(place.topLeft(), place.topRight());
        painter_.save();
        painter_.setClipRect(body.adjusted(0, 0, 0, 1));
        fill(series, body);
        if (scene_.pointed)
            mark(series, body, *scene_.pointed);
        painter_.restore();
        name(series, place);
    }

    // One step per part; a part narrower than a pixel shares it with its neighbours, of which the
    // highest is seen.
    void fill(const CounterSeries& series, const QRect& body)
    {
        if (series.values.empty())
            return;
        const double bottom = body.bottom() + 1;
        const double part =
            as_double(series.range.length()) / static_cast<double>(series.values.size());
        const auto x_of = [&](std::size_t i) {
            return scale_.x_of(series.range.from +
                               SimTime(std::llround(part * static_cast<double>(i))));
        };
        QPolygonF area;
        area << QPointF(x_of(0), bottom);
        for (std::size_t i = 0; i < series.values.size(); ++i) {
            const double y =
                bottom - body.height() * std::clamp(series.values[i] / series.top, 0.0, 1.0);
            area << QPointF(x_of(i), y) << QPointF(x_of(i + 1), y);
        }
        area << QPointF(x_of(series.values.size()), bottom);
        painter_.setPen(Qt::NoPen);
        painter_.setBrush(colour_of(series.kind));
        painter_.drawPolygon(area);
    }

    void mark(const CounterSeries& series, const QRect& body, SimTime time)
    {
        const std::optional<double> value = series.at(time);
        if (!value)
            return;
        const double x = scale_.x_of(time);
        const double y =
            body.bottom() + 1 - body.height() * std::clamp(*value / series.top, 0.0, 1.0);
        painter_.setPen(QPen(scene_.colours.text, 1, Qt::DotLine));
        painter_.drawLine(QPointF(x, body.top()), QPointF(x, body.bottom()));
        painter_.setPen(Qt::NoPen);
        painter_.setBrush(scene_.colours.text);
        painter_.drawRect(QRectF(x - 2, y - 2, 4, 4));
    }

    // The name, and the value: at the moment pointed at, else over what is in sight.
    void name(const CounterSeries& series, const QRect& place)
    {
        const QFontMetrics metrics(scene_.font);
        const std::optional<double> value =
            scene_.pointed ? series.at(*scene_.pointed) : std::nullopt;
        const QString said = text_of(value ? value_text(series, *value) : sum_text(series));
        const QRect text(6, place.top() + 1, frame_.names.width() - 12, place.height() - 2);
        const bool two = text.height() >= 2 * metrics.height();
        painter_.setPen(scene_.colours.text);
        painter_.drawText(text, (two ? Qt::AlignTop : Qt::AlignVCenter) | Qt::AlignLeft,
                          metrics.elidedText(text_of(series.name), Qt::ElideRight, text.width()));
        painter_.setPen(value ? scene_.colours.text : scene_.colours.quiet_text);
        if (two)
            painter_.drawText(text, Qt::AlignBottom | Qt::AlignLeft,
                              metrics.elidedText(said, Qt::ElideRight, text.width()));
        if (two && series.values.empty())
            return;
        // In the row's corner what its height stands for, or what there is no line for.
        const QString written = two ? text_of(value_text(series, series.top)) : said;
        painter_.setPen(scene_.colours.quiet_text);
        const int width = metrics.horizontalAdvance(written) + 6;
        const QRect corner(frame_.body.left() + 2, place.top() + 2, width, metrics.height());
        QColor ground = scene_.colours.background;
        ground.setAlphaF(0.7F);
        painter_.fillRect(corner, ground);
        painter_.drawText(corner, Qt::AlignCenter, written);
    }

    QPainter& painter_;
    const Scene& scene_;
    const SceneFrame& frame_;
    TimeScale scale_;
};

} // namespace

void paint_counters(QPainter& painter, const Scene& scene, const SceneFrame& frame)
{
    if (frame.counters.height() > 0)
        CounterPainter(painter, scene, frame).paint();
}

} // namespace trainyard::gui
