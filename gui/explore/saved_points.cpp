#include "gui/explore/saved_points.h"

#include "sim/base/files.h"

#include <algorithm>
#include <numeric>

namespace trainyard::gui {

namespace {

Problems no_scenario(const std::string& file)
{
    return {{file, 0, "", "does not say which scenario was swept",
             "open that scenario first, then this file", Severity::error}};
}

// Money follows from the others.
std::vector<const Figure*> written_figures()
{
    std::vector<const Figure*> out;
    for (const Figure* figure : kept_figures())
        if (figure->unit != FigureUnit::money)
            out.push_back(figure);
    // Rates of a device are known once the devices are.
    std::ranges::stable_partition(out, [](const Figure* one) { return one->key == "gpus"; });
    return out;
}

PointRow row_of(const PointStore& store, std::uint32_t point)
{
    PointRow row;
    row.index = store.index(point);
    for (std::size_t axis = 0; axis < store.grid().axes.size(); ++axis)
        row.values.push_back(store.value_name(point, axis));
    const double peak = store.figure(point, "peak_memory_bytes");
    const double capacity = store.figure(point, "device_memory_bytes");
    row.peak_memory = Bytes(peak > 0 ? static_cast<std::uint64_t>(peak) : 0);
    row.capacity = Bytes(capacity > 0 ? static_cast<std::uint64_t>(capacity) : 0);
    if (store.feasible(point)) {
        const auto rate = [&](const char* of_a_device) {
            return row.gpus * store.figure(point, of_a_device);
        };
        row.gpus = static_cast<int>(store.figure(point, "gpus"));
        row.tokens_per_s = rate("tokens_per_s_per_gpu");
        row.samples_per_s = rate("samples_per_s_per_gpu");
        return row;
    }
    const ReasonKind& kind = store.kinds()[store.kind(point)];
    row.reason = store.reason(point);
    row.hint = kind.hint;
    row.hindrance = {kind.memory ? Hindrance::Kind::memory : Hindrance::Kind::input, kind.pointer};
    return row;
}

} // namespace

bool is_scenario_of(const SweptScenario& swept, const SweepGrid& grid, const ScenarioFile& open)
{
    std::vector<std::string> freed;
    for (const FollowingField& field : swept.following)
        freed.push_back(field.freed.field);
    const auto theirs = at_first_point(swept.own.json, swept.own.file, grid, freed);
    const auto ours = at_first_point(open.json, open.file, grid, freed);
    std::error_code ignored;
    return theirs && ours && *theirs == *ours &&
           std::filesystem::weakly_canonical(swept.own.base, ignored) ==
               std::filesystem::weakly_canonical(open.base, ignored);
}

Checked<SavedPoints> points_of(const SavedSweep& saved, const Checked<ScenarioFile>& open)
{
    SavedPoints out;
    std::optional<Checked<SweptScenario>> swept = swept_scenario(saved);
    out.nameless = !swept;
    if (!swept && !open)
        return tl::unexpected(no_scenario(saved.file));
    if (!swept)
        swept = swept_scenario(saved, *open);
    if (!*swept)
        return tl::unexpected(std::move(swept->error()));
    SweptScenario& scenario = **swept;
    out.of_another = !open || !is_scenario_of(scenario, saved.title.grid, *open);
    const Checked<SweepFacts> facts = sweep_facts(scenario.own);
    if (!facts)
        return tl::unexpected(facts.error());
    out.plan.facts = *facts;
    out.plan.grid = saved.title.grid;
    out.plan.points = saved.title.end.points;
    for (const FollowingField& field : scenario.following)
        out.plan.freed.push_back(field.freed.field);
    out.plan.own = std::make_shared<const ScenarioFile>(std::move(scenario.own));
    out.plan.base = std::make_shared<const ScenarioFile>(std::move(scenario.base));
    for (const PointRow& row : saved.rows)
        out.found.push_back(found_point(row));
    return out;
}

void write_sweep(const std::string& file, const SweepPlan& plan, const PointStore& store,
                 const WorkControl& work)
{
    const std::vector<const Figure*> figures = written_figures();
    std::vector<std::size_t> columns;
    for (const Figure* figure : figures)
        columns.push_back(static_cast<std::size_t>(std::ranges::find(kept_figures(), figure) -
                                                   kept_figures().begin()));
    std::vector<std::uint32_t> order(store.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](std::uint32_t point) { return store.index(point); });
    const auto point_json = [&](const PointRow& row) {
        Json json = to_json(plan.grid, row, usual_headroom, {});
        const auto at = std::ranges::lower_bound(
            order, row.index, {}, [&](std::uint32_t point) { return store.index(point); });
        for (std::size_t i = 0; i < figures.size() && row.feasible(); ++i)
            json[figures[i]->key] = store.figure(*at, columns[i]);
        return json;
    };
    const SweepTitle title{plan.own->file,
                           plan.grid,
                           following_fields(plan.grid, plan.own->scenario),
                           SweepMeasure::throughput,
                           {plan.points, store.size(), store.size() < plan.points},
                           plan.own->json};
    SweepBest best(title.measure, 1);
    FileInParts out(file);
    out.append(sweep_json_head(title, usual_headroom));
    for (const std::uint32_t point : order) {
        work.check();
        PointRow row = row_of(store, point);
        out.append((point == order.front() ? "" : ",\n") +
                   to_text(point_json(row), JsonStyle::compact));
        best.add(std::move(row));
    }
    out.append(sweep_json_tail(title, best, point_json));
    out.publish();
}

} // namespace trainyard::gui
