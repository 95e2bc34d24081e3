#pragma once

// One measured curve with all that it was made of, point by point, and again without some of them:
// for views in which people judge a fit.

#include "calibrate/fit/errors.h"
#include "calibrate/fit/measured_tables.h"
#include "calibrate/fit/order_statistics.h"

#include <set>

namespace trainyard {

// A size that a user keeps out of the fit, in all launches of its configuration.
struct ExcludedSize {
    Configuration configuration;
    Buffers buffers = Buffers::out_of_place;
    Bytes size;

    auto operator<=>(const ExcludedSize&) const = default;
};

using Exclusions = std::set<ExcludedSize>;

// The sweeps as if those sizes had not been measured. Rows left without a time go.
std::vector<Sweep> without(std::span<const Sweep> sweeps, const Exclusions& excluded);

struct StudiedSize {
    Bytes size;
    Seconds time; // median over the launches
    Seconds low;  // 95 % interval of the median by order statistics (6 launches or more), the
    Seconds high; // extremes of 2 to 5; of one launch the time itself
    int launches = 0;
    bool excluded = false;          // by the user
    std::optional<Seconds> fitted;  // by the curve; empty: there is none
    std::optional<double> left_out; // fitted without this size / measured - 1; empty: at the ends

    bool operator==(const StudiedSize&) const = default;
};

// A time that the fit replaced: a first-use cost of one launch.
struct ReplacedTime {
    std::string source; // the launch's
    Bytes size;
    Seconds measured;
    Seconds taken; // in place

    bool operator==(const ReplacedTime&) const = default;
};

struct CurveStudy {
    Configuration configuration;
    Buffers buffers = Buffers::out_of_place;
    KnotTable table;                // as a profile keeps it; without samples: no curve
    std::vector<StudiedSize> sizes; // they grow; empty: the table came without samples
    std::vector<ReplacedTime> replaced;
    ErrorTally left_out;            // of the sizes that are not excluded
    std::vector<std::string> flags; // what is doubtful, and why there is no curve
};

// Every configuration of the sweeps with each use of buffers that was timed, without what is
// excluded. The tables are those of `tables_of(without(sweeps, excluded), on)`.
std::vector<CurveStudy> study_curves(std::span<const Sweep> sweeps, const Exclusions& excluded = {},
                                     const MeasuredOn& on = {});
CurveStudy study_curve(const Launches& launches, Buffers buffers, const Exclusions& excluded = {},
                       const MeasuredOn& on = {});

// Whether any launch was timed with those buffers.
bool is_timed(const Launches& launches, Buffers buffers);

// Of a profile's table that keeps no samples: the curve alone.
CurveStudy study_table(const KnotTable& table);

// Of the errors at sizes left out, as a share; empty without any.
std::optional<double> median_error(const CurveStudy& study);

// Where a measurement of that size would lie nine times of ten: by the errors at sizes left out
// where there are any, else by the table's own intervals. Seconds. Requires a curve.
Interval prediction_interval(const CurveStudy& study, Bytes size);

} // namespace trainyard
