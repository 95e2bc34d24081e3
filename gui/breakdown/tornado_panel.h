#pragma once

// "What if": by how much the step would be shorter with one resource improved at a time, each
// simulated.

#include "gui/breakdown/chart_panel.h"
#include "gui/model/background_task.h"
#include "gui/model/workspace.h"
#include "sim/study/sensitivity/what_if.h"

class QProgressBar;
class QToolButton;

namespace trainyard::gui {

class TornadoPanel : public ChartPanel {
    Q_OBJECT

public:
    explicit TornadoPanel(Workspace& workspace, QWidget* parent = nullptr);

    TableData table() const override;
    bool busy() const override { return task_.busy(); }
    void prepare_picture() override;
    void cancel() override { task_.cancel(); }
    std::size_t items() const override;
    QString tip_of(std::size_t item) const override;
    QRectF bounds_of(std::size_t item) const override;

    // Of the run shown, largest gain first.
    const std::vector<WhatIf>& rows() const { return rows_; }
    void compute();
    // How long a run may have taken that is tried again without asking, in milliseconds.
    void set_quick(double limit) { quick_ms_ = limit; }

protected:
    void fit(const QSize& size) override;
    void offered() override { compute(); }

private:
    void follow();
    void follow_task();
    void take(const std::shared_ptr<const RunView>& run, std::vector<WhatIf> rows);
    void fill();
    void paint_bars(QCPPainter& painter) const;

    Workspace& workspace_;
    QProgressBar* progress_;
    QToolButton* cancel_;
    BackgroundTask task_;
    std::shared_ptr<const RunView> asked_; // latest that was computed, or is being
    std::shared_ptr<const RunView> shown_; // that the rows are of
    std::vector<WhatIf> rows_;
    std::size_t room_ = 4; // rows that fit
    double quick_ms_ = 300;
};

} // namespace trainyard::gui
