#pragma once

// One order in which a step of all cohorts can be replayed: behind each op come those that need it.
// It holds for every step and whatever the numbers.

#include "sim/engine/replay/cohorts.h"
#include "sim/engine/replay/known.h"

namespace trainyard::engine::replay {

struct Act {
    enum class Kind : std::uint8_t {
        run,      // an op that takes time starts and ends
        arrive,   // a transfer op heads its stream and is issued
        gather,   // a collective: all have arrived; it ends
        send,     // an eager message: its sender has arrived
        pass,     // a message: both have arrived
        complete  // an exchange: its parts are over
    };
    Kind kind = Kind::run;
    std::uint32_t where = 0; // cohort; gather: meeting
    std::uint32_t what = 0;  // op; gather: ordinal; send, pass: part of the sender's kind
};

// Whether the sender of a message need not wait for its receiver.
using IsEager = std::vector<std::vector<std::uint8_t>>; // by cohort, part of its kind

// Empty (for programs with ops) where ops wait for each other in a circle.
std::vector<Act> order_of(const Cohorts& cohorts, const std::vector<Known>& known,
                          const IsEager& eager);

} // namespace trainyard::engine::replay
