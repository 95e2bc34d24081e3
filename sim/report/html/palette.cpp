#include "sim/report/html/palette.h"

#include "sim/report/breakdown.h"
#include "sim/report/html/svg.h"
#include "sim/report/text/table.h"

#include <fmt/format.h>

namespace trainyard {

namespace {

enum class Hatch { none, slash, backslash, vertical, horizontal, cross, dots };

struct Fill {
    std::string_view name;
    std::string_view colour;
    Hatch hatch = Hatch::none;
    std::string_view ink = "#000"; // of the hatch
};

// By TimeKind.
constexpr std::array<Fill, time_kind_count> fills{{
    {"forward", "#0072b2"},
    {"backward", "#009e73"},
    {"recompute", "#56b4e9"},
    {"optimizer", "#cc79a7"},
    {"other", "#8c8c8c"},
    {"slowdown", "#009e73", Hatch::dots, "#f0e442"},
    {"tp", "#e69f00", Hatch::slash},
    {"cp", "#f0e442", Hatch::vertical},
    {"ep", "#b04a9a", Hatch::cross, "#fff"},
    {"dp", "#d55e00", Hatch::backslash},
    {"pp", "#7fc8b0", Hatch::horizontal},
    {"waiting", "#b9b9b9", Hatch::dots},
    {"bubble", "var(--idle)"},
    {"host", "#5b5b5b", Hatch::cross, "#fff"},
    {"data", "#3d3d3d", Hatch::vertical, "#fff"},
}};

// Paul Tol's muted scheme: apart from each other and from the kinds of time.
constexpr std::array<std::string_view, 8> series{"#88ccee", "#cc6677", "#ddcc77", "#117733",
                                                 "#aa4499", "#44aa99", "#999933", "#882255"};

std::string_view hatch_shape(Hatch hatch)
{
    switch (hatch) {
    case Hatch::dots:
        return "<circle cx=\"3\" cy=\"3\" r=\"1.2\" fill=\"{0}\" fill-opacity=\"0.55\"/>";
    case Hatch::cross:
        return "<path d=\"M0 0V6M0 0H6\" stroke=\"{0}\" stroke-opacity=\"0.5\" "
               "stroke-width=\"1.6\"/>";
    case Hatch::none:
        return "";
    default:
        return "<path d=\"M0 0V6\" stroke=\"{0}\" stroke-opacity=\"0.45\" stroke-width=\"3\"/>";
    }
}

int hatch_angle(Hatch hatch)
{
    switch (hatch) {
    case Hatch::slash:
    case Hatch::cross:
        return 45;
    case Hatch::backslash:
        return -45;
    case Hatch::horizontal:
        return 90;
    default:
        return 0;
    }
}

std::string pattern(const Fill& fill)
{
    return fmt::format("<pattern id=\"hatch-{}\" width=\"6\" height=\"6\" "
                       "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate({})\"><rect "
                       "width=\"6\" height=\"6\" fill=\"{}\"/>{}</pattern>",
                       fill.name, hatch_angle(fill.hatch), fill.colour,
                       fmt::format(fmt::runtime(hatch_shape(fill.hatch)), fill.ink));
}

TimeKind paint_of(SliceKind kind)
{
    static constexpr std::array<TimeKind, slice_kind_count> paints{
        TimeKind::forward,       TimeKind::backward,   TimeKind::recompute,  TimeKind::optimizer,
        TimeKind::other_compute, TimeKind::exposed_tp, TimeKind::exposed_cp, TimeKind::exposed_ep,
        TimeKind::exposed_dp,    TimeKind::exposed_pp, TimeKind::waiting,    TimeKind::host,
        TimeKind::data};
    return paints[static_cast<std::size_t>(kind)];
}

} // namespace

std::string css_class(TimeKind kind)
{
    return fmt::format("k-{}", fills[index_of(kind)].name);
}

std::string css_class(SliceKind kind)
{
    return css_class(paint_of(kind));
}

std::string series_class(std::size_t index)
{
    return fmt::format("s-{}", index % series.size());
}

std::string palette_style()
{
    std::string out;
    for (const Fill& fill : fills)
        out += fill.hatch == Hatch::none
                   ? fmt::format(".k-{}{{fill:{}}}\n", fill.name, fill.colour)
                   : fmt::format(".k-{0}{{fill:url(#hatch-{0})}}\n", fill.name);
    for (std::size_t i = 0; i < series.size(); ++i)
        out += fmt::format(".s-{0}{{fill:{1}}}\n.l-{0}{{stroke:{1}}}\n", i, series[i]);
    return out;
}

std::string palette_patterns()
{
    std::string out;
    for (const Fill& fill : fills)
        if (fill.hatch != Hatch::none)
            out += pattern(fill);
    return out;
}

Legend svg_legend(const std::vector<LegendEntry>& entries, double x, double y, double width)
{
    constexpr double swatch = 12;
    constexpr double line = 20;
    constexpr double letter = 6.6; // mean advance at the legend's size
    Legend legend;
    double at = 0;
    double top = 0;
    for (const LegendEntry& entry : entries) {
        const double needed =
            swatch + 6 + letter * static_cast<double>(text_width(entry.title)) + 18;
        if (at > 0 && at + needed > width) {
            at = 0;
            top += line;
        }
        legend.body += svg_rect({x + at, y + top, swatch, swatch}, entry.css_class);
        legend.body += svg_text({x + at + swatch + 6, y + top + 10}, entry.title);
        at += needed;
    }
    legend.height = entries.empty() ? 0 : top + line;
    return legend;
}

} // namespace trainyard
