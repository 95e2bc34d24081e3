#pragma once

// One line below the figures: the setting that would shorten the step most, to be applied by one
// click; of a scenario that does not fit or cannot run, a button that finds one that does.

#include "gui/model/background_task.h"
#include "gui/model/workspace.h"
#include "sim/api/layout_plan.h"
#include "sim/study/sensitivity/advice.h"

#include <QWidget>

class QTimer;
class QToolButton;

namespace trainyard::gui {

class ElidedLabel;

// The way out of a scenario that cannot be: settings, or where none of them helps a whole layout.
struct WayOut {
    std::vector<Override> set;
    std::optional<PlannedScenario> layout;
    std::string why_none; // there is neither
};

// Of `run`, whose outcome is null where it cannot run. Throws Cancelled.
WayOut nearest_that_fits(const RunView& run, const ScenarioFile& file, Session& session,
                         const WorkControl& work);

class AdviceLine : public QWidget {
    Q_OBJECT

public:
    explicit AdviceLine(Workspace& workspace, QWidget* parent = nullptr);
    ~AdviceLine() override;

    bool busy() const { return task_.busy(); }
    // How long a run may have taken that is followed by advice, in milliseconds.
    void set_quick(double limit) { quick_ms_ = limit; }

private:
    enum class Offer : std::uint8_t {
        none,
        question, // it takes long: only where it is asked for
        advice,
        nothing, // helps
        way_out
    };

    void follow();
    void ask();
    void take(const AdviceReport& report);
    void apply();
    void find_way_out();
    void take_way_out(const WayOut& found);
    void show_offer(Offer offer, const QString& text, const QString& tip = {});
    void show_buttons();
    bool fails() const;

    Workspace& workspace_;
    ElidedLabel* text_;
    QToolButton* apply_;
    QToolButton* ask_;
    QToolButton* fit_;
    QToolButton* cancel_;
    QTimer* later_;
    Json of_; // the scenario that the line is of, and whether it cannot be
    bool failed_ = false;
    Advice advice_;
    Offer offer_ = Offer::none;
    bool finding_ = false; // a way out
    double quick_ms_ = 300;
    Session session_;
    BackgroundTask task_;
};

} // namespace trainyard::gui
