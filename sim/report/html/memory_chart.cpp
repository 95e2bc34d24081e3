#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/html/charts.h"
#include "sim/report/html/palette.h"
#include "sim/report/html/svg.h"
#include "sim/report/text/describe.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

constexpr double stage_bar_height = 20;
constexpr double stage_bar_gap = 6;
constexpr double curve_height = 190;
constexpr std::size_t most_curves = 4;

// The kinds with a colour of their own, largest first. The others share one.
std::vector<std::string> kinds_of(const MemoryEstimate& memory)
{
    constexpr std::size_t most = 7;
    std::map<std::string, Bytes> largest;
    for (const StageMemory& stage : memory.stages)
        for (const auto& [name, bytes] : stage.kinds)
            if (bytes.value() > 0)
                largest[name] = std::max(largest[name], bytes);
    std::vector<std::string> names;
    for (const auto& [name, bytes] : largest)
        names.push_back(name);
    std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
        return largest[a] > largest[b];
    });
    if (names.size() > most + 1)
        names.resize(most);
    return names;
}

struct Part {
    std::string title;
    Bytes bytes;
};

// What a stage holds of each of `kinds`, and of all others together.
std::vector<Part> parts_of(const StageMemory& stage, const std::vector<std::string>& kinds)
{
    std::vector<Part> parts;
    for (const std::string& kind : kinds) {
        const auto found = stage.kinds.find(kind);
        parts.push_back({kind, found == stage.kinds.end() ? Bytes(0) : found->second});
    }
    Part others{"others", Bytes(0)};
    std::string names;
    for (const auto& [name, bytes] : stage.kinds)
        if (bytes.value() > 0 && std::find(kinds.begin(), kinds.end(), name) == kinds.end()) {
            others.bytes += bytes;
            names += fmt::format("{}{} {}", names.empty() ? " (" : ", ", name, to_display(bytes));
        }
    if (!names.empty())
        others.title += names + ")";
    parts.push_back(std::move(others));
    return parts;
}

double pixels(Bytes bytes, Bytes full)
{
    return full.value() > 0 ? bytes / full * plot_width : 0.0;
}

std::string stage_bar(const StageMemory& stage, std::size_t index,
                      const std::vector<std::string>& kinds, Bytes full, double y)
{
    std::string out =
        svg_text({label_width - 8, y + 14, Anchor::end}, fmt::format("stage {}", index));
    double x = label_width;
    const std::vector<Part> parts = parts_of(stage, kinds);
    for (std::size_t k = 0; k < parts.size(); ++k) {
        if (parts[k].bytes.value() == 0)
            continue;
        const double length = pixels(parts[k].bytes, full);
        out += svg_rect({x, y, length, stage_bar_height}, series_class(k),
                        fmt::format("{}: {}", parts[k].title, to_display(parts[k].bytes)));
        x += length;
    }
    return out + svg_text({chart_width, y + 14, Anchor::end}, to_display(stage.total()));
}

// A curve of steps, one segment per change; changes closer than a pixel keep the higher value.
std::string curve_path(const std::vector<HeldBytes>& points, SimTime end, double full_bytes)
{
    const auto x_of = [&](SimTime time) {
        return label_width +
               (time - points.front().time) / (end - points.front().time) * plot_width;
    };
    const auto y_of = [&](std::int64_t bytes) {
        return curve_height * (1 - static_cast<double>(bytes) / full_bytes);
    };
    std::string path;
    for (std::size_t i = 0; i < points.size();) {
        const double x = x_of(points[i].time);
        std::int64_t most = points[i].bytes;
        std::size_t next = i + 1;
        while (next < points.size() && x_of(points[next].time) - x < 1.0)
            most = std::max(most, points[next++].bytes);
        path += path.empty() ? fmt::format("M{} {}", coordinate(x), coordinate(y_of(most)))
                             : fmt::format("H{}V{}", coordinate(x), coordinate(y_of(most)));
        i = next;
    }
    return path + fmt::format("H{}", coordinate(x_of(end)));
}

struct Curve {
    std::string name;
    std::vector<HeldBytes> points;
};

std::vector<Curve> curves_of(const Outcome& outcome, const std::vector<LaneMemory>& lanes)
{
    std::vector<Curve> curves;
    const std::size_t shown = std::min(most_curves, lanes.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const auto& [lane, points] = lanes[shown < 2 ? 0 : i * (lanes.size() - 1) / (shown - 1)];
        const Lane& at = outcome.binding->lanes[lane.value];
        if (points.size() > 1)
            curves.push_back({lane_name(outcome.plan->program, at.role, at.rank), points});
    }
    return curves;
}

} // namespace

std::string byte_axis(double full_bytes, double height)
{
    std::string out;
    for (const double tick : round_ticks(full_bytes, 4)) {
        const double y = height * (1 - tick / full_bytes);
        out += svg_line(label_width, y, label_width + plot_width, y, "grid");
        out += svg_text({label_width - 8, y + 4, Anchor::end, "muted"},
                        to_display(Bytes(static_cast<std::uint64_t>(tick))));
    }
    return out;
}

std::string memory_figure(const MemoryEstimate& memory)
{
    const std::vector<std::string> kinds = kinds_of(memory);
    const Bytes full = std::max(memory.peak(), memory.capacity);
    std::string body;
    double y = 16;
    for (std::size_t i = 0; i < memory.stages.size(); ++i) {
        body += stage_bar(memory.stages[i], i, kinds, full, y);
        y += stage_bar_height + stage_bar_gap;
    }
    const double limit = label_width + pixels(memory.capacity, full);
    body += svg_line(limit, 12, limit, y, "limit");
    body += svg_text({limit, 9, Anchor::middle, "muted"},
                     fmt::format("{} per device", to_display(memory.capacity)));
    std::vector<LegendEntry> entries;
    for (std::size_t k = 0; k < kinds.size(); ++k)
        entries.push_back({series_class(k), kinds[k]});
    const auto has_others = [&](const StageMemory& stage) {
        return parts_of(stage, kinds).back().bytes.value() > 0;
    };
    if (std::any_of(memory.stages.begin(), memory.stages.end(), has_others))
        entries.push_back({series_class(kinds.size()), "others"});
    return figure_with_legend("peak memory by stage", body, y + 8, entries);
}

std::string memory_over_time_figure(const Outcome& outcome, const std::vector<LaneMemory>& lanes)
{
    const std::vector<Curve> curves = curves_of(outcome, lanes);
    if (curves.empty())
        return "";
    double full = static_cast<double>(outcome.memory.capacity.value());
    SimTime end;
    for (const Curve& curve : curves)
        for (const HeldBytes& point : curve.points) {
            full = std::max(full, static_cast<double>(point.bytes));
            end = std::max(end, point.time);
        }
    if (full <= 0 || end <= curves.front().points.front().time)
        return "";
    full *= 1.02;
    std::string body = byte_axis(full, curve_height);
    const double limit =
        curve_height * (1 - static_cast<double>(outcome.memory.capacity.value()) / full);
    body += svg_line(label_width, limit, label_width + plot_width, limit, "limit");
    std::vector<LegendEntry> entries;
    for (std::size_t i = 0; i < curves.size(); ++i) {
        body += fmt::format("<path class=\"curve l-{}\" d=\"{}\"><title>{}</title></path>", i,
                            curve_path(curves[i].points, end, full), escaped(curves[i].name));
        entries.push_back({series_class(i), curves[i].name});
    }
    return figure_with_legend("memory held over one step", body, curve_height + 12, entries);
}

} // namespace trainyard
