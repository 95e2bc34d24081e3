#pragma once

// A chart in the window's colours and letters, painted alike on screen, PNG and SVG.

#include <qcustomplot.h>

namespace trainyard::gui {

class Chart : public QCustomPlot {
    Q_OBJECT

public:
    explicit Chart(QWidget* parent = nullptr);

    // As it is seen, at any size.
    void paint_chart(QPainter& painter, const QSize& size);

    // Its figures are of an earlier state.
    void set_pale(bool pale);

    // Out of the picture, where it covers nothing.
    void put_legend_below();
    // As many columns as there is room for.
    static void fit_legend(QCPLegend& legend, int width);

    // Ticks at powers of ten, with `unit`'s own words left to the axis label.
    static void make_logarithmic(QCPAxis& axis);

signals:
    void themed(); // axes have new colours: time to colour one's own series

protected:
    void changeEvent(QEvent* event) override;
    // Colours of all axes there are: again after some were added.
    void apply_theme();

private:
    // As many ticks below as have room for their numbers.
    void fit_ticks();
};

} // namespace trainyard::gui
