#pragma once

// What colours points, in all pictures alike: each value of a field its own colour and shape, or
// the place of a number on one scale, whose lightness runs one way, so that it reads without
// telling hues apart.

#include "gui/explore/metrics.h"
#include "gui/explore/point_cloud.h"

#include <QPalette>

class QPainter;

namespace trainyard::gui {

class PointColours {
public:
    // Fields with more values have a scale, unless their values are words.
    static constexpr std::size_t most_values = 8;
    static constexpr std::uint8_t steps = 24; // of a scale
    static constexpr std::uint8_t unknown_style = steps;

    PointColours() = default;
    // By nothing; all points look the same.
    PointColours(const PointStore& store, std::optional<Metric> metric);

    const std::optional<Metric>& metric() const { return metric_; }
    bool scaled() const { return metric_ && values_ == 0; }
    // Of a field whose values have colours of their own.
    std::size_t values() const { return values_; }

    // The store has grown. True where the scale reaches further now: all points have other styles.
    bool follow(const PointStore& store);
    std::uint8_t style_of(const PointStore& store, std::uint32_t point) const;

    // By style.
    std::vector<PointStyle> styles(const QPalette& palette) const;
    // "tp 2": of the i-th value and those that share its style.
    QString name_of(const PointStore& store, std::size_t value) const;

    // Ends of the scale, in the metric's unit; logarithmic where it spans much.
    double low() const { return low_; }
    double high() const { return high_; }
    bool logarithmic() const;
    // 0 at `low`, 1 at `high`.
    double place_of(double value) const;

private:
    std::optional<Metric> metric_;
    std::size_t values_ = 0; // 0: a scale
    double low_ = 0;
    double high_ = 0;
    bool any_ = false;           // ends are known
    std::uint32_t followed_ = 0; // points that the ends are of
};

// The colour at 0 to 1 of the scale.
QColor scale_colour(const QPalette& palette, double at);

// The scale as a bar with its ends, name and unit, or the values with their colours, in lines from
// the top of `rect` on. What does not fit below is left out.
void paint_colours(QPainter& painter, const QRect& rect, const PointColours& colours,
                   const PointStore& store, const QPalette& palette);
// What that needs, at most.
QSize size_of_colours(const PointColours& colours, const PointStore& store,
                      const QFontMetrics& letters);

} // namespace trainyard::gui
