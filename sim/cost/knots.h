#pragma once

// Measured collective times: tables of (size, time), and the curve between the points.

#include "sim/base/fields.h"
#include "sim/base/vocabulary.h"

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

// One sweep, or several of one kind of machine: which collective over which shape.
struct KnotTable {
    CollectiveKind collective = CollectiveKind::all_reduce;
    Backend backend = Backend::nccl;
    int ranks_per_domain = 1;
    int domains = 1;
    int nics_per_domain = 0; // 0: one domain, no NIC
    Bandwidth nvlink;        // line rates at which it was measured
    Bandwidth nic_rate;
    std::string network; // network class; empty: one domain
    std::string algorithm = "auto";
    std::string protocol = "auto";
    bool in_place = false;
    Grade grade = Grade::measured;
    std::string source;
    KnotCurve samples;

    bool operator==(const KnotTable&) const = default;
};

inline constexpr std::string_view knots_format = "trainyard.knots/1";

template <>
const FieldTable<KnotTable>& fields_of<KnotTable>();

} // namespace trainyard
