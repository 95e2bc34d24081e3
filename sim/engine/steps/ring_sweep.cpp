#include "sim/engine/steps/ring_sweep.h"

#include <algorithm>

namespace trainyard::engine {

void RingSweep::begin(const Pace& pace, std::uint32_t steps, std::span<const SweepWire> wires,
                      std::span<const ByteRate> rates)
{
    pace_ = pace;
    steps_ = steps;
    wires_.assign(wires.begin(), wires.end());
    rates_.assign(rates.begin(), rates.end());
    durations_.clear();
}

void RingSweep::come(std::uint32_t wire, SimTime now)
{
    wires_[wire].free = now;
}

// What a step takes on each wire. Steps are of two lengths, the last one of a third at most.
const std::vector<std::int64_t>& RingSweep::durations(std::uint32_t step)
{
    const Work work{pace_.work(step)};
    const std::int64_t latency = pace_.latency(step).value();
    for (const Durations& known : durations_)
        if (known.work == work && known.latency == latency)
            return known.by_wire;
    std::vector<std::int64_t> by_wire;
    for (std::size_t w = 0; w < rates_.size(); ++w)
        by_wire.push_back(w > 0 && rates_[w] == rates_[w - 1]
                              ? by_wire.back()
                              : latency + time_to_finish(work, rates_[w]).value());
    return durations_.emplace_back(Durations{work, latency, std::move(by_wire)}).by_wire;
}

// When the next step of the wire may begin once the steps before it have ended at those times.
SimTime RingSweep::free_at(std::size_t w, SimTime own, SimTime behind) const
{
    return std::max({wires_[w].free, own, behind});
}

// A step at which some wire has not come so far, or is in the midst of it.
void RingSweep::step_some(std::uint32_t step)
{
    const std::vector<std::int64_t>& takes = durations(step);
    const std::vector<SimTime> before = row_;
    for (std::size_t w = 0; w < wires_.size(); ++w) {
        const SweepWire& wire = wires_[w];
        if (step < wire.done)
            row_[w] = SimTime(0);
        else if (step == wire.done && wire.sends)
            row_[w] = wire.moves_from + time_to_finish(Work{wire.left}, rates_[w]);
        else
            row_[w] =
                std::min(free_at(w, before[w], before[(w + wires_.size() - 1) % wires_.size()]) +
                             SimTime(takes[w]),
                         longest_sim_time);
    }
}

// The first step in which all wires are free.
std::uint32_t RingSweep::first_even_step() const
{
    std::uint32_t step = 0;
    for (const SweepWire& wire : wires_)
        step = std::max(step, wire.done + 1);
    return std::min(step, steps_);
}

std::uint32_t RingSweep::first_step() const
{
    return std::ranges::min(wires_, {}, &SweepWire::done).done;
}

std::span<const SimTime> RingSweep::ends()
{
    row_.assign(wires_.size(), SimTime(0));
    std::uint32_t step = first_step();
    for (const std::uint32_t even = first_even_step(); step < even; ++step)
        step_some(step);
    const auto all_alike = [](const auto& values) {
        return std::ranges::adjacent_find(values, std::ranges::not_equal_to{}) == values.end();
    };
    if (all_alike(row_) && all_alike(rates_)) {
        SimTime end = row_.front();
        for (; step < steps_; ++step)
            end += SimTime(durations(step).front());
        row_.assign(wires_.size(), end);
    }
    for (; step < steps_; ++step) {
        const std::vector<std::int64_t>& takes = durations(step);
        const SimTime last = row_.back();
        for (std::size_t w = row_.size() - 1; w > 0; --w)
            row_[w] = std::max(row_[w], row_[w - 1]) + SimTime(takes[w]);
        row_[0] = std::max(row_[0], last) + SimTime(takes[0]);
    }
    return row_;
}

const std::vector<SweepWire>& RingSweep::at(SimTime now)
{
    found_.assign(wires_.size(), {.done = steps_});
    std::vector<bool> known(wires_.size());
    std::size_t left = wires_.size();
    row_.assign(wires_.size(), SimTime(0));
    for (std::uint32_t step = first_step(); step < steps_ && left > 0; ++step) {
        const std::vector<SimTime> before = row_;
        step_some(step);
        for (std::size_t w = 0; w < wires_.size(); ++w) {
            if (known[w] || step < wires_[w].done || row_[w] <= now)
                continue;
            known[w] = true;
            --left;
            found_[w] =
                place(w, step, now,
                      free_at(w, before[w], before[(w + wires_.size() - 1) % wires_.size()]));
        }
    }
    return found_;
}

// Of a wire that has not ended this step at `now`, and may begin it at `from`.
SweepWire RingSweep::place(std::size_t w, std::uint32_t step, SimTime now, SimTime from) const
{
    SweepWire place = wires_[w];
    if (step != place.done || !place.sends) {
        place.done = step;
        place.sends = from <= now;
        if (!place.sends)
            return place;
        place.moves_from = from + pace_.latency(step);
        place.left = pace_.work(step);
    }
    if (place.moves_from < now) {
        place.left = remaining_after(Work{place.left}, rates_[w], now - place.moves_from).value;
        place.moves_from = now;
    }
    return place;
}

u128 RingSweep::rest(const SweepWire& wire) const
{
    const u128 later = pace_.work_from(wire.done + (wire.sends ? 1 : 0));
    return later + (wire.sends ? wire.left : 0);
}

} // namespace trainyard::engine
