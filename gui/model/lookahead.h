#pragma once

// Simulates what a slider may be moved to next, behind all else that is under way: a move that was
// foreseen is answered from what the session remembers.

#include "gui/model/live_run.h"

#include <vector>

namespace trainyard::gui {

class Lookahead {
public:
    explicit Lookahead(LiveRun& live) : live_(live) {}

    // The likeliest first. What was foreseen before and is not simulated yet is dropped.
    void foresee(std::vector<ScenarioFile> next);
    void drop() { task_.cancel(); }
    bool busy() const { return task_.busy(); }

private:
    LiveRun& live_;
    BackgroundTask task_; // cancels and waits before `live_` ends
};

} // namespace trainyard::gui
