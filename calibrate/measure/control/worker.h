#pragma once

// A rank that does what the coordinator says, with its back end.

#include "calibrate/measure/backend/backend.h"
#include "calibrate/measure/discover/node_report.h"

#include <functional>
#include <string>

namespace trainyard {

// Where the coordinator waits, and how it knows its own ranks.
struct CoordinatorAddress {
    std::string host;
    int port = 0;
    std::string token;

    bool operator==(const CoordinatorAddress&) const = default;
};

// What a rank does that is not its back end's.
struct RankTasks {
    std::function<std::unique_ptr<RankBackend>()> open; // what it throws is told to the coordinator
    // What this host is made of, `dump` by the back end's library. Throws MeasureFailure.
    std::function<NodeReport(const std::string& dump)> look{};
};

// Serves until the coordinator says quit (returns 0) or is gone. A coordinator that is gone ends
// the process, whatever the back end waits for.
int serve_as_rank(const LaunchPlace& place, const CoordinatorAddress& address,
                  const RankTasks& tasks);

} // namespace trainyard
