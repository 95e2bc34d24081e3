// The points of a store of plans as a sweep.

#include "sim/api/saved_sweep_parts.h"
#include "sim/base/fields.h"
#include "sim/study/inputs.h"
#include "sim/study/search/search_space.h"
#include "sim/study/store/question.h"
#include "sim/study/store/stored_results.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

const std::vector<std::string>& layout_fields()
{
    static const std::vector<std::string> fields{
        "strategy.tp",          "strategy.cp",        "strategy.pp",
        "strategy.vpp",         "strategy.ep",        "strategy.etp",
        "strategy.zero",        "strategy.schedule",  "training.global_batch",
        "training.micro_batch", "training.recompute", "training.recompute_layers"};
    return fields;
}

std::vector<std::string> values_of(const LayoutChoice& choice)
{
    std::vector<std::string> values;
    for (const std::string& field : layout_fields())
        values.push_back(field != "training.recompute_layers" ? value_of(choice, field)
                         : choice.recompute.layers ? std::to_string(*choice.recompute.layers)
                                                   : "null");
    return values;
}

Problems note(const std::string& file, std::string message, std::string hint)
{
    return {{file, 0, "", std::move(message), std::move(hint), Severity::warning}};
}

PointRow row_of(const StoredPoint& point, const SweepFacts* facts)
{
    const PointFacts& found = point.facts;
    PointRow row = unknown_row();
    row.peak_memory = found.reserved.value_or(found.peak);
    row.capacity = found.capacity;
    row.global_batch = point.choice.global_batch;
    if (found.kind == PointFacts::Kind::too_large) {
        row.reason = "does not fit into a device";
        row.hindrance = {Hindrance::Kind::memory, {}};
    } else if (found.kind != PointFacts::Kind::timed) {
        row.reason = fmt::format("its values do not go together at {}", found.pointer);
        row.hindrance = {Hindrance::Kind::input, found.pointer};
    } else {
        row.step_time.value = found.step_time;
        row.samples_per_s =
            static_cast<double>(point.choice.global_batch) / found.step_time.value();
        if (facts != nullptr)
            row.gpus = facts->devices;
        if (facts != nullptr && facts->layers > 0)
            row.tokens_per_s = row.samples_per_s * static_cast<double>(facts->sequence_length);
    }
    return row;
}

} // namespace

Checked<SavedSweep> sweep_from_store(const std::string& file, const WorkControl& work)
{
    const StoredResults results = stored_results(file, work);
    if (results.points.empty() || results.asked.empty())
        return rejected(file, "a store without points: no plan has got far",
                        "trainyard plan --store goes on with it");
    if (results.asked.size() > 1)
        return rejected(
            file,
            fmt::format("holds points of {} different scenarios, {} among them: nothing in it says "
                        "which are whose",
                        results.asked.size(), results.asked.front().scenario),
            "a store for each scenario; the plans in it go on as before");
    SavedSweep out;
    out.file = file;
    out.title.scenario = results.asked.front().scenario;
    out.headroom = results.asked.front().headroom;
    const Checked<Json> asked = parse_json(results.asked.front().scenario_json, file);
    if (!asked)
        return tl::unexpected(asked.error());
    out.title.asked = *asked;
    const Checked<ScenarioFile> own = scenario_from(*asked, out.title.scenario);
    if (!own)
        return tl::unexpected(own.error());
    const std::vector<std::string> before = values_of(choice_of(own->scenario));
    std::vector<std::vector<std::string>> values;
    for (const StoredPoint& point : results.points)
        values.push_back(values_of(point.choice));
    std::vector<std::size_t> varied;
    for (std::size_t size = 0; size < before.size(); ++size)
        if (std::ranges::any_of(values, [&](const auto& one) { return one[size] != before[size]; }))
            varied.push_back(size);
    if (varied.empty())
        varied.push_back(0); // a plan that found the scenario's own layout alone
    std::vector<std::string> fields;
    for (const std::size_t size : varied)
        fields.push_back(layout_fields()[size]);
    GridOfValues places(fields);
    for (std::vector<std::string>& one : values) {
        std::vector<std::string> kept;
        for (const std::size_t size : varied)
            kept.push_back(std::move(one[size]));
        one = std::move(kept);
        places.add(one);
    }
    std::optional<SweepGrid> grid = places.grid();
    if (!grid)
        return rejected(file, "its layouts have more combinations of sizes than can be counted");
    out.title.grid = std::move(*grid);
    SavedSweep named = out; // without points: for the scenario that it names
    const std::optional<Checked<SweptScenario>> swept = swept_scenario(named);
    std::optional<SweepFacts> facts;
    if (swept && *swept)
        if (const Checked<SweepFacts> found = sweep_facts((*swept)->own))
            facts = *found;
    std::set<std::size_t> seen;
    bool without_allocator = false;
    for (std::size_t i = 0; i < results.points.size(); ++i) {
        PointRow row = row_of(results.points[i], facts ? &*facts : nullptr);
        row.index = places.index_of(values[i]);
        without_allocator =
            without_allocator || (row.feasible() && !results.points[i].facts.reserved);
        if (seen.insert(row.index).second)
            out.rows.push_back(std::move(row));
    }
    if (results.program != program_name())
        out.notes =
            note(file, "these are results of another build of the program, which may differ",
                 "plan again to have them of this one");
    if (without_allocator) {
        const Problems more =
            note(file, "memory is that of the tensors alone where a plan did not ask for more",
                 "a point that is opened is simulated whole");
        out.notes.insert(out.notes.end(), more.begin(), more.end());
    }
    out.title.end = {out.rows.size(), out.rows.size(), false};
    return out;
}

} // namespace trainyard
