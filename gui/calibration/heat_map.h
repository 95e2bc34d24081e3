#pragma once

// A pair matrix as coloured cells: where they lie, what they say, and how they are painted. No
// widgets.

#include "gui/calibration/fitted.h"
#include "gui/widgets/panel.h"

namespace trainyard::gui {

struct MatrixCell {
    int row = 0;
    int column = 0;

    bool operator==(const MatrixCell&) const = default;
};

// Dark blue to yellow, told apart whatever one's colour vision (cividis); 0 to 1.
QColor scale_colour(double share);

class HeatMap {
public:
    explicit HeatMap(std::shared_ptr<const JudgedMatrix> matrix);

    int rows() const { return rows_; }
    int columns() const { return columns_; }
    std::optional<double> value(const MatrixCell& cell) const; // in unit()
    QString unit() const;                                      // "GB/s", "us"
    bool is_slow(const MatrixCell& cell) const;
    bool is_self(const MatrixCell& cell) const; // a copy within one GPU, beside the scale

    // Where the scale has that value, in unit(): 0 to 1.
    double share(double value) const;

    // "GPU 3 → GPU 5: 121 GB/s, 38 % below the others of its kind".
    QString facts(const MatrixCell& cell) const;
    // Slow links in words, or why none is named; a line each.
    QStringList findings() const;
    TableData table() const;

    // Of a picture of that size; empty outside.
    QRectF area(const QSize& size, const QFont& font) const;
    QRectF rect_of(const MatrixCell& cell, const QRectF& area) const;
    std::optional<MatrixCell> cell_at(const QPointF& position, const QRectF& area) const;

    void paint(QPainter& painter, const QSize& size, const QPalette& palette,
               const std::optional<MatrixCell>& mark) const;

private:
    QString row_name(int row) const;
    void paint_cells(QPainter& painter, const QRectF& area, const QPalette& palette) const;
    void paint_names(QPainter& painter, const QRectF& area, const QPalette& palette) const;
    void paint_legend(QPainter& painter, const QRectF& area, const QPalette& palette) const;

    std::shared_ptr<const JudgedMatrix> matrix_;
    int rows_ = 0;
    int columns_ = 0;
    double least_ = 0; // of the scale
    double most_ = 1;
    std::map<OrderedPair, double> slow_; // share of what its class reaches
};

} // namespace trainyard::gui
