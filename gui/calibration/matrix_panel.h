#pragma once

// A pair matrix as a heat map with its slow links in words; cell by cell by mouse and keyboard.

#include "gui/calibration/heat_map.h"
#include "gui/widgets/panel.h"

class QLabel;

namespace trainyard::gui {

class HeatMapView : public QWidget {
    Q_OBJECT

public:
    explicit HeatMapView(QWidget* parent = nullptr);

    void set_map(std::optional<HeatMap> map);
    const std::optional<HeatMap>& map() const { return map_; }
    const std::optional<MatrixCell>& mark() const { return mark_; }
    void set_mark(std::optional<MatrixCell> mark);

    QSize sizeHint() const override { return {480, 360}; }

signals:
    void markChanged();

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    std::optional<HeatMap> map_;
    std::optional<MatrixCell> mark_;
};

class MatrixPanel : public Panel {
    Q_OBJECT

public:
    explicit MatrixPanel(QWidget* parent = nullptr);

    QString key() const override { return QStringLiteral("calibration-matrix"); }
    QString title() const override { return tr("Pair matrix"); }
    void paint_to(QPainter& painter, const QSize& size) override;
    TableData table() const override;

    // Null: none.
    void set_matrix(std::shared_ptr<const JudgedMatrix> matrix);
    HeatMapView& view() { return *view_; }

private:
    void tell();

    HeatMapView* view_;
    QLabel* findings_;
};

} // namespace trainyard::gui
