#pragma once

// One session at work: the scenario, its latest run, the baseline, and what all views show alike.
// Every change of the scenario is simulated at once.

#include "gui/model/document.h"
#include "gui/model/headline.h"
#include "gui/model/lookahead.h"
#include "gui/model/view_state.h"

namespace trainyard::gui {

class Workspace : public QObject {
    Q_OBJECT

public:
    explicit Workspace(QObject* parent = nullptr);

    Document& document() { return document_; }
    LiveRun& live() { return live_; }
    const LiveRun& live() const { return live_; }
    ViewState& view() { return view_; }
    // What may be asked for next; dropped when something is.
    Lookahead& lookahead() { return lookahead_; }

    // The latest run that came to an outcome; null: none yet. While the scenario is wrong or a run
    // is under way it is that of an earlier state: `current` says whether.
    const std::shared_ptr<const RunView>& run() const { return run_; }
    bool current() const { return current_; }
    // The same with records, for pictures; may be older.
    const std::shared_ptr<const RunView>& recorded() const { return recorded_; }
    // Whether the run of the scenario as it is now was cancelled.
    bool cancelled() const { return cancelled_; }
    // The same scenario, its files read again.
    void simulate_again();
    // Of the scenario as it is now: errors, else warnings.
    const Problems& problems() const { return problems_; }

    const std::shared_ptr<const RunView>& baseline() const { return baseline_; }
    // What the latest run is held against: the baseline, without one the run before the latest
    // step on the undo stack (a slider that is dragged makes one step). Null: there was none.
    const std::shared_ptr<const RunView>& compared() const
    {
        return baseline_ != nullptr ? baseline_ : before_;
    }
    void pin_baseline(); // the latest run
    // Once it has run; none until then. `baselineRefused` tells why it cannot.
    void pin_baseline_of(Json scenario, const std::string& file);
    void clear_baseline();

    const Price& price() const { return price_; }
    void set_price(const Price& price);

    // Whose operations are recorded, of this run and of those to come, as they were chosen.
    const LaneChoice& lanes() const { return lanes_; }
    void set_lanes(const LaneChoice& lanes);
    // While a view needs all of them and nothing else was chosen, all are; the run that has them
    // keeps them.
    void want_all_lanes(bool wanted);

    // Whether any view shows single ops.
    void want_ops(bool wanted);

signals:
    void runChanged();
    void recordedChanged();
    void problemsChanged();
    void baselineChanged();
    void baselineRefused(const Problems& problems);
    void priceChanged();

private:
    void simulate();
    void take(const std::shared_ptr<const RunView>& run);
    void keep_before(const std::shared_ptr<const RunView>& before);
    void refuse_baseline(Problems problems);

    Document document_;
    ViewState view_;
    LiveRun live_;
    Lookahead lookahead_{live_};
    std::unique_ptr<LiveRun> baseline_live_; // of a baseline that came from a file
    std::shared_ptr<const RunView> run_;
    std::shared_ptr<const RunView> before_;
    int run_step_ = 0;  // of the undo stack, that led to `run_`
    bool fresh_ = true; // the document was loaded: what ran before was another
    std::shared_ptr<const RunView> recorded_;
    std::shared_ptr<const RunView> baseline_;
    Problems problems_;
    Price price_;
    LaneChoice lanes_;
    bool all_lanes_wanted_ = false;
    Json simulated_; // what the latest request asked for
    bool current_ = false;
    bool cancelled_ = false;
    bool ops_wanted_ = false;
};

} // namespace trainyard::gui
