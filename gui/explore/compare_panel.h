#pragma once

// Pinned points beside the scenario as it is: what differs first, then the figures, then where the
// time of each goes.

#include "gui/explore/compare_job.h"
#include "gui/model/workspace.h"
#include "gui/widgets/panel.h"

class QHBoxLayout;
class QLabel;
class QTableView;
class QTimer;

namespace trainyard::gui {

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

    const std::vector<Pin>& pins() const { return pins_; }
    void set_pins(std::vector<Pin> pins);
    // The oldest gives way to a fifth; one that is pinned already is unpinned.
    void toggle(const Pin& pin);

signals:
    void pinsChanged();

private:
    void make_buttons();
    void follow();
    void request();
    void take(const std::shared_ptr<const ComparedResult>& result);
    std::vector<Compared> wanted() const;

    Workspace& workspace_;
    CompareJob job_;
    std::vector<Pin> pins_;
    std::shared_ptr<const ComparedResult> result_;
    QHBoxLayout* buttons_;
    QLabel* note_;
    QTableView* view_;
    TimeBars* bars_;
    QTimer* later_;
};

} // namespace trainyard::gui
