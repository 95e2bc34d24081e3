#pragma once

// What every engine makes of the times it found: kinds of time, totals of lanes and transfers.

#include "sim/engine/engine.h"

namespace trainyard::engine {

TimeKind computing_kind(Phase phase);

// What a lane has computed, in ps alone on the device x 2^20, by the kinds of computing time.
using ComputeWork = std::array<u128, 5>;
std::size_t phase_index(Phase phase);

// Its kinds of time, in whole picoseconds; the rest of `compute_busy` is slowdown.
void add_work(LaneTotals& totals, const ComputeWork& work);

TimeKind exposed_kind(GroupKind group);

// Whether the members are stages of a pipeline: who comes late is then further on in its schedule,
// not slower. Other kinds of group live inside a stage.
bool joins_stages(const Group& group, const std::vector<Lane>& lanes);

// What a lane's wait for the others of a transfer is, an exchange of messages or a collective of a
// group that may join stages.
TimeKind waiting_kind(OpKind transfer, bool joins_stages);

// One class of transfers (collective x group kind); times in ps, summed over ranks.
struct TransferSum {
    std::uint64_t count = 0;
    u128 bytes = 0;
    u128 transfer = 0;
    u128 waiting = 0;
    u128 exposed = 0;
};

std::size_t transfer_class_count();
std::size_t transfer_class(const Label& label);

// The classes that occur.
std::vector<TransferTotals> transfer_totals(std::span<const TransferSum> by_class);

// What a lane waits for whose own step is over: another stage of the pipeline, or without one the
// others.
TimeKind kind_at_the_end(const std::vector<Lane>& lanes);

// A lane whose own step was shorter idles for the `missing` rest, which is of kind `idle`; one
// whose step was longer (missing < 0) gives up idle time first.
void fill_step(LaneTotals& totals, SimTime missing, TimeKind idle);

// When each step was over, and what the last one took: from the end of the one before. `ends`: of
// each step's own ops, which may be over before those of an earlier step.
void set_steps(StepResult& result, std::vector<SimTime> ends);

// Least waiting + bubble, the lowest of several; none without lanes.
LaneId critical_lane(std::span<const LaneTotals> lanes);

} // namespace trainyard::engine
