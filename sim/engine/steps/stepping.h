#pragma once

// Collectives in progress step by step: which sends are under way, and who is done.
//
// Each wire of a collective (step_plan.h) has one Transfer of its own, its send, over the links
// from its member to the next; it keeps its place among those who share links as long as one step
// follows the other. README.md has the rules.

#include "sim/engine/rates.h"
#include "sim/engine/steps/pace.h"
#include "sim/engine/steps/ring_sweep.h"
#include "sim/engine/steps/step_choice.h"
#include "sim/engine/transfer_table.h"

#include <map>

namespace trainyard::engine {

class Stepping {
public:
    Stepping(RunState& run, EventQueue& queue, TransferTable& table, Rates& rates,
             const StepChoice& choice, bool sweeps);

    // Goes on step by step with a collective that all have joined and whose work has been draining
    // undisturbed until now.
    void open(std::uint32_t transfer);

    // A member joins a collective that goes step by step from its first arrival on; nothing moves
    // before the transfer's event, which comes at this instant.
    void arrive(std::uint32_t transfer, std::uint32_t stream);
    // The event of a collective: members have come, or are done.
    void handle_collective(std::uint32_t transfer);

    // The event of a send: its latency is over, or its step.
    void handle_send(std::uint32_t send);

    // Before rates are shared: sends that found nothing to go on with at this instant leave their
    // links, rings that someone has joined on theirs go on send by send, and rings that are alone
    // on theirs are swept from now on.
    void prepare_rates();
    // All rings go on send by send.
    void open_sweeps();

    // Members that are done since the last call, and the collectives that are over with them.
    struct Done {
        std::vector<std::uint32_t> streams;
        std::vector<std::uint32_t> transfers;
    };
    Done& done() { return done_; }

    // Writes the members that are not done where those of other collectives stand.
    void list_members();

    // Collectives that were not alone on their links.
    std::uint64_t disturbed() const { return disturbed_; }

private:
    enum class WireState : std::uint8_t { waiting, latency, moving };
    struct WireRun {
        std::uint32_t send = nobody; // transfer
        std::uint32_t done = 0;      // steps
        WireState state = WireState::waiting;
        SimTime moves_from{}; // in latency: over then
    };
    struct Member {
        std::uint32_t stream = nobody; // none: it has not come
        std::uint32_t pending = 0;     // its coming, wires it sends on, receptions
    };
    // A ring of which nothing but the ends of its members is in the queue.
    struct Sweep {
        bool on = false;
        RingSweep ring;
        std::vector<std::pair<SimTime, std::uint32_t>> ends; // members, the first to end last
        std::uint32_t sends_until_next = 0;                  // that pass before it is tried again
    };
    struct Collective {
        std::uint32_t transfer = nobody; // none: free
        const StepPlan* plan = nullptr;
        std::uint32_t steps = 0;
        std::uint32_t members_left = 0;
        std::vector<WireRun> wires;
        std::vector<Member> members;
        std::vector<Pace> paces;             // by member, or one for all
        std::vector<std::uint32_t> arrivals; // members, at this instant
        std::uint32_t absent = 0;            // members
        Sweep sweep;
    };

    const StepPlan& plan(GroupId group, StepShape shape);
    Collective& add(std::uint32_t transfer);
    std::uint32_t add_send(const Collective& collective, std::uint32_t wire);
    void place_members(GroupId group);
    Pace pace_of(const Collective& collective, std::uint32_t scale) const;
    const Pace& pace(const Collective& collective, const Wire& wire) const
    {
        return collective.paces[collective.paces.size() == 1 ? 0 : wire.from];
    }
    bool ready(const Collective& collective, std::uint32_t wire) const;
    void move(Collective& collective, std::uint32_t wire);
    void complete(Collective& collective, std::uint32_t wire);
    void go_on(Collective& collective);
    void count_off(Collective& collective, std::uint32_t member);
    void loosen(std::uint32_t send);
    void let_go();

    // stepping_sweeps.cpp
    bool sweepable(const Collective& collective) const;
    void sweep_new(Collective& collective);
    void sweep_again(Collective& collective);
    bool alone(const Collective& collective) const;
    bool keep_links(const Collective& collective);
    void begin_sweep(Collective& collective, std::span<const SweepWire> wires);
    void come(Collective& collective, std::uint32_t stream);
    void plan_sweep(Collective& collective);
    void finish_swept(Collective& collective);
    void leave_sweep(Collective& collective, const std::vector<SweepWire>& wires);
    void open_sweep(Collective& collective);
    SweepWire stop(Collective& collective, std::uint32_t wire);
    void resume(Collective& collective, std::uint32_t wire, const SweepWire& at);

    RunState& run_;
    EventQueue& queue_;
    TransferTable& table_;
    Rates& rates_;
    const StepChoice& choice_;
    bool sweeps_;
    std::map<std::pair<GroupId, StepShape>, StepPlan> plans_;
    std::vector<std::uint32_t> place_of_; // by lane: in the group placed last
    std::vector<Collective> collectives_; // a pool
    std::vector<std::uint32_t> free_;
    std::vector<std::uint32_t> to_try_;   // wires
    std::vector<std::uint32_t> loose_;    // sends
    std::vector<std::uint32_t> to_sweep_; // collectives
    Done done_;
    std::uint64_t disturbed_ = 0;
};

} // namespace trainyard::engine
