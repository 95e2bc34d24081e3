#pragma once

// One order in which a step of all cohorts can be replayed: behind each op come those that need it.
// It holds for every step and whatever the numbers.
//
// Compute also needs to know when the transfers run that slow it: those of its lane that are
// neither over when it starts nor come behind it. A transfer whose end depends on the compute
// itself lasts longer and need not be known. Where neither is so, two rates wait for each other: no
// such order.

#include "sim/engine/replay/cohorts.h"
#include "sim/engine/replay/known.h"

namespace trainyard::engine::replay {

struct Act {
    enum class Kind : std::uint8_t {
        run,     // an op that takes time starts and ends
        arrive,  // a transfer op heads its stream and is issued
        gather,  // a collective: all have arrived; it ends
        send,    // an eager message: its sender has arrived
        pass,    // a message: both have arrived
        complete // an exchange: its parts are over
    };
    Kind kind = Kind::run;
    std::uint32_t where = 0; // cohort; gather: meeting
    std::uint32_t what = 0;  // op; gather: ordinal; send, pass: part of the sender's kind
};

// Whether the sender of a message need not wait for its receiver.
using IsEager = std::vector<std::vector<std::uint8_t>>; // by cohort, part of its kind

// Whether an op slows compute beside it.
using SlowsCompute = std::vector<std::vector<std::uint8_t>>; // by cohort, op

struct OrderRequest {
    const Cohorts& cohorts;
    const std::vector<Known>& known; // by cohort
    const IsEager& eager;
    const SlowsCompute& slows;
};

// Empty (for programs with ops) where ops or rates wait for each other in a circle.
std::vector<Act> order_of(const OrderRequest& request);

// Calls `visit` with the transfers of a lane that may slow the compute op.
template <class Visit>
void for_each_rival(const LaneKind& kind, const Known& known,
                    const std::vector<std::uint8_t>& slows, std::uint32_t op, const Visit& visit)
{
    const auto over = known.at_start(op);
    for (std::size_t s = 0; s < kind.streams.size(); ++s) {
        if (kind.streams[s].kind != StreamKind::communication || s == known.stream_of(op))
            continue;
        for (std::uint32_t p = over[s]; p < kind.streams[s].op_count; ++p) {
            const std::uint32_t rival = kind.streams[s].op_first + p;
            if (known.over(known.at_start(rival), op))
                break;
            if (slows[rival] != 0)
                visit(rival);
        }
    }
}

} // namespace trainyard::engine::replay
