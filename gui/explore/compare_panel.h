#pragma once

// Pinned points beside the scenario as it is: what differs first, then the figures, then where the
// time of each goes.

#include "gui/explore/compared.h"
#include "gui/model/background_task.h"
#include "gui/model/workspace.h"
#include "gui/widgets/panel.h"

class QHBoxLayout;
class QLabel;
class QTableView;
class QTimer;

namespace trainyard::gui {

class ProgressStrip;
class TimeBars;

struct Pin {
    QString name; // "tp 4, pp 2"
    Json scenario;
    std::string file;
    std::optional<std::size_t> index; // in the grid of the sweep shown; nothing: of an older one

    bool operator==(const Pin&) const = default;
};

inline constexpr std::size_t most_pins = 4;

class ComparePanel : public Panel {
    Q_OBJECT

public:
    explicit ComparePanel(Workspace& workspace, QWidget* parent = nullptr);

    QString key() const override { return QStringLiteral("explore-compare"); }
    QString title() const override { return tr("Comparison"); }
    void paint_to(QPainter& painter, const QSize& size) override;
    TableData table() const override;
    bool busy() const override;
    // What was compared last stays, and says so.
    void cancel() override;

    const std::vector<Pin>& pins() const { return pins_; }
    void set_pins(std::vector<Pin> pins);
    // The oldest gives way to a fifth; one that is pinned already is unpinned.
    void toggle(const Pin& pin);

signals:
    void pinsChanged();

private:
    void make_buttons();
    void connect_all();
    void follow();
    void request();
    void take(const std::shared_ptr<const ComparedResult>& result);
    void say(const QString& note);
    std::vector<Compared> wanted() const;

    Workspace& workspace_;
    std::vector<Pin> pins_;
    std::shared_ptr<const ComparedResult> result_;
    QHBoxLayout* buttons_;
    QLabel* note_;
    QTableView* view_;
    TimeBars* bars_;
    ProgressStrip* progress_;
    QTimer* later_;
    Session session_; // remembers the runs of pins
    BackgroundTask task_;
};

} // namespace trainyard::gui
