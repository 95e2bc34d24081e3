#pragma once

// "Where the time goes": a stacked bar for the critical rank, the mean, stages and ranks.

#include "gui/breakdown/chart_panel.h"
#include "gui/breakdown/time_bars.h"
#include "gui/model/workspace.h"

class QComboBox;

namespace trainyard::gui {

class TimeBarsPanel : public ChartPanel {
    Q_OBJECT

public:
    explicit TimeBarsPanel(Workspace& workspace, QWidget* parent = nullptr);

    TableData table() const override;
    std::size_t items() const override { return pieces_.size(); }
    QString tip_of(std::size_t item) const override;
    QRectF bounds_of(std::size_t item) const override;

    const std::vector<TimeBar>& bars() const { return bars_; }
    const std::vector<BarPiece>& pieces() const { return pieces_; }
    std::optional<TimeKind> highlighted() const { return highlighted_; }
    // The other kinds become pale; none: all alike.
    void highlight(std::optional<TimeKind> kind);

protected:
    void fit(const QSize& size) override;
    void choose(std::size_t item) override;
    bool press(int key) override;
    std::size_t neighbour(std::size_t item, int key) const override;

private:
    void follow();
    void fill();
    void paint_bars(QCPPainter& painter) const;
    void paint_piece(QCPPainter& painter, const BarPiece& piece) const;
    QString length_text(const BarPiece& piece) const;
    std::size_t rows_in(int height) const;

    Workspace& workspace_;
    QComboBox* unit_;
    std::vector<TimeBar> bars_;
    std::vector<BarPiece> pieces_;
    std::vector<QCPBars*> kinds_; // of the legend, by time_kinds(); they paint nothing themselves
    std::optional<TimeKind> highlighted_;
    std::size_t rows_ = 0;
};

} // namespace trainyard::gui
