#include "sim/report/html/timeline_svg.h"

#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/html/palette.h"
#include "sim/report/html/style.h"
#include "sim/report/html/svg.h"
#include "sim/report/text/describe.h"
#include "sim/report/text/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

constexpr double compute_height = 18;
constexpr double other_height = 8;
constexpr double row_gap = 1.5;
constexpr double lane_gap = 9;
constexpr double axis_height = 22;
constexpr double room_around_number = 4;
constexpr double digit_width = 5.8;

struct Scale {
    SimTime start;
    double pixels_per_ps = 0;

    double x(SimTime time) const
    {
        return label_width + static_cast<double>((time - start).value()) * pixels_per_ps;
    }
};

double height_of(const TimelineRow& row)
{
    return row.kind == StreamKind::compute ? compute_height : other_height;
}

std::string tooltip(const Slice& slice, SimTime origin)
{
    std::string text = fmt::format("{}: {}", slice_title_of(slice.kind), slice.title);
    if (slice.ops > 1)
        text += fmt::format(" and {} more", slice.ops - 1);
    if (slice.micro_batch != BlockUse::no_index)
        text += fmt::format(", micro-batch {}", slice.micro_batch);
    text += fmt::format(", {} from {}", to_display(slice.end - slice.start),
                        to_display(slice.start - origin));
    const double busy = slice.busy / (slice.end - slice.start);
    return busy < 0.995 ? text + fmt::format(", busy {}", percent(busy)) : text;
}

std::string slice_svg(const Slice& slice, const Scale& scale, double y, double height)
{
    const double x = scale.x(slice.start);
    const double length = std::max(scale.x(slice.end) - x, 0.3);
    std::string out =
        svg_rect({x, y, length, height}, css_class(slice.kind), tooltip(slice, scale.start));
    if (height < compute_height || slice.micro_batch == BlockUse::no_index)
        return out;
    const std::string number = fmt::format("{}", slice.micro_batch);
    if (length >= room_around_number + digit_width * static_cast<double>(number.size()))
        out += svg_text({x + length / 2, y + height - 5, Anchor::middle, "on-colour"}, number);
    return out;
}

double lane_height(const TimelineLane& lane)
{
    double height = lane_gap;
    for (const TimelineRow& row : lane.rows)
        height += height_of(row) + row_gap;
    return height;
}

std::string lane_svg(const TimelineLane& lane, const Scale& scale, double top)
{
    std::string out = svg_text({label_width - 8, top + 13, Anchor::end}, shortened(lane.name, 22));
    double y = top;
    for (const TimelineRow& row : lane.rows) {
        const double height = height_of(row);
        if (row.kind == StreamKind::compute)
            out += svg_rect({label_width, y, chart_width - label_width, height}, "k-bubble",
                            fmt::format("{}: idle", lane.name));
        else
            out += svg_text({label_width - 8, y + height - 0.5, Anchor::end, "tiny"},
                            shortened(row.name, 20));
        for (const Slice& slice : row.slices)
            out += slice_svg(slice, scale, y, height);
        y += height + row_gap;
    }
    return out + "\n";
}

std::string axis_svg(SimTime span, double pixels_per_ps, double top, double bottom)
{
    std::string out;
    for (const double tick : round_ticks(to_seconds(span).value(), 8)) {
        const double x = label_width + tick * 1e12 * pixels_per_ps;
        out += svg_line(x, top, x, bottom, "grid");
        out +=
            svg_text({x, bottom + 14, x > chart_width - 20 ? Anchor::end : Anchor::middle, "muted"},
                     to_display(Seconds(tick)));
    }
    return out;
}

std::vector<LegendEntry> legend_of(const Timeline& timeline)
{
    std::set<TimeKind> kinds;
    for (const TimelineLane& lane : timeline.lanes)
        for (const TimelineRow& row : lane.rows)
            for (const Slice& slice : row.slices)
                kinds.insert(slice.kind);
    std::vector<LegendEntry> entries;
    for (const TimeKind kind : kinds)
        entries.push_back({css_class(kind), std::string(slice_title_of(kind))});
    entries.push_back({"k-bubble", "idle"});
    return entries;
}

struct Drawing {
    std::string body;
    double height = 0;
};

Drawing draw(const Timeline& timeline, double top)
{
    const SimTime span = timeline.end - timeline.start;
    const Scale scale{timeline.start,
                      (chart_width - label_width) / static_cast<double>(span.value())};
    const Legend legend =
        svg_legend(legend_of(timeline), label_width, top, chart_width - label_width);
    double y = top + legend.height + 6;
    double bottom = y;
    for (const TimelineLane& lane : timeline.lanes)
        bottom += lane_height(lane);
    std::string body = legend.body + axis_svg(span, scale.pixels_per_ps, y, bottom);
    for (const TimelineLane& lane : timeline.lanes) {
        body += lane_svg(lane, scale, y);
        y += lane_height(lane);
    }
    return {std::move(body), bottom + axis_height};
}

} // namespace

std::string timeline_figure(const Timeline& timeline)
{
    const Drawing drawing = draw(timeline, 2);
    return svg_figure(chart_width, drawing.height, "timeline of one step", drawing.body);
}

std::string timeline_svg(const Outcome& outcome, const TimelineOptions& options)
{
    const Timeline timeline = make_timeline(outcome, options);
    std::string body = fmt::format("<style>{}{}</style><defs>{}</defs>", picture_style(),
                                   palette_style(), palette_patterns());
    body += fmt::format("<rect class=\"page\" width=\"{0}\" height=\"100%\"/>",
                        coordinate(chart_width));
    body += svg_text({12, 22, Anchor::start, "title"}, job_title(outcome));
    body += svg_text({12, 40, Anchor::start, "muted"},
                     fmt::format("{}; one step, {}", job_settings(outcome),
                                 to_display(outcome.step_time.value)));
    if (timeline.lanes.empty())
        return svg_figure(chart_width, 56, job_title(outcome), body);
    const Drawing drawing = draw(timeline, 56);
    return svg_figure(chart_width, drawing.height, job_title(outcome), body + drawing.body);
}

} // namespace trainyard
