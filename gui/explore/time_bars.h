#pragma once

// Steps as stacked bars of kinds of time, one below the other on one scale, with memory beside.

#include "gui/explore/compared.h"

#include <QWidget>

namespace trainyard::gui {

class TimeBars : public QWidget {
    Q_OBJECT

public:
    explicit TimeBars(QWidget* parent = nullptr);

    void set_result(std::shared_ptr<const ComparedResult> result);
    void paint_bars(QPainter& painter, const QRect& rect) const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    struct Piece {
        std::size_t run = 0;
        TimeKind kind = TimeKind::forward;
        QRectF rect;
    };
    std::vector<Piece> pieces(const QRect& rect, const QFontMetrics& metrics) const;
    std::vector<TimeKind> kinds() const;
    int legend_rows(int width, const QFontMetrics& metrics) const;
    void paint_legend(QPainter& painter, const QRect& rect) const;

    std::shared_ptr<const ComparedResult> result_;
};

} // namespace trainyard::gui
