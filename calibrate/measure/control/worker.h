#pragma once

// A rank that does what the coordinator says, with its back end.

#include "calibrate/measure/backend/backend.h"

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

// Serves until the coordinator says quit (returns 0) or is gone. A coordinator that is gone ends
// the process, whatever the back end waits for. What `open` throws is told to the coordinator.
int serve_as_rank(const LaunchPlace& place, const CoordinatorAddress& address,
                  const std::function<std::unique_ptr<RankBackend>()>& open);

} // namespace trainyard
