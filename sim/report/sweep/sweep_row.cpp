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

// Into its place among at most `most` rows.
template <class Before>
void insert_sorted(std::vector<PointRow>& rows, PointRow row, std::size_t most, Before before)
{
    rows.insert(std::upper_bound(rows.begin(), rows.end(), row, before), std::move(row));
    if (rows.size() > most)
        rows.pop_back();
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
    for (const Override& change : point.changes)
        row.values.push_back(change.value);
    if (point.memory) {
        row.peak_memory = point.memory->peak;
        row.capacity = point.memory->capacity;
    }
    if (!point.feasible()) {
        row.reason = point.reason();
        row.hint = point.hint();
        return row;
    }
    const Outcome& outcome = *point.outcome;
    const Summary summary = summarize(outcome);
    row.gpus = outcome.job.world();
    row.step_time = summary.step_time;
    row.tokens_per_s = summary.tokens_per_s;
    row.samples_per_s = summary.samples_per_s;
    row.mfu = summary.mfu;
    row.exposed_share = summary.communication_exposed_fraction;
    row.bubble_share = summary.bubble_share;
    row.bottleneck = summary.bottleneck.kind;
    row.input_hash = outcome.input_hash;
    return row;
}

bool is_better(const PointRow& a, const PointRow& b, SweepMeasure measure)
{
    const double left = figure(a, measure);
    const double right = figure(b, measure);
    return left != right ? left > right : a.index < b.index;
}

void SweepBest::add(PointRow row)
{
    if (row.feasible()) {
        ++feasible_count_;
        insert_sorted(best_, std::move(row), shown_, [&](const PointRow& a, const PointRow& b) {
            return is_better(a, b, measure_);
        });
        return;
    }
    ++infeasible_count_;
    insert_sorted(infeasible_, std::move(row), shown_,
                  [](const PointRow& a, const PointRow& b) { return a.index < b.index; });
}

} // namespace trainyard
