#pragma once

// What the calibration view shows: every curve fitted and every matrix judged.

#include "calibrate/fit/curve_study.h"
#include "gui/calibration/measurements.h"
#include "sim/study/session.h"

#include <QString>
#include <memory>

namespace trainyard::gui {

// What is fitted. Parts are immutable and shared.
struct CalibrationState {
    std::shared_ptr<const Measurements> measured; // null: none
    std::shared_ptr<const Outcome> run;           // of the scenario; null: none
    Exclusions excluded;
    std::shared_ptr<const Measurements> growing = {}; // of a run that still measures; null: none

    bool operator==(const CalibrationState&) const = default;
};

enum class Origin : std::uint8_t {
    measured, // the files
    growing,  // a run that still measures
    job,      // the scenario's collectives as its constants time them
    profile   // the scenario's tables
};

struct FittedCurve {
    Origin origin = Origin::measured;
    CurveStudy study;
    std::string table;        // without samples: which of the profile's, or of the job's groups
    Bandwidth line_rate = {}; // of a rank's links, one direction: NVLink, across nodes the NICs of
                              // a node where these are less; 0: not known

    bool is_same(const FittedCurve& other) const; // fitted again or not
};

struct JudgedMatrix {
    std::string source;
    PairMatrix matrix;
    MatrixVerdicts judged;
};

struct Fitted {
    CalibrationState state;
    std::vector<std::shared_ptr<const FittedCurve>> curves; // of each origin the worst fitted first
    std::vector<std::shared_ptr<const JudgedMatrix>> matrices;
};

// Curves that `before` (may be null) holds of the same times are taken from there. Throws
// Cancelled.
std::shared_ptr<const Fitted> fit(const CalibrationState& state, const Fitted* before,
                                  const WorkControl& work);

// What a profile is made of: the files' sweeps, else those that the scenario's profile keeps,
// without what is excluded.
std::vector<Sweep> sweeps_to_save(const CalibrationState& state);

// Why a profile made of them would be a wrong one; empty: it would not.
Problems refused_to_save(const std::vector<Sweep>& sweeps);

// Null: it is not among them.
std::shared_ptr<const FittedCurve> find(const Fitted& fitted, const FittedCurve& curve);

// The median error at sizes left out; of a table without samples the mean that it states.
std::optional<double> error_of(const CurveStudy& study);

// "all_reduce, 8 ranks".
QString name_of(const CurveStudy& study);
// "2 nodes, Ring/LL, float, in place".
QString details_of(const CurveStudy& study);

// What fitting again did to the curves of `before`: latency and rate of the compact form, and the
// median error at sizes left out, before -> after. Empty: nothing.
QString change_text(const Fitted& before, const Fitted& after);

} // namespace trainyard::gui
