#include "calibrate/measure/output/change_check.h"

#include "calibrate/fit/measured_tables.h"
#include "sim/base/units.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

std::string name_of(const KnotTable& table)
{
    return fmt::format(
        "{} among {} ranks{}, {}{}{}", to_name(table.collective),
        table.ranks_per_domain * table.domains,
        table.domains > 1 ? fmt::format(" of {} nodes", table.domains) : "",
        table.data_type.empty() ? "any type" : table.data_type, table.in_place ? ", in place" : "",
        table.algorithm == "auto" ? "" : fmt::format(", {} {}", table.algorithm, table.protocol));
}

bool same_thing(const KnotTable& a, const KnotTable& b)
{
    return a.collective == b.collective && a.backend == b.backend &&
           a.ranks_per_domain == b.ranks_per_domain && a.domains == b.domains &&
           a.algorithm == b.algorithm && a.protocol == b.protocol && a.in_place == b.in_place &&
           a.data_type == b.data_type;
}

// The interval of a curve at a size, as shares of its time: that of the nearest knot.
double half_width_at(const KnotCurve& curve, Bytes size)
{
    const auto distance = [&](const Knot& knot) { return std::abs(std::log(knot.size / size)); };
    const Knot& nearest =
        *std::min_element(curve.knots.begin(), curve.knots.end(),
                          [&](const Knot& a, const Knot& b) { return distance(a) < distance(b); });
    return (nearest.high - nearest.low) / nearest.time / 2;
}

// Nothing where they have no size in common.
std::optional<CurveChange> change_of(const KnotTable& then, const KnotTable& now)
{
    CurveChange out;
    out.what = name_of(now);
    double logarithms = 0;
    double noise = 0;
    int sizes = 0;
    for (const Knot& knot : now.samples.knots) {
        if (knot.size < then.samples.knots.front().size ||
            knot.size > then.samples.knots.back().size)
            continue;
        const double ratio = knot.time / time_at(then.samples, knot.size);
        logarithms += std::log(ratio);
        noise += std::hypot(half_width_at(then.samples, knot.size),
                            (knot.high - knot.low) / knot.time / 2);
        ++sizes;
        if (std::abs(std::log(ratio)) > std::abs(std::log(out.worst))) {
            out.worst = ratio;
            out.worst_size = knot.size;
        }
    }
    if (sizes == 0)
        return std::nullopt;
    out.ratio = std::exp(logarithms / sizes);
    const double off = std::abs(std::log(out.ratio));
    out.changed = off > std::log1p(unchanged) && off > noise / sizes;
    return out;
}

} // namespace

bool ChangeReport::changed() const
{
    return !machine.empty() || std::any_of(curves.begin(), curves.end(),
                                           [](const CurveChange& c) { return c.changed; });
}

ChangeReport changes_since(const Profile& then, std::span<const Sweep> now,
                           const Environment& environment)
{
    ChangeReport out;
    for (const KnotTable& table : tables_of(now, {})) {
        const auto& known = then.hardware.knots;
        const auto before = std::find_if(known.begin(), known.end(), [&](const KnotTable& one) {
            return one.grade == Grade::measured && same_thing(one, table);
        });
        const auto change = before == known.end() ? std::nullopt : change_of(*before, table);
        if (change)
            out.curves.push_back(*change);
        else
            out.not_there.push_back(name_of(table) +
                                    (before == known.end() ? "" : " at these sizes"));
    }
    std::stable_sort(out.curves.begin(), out.curves.end(),
                     [](const CurveChange& a, const CurveChange& b) {
                         return std::abs(std::log(a.ratio)) > std::abs(std::log(b.ratio));
                     });
    const Environment& before = then.installation.environment;
    out.environment = differences(before, environment);
    if (before.machine && environment.machine)
        out.machine = differences(*before.machine, *environment.machine);
    return out;
}

std::string describe(const ChangeReport& report)
{
    std::string out;
    for (const CurveChange& curve : report.curves) {
        out += fmt::format("{} {}: {:+.1f} % time", curve.changed ? "changed  " : "as before",
                           curve.what, 100 * (curve.ratio - 1));
        if (curve.worst_size > Bytes(0))
            out += fmt::format(", most at {} ({:+.1f} %)", to_text(curve.worst_size),
                               100 * (curve.worst - 1));
        out += "\n";
    }
    for (const std::string& difference : report.machine)
        out += fmt::format("changed   {}\n", difference);
    for (const std::string& difference : report.environment)
        out += fmt::format("differs   {}\n", difference);
    for (const std::string& name : report.not_there)
        out += fmt::format("new       {}: the profile does not have it\n", name);
    return out;
}

} // namespace trainyard
