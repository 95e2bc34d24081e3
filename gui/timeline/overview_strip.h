#pragma once

// The band above the timeline: all of the step, with a window over what is in sight that is
// dragged, resized or put elsewhere by a click.

#include "gui/timeline/colours.h"
#include "gui/timeline/overview.h"
#include "gui/timeline/timeline_model.h"

#include <QPixmap>
#include <QWidget>

namespace trainyard::gui {

class OverviewStrip : public QWidget {
    Q_OBJECT

public:
    explicit OverviewStrip(ViewState& view, QWidget* parent = nullptr);

    void set_model(std::shared_ptr<const TimelineModel> model); // null: none
    // Where time lies, so that it is right above the lanes.
    void set_span(int left, int width);
    TimeScale band() const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void paint_shares();
    void paint_window(QPainter& painter) const;
    void show_grip(double x);

    ViewState& view_;
    std::shared_ptr<const TimelineModel> model_;
    QPixmap picture_; // of the shares; null: to be painted
    int left_ = 0;
    int width_ = 1;
    std::optional<OverviewGrip> held_;
    double pressed_ = 0;
    TimeRange before_; // in sight when the button went down
};

} // namespace trainyard::gui
