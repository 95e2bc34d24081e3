#pragma once

// Measured collective times: tables of (size, time), and the curve between the points.

#include "sim/base/field_names.h"
#include "sim/base/vocabulary.h"
#include "sim/cost/fingerprint.h"

#include <optional>
#include <string>
#include <vector>

namespace trainyard {

struct Knot {
    Bytes size;
    Seconds time;
    Seconds low; // over sweeps; equal to the time where there was one
    Seconds high;

    bool operator==(const Knot&) const = default;
};

// Read from {"columns": ["size [B]", "time [us]", "low [us]", "high [us]"], "rows": [[...], ...]};
// sizes must grow and times must not fall. Written in bytes and microseconds.
struct KnotCurve {
    std::vector<Knot> knots;

    bool empty() const { return knots.empty(); }
    bool operator==(const KnotCurve&) const = default;
};

template <>
struct FieldValue<KnotCurve> {
    static std::string type_name();
    static bool read(const Reader& reader, KnotCurve& out);
    static Json write(const KnotCurve& value);
    static Json schema();
};

// Time at `size`: linear in size between knots, which is a piecewise alpha-beta; below the first
// knot its time; above the last the last slope (good to 4 times the size, 12 % off at 16 times).
// Monotone. Requires a knot.
Seconds time_at(const KnotCurve& curve, Bytes size);

// T(S) = alpha + S / rate: one line of a compact form, of which the lowest counts.
struct AlphaBetaLine {
    Seconds alpha;
    Bandwidth rate; // of the buffer's bytes

    bool operator==(const AlphaBetaLine&) const = default;
};

// What was measured, before smoothing.
struct RawSample {
    Bytes size;
    Seconds time;
    int launch = 0; // which of the table's launches

    bool operator==(const RawSample&) const = default;
};

// Read from {"columns": ["size [B]", "time [us]", "launch"], "rows": [[...], ...]}, in any order of
// sizes and times.
struct RawSamples {
    std::vector<RawSample> samples;

    bool operator==(const RawSamples&) const = default;
};

template <>
struct FieldValue<RawSamples> {
    static std::string type_name();
    static bool read(const Reader& reader, RawSamples& out);
    static Json write(const RawSamples& value);
    static Json schema();
};

// Mean absolute relative errors of a table's curve, as shares: against its own samples, at sizes
// left out (by band of sizes), and of launches against the others. Empty: not known.
struct CurveErrors {
    std::optional<double> in_sample;
    std::optional<double> leave_one_out;
    std::optional<double> leave_one_out_64k; // up to 64 KiB
    std::optional<double> leave_one_out_1m;  // above, below 1 MiB
    std::optional<double> leave_one_out_16m; // 1 to 16 MiB
    std::optional<double> leave_one_out_above;
    std::optional<double> held_out_launch;

    bool operator==(const CurveErrors&) const = default;
};

// One sweep, or several of one kind of machine: which collective over which shape.
struct KnotTable {
    CollectiveKind collective = CollectiveKind::all_reduce;
    Backend backend = Backend::nccl;
    int ranks_per_domain = 1;
    int domains = 1;
    int nics_per_domain = 0; // 0: one domain, or not known
    Bandwidth nvlink;        // line rates at which it was measured; 0: not known
    Bandwidth nic_rate;
    std::string network; // network class; empty: one domain
    std::string algorithm = "auto";
    std::string protocol = "auto";
    bool in_place = false;
    std::string data_type; // nccl-tests' word; empty: any
    Grade grade = Grade::measured;
    std::string source;
    int launches = 1; // that the knots are medians of
    KnotCurve samples;
    std::vector<AlphaBetaLine> lines; // compact form, for readers and other tools
    CurveErrors errors;
    RawSamples raw;
    Environment environment; // empty: that of the profile's installation

    bool operator==(const KnotTable&) const = default;
};

inline constexpr std::string_view knots_format = "trainyard.knots/1";

template <>
const FieldTable<AlphaBetaLine>& fields_of<AlphaBetaLine>();
template <>
const FieldTable<CurveErrors>& fields_of<CurveErrors>();
template <>
const FieldTable<KnotTable>& fields_of<KnotTable>();

} // namespace trainyard
