#include "gui/timeline/time_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard::gui {

namespace {

struct Unit {
    const char* name;
    double picoseconds;
};

const Unit& unit_of(double picoseconds)
{
    static constexpr std::array<Unit, 5> units{
        {{"s", 1e12}, {"ms", 1e9}, {"us", 1e6}, {"ns", 1e3}, {"ps", 1}}};
    for (const Unit& unit : units)
        if (std::abs(picoseconds) >= unit.picoseconds)
            return unit;
    return units.back();
}

} // namespace

std::string time_text(SimTime time)
{
    const auto picoseconds = static_cast<double>(time.value());
    const Unit& unit = unit_of(picoseconds);
    return fmt::format("{:.6g} {}", picoseconds / unit.picoseconds, unit.name);
}

std::string moment_text(SimTime since)
{
    if (since == SimTime(0))
        return "the step's beginning";
    return since < SimTime(0) ? fmt::format("{} before the step", time_text(SimTime(0) - since))
                              : fmt::format("{} into the step", time_text(since));
}

std::string axis_text(SimTime time, SimTime step, SimTime largest)
{
    const auto picoseconds = static_cast<double>(time.value());
    const auto apart = static_cast<double>(step.value());
    const Unit& unit = unit_of(std::max(std::abs(static_cast<double>(largest.value())), apart));
    const int digits = static_cast<int>(std::ceil(-std::log10(apart / unit.picoseconds) - 1e-9));
    return fmt::format("{:.{}f} {}", picoseconds / unit.picoseconds, std::clamp(digits, 0, 12),
                       unit.name);
}

} // namespace trainyard::gui
