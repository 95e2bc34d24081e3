#include "sim/cost/size_correction.h"

#include "sim/base/fields.h"
#include "sim/cost/field_kinds.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace trainyard {
namespace {

struct Cell {
    std::size_t below;
    double part; // of the way to the next knot
};

Cell cell_of(const std::vector<std::int64_t>& knots, double size)
{
    const double clamped =
        std::clamp(size, static_cast<double>(knots.front()), static_cast<double>(knots.back()));
    const auto above = std::upper_bound(
        knots.begin() + 1, knots.end() - 1, clamped,
        [](double wanted, std::int64_t knot) { return wanted < static_cast<double>(knot); });
    const auto high = static_cast<double>(*above);
    const auto low = static_cast<double>(*(above - 1));
    return {static_cast<std::size_t>(above - knots.begin()) - 1,
            std::log(clamped / low) / std::log(high / low)};
}

} // namespace

double either(double a, double b)
{
    return std::sqrt(std::sqrt(a * a * a * a + b * b * b * b));
}

void check_correction(const Reader& reader, const SizeCorrection& correction, std::size_t sizes)
{
    if (correction == SizeCorrection{})
        return; // 1 everywhere
    std::size_t count = 1;
    bool sorted = correction.knots.size() == sizes;
    for (const std::vector<std::int64_t>& knots : correction.knots) {
        count *= knots.size();
        sorted = sorted && knots.size() >= 2 && knots.front() > 0 &&
                 std::ranges::adjacent_find(knots, std::ranges::greater_equal{}) == knots.end();
    }
    if (!sorted)
        reader.member("knots").error(fmt::format("expected {} lists of ascending sizes", sizes),
                                     "two positive sizes or more in each");
    else if (std::ranges::any_of(correction.per_mille, [](int v) { return std::abs(v) > 5000; }))
        reader.member("per_mille")
            .error("a correction of more than e^5", "1000 log(ratio) is meant");
    else if (count != correction.per_mille.size())
        reader.member("per_mille")
            .error(fmt::format("{} values for {} combinations of the sizes",
                               correction.per_mille.size(), count));
}

double SizeCorrection::largest(std::size_t size) const
{
    return knots.empty() ? std::numeric_limits<double>::infinity()
                         : static_cast<double>(knots[size].back());
}

double SizeCorrection::factor(std::span<const double> sizes) const
{
    if (knots.empty())
        return 1;
    constexpr std::size_t most = 3;
    std::array<Cell, most> cells{};
    for (std::size_t axis = 0; axis < sizes.size(); ++axis)
        cells[axis] = cell_of(knots[axis], sizes[axis]);
    double sum = 0;
    for (unsigned corner = 0; corner < (1U << sizes.size()); ++corner) {
        std::size_t index = 0;
        double weight = 1;
        for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
            const bool up = (corner >> axis & 1U) != 0;
            weight *= up ? cells[axis].part : 1 - cells[axis].part;
            index = index * knots[axis].size() + cells[axis].below + (up ? 1 : 0);
        }
        sum += weight * per_mille[index];
    }
    return std::exp(sum / 1000);
}

template <>
const FieldTable<SizeCorrection>& fields_of<SizeCorrection>()
{
    using C = SizeCorrection;
    static const auto table =
        FieldTable<C>("correction", "Measured / form over a few sizes.")
            .field("knots", &C::knots, {.help = "of each size, ascending", .required = true})
            .field("per_mille", &C::per_mille,
                   {.help = "1000 log(measured / form), last size fastest", .required = true});
    return table;
}

template <>
const FieldTable<SurfaceErrors>& fields_of<SurfaceErrors>()
{
    using E = SurfaceErrors;
    static const auto table =
        FieldTable<E>("errors", "|predicted / measured - 1| of rows that the fit did not see.")
            .field("rows", &E::rows, {.help = "that were measured", .min = 0})
            .field("median", &E::median, not_negative("of them"))
            .field("p90", &E::p90, not_negative("that nine in ten stay below"));
    return table;
}

} // namespace trainyard
