#pragma once

// The run loop: instant by instant, first all ends of an instant, then who starts, again while new
// events fall on the same instant, at last the rates from there on. So nothing depends on the order
// within an instant.

#include "sim/engine/accounting.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/rates.h"
#include "sim/engine/recorder.h"
#include "sim/engine/standstill.h"
#include "sim/engine/steps/stepping.h"
#include "sim/engine/transfer_table.h"

namespace trainyard::engine {

class Simulation {
public:
    // With `mechanisms`, whatever `control` says.
    Simulation(const Program& program, const Binding& binding, const RunControl& control,
               Mechanisms mechanisms);

    Checked<StepResult> run();

    // Runs until all is done or nothing goes on; nothing in the first case.
    Checked<std::optional<Standstill>> run_to_standstill();

private:
    // simulation_stops.cpp: lanes that stop
    void queue_stops();
    bool stopped(std::uint32_t lane) const;
    void stop_lanes();
    void hang(std::uint32_t lane);
    void bury(std::uint32_t lane);
    void break_transfers(std::uint32_t lane);
    void break_off(std::uint32_t transfer);
    void push_end(std::uint32_t stream, SimTime end);
    bool endless(std::uint32_t lane, std::uint32_t stream, SimTime end) const;

    // simulation.cpp: the loop, instants, results
    bool run_all();
    void begin();
    void run_instant();
    void settle();
    void handle(const Event& event);
    void queue_windows(std::uint32_t lane);
    void enter_window(std::uint32_t lane, std::uint32_t border);
    void queue_link_windows();
    void change_link(const Event& event);
    void keep_in_touch();
    StepResult result();

    // simulation_ops.cpp: heads of streams from waiting to finished
    void touch(std::uint32_t lane);
    void look_at(std::uint32_t lane);
    void look_at(std::uint32_t lane, std::uint32_t stream);
    bool released(std::uint32_t lane, std::uint32_t stream);
    bool issued_by(SimTime issued, std::uint32_t index);
    bool may_start(std::uint32_t lane, std::uint32_t stream, const FlatOp& op);
    void start(std::uint32_t lane, std::uint32_t stream, const FlatOp& op);
    void start_timed(std::uint32_t lane, std::uint32_t stream, const FlatOp& op);
    void device_done(std::uint32_t stream);
    void finish(std::uint32_t stream);
    void finish_transfer_op(std::uint32_t lane, std::uint32_t stream, const FlatOp& op);
    void next_head(std::uint32_t lane, std::uint32_t stream);
    void end_of_step(std::uint32_t lane, std::uint32_t step);

    // simulation_transfers.cpp: collectives and messages from arrival to delivery
    void join(std::uint32_t lane, std::uint32_t stream, const FlatOp& op);
    void join_collective(std::uint32_t lane, std::uint32_t stream, const FlatOp& op);
    void join_message(std::uint32_t lane, std::uint32_t stream, const FlatOp& op,
                      const PartPlan& part);
    bool agree(std::uint32_t transfer, const TransferCost& cost, std::uint32_t stream);
    void begin_transfer(std::uint32_t transfer);
    void begin_part(std::uint32_t stream);
    void end_part(std::uint32_t stream);
    StepShape shape_of(const Transfer& transfer) const;
    std::uint32_t copies(const Transfer& transfer) const;
    void handle_transfer(std::uint32_t transfer);
    void finish_stepped();
    void deliver(std::uint32_t transfer);
    std::uint32_t resident_share(std::uint32_t lane, const FlatOp& op) const;
    const TransferCost& part_cost(std::uint32_t lane, const PartPlan& part) const;

    const RunControl& control_;
    Mechanisms mechanisms_;
    RunState run_;
    EventQueue queue_;
    TransferTable table_;
    Accounting accounting_;
    Rates rates_;
    StepChoice choice_;
    Stepping stepping_;
    Recorder recorder_;
    std::vector<std::uint32_t> dirty_;        // lanes to look at
    std::vector<std::uint32_t> streams_left_; // lane x steps
    std::vector<std::uint32_t> lanes_left_;   // by step
    std::vector<SimTime> step_ends_;
    bool links_due_ = false;              // the measured step begins for them at this instant
    std::vector<std::uint32_t> stopping_; // lanes that hang or die at this instant
    std::uint64_t ops_ = 0;
    std::uint64_t all_ops_ = 0;
    std::uint64_t events_ = 0;
    std::uint64_t slowed_ = 0;      // transfers in one piece
    std::uint64_t next_report_ = 0; // in ops
    std::uint64_t next_report_events_ = 0;
    Problems problems_; // a mismatch ends the run
};

} // namespace trainyard::engine
