#pragma once

// Simulates what the document asks for, in the background: the latest request wins, one that is
// overtaken is cancelled. First the headline, then, where views want it, the ops for pictures.

#include "gui/model/background_task.h"
#include "sim/report/summary.h"
#include "sim/report/timeline/recorded.h"
#include "sim/study/session.h"

#include <optional>

namespace trainyard::gui {

// What became of one request. Immutable and shared: views keep what they show.
struct RunView {
    std::shared_ptr<const ScenarioFile> file; // of the request
    std::shared_ptr<const Outcome> outcome;   // null where there are problems
    bool recorded = false;                    // outcome->result->records holds the last step
    LaneChoice lanes;                         // that were to be recorded
    RunFigures summary;                       // of an outcome
    Problems problems;  // of an outcome, also that it does not fit; else why none
    double wall_ms = 0; // from the request's start to this
};

enum class Detail : std::uint8_t {
    headline, // no records
    ops       // those of the lanes chosen, after the headline
};

// How a headline is simulated.
SimulateRequest headline_request(const WorkControl& work);

class LiveRun : public QObject {
    Q_OBJECT

public:
    explicit LiveRun(QObject* parent = nullptr);

    // Answers come as `finished`, in the thread that owns this: one, or with ops two. Requests that
    // were overtaken are not answered.
    void request(ScenarioFile file, Detail detail, const LaneChoice& lanes = {});
    // Ends what runs and waits for nothing; `stopped` tells.
    void cancel();

    bool busy() const { return task_.busy(); }
    // Shared with pictures of the same run, so that a part is built once. Sweeps and comparisons
    // have their own: they would push out of it what the next slider needs.
    Session& session() { return session_; }

signals:
    void started();
    void progressed(const QString& stage, double done, double total);
    void finished(const std::shared_ptr<const RunView>& run);
    void stopped(); // cancelled, nothing else is asked for

private:
    struct Request {
        std::shared_ptr<const ScenarioFile> file;
        Detail detail = Detail::headline;
        LaneChoice lanes;
    };
    std::shared_ptr<const RunView> simulate(const Request& request, const RunView* headline,
                                            const WorkControl& work);
    void run(const Request& request, const std::shared_ptr<const RunView>& headline);
    void take(const Request& request, const std::shared_ptr<const RunView>& view);

    Session session_;
    BackgroundTask task_; // cancels and waits before all others end
};

} // namespace trainyard::gui
