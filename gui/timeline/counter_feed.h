#pragma once

// Keeps the timeline's counters up to date in the background: of the run, the stretch of time and
// the rank that are looked at.

#include "gui/model/background_task.h"
#include "gui/timeline/counters.h"

#include <set>

namespace trainyard::gui {

class CounterFeed : public QObject {
    Q_OBJECT

public:
    explicit CounterFeed(ViewState& view, QObject* parent = nullptr);

    // Null: none.
    void set_model(std::shared_ptr<const TimelineModel> model);
    // While it is not in sight, nothing is counted.
    void set_in_sight(bool in_sight);
    void show(CounterKind kind, bool shown);
    bool shows(CounterKind kind) const { return shown_.contains(kind); }

    bool busy() const { return task_.busy(); }
    void cancel() { task_.cancel(); }

signals:
    void counted(const std::vector<trainyard::gui::CounterSeries>& series);
    void busyChanged();
    void shownChanged();

private:
    void follow();
    void count(const CounterRequest& request);
    void take(const CounterRequest& request, std::vector<CounterSeries> series);

    ViewState& view_;
    std::shared_ptr<const TimelineModel> model_;
    std::shared_ptr<CounterSource> source_; // of the model
    std::set<CounterKind> shown_{counter_kinds.begin(), counter_kinds.end()};
    std::optional<CounterRequest> asked_; // latest, of the model
    std::vector<CounterSeries> last_;     // that were counted, of whatever run
    bool links_known_ = false;            // the ways of the model's transfers were found
    bool in_sight_ = true;
    BackgroundTask task_;
};

} // namespace trainyard::gui
