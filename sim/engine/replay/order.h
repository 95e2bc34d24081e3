#pragma once

// A topological order in which a step of all lane classes can be replayed: behind each op come
// those that need it. It holds for every step and whatever the numbers.
//
// Compute also needs to know when the transfers run that slow it: those of its lane that are
// neither over when it starts nor come behind it. A transfer whose end depends on the compute
// itself lasts longer and need not be known. Where neither is so, two rates wait for each other,
// and there is no such order.

#include "sim/engine/replay/lane_classes.h"
#include "sim/engine/replay/precedence.h"

namespace trainyard::engine::replay {

struct Action {
    enum class Kind : std::uint8_t {
        run,        // an op that takes time starts and ends
        arrive,     // a transfer op heads its stream and is issued
        collective, // a collective: all have arrived; it ends
        eager_send, // an eager message: its sender has arrived
        message,    // a message: both have arrived
        complete    // an exchange: its parts are over
    };
    Kind kind = Kind::run;
    std::uint32_t where = 0; // lane class; collective: group class
    std::uint32_t what = 0;  // op; collective: ordinal; message: part of the sender's kind
};

// Whether the sender of a message need not wait for its receiver.
using IsEager = std::vector<std::vector<std::uint8_t>>; // by lane class, part of its kind

// Whether an op slows compute beside it.
using SlowsCompute = std::vector<std::vector<std::uint8_t>>; // by lane class, op

struct OrderRequest {
    const LaneClasses& lane_classes;
    const std::vector<Precedence>& precedence; // by lane class
    const IsEager& eager;
    const SlowsCompute& slows;
};

// The order; empty (for programs with ops) where ops or rates wait for each other in a circle.
std::vector<Action> topological_order(const OrderRequest& request);

// Calls `visit` with the transfers of a lane that may slow the compute op.
template <class Visit>
void for_each_overlap(const LaneKind& kind, const Precedence& precedence,
                      const std::vector<std::uint8_t>& slows, std::uint32_t op, const Visit& visit)
{
    const auto over = precedence.at_start(op);
    for (std::size_t s = 0; s < kind.streams.size(); ++s) {
        if (kind.streams[s].kind != StreamKind::communication || s == precedence.stream_of(op))
            continue;
        for (std::uint32_t p = over[s]; p < kind.streams[s].op_count; ++p) {
            const std::uint32_t overlap = kind.streams[s].op_first + p;
            if (precedence.over(precedence.at_start(overlap), op))
                break;
            if (slows[overlap] != 0)
                visit(overlap);
        }
    }
}

} // namespace trainyard::engine::replay
