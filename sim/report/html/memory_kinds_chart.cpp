#include "sim/base/units.h"
#include "sim/report/html/charts.h"
#include "sim/report/html/palette.h"
#include "sim/report/html/svg.h"
#include "sim/report/timeline/memory_curve.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace trainyard {

namespace {

constexpr double plot_height = 190;
constexpr std::size_t chart_columns = 390; // of two units each

std::int64_t most_of(const std::vector<HeldBytes>& points)
{
    std::int64_t most = 0;
    for (const HeldBytes& point : points)
        most = std::max(most, point.bytes);
    return most;
}

// Kinds that are held at some time, most first.
std::vector<std::size_t> kinds_held(const std::vector<HeldBytes>& points)
{
    KindBytes most{};
    for (const HeldBytes& point : points)
        for (std::size_t k = 0; k < most.size(); ++k)
            if (on_device(static_cast<MemoryKind>(k)))
                most[k] = std::max(most[k], point.kinds[k]);
    std::vector<std::size_t> kinds(most.size());
    std::iota(kinds.begin(), kinds.end(), std::size_t{0});
    std::erase_if(kinds, [&](std::size_t k) { return most[k] == 0; });
    std::stable_sort(kinds.begin(), kinds.end(),
                     [&](std::size_t a, std::size_t b) { return most[a] > most[b]; });
    return kinds;
}

// The fullest moment of each column of the plot.
std::vector<HeldBytes> by_column(const std::vector<HeldBytes>& points)
{
    const SimTime begin = points.front().time;
    const double span = static_cast<double>((points.back().time - begin).value());
    std::vector<HeldBytes> shown(chart_columns);
    HeldBytes held = points.front();
    std::size_t next = 0;
    for (std::size_t c = 0; c < chart_columns; ++c) {
        shown[c] = held;
        const double end = span * static_cast<double>(c + 1) / static_cast<double>(chart_columns);
        for (; next < points.size() &&
               static_cast<double>((points[next].time - begin).value()) <= end;
             ++next)
        {
            held = points[next];
            if (held.bytes > shown[c].bytes)
                shown[c] = held;
        }
    }
    return shown;
}

// A band between two heights, column by column.
std::string band(const std::vector<double>& low, const std::vector<double>& high)
{
    const auto x_of = [](std::size_t c) {
        return label_width +
               plot_width * static_cast<double>(c) / static_cast<double>(chart_columns);
    };
    std::string path = fmt::format("M{} {}", coordinate(x_of(0)), coordinate(high[0]));
    for (std::size_t c = 0; c < chart_columns; ++c)
        if (c + 1 == chart_columns || high[c + 1] != high[c])
            path += fmt::format("H{}{}", coordinate(x_of(c + 1)),
                                c + 1 < chart_columns ? "V" + coordinate(high[c + 1]) : "");
    path += "V" + coordinate(low.back());
    for (std::size_t c = chart_columns; c-- > 0;)
        if (c == 0 || low[c - 1] != low[c])
            path += fmt::format("H{}{}", coordinate(x_of(c)),
                                c > 0 ? "V" + coordinate(low[c - 1]) : "");
    return path + "Z";
}

} // namespace

std::string memory_by_kind_figure(const Outcome& outcome, const std::vector<LaneMemory>& lanes)
{
    if (lanes.empty())
        return "";
    const LaneMemory& fullest = *std::ranges::max_element(
        lanes, {}, [](const LaneMemory& lane) { return most_of(lane.points); });
    if (fullest.points.size() < 2 || fullest.points.front().time == fullest.points.back().time)
        return "";
    const std::vector<std::size_t> kinds = kinds_held(fullest.points);
    if (kinds.empty())
        return "";
    const std::vector<HeldBytes> shown = by_column(fullest.points);
    const double full = 1.02 * static_cast<double>(most_of(fullest.points));
    std::string body = byte_axis(full, plot_height);
    std::vector<double> low(chart_columns, plot_height);
    std::vector<LegendEntry> entries;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        std::vector<double> high(chart_columns);
        for (std::size_t c = 0; c < chart_columns; ++c)
            high[c] = low[c] - plot_height * static_cast<double>(shown[c].kinds[kinds[i]]) / full;
        const std::string name(to_name(static_cast<MemoryKind>(kinds[i])));
        body += fmt::format("<path class=\"{}\" d=\"{}\"><title>{}</title></path>", series_class(i),
                            band(low, high), name);
        entries.push_back({series_class(i), name});
        low = std::move(high);
    }
    const Lane& lane = outcome.binding->lanes[fullest.lane.value];
    return fmt::format("<h3>By kind, on rank {}</h3>", lane.rank.value) +
           figure_with_legend("memory held by kind over one step", body, plot_height + 12, entries);
}

} // namespace trainyard
