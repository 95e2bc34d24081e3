#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/html/charts.h"
#include "sim/report/html/palette.h"
#include "sim/report/html/svg.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

constexpr double time_bar_height = 34;
constexpr double time_bar_gap = 12;
constexpr double room_for_text = 46;

std::string bar(const std::string& name, const TimeShares& shares, double y)
{
    std::string out = svg_text({label_width - 8, y + 21, Anchor::end}, name);
    double x = label_width;
    for (const TimeKind kind : time_kinds()) {
        const Seconds part = shares[index_of(kind)];
        const double share = share_of(shares, kind);
        const double length = share * (chart_width - label_width);
        if (share <= 0)
            continue;
        out +=
            svg_rect({x, y, length, time_bar_height}, css_class(kind),
                     fmt::format("{}: {}, {}", title_of(kind), to_display(part), percent(share)));
        if (length >= room_for_text && class_of(kind) == TimeClass::compute)
            out += svg_text({x + length / 2, y + 21, Anchor::middle, "on-colour"}, percent(share));
        x += length;
    }
    return out;
}

} // namespace

std::string breakdown_figure(const Summary& summary)
{
    std::vector<LegendEntry> entries;
    for (const TimeKind kind : visible_kinds(std::array{summary.critical, summary.mean}))
        entries.push_back({css_class(kind), std::string(title_of(kind))});
    std::string body = bar(fmt::format("rank {}", summary.critical_rank), summary.critical, 2) +
                       bar("mean", summary.mean, 2 + time_bar_height + time_bar_gap);
    return figure_with_legend("where the time of a step goes", body,
                              2 * (time_bar_height + time_bar_gap) + 4, entries);
}

} // namespace trainyard
