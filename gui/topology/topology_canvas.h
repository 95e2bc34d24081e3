#pragma once

// The topology itself: paints a scene and turns keys, mouse and wheel into views of it.

#include "gui/model/background_task.h"
#include "gui/model/view_state.h"
#include "gui/topology/topology_picture.h"
#include "gui/topology/topology_scene.h"

#include <QWidget>

class QHelpEvent;

namespace trainyard::gui {

class TopologyCanvas : public QWidget {
    Q_OBJECT

public:
    explicit TopologyCanvas(ViewState& view, QWidget* parent = nullptr);

    // Null: none. Keeps what is folded and in sight where the cluster is the same. `runShown` tells
    // when it is there: of a large cluster later, and what was shown stays until then.
    void set_run(std::shared_ptr<const TopologyRun> run);
    std::shared_ptr<const TopologyRun> run() const { return picture_ ? picture_->run : nullptr; }
    // Null: none.
    const std::shared_ptr<const TopologyPicture>& picture() const { return picture_; }
    bool busy() const { return wanted_run_ != run(); } // another run is to be shown
    void set_message(const QString& message);          // shown where there is no run
    // What the colours are of: the cursor's moment, else the mean of what is in sight.
    LoadTime time() const { return picture_ ? picture_->time : wanted_time(); }
    const std::vector<double>& loads() const { return picture_->loads; } // by link, then
    void set_tint(Tint tint);

    const TopologyLayout& layout_of() const { return *picture_->layout; }
    const TopologyScene& scene() const { return scene_; }
    // Where a place, or the middle of a link's half, lies in the widget.
    QPoint point_of_place(std::uint32_t place) const;
    QPoint point_of_link(LinkId link) const;

    void set_open(std::uint32_t place, bool open);
    void select(std::optional<LinkId> link);
    // Unfolds and moves as far as needed.
    void go_to(LinkId link);
    void go_to_place(std::uint32_t place);
    // All links of the selected one's bundle, both ways.
    std::vector<LinkId> selected_bundle() const;

    void paint_to(QPainter& painter, const QSize& size);

    // Out of sight it lets other times pass, and makes up for them when it follows again.
    void set_following(bool following);

public slots:
    void fitAll();
    void openAll();
    void closeAll();

signals:
    void runShown();
    void busyChanged();
    void selectionChanged();
    void placeChanged(); // the thing the keyboard is at
    void timeChanged();  // the load shown is of another time
    void playWanted();
    void editWanted(QChar what); // 'b'reak, 'm'end, 'h'alve, 'r'ate
    void menuWanted(const QPoint& global);
    void searchWanted();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRectF body() const { return frame_of(scene_, size()).body; }
    void read_palette();
    LoadTime wanted_time() const;
    void read_view();
    void read_selection();
    void refold(std::uint32_t place, bool open);
    // Makes another picture of what is wanted; then, once it is shown ...
    using Then = std::function<void()>;
    void refresh(const Then& then = {});
    void change_layout(std::function<void(TopologyLayout&)> change, const Then& then);
    PictureRequest wanted() const;
    void take(TopologyPicture picture, std::size_t changes, const std::vector<Then>& then);
    void refresh_scale();
    void zoom(double factor, const QPointF& about);
    void pan(const QPointF& by);
    void hover(const TopologyHit& hit);
    bool key_moves(int key);
    void step_sideways(int by);
    void step_rows(int by);
    void step_links(int by);
    void set_current(std::optional<std::uint32_t> place);
    void show_around(const QPointF& point);
    void tell_accessibility(const QString& text);
    QString tip_of(const TopologyHit& hit) const;
    bool show_tooltip(QHelpEvent* event);

    ViewState& view_;
    std::shared_ptr<const TopologyRun> wanted_run_; // shown, or to be; null: none
    std::shared_ptr<const TopologyPicture> picture_;
    std::vector<std::function<void(TopologyLayout&)>> changes_; // not yet shown
    std::vector<Then> then_;                                    // once what is wanted is shown
    bool again_ = false;                                        // what is in the making is old
    std::optional<std::size_t> glow_of_;                        // record, of the latest request
    TopologyScene scene_;
    QString message_;
    QPointF pressed_;
    QPointF last_;
    bool dragging_ = false;
    bool following_ = true;
    bool behind_ = false; // shows another time than the view's
    bool fits_ = true;    // all is in sight: stays so when the window's size changes
    BackgroundTask task_;
};

} // namespace trainyard::gui
