#pragma once

// Runs a program with its numbers.
//
// An op starts when it heads its stream, its waits are over and the host has issued its first
// kernel; it ends no earlier than one mean kernel time after the host has issued its last one. So a
// phase takes max(device, host) without a special rule. A collective or message moves data once all
// its members have arrived, that is have issued all its kernels; from its own arrival a member's
// stream is busy. While communication kernels are resident on a lane, its compute runs at
// 1 - sum(sm_share) - sum(traffic_share x rate / ceiling), at least 1/20, in whole parts of 2^20.
// README.md of this folder has the rules in full.
//
// The engine knows ops, durations, volumes and links, nothing of transformers. Same input, same
// output, bit for bit.

#include "sim/base/diagnostic.h"
#include "sim/base/progress.h"
#include "sim/engine/mechanisms.h"
#include "sim/program/binding.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace trainyard {

enum class Fidelity : std::uint8_t {
    alpha_beta, // transfers never share links
    bundle,     // max-min fair sharing, one activity per transfer
    flow,       // bundle, and a ring that others slow goes on step by step (steps/README.md)
    chunk       // every collective step by step
};

constexpr bool shares_links(Fidelity fidelity)
{
    return fidelity != Fidelity::alpha_beta;
}

constexpr bool knows_steps(Fidelity fidelity)
{
    return fidelity == Fidelity::flow || fidelity == Fidelity::chunk;
}

// Where a lane's time goes; every picosecond of a step belongs to exactly one.
enum class TimeKind : std::uint8_t {
    forward,
    backward,
    recompute,
    optimizer,
    other_compute,
    slowdown,   // compute time lost to communication beside it
    exposed_tp, // data moves, nothing is computed
    exposed_cp,
    exposed_ep, // ep, etp
    exposed_dp, // dp, edp, world
    exposed_pp, // pp, embedding
    waiting,    // in a collective of one stage whose members have not all arrived
    bubble,     // nothing to do: waiting for another stage of the pipeline
    host,       // the device is idle because the host has not issued the next op
    data        // the device waits for input data or for a copy over the host link
};
inline constexpr std::size_t time_kind_count = 15;

template <>
std::vector<EnumName<TimeKind>> enum_names<TimeKind>();
template <>
std::vector<EnumName<Fidelity>> enum_names<Fidelity>();

// One op that ran, as the timeline shows it.
struct OpRecord {
    LaneId lane{};
    StreamId stream{};
    LabelId label{};
    std::uint32_t op = 0; // of its lane's step, in the order in which the host issues them
    OpKind kind = OpKind::compute;
    std::uint16_t micro_batch = BlockUse::no_index;
    std::uint16_t layer = BlockUse::no_index;
    std::uint16_t step = 0;
    GroupId group{};  // collective
    SimTime issued{}; // by the host
    SimTime start{};  // heads its stream, dependencies met (communication: the kernel is resident)
    SimTime transfer_start{}; // communication: all arrived; else = start
    SimTime end{};
    Bytes bytes{};
    LaneId last_arriver{}; // collective: who came last (of several the lowest)

    bool operator==(const OpRecord&) const = default;
};

// Receives ops as they finish. Filter by lane and step before the run.
struct RecordRequest {
    std::function<bool(LaneId)> lane{}; // null: none
    std::uint16_t first_step = 0;
};

// Which engine runs a program. All that can run it give the same result; they differ in speed.
enum class Tier : std::uint8_t {
    automatic, // the fastest that is exact
    replay,    // op by op over all lanes, in an order known beforehand; refuses where there is none
    ahead,     // lane by lane, where others can disturb nothing but compute; refuses elsewhere
    event,     // in the order of time, rates that follow what changed
    reference  // the same, every rate solved in full, nothing skipped
};

struct RunControl {
    Tier tier = Tier::automatic;
    int steps =
        2; // unrolled, >= 1; the step time is end(k) - end(k-1) of the last, 0 before the first
    Fidelity fidelity = Fidelity::alpha_beta;
    WorkControl work{};
    RecordRequest record{};
    Mechanisms mechanisms = Mechanisms::all(); // run_reference: none, whatever is said here
};

// Totals of one lane over the measured (last) step.
struct LaneTotals {
    std::array<SimTime, time_kind_count> time{}; // sums to the step time
    SimTime compute_busy{};                      // computing, slowdown included
    SimTime communication_busy{}; // its transfers move data, those at the same time added up

    bool operator==(const LaneTotals&) const = default;
};

// One kind of transfer over one kind of group, summed over the ops of lanes x multiplicity of the
// measured step.
struct TransferTotals {
    CollectiveKind collective = CollectiveKind::all_reduce;
    GroupKind group = GroupKind::world;
    std::uint64_t count = 0;     // ops: a collective counts once per member, an exchange per side
    double bytes = 0;            // sum of S; of exchanges what they send
    double transfer_seconds = 0; // from the last arrival to the end
    double waiting_seconds = 0;  // from each member's arrival to the last one's
    double exposed_seconds = 0;  // what the lanes' exposed_* hold of it

    bool operator==(const TransferTotals&) const = default;
};

struct LinkTotals {
    LinkId link{};
    double bytes = 0;         // over the measured step
    double busiest_share = 0; // highest load / capacity seen in it

    bool operator==(const LinkTotals&) const = default;
};

// Why a collective over shared links went as one activity with one rate, in a fidelity that knows
// single steps.
enum class WholeReason : std::uint8_t {
    pattern,  // only rings go step by step in this fidelity
    lockstep, // its members move together: nothing is lost
    rings     // rings collide with rings throughout the run: too dear
};

struct WholeCollectives {
    CollectiveKind collective = CollectiveKind::all_reduce;
    GroupKind group = GroupKind::world;
    WholeReason reason = WholeReason::pattern;

    auto operator<=>(const WholeCollectives&) const = default;
};

// Fidelities flow and chunk: what went step by step.
struct StepTotals {
    std::uint64_t disturbed = 0; // collectives that had less than their ceiling in some step
    std::vector<WholeCollectives> whole{};

    bool operator==(const StepTotals&) const = default;
};

struct StepResult {
    SimTime step_time{};
    std::vector<SimTime> step_ends{}; // of each unrolled step: the last lane's end
    std::vector<LaneTotals> lanes{};  // by LaneId
    std::vector<SimTime> lane_ends{}; // of the last step, by LaneId
    LaneId critical_lane{}; // least waiting + bubble, the lowest of several: sets the pace
    std::vector<TransferTotals> transfers{};
    std::vector<LinkTotals> links{}; // in fidelities that share them
    StepTotals steps{};
    std::uint64_t slowed = 0; // transfers that had less than their ceiling, for sharing links
    std::vector<OpRecord> records{}; // by end, lane, stream
    std::uint64_t ops = 0;           // executed, all steps and lanes
    std::uint64_t events = 0;        // taken from the queue

    bool operator==(const StepResult&) const = default;
};

// The engine that ran, and why no faster one did.
struct TierUse {
    Tier tier = Tier::reference;
    std::string reason{}; // empty when it was asked for

    bool operator==(const TierUse&) const = default;
};

struct Run {
    StepResult result;
    TierUse use;
};

template <>
std::vector<EnumName<Tier>> enum_names<Tier>();
template <>
std::vector<EnumName<WholeReason>> enum_names<WholeReason>();

// The problem of a program whose ops take more than `memory` while they run, 84 bytes for each
// of a step as measured on steps of 12 and 245 million; else none.
Problems memory_problems(const Program& program, Bytes memory);

// Runs the program on the engine that `control` asks for; `automatic` chooses. Problems, Cancelled
// and requirements as for run_reference.
Checked<Run> run(const Program& program, const Binding& binding, const RunControl& control);

// Runs the reference engine: one plain queue, full max-min solve. A deadlock, a mismatch (members
// of a group in different collectives, unmatched sends) or a transfer stalled at rate 0 comes back
// as problems that name ranks and ops. Throws Cancelled. Requires what program/README.md
// promises.
Checked<StepResult> run_reference(const Program& program, const Binding& binding,
                                  const RunControl& control);

// The event engine: the same result (but StepResult::events, where events of one instant overtake
// each other) from faster sharing.
Checked<StepResult> run_event(const Program& program, const Binding& binding,
                              const RunControl& control);

} // namespace trainyard
