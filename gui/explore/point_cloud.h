#pragma once

// Many points on a chart: stamped into a picture, each place of a style once, so that 100,000 take
// milliseconds.

#include <qcustomplot.h>

#include <cstdint>
#include <span>
#include <vector>

namespace trainyard::gui {

// Colours and shapes of points: `Style::other` is what cannot be.
struct PointStyle {
    QColor colour;
    QCPScatterStyle::ScatterShape shape = QCPScatterStyle::ssDisc;
    bool filled = true;
};

// What is drawn; NaN: nowhere.
struct CloudPoints {
    std::vector<double> x;
    std::vector<double> y;
    std::vector<std::uint8_t> style;

    std::size_t size() const { return x.size(); }
};

class PointCloud : public QCPAbstractPlottable {
    Q_OBJECT

public:
    // `points` outlives it.
    PointCloud(QCPAxis* key, QCPAxis* value, const CloudPoints& points);

    void set_styles(std::vector<PointStyle> styles, double size);
    // The picture is made anew, not only what came since.
    void forget() { drawn_ = 0; }

    // The nearest point within that many pixels; nothing: none.
    std::optional<std::uint32_t> nearest(const QPointF& pixel, double within) const;
    std::vector<std::uint32_t> inside(const QRectF& pixels) const;
    QPointF pixel_of(std::uint32_t point) const;

    // Of QCustomPlot.
    double selectTest(const QPointF& pos, bool onlySelectable, QVariant* details) const override;
    QCPRange getKeyRange(bool& found, QCP::SignDomain signs) const override;
    QCPRange getValueRange(bool& found, QCP::SignDomain signs, const QCPRange& keys) const override;

protected:
    void draw(QCPPainter* painter) override;
    void drawLegendIcon(QCPPainter* painter, const QRectF& rect) const override;

private:
    struct Place; // of an axis, so that one multiplication finds a pixel
    QCPRange range_of(const std::vector<double>& values, bool& found, QCP::SignDomain signs) const;
    void stamp(std::size_t from, double ratio);
    void make_stamps(double ratio);

    const CloudPoints& points_;
    std::vector<PointStyle> styles_;
    double size_ = 7;
    QImage picture_;
    std::vector<QImage> stamps_;
    std::vector<std::uint8_t> taken_; // by pixel: the style last stamped there, from one on
    std::size_t drawn_ = 0;
    QRect drawn_rect_;
    QCPRange drawn_key_;
    QCPRange drawn_value_;
    bool drawn_log_ = false;
};

} // namespace trainyard::gui
