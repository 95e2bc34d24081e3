#include "sim/report/html/palette.h"

#include "sim/report/html/svg.h"
#include "sim/report/text/table.h"
#include "sim/study/breakdown.h"

#include <fmt/format.h>

namespace trainyard {

namespace {

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

std::string pattern(const TimeKindWords& kind)
{
    const Fill& fill = kind.fill;
    return fmt::format("<pattern id=\"hatch-{}\" width=\"6\" height=\"6\" "
                       "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate({})\"><rect "
                       "width=\"6\" height=\"6\" fill=\"{}\"/>{}</pattern>",
                       kind.css, hatch_angle(fill.hatch), fill.colour,
                       fmt::format(fmt::runtime(hatch_shape(fill.hatch)), fill.ink));
}

} // namespace

std::string css_class(TimeKind kind)
{
    return fmt::format("k-{}", words_of(kind).css);
}

std::string series_class(std::size_t index)
{
    return fmt::format("s-{}", index % series_colours.size());
}

std::string palette_style()
{
    std::string out;
    for (const TimeKind kind : time_kinds()) {
        const Fill& fill = fill_of(kind);
        const std::string name = css_class(kind);
        out += fill.hatch == Hatch::none
                   ? fmt::format(".{}{{fill:{}}}\n", name,
                                 fill.colour.empty() ? "var(--idle)" : fill.colour)
                   : fmt::format(".{}{{fill:url(#hatch-{})}}\n", name, words_of(kind).css);
    }
    for (std::size_t i = 0; i < series_colours.size(); ++i)
        out += fmt::format(".s-{0}{{fill:{1}}}\n.l-{0}{{stroke:{1}}}\n", i, series_colours[i]);
    return out;
}

std::string palette_patterns()
{
    std::string out;
    for (const TimeKind kind : time_kinds())
        if (fill_of(kind).hatch != Hatch::none)
            out += pattern(words_of(kind));
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

std::string figure_with_legend(std::string_view title, const std::string& body, double top,
                               const std::vector<LegendEntry>& entries)
{
    const Legend legend = svg_legend(entries, label_width, top, chart_width - label_width);
    return svg_figure(chart_width, top + legend.height, title, body + legend.body);
}

} // namespace trainyard
