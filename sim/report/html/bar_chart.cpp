#include "sim/report/html/bar_chart.h"

#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/html/palette.h"
#include "sim/report/html/svg.h"
#include "sim/report/kinds.h"
#include "sim/report/text/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace trainyard {

namespace {

constexpr double time_bar_height = 34;
constexpr double time_bar_gap = 12;
constexpr double room_for_text = 46;
constexpr double narrow_bar = 18;
constexpr double narrow_step = 26;

// Stretches of a recorded step in which nothing runs.
struct IdleKind {
    std::string_view title;
    Seconds StepBar::*time;
    std::size_t series;
};
constexpr std::array<IdleKind, 2> idle_kinds{{{"between queued kernels", &StepBar::queued, 2},
                                              {"idle, launches unknown", &StepBar::untold, 4}}};

Seconds length_of(const StepBar& bar)
{
    return sum_of(bar.shares) + bar.queued + bar.untold;
}

std::string step_bar(const StepBar& bar, double y, double per_second)
{
    std::string out = svg_text({label_width - 8, y + 21, Anchor::end}, bar.name);
    double x = label_width;
    const Seconds whole = length_of(bar);
    for (const TimeKind kind : time_kinds()) {
        const Seconds part = bar.shares[index_of(kind)];
        const double length = part.value() * per_second;
        const double share = whole.value() > 0 ? part / whole : 0;
        if (!(share > 0))
            continue;
        out +=
            svg_rect({x, y, length, time_bar_height}, css_class(kind),
                     fmt::format("{}: {}, {}", title_of(kind), to_display(part), percent(share)));
        if (length >= room_for_text && class_of(kind) == TimeClass::compute)
            out += svg_text({x + length / 2, y + 21, Anchor::middle, "on-colour"}, percent(share));
        x += length;
    }
    for (const IdleKind& kind : idle_kinds) {
        const Seconds part = bar.*kind.time;
        if (!(part.value() > 0))
            continue;
        out += svg_rect(
            {x, y, part.value() * per_second, time_bar_height}, series_class(kind.series),
            fmt::format("{}: {}, {}", kind.title, to_display(part), percent(part / whole)));
        x += part.value() * per_second;
    }
    return bar.value.empty() ? out : out + svg_text({x + 8, y + 21}, bar.value);
}

// Names may take more than the labels of a step's bars.
constexpr double names_width = 420;

} // namespace

std::string step_bars_figure(std::string_view title, const std::vector<StepBar>& bars)
{
    std::vector<TimeShares> all;
    double longest = 0;
    bool valued = false;
    std::array<bool, idle_kinds.size()> idle{};
    for (const StepBar& bar : bars) {
        all.push_back(bar.shares);
        longest = std::max(longest, length_of(bar).value());
        for (std::size_t i = 0; i < idle.size(); ++i)
            idle[i] = idle[i] || (bar.*idle_kinds[i].time).value() > 0;
        valued = valued || !bar.value.empty();
    }
    if (longest <= 0)
        return "";
    const double room = valued ? plot_width : chart_width - label_width;
    std::string body;
    double y = 2;
    for (const StepBar& bar : bars) {
        body += step_bar(bar, y, room / longest);
        y += time_bar_height + time_bar_gap;
    }
    std::vector<LegendEntry> entries;
    for (const TimeKind kind : visible_kinds(all))
        entries.push_back({css_class(kind), std::string(title_of(kind))});
    for (std::size_t i = 0; i < idle.size(); ++i)
        if (idle[i])
            entries.push_back(
                {series_class(idle_kinds[i].series), std::string(idle_kinds[i].title)});
    return figure_with_legend(title, body, y + 2, entries);
}

std::string count_bars_figure(std::string_view title, const std::vector<CountBar>& bars)
{
    constexpr double room = chart_width - names_width - 90;
    constexpr std::size_t cells = 62; // of a line of a name
    constexpr double line = 15;
    double most = 10;
    for (const CountBar& bar : bars)
        most = std::max(most, static_cast<double>(bar.count));
    const auto length = [&](double count) { // one is seen, too
        return count > 0 ? (0.5 + std::log10(count)) / (0.5 + std::log10(most)) * room : 0;
    };
    std::string body;
    double y = 4;
    for (const CountBar& bar : bars) {
        const std::vector<std::string> lines = wrapped(bar.name, cells);
        double base = y + 13;
        for (const std::string& words : lines) {
            body += svg_text({names_width - 8, base, Anchor::end}, words);
            base += line;
        }
        const double end = names_width + length(static_cast<double>(bar.count));
        if (bar.count > 0)
            body += svg_rect({names_width, y, end - names_width, narrow_bar}, series_class(0),
                             bar.name);
        body += svg_text({end + 6, y + 13}, grouped(bar.count));
        y += narrow_step + line * static_cast<double>(lines.size() - 1);
    }
    std::string grid;
    for (double power = 1; power <= most; power *= 10) {
        const double x = names_width + length(power);
        grid += svg_line(x, 0, x, y, "grid");
        grid += svg_text({x, y + 14, Anchor::middle, "muted"}, count_text(power));
    }
    return bars.empty() ? "" : svg_figure(chart_width, y + 22, title, grid + body);
}

namespace {

// One side of a bar: what an assumption is moved to, and what comes of it.
struct SwingEnd {
    double by = 0; // of the reach
    std::string words;
    std::size_t colour = 0;
};

std::vector<SwingEnd> ends_of(const SwingBar& bar, double most)
{
    std::vector<SwingEnd> out;
    const auto add = [&](const std::optional<double>& by, const std::string& name,
                         const std::string& text, std::size_t colour) {
        if (by.value_or(most) != 0)
            out.push_back({by.value_or(most) / most, fmt::format("{}: {}", name, text), colour});
    };
    add(bar.low, bar.low_name, bar.low_text, 5);
    add(bar.high, bar.high_name, bar.high_text, 1);
    return out;
}

} // namespace

std::string swing_figure(std::string_view title, const std::vector<SwingBar>& bars)
{
    constexpr double names = 230;
    constexpr double room = 160; // for the words at a bar's end
    constexpr double middle = names + (chart_width - names) / 2;
    constexpr double reach = (chart_width - names) / 2 - room;
    double most = 0;
    for (const SwingBar& bar : bars)
        for (const std::optional<double>& end : {bar.low, bar.high})
            most = std::max(most, std::abs(end.value_or(0)));
    if (most <= 0)
        return "";
    std::string body;
    double y = 4;
    for (const SwingBar& bar : bars) {
        body += svg_text({names - 8, y + 13, Anchor::end}, bar.name);
        std::array<bool, 2> told{}; // to the left, to the right
        for (const SwingEnd& end : ends_of(bar, most)) {
            const double length = std::abs(end.by) * reach;
            const bool right = end.by > 0;
            body += svg_rect({right ? middle : middle - length, y, length, narrow_bar},
                             series_class(end.colour), end.words);
            if (!std::exchange(told[right ? 1 : 0], true))
                body += svg_text({right ? middle + length + 5 : middle - length - 5, y + 13,
                                  right ? Anchor::start : Anchor::end, "muted"},
                                 end.words);
        }
        y += narrow_step;
    }
    std::string grid;
    for (const double share : {-1.0, -0.5, 0.5, 1.0})
        grid += svg_line(middle + share * reach, 0, middle + share * reach, y, "grid");
    return svg_figure(chart_width, y + 4, title,
                      grid + body + svg_line(middle, 0, middle, y, "axis"));
}

} // namespace trainyard
