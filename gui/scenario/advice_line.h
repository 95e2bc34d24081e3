#pragma once

// One line below the figures: the setting that would shorten the step most, to be applied by one
// click; of a scenario that does not fit or cannot run, a button that finds one that does.

#include "gui/model/background_task.h"
#include "gui/model/way_out.h"
#include "gui/model/workspace.h"
#include "sim/study/sensitivity/advice.h"

#include <QWidget>

class QTimer;
class QToolButton;

namespace trainyard::gui {

class ElidedLabel;

class AdviceLine : public QWidget {
    Q_OBJECT

public:
    explicit AdviceLine(Workspace& workspace, QWidget* parent = nullptr);
    ~AdviceLine() override;

    bool busy() const { return task_.busy(); }
    // A way out, which was asked for; advice comes by itself and keeps no key from the views.
    bool finding() const { return finding_ && task_.busy(); }
    // Ends the search for a way out.
    void cancel();
    // How long a run may have taken that is followed by advice, in milliseconds.
    void set_quick(double limit) { quick_ms_ = limit; }

signals:
    void findingChanged();

private:
    enum class Offer : std::uint8_t {
        none,
        question, // it takes long: only where it is asked for
        advice,
        no_advice, // nothing helps
        way_out
    };

    void follow();
    void ask();
    void take(const AdviceReport& report);
    void apply();
    void find_way_out();
    void take_way_out(const WayOut& found);
    void take_more();
    void show_offer(Offer offer, const QString& text, const QString& tip = {});
    void show_buttons();
    bool fails() const;

    Workspace& workspace_;
    ElidedLabel* text_;
    QToolButton* apply_;
    QToolButton* ask_;
    QToolButton* fit_;
    QToolButton* more_; // devices
    QToolButton* cancel_;
    QTimer* later_;
    Json made_of_; // what the way out made the scenario, and by what changes
    QString made_;
    Json of_; // the scenario that the line is of, and whether it cannot be
    bool failed_ = false;
    Advice advice_;
    std::optional<PlannedScenario> smallest_; // offered
    Offer offer_ = Offer::none;
    bool finding_ = false; // a way out
    double quick_ms_ = 300;
    Session session_;
    BackgroundTask task_;
};

} // namespace trainyard::gui
