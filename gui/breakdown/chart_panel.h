#pragma once

// One chart of the view: its heading with tools, the picture or what to do to get one, and a mark
// that mouse and arrow keys move over its items.

#include "gui/model/qt_text.h"
#include "gui/widgets/chart.h"
#include "gui/widgets/panel.h"

#include <functional>
#include <optional>

class QHBoxLayout;
class QLabel;
class QPushButton;
class QStackedLayout;

namespace trainyard::gui {

// Paints with the chart, in its pixels, while its axes are where they are painted.
class PaintItem : public QCPAbstractItem {
public:
    using Paint = std::function<void(QCPPainter&)>;

    PaintItem(QCustomPlot* chart, Paint paint);
    double selectTest(const QPointF&, bool, QVariant*) const override { return -1; }

protected:
    void draw(QCPPainter* painter) override { paint_(*painter); }

private:
    Paint paint_;
};

class ChartPanel : public Panel {
    Q_OBJECT

public:
    ChartPanel(QString key, QString title, QWidget* parent = nullptr);

    QString key() const override { return key_; }
    QString title() const override { return title_; }
    void paint_to(QPainter& painter, const QSize& size) override;

    Chart& chart() { return *chart_; }
    // In place of the picture; empty: the picture.
    QString message() const;
    bool stale() const { return stale_; }

    std::optional<std::size_t> marked() const { return marked_; }
    void mark(std::optional<std::size_t> item);
    virtual std::size_t items() const = 0;
    virtual QString tip_of(std::size_t item) const = 0; // rich text
    // In pixels of the chart, as it was painted last.
    virtual QRectF bounds_of(std::size_t item) const = 0;
    virtual std::optional<std::size_t> item_at(const QPointF& position) const;

    void set_enlarged(bool enlarged);
    bool enlarged() const { return enlarged_; }

signals:
    void enlargeWanted();
    void leaveWanted();

protected:
    void set_message(const QString& message);
    // The figures are of an earlier state of the scenario.
    void set_stale(bool stale);
    // Under the message; hidden where `text` is empty.
    void offer(const QString& text);

    // What depends on the picture's size, before it is painted.
    virtual void fit(const QSize& size) { Q_UNUSED(size) }
    // A click or the space bar.
    virtual void choose(std::size_t item) { Q_UNUSED(item) }
    // A key of this chart alone. True: it was one.
    virtual bool press(int key)
    {
        Q_UNUSED(key)
        return false;
    }
    // A step out of what was zoomed into, where Escape would leave the chart.
    virtual bool can_go_back() const { return false; }
    virtual void go_back() {}
    // From the marked item; the same where there is none that way.
    virtual std::size_t neighbour(std::size_t item, int key) const;
    virtual void offered() {} // the button was pressed

    QHBoxLayout& tools() { return *tools_; }
    QHBoxLayout& body() { return *body_; } // beside the picture
    void put_legend_below();
    // As many columns as there is room for.
    void fit_legend(int width);

    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void make_heading();
    bool handle_key(int key);
    void move_mark(int key);
    void show_tip(std::size_t item);
    void paint_mark(QCPPainter& painter) const;

    QString key_;
    QString title_;
    QHBoxLayout* tools_;
    QHBoxLayout* body_;
    QStackedLayout* pages_;
    Chart* chart_;
    QLabel* message_;
    QPushButton* offer_;
    std::optional<std::size_t> marked_;
    bool stale_ = false;
    bool enlarged_ = false;
    bool on_screen_ = true;
};

} // namespace trainyard::gui
