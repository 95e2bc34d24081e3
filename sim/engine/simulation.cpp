#include "sim/engine/simulation.h"

#include "sim/engine/flow/full_sharing.h"
#include "sim/engine/flow/ripple_sharing.h"
#include "sim/engine/standstill.h"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace trainyard::engine {

namespace {

constexpr std::uint64_t ops_between_reports = 1U << 12;
constexpr std::uint64_t events_between_reports = 1U << 16; // one op may be millions of sends

Diagnostic too_long()
{
    return {
        "",
        0,
        "",
        fmt::format("the steps take longer than {:.0f} days, which is as far as the clock counts",
                    to_seconds(longest_sim_time).value() / 86400),
        "a smaller batch, a shorter sequence, fewer steps in run.steps, or shorter times in "
        "perturbations",
        Severity::error};
}

std::unique_ptr<LinkSharing> make_sharing(const Binding& binding, Fidelity fidelity,
                                          Mechanisms mechanisms)
{
    if (fidelity == Fidelity::alpha_beta)
        return nullptr;
    if (!mechanisms.has(Mechanism::ripple))
        return std::make_unique<FullSharing>(binding.links);
    return std::make_unique<RippleSharing>(binding.links);
}

} // namespace

Simulation::Simulation(const Program& program, const Binding& binding, const RunControl& control,
                       Mechanisms mechanisms)
    : control_(control),
      mechanisms_(mechanisms),
      run_(program, binding, control.steps),
      table_(run_),
      accounting_(run_),
      rates_(run_, queue_, accounting_, make_sharing(binding, control.fidelity, mechanisms)),
      choice_(run_, control.fidelity),
      stepping_(run_, queue_, table_, rates_, choice_, mechanisms.has(Mechanism::sweeps)),
      recorder_(run_, control.record,
                any_stops(binding) ? Recorder::Segments::of_all
                                   : Recorder::Segments::of_recorded_lanes),
      lanes_left_(run_.steps, static_cast<std::uint32_t>(run_.lanes.size())),
      step_ends_(run_.steps)
{}

Checked<StepResult> Simulation::run()
{
    if (!run_all()) {
        stepping_.list_members();
        problems_ = stall_report(run_.program, run_.binding,
                                 standstill(run_, table_, rates_.stalled(), recorder_));
        assert(!problems_.empty());
    }
    if (!problems_.empty())
        return tl::unexpected(std::move(problems_));
    return result();
}

Checked<std::optional<Standstill>> Simulation::run_to_standstill()
{
    if (!run_all())
        return standstill(run_, table_, rates_.stalled(), recorder_);
    if (!problems_.empty())
        return tl::unexpected(std::move(problems_));
    return std::nullopt;
}

// Whether it came to an end: all ops are done, or there are problems.
bool Simulation::run_all()
{
    problems_ = cannot_step(run_, control_.fidelity);
    if (!problems_.empty())
        return true;
    begin();
    while (problems_.empty() && !queue_.empty()) {
        run_.now = queue_.advance();
        if (run_.now < longest_sim_time)
            run_instant();
        else if (ops_ == all_ops_)
            break; // all that is left has been overtaken
        else
            problems_.push_back(too_long());
        keep_in_touch();
    }
    return !problems_.empty() || ops_ == all_ops_;
}

// Time 0: the heads of all streams.
void Simulation::begin()
{
    for (std::uint32_t l = 0; l < run_.lanes.size(); ++l) {
        const LaneKind& kind = run_.kind_of(l);
        LaneState& lane = run_.lanes[l];
        lane.host_base = run_.binding.lanes[l].start;
        all_ops_ += std::uint64_t{kind.op_count} * run_.steps;
        streams_left_.insert(streams_left_.end(), run_.steps,
                             static_cast<std::uint32_t>(kind.streams.size()));
        if (kind.op_count == 0) {
            for (std::uint32_t step = 0; step < run_.steps; ++step)
                end_of_step(l, step);
            continue;
        }
        if (run_.steps == 1)
            accounting_.open(l, lane.host_base);
        touch(l);
    }
    if (run_.steps == 1)
        rates_.open_links();
    for (std::uint32_t l = 0; l < run_.lanes.size(); ++l)
        queue_windows(l);
    queue_link_windows();
    queue_stops();
    run_instant();
}

// An event at each border of the lane's windows.
void Simulation::queue_windows(std::uint32_t lane)
{
    std::uint32_t border = 0;
    for (const SpeedWindow& window : run_.binding.lanes[lane].windows)
        for (const SimTime time : {window.begin, window.end}) {
            if (time < longest_sim_time)
                queue_.push({time, lane | window_bit, border});
            ++border;
        }
}

void Simulation::enter_window(std::uint32_t lane, std::uint32_t border)
{
    const bool begins = border % 2 == 0;
    rates_.set_speed(lane,
                     begins ? run_.binding.lanes[lane].windows[border / 2].speed : full_share);
}

void Simulation::queue_link_windows()
{
    if (rates_.sharing() == nullptr)
        return;
    std::uint32_t place = 0;
    for (const LinkWindow& window : run_.binding.link_windows) {
        queue_.push({window.begin, place | window_bit, link_changes});
        if (window.end < longest_sim_time)
            queue_.push({window.end, place | window_bit, link_recovers});
        ++place;
    }
}

// Of two windows that follow on each other the one that ends comes first.
void Simulation::change_link(const Event& event)
{
    const LinkWindow& window = run_.binding.link_windows[event.target & ~window_bit];
    rates_.set_capacity(window.link, event.version == link_changes
                                         ? window.capacity
                                         : run_.binding.links[window.link.value]);
}

void Simulation::run_instant()
{
    do {
        while (queue_.due(run_.now))
            handle(queue_.pop());
        stop_lanes();
        // Looking at a lane starts ops, which ends nothing and so makes no other lane dirty.
        for (const std::uint32_t lane : dirty_) {
            run_.lanes[lane].dirty = false;
            look_at(lane);
        }
        dirty_.clear();
    } while (problems_.empty() && queue_.due(run_.now));
    if (rates_.disturbed())
        settle();
}

// Rates for the time from now on; a ring that others slow goes on step by step first.
void Simulation::settle()
{
    stepping_.prepare_rates();
    if (std::exchange(links_due_, false)) {
        stepping_.open_sweeps();
        rates_.open_links();
    }
    rates_.share();
    if (choice_.fidelity() == Fidelity::flow)
        while (!rates_.slowed().empty()) {
            for (const std::uint32_t transfer : rates_.slowed())
                stepping_.open(transfer);
            rates_.share();
        }
    rates_.settle();
}

void Simulation::handle(const Event& event)
{
    const bool of_transfer = (event.target & transfer_bit) != 0;
    if (!of_transfer && (event.target & window_bit) != 0 && event.version == stopping)
        return stopping_.push_back(event.target & ~window_bit);
    ++events_;
    if (of_transfer) {
        const std::uint32_t id = event.target & ~transfer_bit;
        if (run_.transfers[id].version == event.version)
            handle_transfer(id);
        return;
    }
    if ((event.target & window_bit) != 0)
        return event.version >= link_changes
                   ? change_link(event)
                   : enter_window(event.target & ~window_bit, event.version);
    StreamState& stream = run_.streams[event.target];
    if (stream.version != event.version)
        return;
    if (stream.state == HeadState::waits_for_issue) {
        const std::uint32_t lane = run_.lane_of(event.target);
        touch(lane);
        stream.state = HeadState::unchecked;
        run_.lanes[lane].to_look_at |= stream_bit(event.target - run_.stream_index(lane, 0));
    } else if (stream.state == HeadState::running && rates_.drains(event.target)) {
        device_done(event.target);
    } else {
        finish(event.target);
    }
}

// Progress and cancel, now and then.
void Simulation::keep_in_touch()
{
    if (ops_ < next_report_ && events_ < next_report_events_)
        return;
    next_report_ = ops_ + ops_between_reports;
    next_report_events_ = events_ + events_between_reports;
    control_.work.check();
    control_.work.report("simulate", static_cast<double>(ops_), static_cast<double>(all_ops_));
}

StepResult Simulation::result()
{
    StepResult result;
    set_steps(result, step_ends_);
    result.lanes = accounting_.lane_totals(result.step_time);
    result.critical_lane = critical_lane(result.lanes);
    result.lane_ends = accounting_.lane_ends();
    result.transfers = accounting_.transfer_totals();
    result.links = rates_.link_totals();
    result.steps = {stepping_.disturbed(), whole_collectives(run_, choice_)};
    result.slowed = slowed_ + stepping_.disturbed();
    result.records = recorder_.take();
    result.ops = ops_;
    result.events = events_;
    return result;
}

} // namespace trainyard::engine

namespace trainyard {

Checked<StepResult> run_reference(const Program& program, const Binding& binding,
                                  const RunControl& control)
{
    return engine::Simulation(program, binding, control, Mechanisms::none()).run();
}

Checked<StepResult> run_event(const Program& program, const Binding& binding,
                              const RunControl& control)
{
    return engine::Simulation(program, binding, control, control.mechanisms).run();
}

} // namespace trainyard
