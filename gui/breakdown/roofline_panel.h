#pragma once

// "Roofline": how fast each class of kernels runs for the operations it has per byte, under what
// the device can do. Classes that only move data have a strip of their own.

#include "gui/breakdown/chart_panel.h"
#include "gui/model/workspace.h"
#include "sim/report/kernel_classes.h"

namespace trainyard::gui {

class RooflinePanel : public ChartPanel {
    Q_OBJECT

public:
    explicit RooflinePanel(Workspace& workspace, QWidget* parent = nullptr);

    TableData table() const override;
    std::size_t items() const override { return classes_.size(); }
    QString tip_of(std::size_t item) const override;
    QRectF bounds_of(std::size_t item) const override;

    // Longest first; those without time are left out.
    const std::vector<KernelClass>& classes() const { return classes_; }

protected:
    void choose(std::size_t item) override { Q_UNUSED(item) }
    void fit(const QSize& size) override;

private:
    void follow();
    void set_ranges();
    void paint(QCPPainter& painter) const;
    // Where they wrote.
    std::vector<QRectF> paint_roofs(QCPPainter& painter) const;
    std::vector<QRectF> paint_strip_roof(QCPPainter& painter) const;
    void paint_points(QCPPainter& painter, std::vector<QRectF> taken) const;
    bool only_moves(std::size_t item) const { return !(classes_[item].flops.value() > 0); }
    QPointF place_of(std::size_t item) const;
    double size_of(std::size_t item) const; // side of the mark, in pixels
    Seconds all() const;
    QString name_of(const KernelClass& one) const;
    double tera(FlopRate rate) const { return rate.value() / scale_; }

    Workspace& workspace_;
    QCPAxisRect* strip_;
    std::shared_ptr<const Outcome> outcome_;
    std::vector<KernelClass> classes_;
    std::vector<Roof> roofs_;
    std::optional<RankId> rank_;
    double scale_ = 1e12; // of the axis of rates
};

} // namespace trainyard::gui
