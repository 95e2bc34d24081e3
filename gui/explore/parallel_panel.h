#pragma once

// Parallel coordinates with what chooses their axes; the table twin is all points shown.

#include "gui/explore/parallel_picture.h"
#include "gui/explore/points_model.h"

class QComboBox;
class QMenu;
class QTimer;
class QToolButton;

namespace trainyard::gui {

class ParallelCanvas;

class ParallelPanel : public Panel {
    Q_OBJECT

public:
    // All outlive it.
    ParallelPanel(const PointStore& store, Marks& marks, const PointsModel& rows,
                  QWidget* parent = nullptr);
    ~ParallelPanel() override;

    QString key() const override { return QStringLiteral("explore-parallel"); }
    QString title() const override { return tr("Parallel coordinates of the sweep"); }
    void paint_to(QPainter& painter, const QSize& size) override;
    TableData table() const override { return rows_.table(); }
    // Lines are still being drawn.
    bool busy() const override;

    // Another sweep, or another price.
    void restart(std::vector<Metric> metrics);
    // The store has grown.
    void follow();
    ParallelModel& model() { return model_; }
    ParallelCanvas& canvas() { return *canvas_; }
    void set_choice(const ParallelChoice& choice);
    void set_colour(const QString& key); // of a metric; empty: none
    void set_pinned(std::vector<std::uint32_t> points);
    void set_here(std::optional<std::uint32_t> point);
    // Written below; empty: nothing.
    void set_note(const QString& note);
    void set_describe(std::function<QString(std::uint32_t)> describe);
    ParallelScene scene() const;
    // Where a point crosses an axis, in points of the canvas.
    QPointF place_of(std::size_t axis, std::uint32_t point) const;

    // What the canvas tells, and keys do.
    void brush(std::size_t axis, std::optional<Brush> brush);
    void clear();
    void changed_axes();

signals:
    void opened(std::uint32_t point);
    void pinWanted(std::uint32_t point);
    void menuWanted(std::uint32_t point, const QPoint& global);
    void colourChosen(const QString& key);

private:
    friend class ParallelCanvas;
    void fill_menu();
    void fill_colours();
    void follow_marks();
    void mark();

    const PointStore& store_;
    Marks& marks_;
    const PointsModel& rows_;
    ParallelModel model_;
    PointColours colours_;
    QString colour_key_;
    std::vector<std::uint32_t> pinned_;
    std::optional<std::uint32_t> here_;
    QString note_;
    std::function<QString(std::uint32_t)> describe_;
    ParallelCanvas* canvas_;
    QComboBox* colour_;
    QToolButton* axes_;
    QMenu* menu_;
    bool filling_ = false;
    bool marking_ = false;
};

// Keys and mouse.
class ParallelCanvas : public QWidget {
    Q_OBJECT

public:
    explicit ParallelCanvas(ParallelPanel& panel);

    // Lines are drawn anew: all, or the marked alone.
    void forget();
    void forget_marked();
    bool done() const { return done_; }
    ParallelFrame frame() const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;
    QSize sizeHint() const override { return {700, 340}; }

private:
    bool take_key(const QKeyEvent& event);
    void move_focus(int by);
    void drag_brush(const QPoint& to);
    void click(const QPoint& at);

    ParallelPanel& panel_;
    LineCloud all_;
    LineCloud marked_;
    QTimer* timer_;
    std::optional<std::size_t> focused_;
    std::optional<std::size_t> pressed_axis_; // a brush is drawn on it
    bool pressed_name_ = false;               // or it is moved by its name
    QPoint pressed_;
    std::optional<std::uint32_t> hovered_;
    bool done_ = true;
};

} // namespace trainyard::gui
