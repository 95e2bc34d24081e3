#pragma once

// "Memory over time": what the device of a stage holds over the step, kind by kind, under what it
// could hold; the fullest moment and what is held then.

#include "gui/breakdown/chart_panel.h"
#include "gui/breakdown/memory_columns.h"
#include "gui/model/background_task.h"
#include "gui/model/workspace.h"

class QComboBox;
class QTreeWidget;

namespace trainyard::gui {

class MemoryPanel : public ChartPanel {
    Q_OBJECT

public:
    explicit MemoryPanel(Workspace& workspace, QWidget* parent = nullptr);

    TableData table() const override;
    bool busy() const override { return task_.busy(); }
    void cancel() override;
    // Columns of the stretch of time in sight, at which the cursor may stand.
    std::size_t items() const override;
    QString tip_of(std::size_t item) const override;
    QRectF bounds_of(std::size_t item) const override;
    std::optional<std::size_t> item_at(const QPointF& position) const override;

    // Null: none yet.
    const MemoryCurve* curve() const { return curve_.get(); }
    const QTreeWidget& content() const { return *content_; }

protected:
    void choose(std::size_t item) override;
    bool press(int key) override;
    void fit(const QSize& size) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void follow_run();
    void follow_selection();
    void load();
    void fill_stages();
    void fill_content();
    void follow_range();
    void fill();
    void fit_height();
    void paint_areas(QCPPainter& painter) const;
    // Where they wrote.
    std::vector<QRectF> paint_lines(QCPPainter& painter) const;
    QRectF paint_line(QCPPainter& painter, double gigabytes, const QString& text,
                      Qt::PenStyle style) const;
    void paint_peak(QCPPainter& painter, const std::vector<QRectF>& written) const;
    const StageMemory& stage() const;
    double unit() const;             // of the axis, in picoseconds: a second, a millisecond
    double x_of(SimTime time) const; // units from the step's begin
    SimTime time_of(double x) const;
    SimTime time_of_item(std::size_t item) const;
    QString place_text() const;

    Workspace& workspace_;
    QComboBox* stages_;
    QToolButton* whole_; // in sight while a part of the step is
    QTreeWidget* content_;
    BackgroundTask task_;
    std::shared_ptr<const RunView> run_;   // latest that was asked for
    std::shared_ptr<const RunView> shown_; // that the curve is of
    std::shared_ptr<const MemoryCurve> curve_;
    std::vector<MemoryKind> kinds_; // lowest first
    std::vector<LaneId> lanes_;     // by entry of stages_
    LaneId lane_{};
    bool following_ = false;
};

} // namespace trainyard::gui
