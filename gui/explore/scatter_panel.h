#pragma once

// The scatter with what chooses its axes; its table twin is all points shown.

#include "gui/explore/points_model.h"
#include "gui/explore/scatter_chart.h"

class QCheckBox;
class QComboBox;

namespace trainyard::gui {

// Keys of metrics, as they are kept between sweeps and sessions.
struct ScatterChoice {
    QString x = QStringLiteral("memory");
    QString y = QStringLiteral("rate");
    QString colour = QStringLiteral("strategy.tp"); // empty: none
    bool log_x = false;
    bool log_y = false;

    bool operator==(const ScatterChoice&) const = default;
};

class ScatterPanel : public Panel {
    Q_OBJECT

public:
    // All outlive it.
    ScatterPanel(const PointStore& store, Marks& marks, const PointsModel& rows,
                 QWidget* parent = nullptr);

    QString key() const override { return QStringLiteral("explore-scatter"); }
    QString title() const override { return tr("Points of the sweep"); }
    void paint_to(QPainter& painter, const QSize& size) override;
    TableData table() const override { return rows_.table(); }

    // Another sweep, or another price.
    void restart(std::vector<Metric> metrics);
    ScatterChart& chart() { return *chart_; }
    const ScatterChoice& choice() const { return choice_; }
    void set_choice(const ScatterChoice& choice);
    // Written below pictures; empty: nothing.
    void set_note(const QString& note) { note_ = note; }
    // What a point is, in lines.
    QString describe(std::uint32_t point) const;

signals:
    void opened(std::uint32_t point);
    void pinWanted(std::uint32_t point);
    void choiceChanged(); // by hand

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void fill_choices();
    void read_choices();
    void apply();
    bool take_key(int key);
    void step_along_front(int by);

    const PointStore& store_;
    Marks& marks_;
    const PointsModel& rows_;
    std::vector<Metric> metrics_;
    ScatterChoice choice_;
    QString note_;
    ScatterChart* chart_;
    QComboBox* x_;
    QComboBox* y_;
    QComboBox* colour_;
    QCheckBox* log_x_;
    QCheckBox* log_y_;
    bool filling_ = false;
};

} // namespace trainyard::gui
