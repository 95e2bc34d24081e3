#pragma once

// The timeline itself: paints a scene and turns keys, mouse, wheel and fingers into views of it.

#include "gui/timeline/scene.h"

#include <QAbstractScrollArea>
#include <memory>

class QContextMenuEvent;
class QGestureEvent;
class QHelpEvent;
class QMenu;
class QNativeGestureEvent;

namespace trainyard::gui {

class TimelineCanvas : public QAbstractScrollArea {
    Q_OBJECT

public:
    explicit TimelineCanvas(ViewState& view, QWidget* parent = nullptr);

    // Null: none. Keeps what is open and what is in sight where the tracks are the same.
    void set_model(std::shared_ptr<const TimelineModel> model);
    const std::shared_ptr<const TimelineModel>& model() const { return model_; }
    // There is a newer run, whose model is to come: records selected from now on are that run's.
    void expect_model();
    void set_matches(SearchMatches matches);
    const SearchMatches& matches() const { return matches_; }
    void set_message(const QString& message); // shown where there is no model
    // Rows below the lanes; they are painted at their own times, whatever is in sight.
    void set_counters(std::vector<CounterSeries> counters);
    const std::vector<CounterSeries>& counters() const { return counters_; }
    // In which order the model to come has its ranks.
    LaneOrder order() const { return order_; }
    // What is pinned and hidden, also of lanes that the run shown does not have.
    const LaneMarks& marks() const { return marks_; }
    // In place of what is pinned and hidden now.
    void set_marks(const LaneMarks& marks);
    QRect body() const; // where lanes lie; without a model nowhere

    // Shows the slice: opens its tracks, scrolls and moves in time as far as needed.
    void go_to(std::uint32_t slice);
    void go_to_match(Toward toward);
    void pin(std::uint32_t slice); // or nothing
    // The orders of ranks, the one at hand checked.
    void add_order_actions(QMenu& menu);
    // Of what is pinned, else of what lies under the pointer; nothing: none.
    std::uint32_t current_track() const;
    std::uint32_t pinned() const { return scene_.pinned; }
    const TrackLayout& tracks() const { return layout_; }
    const std::optional<TimeRange>& measured() const { return scene_.measured; }
    // Rows of streams in sight, for tables.
    std::vector<std::uint32_t> rows_in_sight() const;

    // Without what only makes sense on a screen.
    void paint_to(QPainter& painter, const QSize& size);

public slots:
    void fitAll();
    void fitPinned();
    void fitHeight(); // all lines in sight
    void openAll();
    void closeAll();
    void setPathShown(bool shown);
    void setMessagesShown(bool shown);
    void setOrder(LaneOrder order);
    void showHidden();

signals:
    void pinnedChanged();
    void searchWanted();
    void pathShownChanged(bool shown);
    void searchForWanted(const QString& text);
    void orderChanged();
    void laidOut(); // lines, or where they lie, are others

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    bool event(QEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;

private:
    enum class Drag : std::uint8_t { none, pressed, select, pan, scrub };

    static constexpr double zoom_step = 1.35; // of a key, or of a notch of the wheel
    static constexpr double pan_step = 0.15;  // likewise, of the width in sight

    SceneFrame frame() const { return frame_of(scene_, viewport()->size()); }
    TimeScale scale() const { return frame().scale(scene_.range); }
    std::uint32_t slice_at(const QPoint& position) const;
    SimTime pointed_time() const; // under the pointer, else in the middle

    std::uint32_t track_at(int y) const;
    std::uint32_t kept_slice(const TimelineModel& now) const;
    void point_at(const QPoint& position);
    void arrange_lanes(int key, bool shift);
    void toggle_pinned(std::uint32_t track);
    void hide(std::uint32_t track);
    void add_slice_actions(QMenu& menu, std::uint32_t slice);
    void add_lane_actions(QMenu& menu, std::uint32_t track);
    void copy_facts(std::uint32_t slice) const;
    void read_view();
    void read_selection();
    void read_palette();
    void pin_awaited();
    void forget_record();
    void update_relations();
    void layout_changed();
    void keep_marks();
    void fill_height();
    void reveal_line(std::uint32_t track);
    void zoom(double factor, SimTime about);
    void pan(double pixels);
    void hover(const QPoint& position);
    void leave();
    void measure();
    void drag_to(const QPoint& position);
    bool key_moves(int key);
    bool key_commands(const QKeyEvent& event);
    void step(int key); // arrow keys: to the neighbouring slice
    void escape();
    bool gesture(QGestureEvent* event);
    bool native_gesture(QNativeGestureEvent* event);
    bool show_tooltip(QHelpEvent* event);
    void tell_accessibility();

    ViewState& view_;
    std::shared_ptr<const TimelineModel> model_;
    TrackLayout layout_;
    SearchMatches matches_;
    std::vector<CounterSeries> counters_;
    LaneOrder order_ = LaneOrder::stage;
    LaneMarks marks_;
    Scene scene_;
    PaintCache cache_;
    QString message_;
    Drag drag_ = Drag::none;
    QPoint pressed_; // where the mouse button went down
    QPoint last_;    // where it was last, while it drags
    bool measuring_ = false;
    bool behind_ = false;  // a newer model is to come
    bool writing_ = false; // to the view state: what comes back is known
};

} // namespace trainyard::gui
