#include "gui/plan/plan_plots.h"

#include "gui/plan/plan_words.h"

#include <algorithm>

namespace trainyard::gui {

namespace {

using Value = std::optional<double> PlanEntry::*;

template <class Wanted>
PlanSeries series_of(const ShownPlan& shown, QString name, std::pair<Value, Value> axes,
                     Wanted wanted)
{
    PlanSeries out;
    out.name = std::move(name);
    for (std::size_t i = 0; i < shown.entries.size(); ++i) {
        const PlanEntry& entry = shown.entries[i];
        const std::optional<double>& x = entry.*axes.first;
        const std::optional<double>& y = entry.*axes.second;
        if (x && y && wanted(entry))
            out.dots.push_back({*x, *y, i, entry.chosen});
    }
    std::ranges::stable_sort(out.dots, {}, &PlanDot::x);
    return out;
}

PlanPlot layouts_plot(const ShownPlan& shown)
{
    PlanPlot plot;
    plot.x_title = plan_words("memory of the fullest device [%]");
    plot.y_title = plan_words("step [s]");
    const std::pair<Value, Value> axes(&PlanEntry::memory, &PlanEntry::step_s);
    plot.series = {series_of(shown, plan_words("none is quicker and smaller"), axes,
                             [](const PlanEntry& entry) { return entry.on_front && !entry.own; }),
                   series_of(shown, plan_words("other layouts"), axes,
                             [](const PlanEntry& entry) { return !entry.on_front && !entry.own; }),
                   series_of(shown, plan_words("the scenario as it is"), axes,
                             [](const PlanEntry& entry) { return entry.own; })};
    plot.series.front().joined = true;
    for (PlanSeries& series : plot.series)
        for (PlanDot& dot : series.dots)
            dot.x *= 100;
    std::erase_if(plot.series, [](const PlanSeries& series) { return series.dots.empty(); });
    return plot;
}

PlanPlot clusters_plot(const ShownPlan& shown, const QString& title, Value value)
{
    PlanPlot plot;
    plot.x_title = plan_words("GPUs");
    plot.y_title = title;
    plot.log_x = true;
    for (std::size_t kind = 0; kind < shown.kinds.size(); ++kind) {
        PlanSeries series =
            series_of(shown, shown.kinds[kind], {&PlanEntry::gpus, value},
                      [kind](const PlanEntry& entry) { return entry.series == kind; });
        series.joined = true;
        if (!series.dots.empty())
            plot.series.push_back(std::move(series));
    }
    return plot;
}

} // namespace

bool PlanPlot::empty() const
{
    return std::ranges::all_of(series, [](const PlanSeries& one) { return one.dots.empty(); });
}

std::vector<PlanPlot> plots_of(const ShownPlan& shown)
{
    std::vector<PlanPlot> out;
    if (shown.kind == PlanKind::layouts) {
        out.push_back(layouts_plot(shown));
    } else {
        out.push_back(clusters_plot(shown, plan_words("days"), &PlanEntry::days));
        out.push_back(clusters_plot(shown, plan_words("cost [$]"), &PlanEntry::cost));
    }
    std::erase_if(out, [](const PlanPlot& plot) { return plot.empty(); });
    return out;
}

} // namespace trainyard::gui
