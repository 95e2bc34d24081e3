#pragma once

// The chosen curve: its plot, and in words the marked point or what is known of the whole.

#include "gui/calibration/curve_plot.h"
#include "gui/calibration/fitted.h"

class QLabel;

namespace trainyard::gui {

class CurvePanel : public Panel {
    Q_OBJECT

public:
    explicit CurvePanel(QWidget* parent = nullptr);

    QString key() const override { return QStringLiteral("calibration-curve"); }
    QString title() const override { return tr("Measured and fitted"); }
    void paint_to(QPainter& painter, const QSize& size) override;
    TableData table() const override;

    using Curves = std::vector<std::shared_ptr<const FittedCurve>>;

    // Null: none. `others` lie beside it.
    void set_curve(std::shared_ptr<const FittedCurve> curve, Curves others = {});
    const std::shared_ptr<const FittedCurve>& curve() const { return curve_; }
    void set_quantity(CurveAxis quantity);
    CurveAxis quantity() const { return quantity_; }
    CurvePlot& plot() { return *plot_; }

    // The marked point, as a click on it.
    void toggle_mark();

signals:
    void excludeWanted(const std::vector<Bytes>& sizes, bool excluded);

private:
    void draw(CurvePlot::View view);
    void toggle(const std::vector<std::size_t>& points);
    void tell();

    std::shared_ptr<const FittedCurve> curve_;
    Curves others_;
    CurveAxis quantity_ = CurveAxis::time;
    CurvePlot* plot_;
    QLabel* facts_;
};

} // namespace trainyard::gui
