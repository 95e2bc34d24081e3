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

    bool busy() const { return task_.busy() || links_task_.busy(); }
    void cancel()
    {
        task_.cancel();
        links_task_.cancel();
    }
    // How often the links' transfers were gone through: once per run.
    int link_sums_made() const { return link_sums_made_; }

signals:
    void counted(const std::vector<trainyard::gui::CounterSeries>& series);
    void busyChanged();

private:
    void follow();
    void count();
    void take(std::vector<CounterSeries> series, bool whole);
    void sum_links();

    ViewState& view_;
    std::shared_ptr<const TimelineModel> model_;
    std::shared_ptr<CounterSource> source_; // of the model
    std::set<CounterKind> shown_{counter_kinds.begin(), counter_kinds.end()};
    std::optional<CounterRequest> asked_;   // latest, of the model
    std::vector<CounterSeries> last_;       // that were counted, of whatever run
    std::shared_ptr<const LinkSums> links_; // of the model's run; null: to come
    int link_sums_made_ = 0;
    bool in_sight_ = true;
    BackgroundTask task_;
    BackgroundTask links_task_;
};

} // namespace trainyard::gui
