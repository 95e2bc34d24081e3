#pragma once

// Writes the tape of a step from the order of its ops.

#include "sim/engine/replay/composed.h"
#include "sim/engine/replay/premises.h"

namespace trainyard::engine::replay {

enum class Charging : std::uint8_t {
    by_tape, // time is charged to all lanes of a cohort at once, where that can be
    by_lane
};

struct ComposeRequest {
    const Program& program;
    const OrderRequest& order;
    const JoinsStages& stages;
    Charging charging = Charging::by_tape;
};

// Nothing where ranks do not agree about a transfer.
std::optional<Composed> compose(const ComposeRequest& request, const std::vector<Act>& acts,
                                Tables& tables);

} // namespace trainyard::engine::replay
