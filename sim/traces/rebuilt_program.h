#pragma once

// A recorded step as a program of the engine: a lane for each recorded rank.

#include "sim/program/binding.h"
#include "sim/traces/recorded_times.h"

#include <functional>

namespace trainyard {

// How long a transfer moves data, s, that moved them for `recorded`, as far as `known` tells;
// nothing: as long.
using TransferChange =
    std::function<std::optional<double>(const TraceTransfer&, double recorded, MovingFrom known)>;

struct RebuiltProgram {
    static constexpr std::size_t no_op = ~std::size_t{0};

    Program program;
    Binding binding;                          // lanes in the order of JobTrace::ranks
    std::vector<std::vector<std::size_t>> op; // [lane][op of its step]: place in RankActivity::ops
    std::size_t ops = 0;                      // recorded, of all ranks
    std::size_t unknown = 0;                  // of these, like none whose times are known
    std::size_t joined = 0;                   // collectives whose members wait for one another
    std::size_t lone = 0; // transfers that wait as long as recorded: members are missing
};

// Of the step with this number, which every rank has. Ops take what `known` says; a collective with
// a missing member keeps the wait that was recorded. Compute slows down beside transfers as `known`
// says, too.
RebuiltProgram rebuilt_program(const JobTrace& job,
                               const std::vector<std::vector<TransferMoving>>& times,
                               const RecordedTimes& known, int step,
                               const TransferChange& transfer_time);

const TraceStep& step_numbered(const RankActivity& rank, int number);

} // namespace trainyard
