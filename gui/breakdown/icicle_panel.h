#pragma once

// "Layers and ops": the step's time from the model down to single ops, as an icicle that zooms.

#include "gui/breakdown/chart_panel.h"
#include "gui/breakdown/icicle.h"
#include "gui/model/background_task.h"
#include "gui/model/workspace.h"

class QComboBox;

namespace trainyard::gui {

class IciclePanel : public ChartPanel {
    Q_OBJECT

public:
    explicit IciclePanel(Workspace& workspace, QWidget* parent = nullptr);

    TableData table() const override;
    std::size_t items() const override { return shown_parts_.size(); }
    QString tip_of(std::size_t item) const override;
    QRectF bounds_of(std::size_t item) const override;
    bool busy() const override { return task_.busy(); }
    void cancel() override;

    const std::vector<IciclePart>& parts() const { return parts_; }
    // Which part an item of the picture is.
    std::uint32_t part_of(std::size_t item) const { return shown_parts_[item]; }
    std::uint32_t focus() const { return focus_; } // fills the width
    void zoom_to(std::uint32_t part);

protected:
    void fit(const QSize& size) override;
    void choose(std::size_t item) override;
    bool press(int key) override;
    bool can_go_back() const override { return focus_ != 0; }
    void go_back() override;
    std::size_t neighbour(std::size_t item, int key) const override;

private:
    void follow();
    void request(const std::shared_ptr<const RunView>& run,
                 const std::shared_ptr<const RunView>& baseline, IcicleOf of);
    void take(const std::shared_ptr<const RunView>& run, std::vector<IciclePart> parts);
    void find_shown();
    bool shows_change() const;
    QColor change_colour(const IciclePart& part) const;
    void paint_parts(QCPPainter& painter) const;
    void paint_part(QCPPainter& painter, std::size_t item) const;
    void paint_name(QCPPainter& painter, const IciclePart& part, const QRectF& box,
                    const QColor& ink) const;
    void paint_scale(QCPPainter& painter) const;
    QRectF area() const;

    Workspace& workspace_;
    QComboBox* of_;
    QComboBox* colour_;
    std::vector<IciclePart> parts_;
    std::vector<std::uint32_t> shown_parts_; // in sight, at least a pixel wide; parents first
    std::uint32_t focus_ = 0;
    int width_ = 800; // of the picture for which they were found
    int height_ = 450;
    std::shared_ptr<const RunView> run_;      // of the parts, or of the latest request
    std::shared_ptr<const RunView> baseline_; // likewise; null: without
    IcicleOf asked_of_ = IcicleOf::critical;
    BackgroundTask task_;
};

} // namespace trainyard::gui
