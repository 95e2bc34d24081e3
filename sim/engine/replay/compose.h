#pragma once

// Writes the tape of a step from the order of its ops.

#include "sim/engine/replay/order.h"
#include "sim/engine/replay/tape.h"

namespace trainyard::engine::replay {

// What the ops of a cohort add up to, by class of transfer (collective x group kind).
struct Totals {
    std::vector<std::uint32_t> classes; // in use
    std::vector<std::uint32_t> index;   // by class: in `classes`, or none
};

struct Composed {
    Tape tape;
    std::vector<Totals> totals;                       // by cohort
    std::vector<std::vector<const TimeTable*>> times; // by cohort, op: that take time
};

// Whether the tape says what is left of compute when the measured step opens, also of lanes that
// compute on one stream.
enum class WorkLeft : std::uint8_t { ignored, kept };

// Whether a cohort computes on one stream only: then its time is charged on the tape.
bool computes_on_one_stream(const LaneKind& kind);

// Nothing where ranks do not agree about a transfer.
std::optional<Composed> compose(const Program& program, const OrderRequest& request,
                                const std::vector<Act>& acts, WorkLeft left, Tables& tables);

// Gives every value a column; `kept` ones have it to themselves.
void place_values(Tape& tape, const Cohorts& cohorts, const std::vector<Value>& kept);

} // namespace trainyard::engine::replay
