#include "sim/cost/gemm_surface.h"

#include "sim/base/fields.h"
#include "sim/base/units.h"
#include "sim/cost/column_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace trainyard {
namespace {

constexpr std::array<const char*, 4> surface_titles{"m", "n", "k", "time [us]"};

using Sides = std::array<std::int64_t, 3>;

Sides sides_of(const GemmPoint& point)
{
    return {point.m, point.n, point.k};
}

bool in_order(const GemmPoint& a, const GemmPoint& b)
{
    return sides_of(a) < sides_of(b);
}

std::string shape_text(const Sides& sides)
{
    return fmt::format("{} x {} x {}", sides[0], sides[1], sides[2]);
}

std::array<std::vector<std::int64_t>, 3> axes_of(const std::vector<GemmPoint>& points)
{
    std::array<std::set<std::int64_t>, 3> seen;
    for (const GemmPoint& point : points)
        for (std::size_t axis = 0; axis < 3; ++axis)
            seen[axis].insert(sides_of(point)[axis]);
    std::array<std::vector<std::int64_t>, 3> out;
    for (std::size_t axis = 0; axis < 3; ++axis)
        out[axis].assign(seen[axis].begin(), seen[axis].end());
    return out;
}

// Of the grid of `axes`, what the sorted points lack. Takes no more steps than there are points.
std::optional<Sides> first_hole(const std::array<std::vector<std::int64_t>, 3>& axes,
                                const std::vector<GemmPoint>& sorted)
{
    std::size_t i = 0;
    for (const std::int64_t m : axes[0])
        for (const std::int64_t n : axes[1])
            for (const std::int64_t k : axes[2]) {
                const Sides wanted{m, n, k};
                if (i == sorted.size() || sides_of(sorted[i]) != wanted)
                    return wanted;
                ++i;
            }
    return std::nullopt;
}

std::optional<GemmPoint> read_point(const Reader& row)
{
    const Json& node = row.node();
    const bool right =
        node.is_array() && node.items().size() == surface_titles.size() &&
        std::all_of(node.items().begin(), node.items().end() - 1,
                    [](const Json& cell) { return cell.is_integer() && cell.as_integer() > 0; }) &&
        node.items()[3].is_number() && node.items()[3].as_double() > 0;
    if (!right) {
        row.error("expected a row of m, n, k and time",
                  "sides are positive whole numbers, times positive");
        return std::nullopt;
    }
    return GemmPoint{node.items()[0].as_integer(), node.items()[1].as_integer(),
                     node.items()[2].as_integer(), Seconds(node.items()[3].as_double() * 1e-6)};
}

// Reports shapes given twice, holes of the grid, and times that fall.
bool check_grid(const Reader& rows, const std::vector<GemmPoint>& sorted)
{
    for (std::size_t i = 1; i < sorted.size(); ++i)
        if (sides_of(sorted[i]) == sides_of(sorted[i - 1])) {
            rows.error(fmt::format("{} stands there twice", shape_text(sides_of(sorted[i]))));
            return false;
        }
    const auto axes = axes_of(sorted);
    if (const std::optional<Sides> hole = first_hole(axes, sorted)) {
        rows.error(fmt::format("{} is missing", shape_text(*hole)),
                   "every m is needed with every n and every k");
        return false;
    }
    const std::array<std::size_t, 3> strides{axes[1].size() * axes[2].size(), axes[2].size(), 1};
    for (std::size_t i = 0; i < sorted.size(); ++i)
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (sides_of(sorted[i])[axis] == axes[axis].front())
                continue;
            const GemmPoint& before = sorted[i - strides[axis]];
            if (sorted[i].time < before.time) {
                rows.error(fmt::format("the time falls from {} at {} to {} at {}",
                                       to_text(before.time), shape_text(sides_of(before)),
                                       to_text(sorted[i].time), shape_text(sides_of(sorted[i]))),
                           "times must not fall with a side; make them isotonic first");
                return false;
            }
        }
    return true;
}

} // namespace

GemmSurface::GemmSurface(std::vector<GemmPoint> points)
{
    std::sort(points.begin(), points.end(), in_order);
    sides_ = axes_of(points);
    for (const GemmPoint& point : points)
        times_.push_back(point.time);
    const std::array<std::size_t, 3> strides{sides_[1].size() * sides_[2].size(), sides_[2].size(),
                                             1};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (sides_[axis].size() < 2)
            continue;
        const double step =
            std::log(static_cast<double>(sides_[axis][1]) / static_cast<double>(sides_[axis][0]));
        double sum = 0;
        int lines = 0;
        for (std::size_t i = 0; i < points.size(); ++i)
            if (sides_of(points[i])[axis] == sides_[axis].front()) {
                sum += std::log(times_[i + strides[axis]] / times_[i]) / step;
                ++lines;
            }
        first_slope_[axis] = std::clamp(sum / lines, 0.0, 1.0);
    }
}

Seconds GemmSurface::time(const GemmShape& shape) const
{
    const Sides wanted{shape.m * shape.batch, shape.n, shape.k};
    std::array<std::size_t, 3> below{};
    std::array<double, 3> part{}; // of the way to the next side
    double beyond = 1;            // the grid
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::vector<std::int64_t>& sides = sides_[axis];
        const auto side = static_cast<double>(wanted[axis]);
        const auto above = std::lower_bound(sides.begin(), sides.end(), wanted[axis]);
        if (above == sides.end()) {
            below[axis] = sides.size() - 1;
            beyond *= side / static_cast<double>(sides.back());
        } else if (*above == wanted[axis]) {
            below[axis] = static_cast<std::size_t>(above - sides.begin());
        } else if (above == sides.begin()) {
            beyond *= std::pow(side / static_cast<double>(sides.front()), first_slope_[axis]);
        } else {
            below[axis] = static_cast<std::size_t>(above - sides.begin()) - 1;
            const auto low = static_cast<double>(*(above - 1));
            part[axis] = std::log(side / low) / std::log(static_cast<double>(*above) / low);
        }
    }
    const auto at = [&](std::size_t m, std::size_t n, std::size_t k) {
        return times_[(m * sides_[1].size() + n) * sides_[2].size() + k];
    };
    if (part == std::array<double, 3>{})
        return at(below[0], below[1], below[2]) * beyond;
    double logarithm = 0;
    for (unsigned corner = 0; corner < 8; ++corner) {
        std::array<std::size_t, 3> index = below;
        double weight = 1;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const bool up = (corner >> axis & 1U) != 0;
            weight *= up ? part[axis] : 1 - part[axis];
            index[axis] += up ? 1 : 0;
        }
        if (weight > 0)
            logarithm += weight * std::log(at(index[0], index[1], index[2]).value());
    }
    return Seconds(std::exp(logarithm)) * beyond;
}

GemmSurface GemmSurface::sped_up(double factor) const
{
    GemmSurface out = *this;
    for (Seconds& time : out.times_)
        time = time / factor;
    return out;
}

std::vector<GemmPoint> GemmSurface::points() const
{
    std::vector<GemmPoint> out;
    for (const std::int64_t m : sides_[0])
        for (const std::int64_t n : sides_[1])
            for (const std::int64_t k : sides_[2])
                out.push_back({m, n, k, times_[out.size()]});
    return out;
}

std::string FieldValue<GemmSurface>::type_name()
{
    return "columns and rows of numbers";
}

bool FieldValue<GemmSurface>::read(const Reader& reader, GemmSurface& out)
{
    const std::size_t before = reader.error_count();
    if (!check_keys(reader, {{"columns", true}, {"rows", true}}, "gemm_surface") ||
        reader.error_count() != before)
        return false;
    Json expected = Json::array();
    for (const char* title : surface_titles)
        expected.push_back(title);
    const Reader rows = reader.member("rows");
    if (!(*reader.node().find("columns") == expected))
        reader.member("columns").error("unknown columns",
                                       "they are \"m\", \"n\", \"k\", \"time [us]\"");
    else if (!rows.node().is_array() || rows.node().items().empty())
        rows.error("expected a list of rows");
    if (reader.error_count() != before)
        return false;
    std::vector<GemmPoint> points;
    for (std::size_t i = 0; i < rows.node().items().size(); ++i) {
        const std::optional<GemmPoint> point = read_point(rows.element(i));
        if (!point)
            return false;
        points.push_back(*point);
    }
    std::sort(points.begin(), points.end(), in_order);
    if (!check_grid(rows, points))
        return false;
    out = GemmSurface(std::move(points));
    return true;
}

Json FieldValue<GemmSurface>::write(const GemmSurface& value)
{
    if (value.empty())
        return {};
    Json out = Json::object();
    for (const char* title : surface_titles)
        out["columns"].push_back(title);
    for (const GemmPoint& point : value.points()) {
        Json row = Json::array();
        for (const std::int64_t side : sides_of(point))
            row.push_back(side);
        row.push_back(written_microseconds(point.time));
        out["rows"].push_back(std::move(row));
    }
    return out;
}

Json FieldValue<GemmSurface>::schema()
{
    return column_table_schema();
}

} // namespace trainyard
