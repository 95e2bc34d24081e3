#pragma once

// A measured curve over size with its fit, above the errors at sizes left out; sizes are chosen by
// mouse and keyboard.

#include "gui/calibration/curve_series.h"
#include "gui/widgets/chart.h"

namespace trainyard::gui {

class CurvePlot : public Chart {
    Q_OBJECT

public:
    explicit CurvePlot(QWidget* parent = nullptr);

    // What was in sight stays in sight where `same` says that it is the same curve.
    enum class View : std::uint8_t { fit, keep };
    void set_series(CurveSeries series, CurveAxis quantity, View view);
    const CurveSeries& series() const { return series_; }
    // Curves beside it, of the same quantity: points and fit of each in a colour of its own.
    void set_others(std::vector<CurveSeries> others);
    const std::vector<CurveSeries>& others() const { return others_; }
    void show_all();

    // Index into the series' points; marked ones are told by `markChanged`.
    std::optional<std::size_t> mark() const { return mark_; }
    void set_mark(std::optional<std::size_t> mark);
    // Near a position of the widget, in either pane.
    std::optional<std::size_t> point_at(const QPointF& position) const;
    // Where it is drawn, of the upper pane.
    QPointF position_of(std::size_t point) const;

signals:
    void markChanged();
    // Points excluded, if any of them counts, else taken back.
    void toggleWanted(const std::vector<std::size_t>& points);

protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;

private:
    void make_panes();
    void make_graphs();
    void make_fixed_items();
    void make_switches();
    void make_others();
    void wrap_legend();
    void colour();
    void fill();
    void wrap_note();
    void show_mark();
    void step_mark(int by);
    void zoom(double factor);
    void pan(double share);
    QString facts_at(const QPointF& position) const;

    CurveSeries series_;
    std::vector<CurveSeries> others_;
    CurveAxis quantity_ = CurveAxis::time;
    std::optional<std::size_t> mark_;
    QPoint pressed_;
    QCPAxisRect* above_ = nullptr;
    QCPAxisRect* below_ = nullptr;
    QCPGraph* low_ = nullptr;
    QCPGraph* high_ = nullptr;
    QCPGraph* compact_ = nullptr;
    QCPGraph* fitted_ = nullptr;
    QCPGraph* line_rate_ = nullptr;
    std::vector<QCPGraph*> other_graphs_; // fit and points of each, in turn
    QCPGraph* measured_ = nullptr;
    QCPErrorBars* intervals_ = nullptr;
    QCPGraph* excluded_ = nullptr;
    QCPGraph* replaced_ = nullptr;
    QCPGraph* residuals_ = nullptr;
    QCPGraph* excluded_residuals_ = nullptr;
    QCPItemRect* good_ = nullptr; // +-5 %
    QCPTextElement* title_ = nullptr;
    QCPItemText* note_ = nullptr;
    QCPItemEllipse* ring_ = nullptr;
    QCPItemEllipse* residual_ring_ = nullptr;
    std::vector<QCPItemLine*> switch_lines_;
    std::vector<QCPItemText*> switch_labels_;
};

} // namespace trainyard::gui
