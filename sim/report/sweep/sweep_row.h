#pragma once

// What is kept of each point of a sweep: a few figures, so that large grids fit in memory.

#include "sim/report/bottleneck.h"
#include "sim/study/sweep.h"

namespace trainyard {

struct PointRow {
    std::size_t index = 0;           // in the grid
    std::vector<std::string> values; // by axis
    std::string reason;              // why the point cannot be; empty: it can, and the rest holds
    std::string hint;                // what would help; empty: nothing known
    int gpus = 0;
    Prediction step_time;
    double tokens_per_s = 0; // 0 for models without tokens
    double samples_per_s = 0;
    double mfu = 0;
    double exposed_share = 0; // of the step: communication beside which nothing is computed
    double bubble_share = 0;
    Bytes peak_memory; // of points that do not fit too; else 0
    Bytes capacity;
    BottleneckClass bottleneck = BottleneckClass::compute;
    std::uint64_t input_hash = 0;

    bool feasible() const { return reason.empty(); }
    // Tokens where the model has some, else samples.
    double work_per_s() const { return tokens_per_s > 0 ? tokens_per_s : samples_per_s; }

    bool operator==(const PointRow&) const = default;
};

PointRow row_of(const SweepPoint& point);

// By what rows are best.
enum class SweepMeasure : std::uint8_t { throughput, throughput_per_gpu, step_time, mfu };
template <>
std::vector<EnumName<SweepMeasure>> enum_names<SweepMeasure>();

// Requires feasible rows. Of equals the one that comes first in the grid.
bool is_better(const PointRow& a, const PointRow& b, SweepMeasure measure);

// The best rows and the first that cannot be, `shown` of each; the rest is counted. Does not depend
// on the order of rows added.
class SweepBest {
public:
    SweepBest(SweepMeasure measure, std::size_t shown) : measure_(measure), shown_(shown) {}

    void add(PointRow row);

    const std::vector<PointRow>& best() const { return best_; }             // best first
    const std::vector<PointRow>& infeasible() const { return infeasible_; } // in grid order
    std::size_t feasible_count() const { return feasible_count_; }
    std::size_t infeasible_count() const { return infeasible_count_; }

private:
    SweepMeasure measure_;
    std::size_t shown_;
    std::vector<PointRow> best_;
    std::vector<PointRow> infeasible_;
    std::size_t feasible_count_ = 0;
    std::size_t infeasible_count_ = 0;
};

} // namespace trainyard
