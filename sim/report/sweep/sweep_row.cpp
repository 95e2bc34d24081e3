#include "sim/report/sweep/sweep_row.h"

#include "sim/report/summary.h"

#include <algorithm>

namespace trainyard {
namespace {

double figure(const PointRow& row, SweepMeasure measure)
{
    switch (measure) {
    case SweepMeasure::throughput:
        return row.work_per_s();
    case SweepMeasure::throughput_per_gpu:
        return row.work_per_s() / row.gpus;
    case SweepMeasure::step_time:
        return -row.step_time.value.value();
    case SweepMeasure::mfu:
        break;
    }
    return row.mfu;
}

// How much memory a point lacks. Requires one that does not fit.
Bytes missing(const PointRow& row)
{
    return row.peak_memory - row.capacity;
}

// Is `a` the better example of why points like it cannot be?
bool shows_better(const PointRow& a, const PointRow& b)
{
    if (a.hindrance.kind == Hindrance::Kind::memory && missing(a) != missing(b))
        return missing(a) < missing(b);
    return a.index < b.index;
}

} // namespace

template <>
std::vector<EnumName<SweepMeasure>> enum_names<SweepMeasure>()
{
    return {{SweepMeasure::throughput, "throughput"},
            {SweepMeasure::throughput_per_gpu, "throughput-per-gpu"},
            {SweepMeasure::step_time, "step-time"},
            {SweepMeasure::mfu, "mfu"}};
}

PointRow row_of(const SweepPoint& point)
{
    PointRow row;
    row.index = point.index;
    row.moved = point.moved;
    row.beside = point.beside;
    for (const Override& change : point.changes) {
        row.values.push_back(change.value);
        // The batch of an axis that was moved stands in its place.
        const auto moved = std::ranges::find(row.beside, change.field, &Override::field);
        if (moved == row.beside.end())
            continue;
        row.values.back() = moved->value;
        row.beside.erase(moved);
    }
    if (point.memory) {
        row.peak_memory = point.memory->peak;
        row.capacity = point.memory->capacity;
    }
    if (!point.feasible()) {
        row.reason = point.reason();
        row.hint = point.hint();
        row.hindrance = point.hindrance();
        return row;
    }
    const Outcome& outcome = *point.outcome;
    static_cast<StepFigures&>(row) = run_figures(outcome);
    row.global_batch = outcome.job.training.global_batch;
    const FidelityChoice& network = outcome.engine.network;
    row.fidelity = network.fidelity;
    if (network.shared && !shares_links(network.fidelity))
        row.links_asked = network.shared->share;
    row.input_hash = outcome.input_hash;
    return row;
}

bool is_better(const PointRow& a, const PointRow& b, SweepMeasure measure)
{
    const double left = figure(a, measure);
    const double right = figure(b, measure);
    return left != right ? left > right : a.index < b.index;
}

std::vector<Override> changes_of(const SweepGrid& grid, const PointRow& row)
{
    std::vector<Override> out;
    for (std::size_t i = 0; i < row.values.size(); ++i)
        out.push_back({grid.axes[i].field, row.values[i]});
    out.insert(out.end(), row.beside.begin(), row.beside.end());
    return out;
}

bool leaves_room(const PointRow& row, double headroom)
{
    return row.peak_memory / row.capacity <= 1 - headroom;
}

bool SweepBest::comes_before(const PointRow& a, const PointRow& b) const
{
    const bool room = leaves_room(a, headroom_);
    return room != leaves_room(b, headroom_) ? room : is_better(a, b, measure_);
}

void SweepBest::add(PointRow row)
{
    if (row.feasible()) {
        ++feasible_count_;
        roomy_count_ += leaves_room(row, headroom_) ? 1 : 0;
        fidelities_.insert(row.fidelity);
        overasked_count_ += row.links_asked > 0 ? 1 : 0;
        most_asked_ = std::max(most_asked_, row.links_asked);
        const auto before = [this](const PointRow& a, const PointRow& b) {
            return comes_before(a, b);
        };
        best_.insert(std::upper_bound(best_.begin(), best_.end(), row, before), std::move(row));
        if (best_.size() > shown_)
            best_.pop_back();
        return;
    }
    ++infeasible_count_;
    ReasonCount& reason = reasons_[row.hindrance];
    reason.hindrance = row.hindrance;
    if (reason.count++ == 0 || shows_better(row, reason.example))
        reason.example = std::move(row);
}

const PointRow* SweepBest::recommended() const
{
    return roomy_count_ == 0 ? nullptr : &best_.front();
}

std::vector<ReasonCount> SweepBest::reasons() const
{
    std::vector<ReasonCount> out;
    for (const auto& [hindrance, reason] : reasons_)
        out.push_back(reason);
    std::ranges::sort(out, [](const ReasonCount& a, const ReasonCount& b) {
        return a.count != b.count ? a.count > b.count : a.example.index < b.example.index;
    });
    return out;
}

} // namespace trainyard
