#include "gui/explore/importance.h"

#include "gui/explore/ranges.h"
#include "gui/explore/sweep_plan.h"
#include "gui/explore/words.h"
#include "gui/model/qt_text.h"

#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

// The value whose points are best in the mean; nothing where no direction is.
std::optional<std::size_t> best_value(const MainEffect& effect, Better better)
{
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < effect.means.size() && better != Better::neither; ++i) {
        if (std::isnan(effect.means[i]))
            continue;
        const bool beats =
            !best || (better == Better::lower ? effect.means[i] < effect.means[*best]
                                              : effect.means[i] > effect.means[*best]);
        if (beats)
            best = i;
    }
    return best;
}

QString in_unit(double value, const Metric& metric)
{
    return QStringLiteral("%1 %2").arg(number_text(value), metric.unit).trimmed();
}

QString importance_note(const MainEffects& effects, const SweepGrid& grid)
{
    if (effects.points < 2)
        return words("Too few points that can be: there is no variance to explain");
    QString text =
        effects.few
            ? words("Too few points (%L1) to tell: what follows may be chance").arg(effects.points)
            : words("Share of the variance over %L1 points that can be: main effects, eta²")
                  .arg(effects.points);
    double all = 0;
    for (const MainEffect& effect : effects.effects)
        all += effect.share;
    constexpr double percent = 100;
    if (all > 1.0005)
        text += words("; shares overlap, together %1 %: %L2 of %L3 combinations are there")
                    .arg(percent * all, 0, 'f', 0)
                    .arg(effects.points)
                    .arg(grid.points());
    else if (!effects.whole && !effects.few)
        text += words("; %L1 of %L2 combinations, so shares may overlap")
                    .arg(effects.points)
                    .arg(grid.points());
    return text;
}

} // namespace

ImportanceQuestion importance_question(const PointStore& store, const Metric& metric)
{
    ImportanceQuestion out{store.grid(), metric, {}, {}};
    for (std::uint32_t point = 0; point < store.size(); ++point)
        if (store.feasible(point)) {
            out.indices.push_back(store.index(point));
            out.values.push_back(value_of(store, point, metric));
        }
    return out;
}

Importance importance_of(const ImportanceQuestion& question)
{
    Importance out{
        question.metric, main_effects(question.grid, question.indices, question.values), {}, {}};
    for (std::size_t axis = 0; axis < question.grid.axes.size(); ++axis) {
        const SweepAxis& of = question.grid.axes[axis];
        const MainEffect& effect = out.effects.effects[axis];
        ImportanceBar bar{text_of(of.field), short_name(of.field), effect.share, {}};
        if (const auto best = best_value(effect, out.metric.better))
            bar.best =
                words("best at %1: %2 in the mean")
                    .arg(value_text(of.values[*best]), in_unit(effect.means[*best], out.metric));
        out.bars.push_back(std::move(bar));
    }
    std::ranges::stable_sort(out.bars, std::greater(), &ImportanceBar::share);
    if (out.effects.points > 1 && out.effects.deviation > 0)
        out.bars.push_back({{}, words("only together"), std::max(0.0, 1 - out.effects.added), {}});
    out.note = importance_note(out.effects, question.grid);
    return out;
}

QString Importance::title() const
{
    return words("What explains %1").arg(metric.title);
}

TableData Importance::table() const
{
    TableData out;
    out.columns << words("Field") << words("Share of the variance of %1 [%]").arg(metric.title)
                << words("Best value");
    constexpr double percent = 100;
    for (const ImportanceBar& bar : bars)
        out.rows.push_back({bar.key.isEmpty() ? bar.name : bar.key,
                            QString::number(percent * bar.share, 'f', 2), bar.best});
    return out;
}

} // namespace trainyard::gui
