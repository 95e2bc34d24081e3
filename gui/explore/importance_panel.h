#pragma once

// Bars: which swept field explains how much of a figure. A bar leads to its axis.

#include "gui/explore/importance.h"
#include "gui/model/background_task.h"

class QComboBox;
class QTimer;

namespace trainyard::gui {

class ImportancePanel : public Panel {
    Q_OBJECT

public:
    // It outlives it.
    explicit ImportancePanel(const PointStore& store, QWidget* parent = nullptr);
    ~ImportancePanel() override;

    QString key() const override { return QStringLiteral("explore-importance"); }
    QString title() const override { return tr("Importance of the swept fields"); }
    void paint_to(QPainter& painter, const QSize& size) override;
    TableData table() const override;
    // Out of sight it makes up for what it missed once it comes into sight.
    bool busy() const override;

    // Another sweep, or another price.
    void restart(std::vector<Metric> metrics);
    // The store has grown.
    void follow();
    const QString& choice() const { return choice_; } // of a figure; empty: what is best by
    void set_choice(const QString& key);
    const Importance* importance() const { return found_ ? found_.get() : nullptr; }
    // Of a bar, in points of the picture's widget.
    QRect place_of(std::size_t bar) const;
    QWidget& picture() const { return *picture_; }

signals:
    void axisWanted(const QString& key);
    void found();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    class Picture;
    std::shared_ptr<const Importance> now() const;
    void fill_choices();
    void ask();
    void choose(std::optional<std::size_t> bar);
    bool take_key(int key);
    void follow_axis(std::size_t bar);

    const PointStore& store_;
    std::vector<Metric> metrics_;
    QString choice_;
    std::shared_ptr<const Importance> found_;
    std::optional<std::size_t> chosen_; // bar
    QComboBox* metric_;
    QWidget* picture_;
    QTimer* later_;
    bool missed_ = false; // points since it was out of sight
    bool filling_ = false;
    BackgroundTask task_;
};

} // namespace trainyard::gui
