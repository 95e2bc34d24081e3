#pragma once

// What is kept of each point of a sweep: its figures, so that large grids fit in memory.

#include "sim/report/step_figures.h"
#include "sim/study/sweep.h"

#include <map>
#include <set>

namespace trainyard {

// Of points that cannot be, only the memory that they need may be known (else 0).
struct PointRow : StepFigures {
    std::size_t index = 0;           // in the grid
    std::vector<std::string> values; // by axis, as simulated
    std::vector<Override> beside;    // what followed from them and is no axis
    std::string reason;              // why the point cannot be; empty: it can, and the rest holds
    std::string hint;                // what would help; empty: nothing known
    Hindrance hindrance;             // of points that cannot be
    std::optional<MovedBatch> moved; // where the batch asked for was not taken
    std::int64_t global_batch = 0;   // that it takes
    Fidelity fidelity = Fidelity::alpha_beta;
    double links_asked = 0; // of what links between switches carry, where the fidelity shares none
    std::uint64_t input_hash = 0;

    bool feasible() const { return reason.empty(); }

    bool operator==(const PointRow&) const = default;
};

PointRow row_of(const SweepPoint& point);

// By what rows are best.
enum class SweepMeasure : std::uint8_t { throughput, throughput_per_gpu, step_time, mfu };
template <>
std::vector<EnumName<SweepMeasure>> enum_names<SweepMeasure>();

// Requires feasible rows. Of equals the one that comes first in the grid.
bool is_better(const PointRow& a, const PointRow& b, SweepMeasure measure);

// The changes that make the scenario of a row's point from the base of its sweep.
std::vector<Override> changes_of(const SweepGrid& grid, const PointRow& row);

// Does the fullest device keep at least `headroom`, a share of its memory, free? What a prediction
// of memory does not see (fragments, other processes, longer sequences) has to fit in there.
// Requires a feasible row.
bool leaves_room(const PointRow& row, double headroom);

inline constexpr double usual_headroom = 0.05;

// Points that cannot be for one reason.
struct ReasonCount {
    Hindrance hindrance;
    std::size_t count = 0;
    PointRow example; // out of memory: the one that lacks least; else the first in the grid
};

// The best rows, `shown` of them, those that leave room before the others; and why the rest cannot
// be. Does not depend on the order of rows added.
class SweepBest {
public:
    SweepBest(SweepMeasure measure, std::size_t shown, double headroom = usual_headroom)
        : measure_(measure), shown_(shown), headroom_(headroom)
    {}

    void add(PointRow row);

    const std::vector<PointRow>& best() const { return best_; } // best first
    // What to take; null where no row leaves room.
    const PointRow* recommended() const;
    // The most frequent first.
    std::vector<ReasonCount> reasons() const;
    const std::set<Fidelity>& fidelities() const { return fidelities_; } // of rows that can be
    // How many of those ask links between switches for more than these carry, unseen by their
    // fidelity, and how much the worst does, of what they carry.
    std::size_t overasked_count() const { return overasked_count_; }
    double most_asked() const { return most_asked_; }
    double headroom() const { return headroom_; }
    std::size_t feasible_count() const { return feasible_count_; }
    std::size_t roomy_count() const { return roomy_count_; } // of those, the ones that leave room
    std::size_t infeasible_count() const { return infeasible_count_; }

private:
    bool comes_before(const PointRow& a, const PointRow& b) const;

    SweepMeasure measure_;
    std::size_t shown_;
    double headroom_;
    std::vector<PointRow> best_;
    std::map<Hindrance, ReasonCount> reasons_;
    std::size_t feasible_count_ = 0;
    std::size_t roomy_count_ = 0;
    std::size_t infeasible_count_ = 0;
    std::set<Fidelity> fidelities_;
    std::size_t overasked_count_ = 0;
    double most_asked_ = 0;
};

} // namespace trainyard
