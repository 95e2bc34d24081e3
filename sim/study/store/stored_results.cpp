#include "sim/study/store/stored_results.h"

#include "sim/study/store/stored_layout.h"

#include <algorithm>

namespace trainyard {

namespace {

PointFacts facts_at(const Statement& row)
{
    PointFacts facts;
    facts.step_time = Seconds(row.real(12));
    facts.peak = bytes_at(row, 13);
    if (!row.is_null(14))
        facts.reserved = bytes_at(row, 14);
    facts.capacity = bytes_at(row, 15);
    if (!row.is_null(16))
        refuse_for(facts, row.text(16));
    return facts;
}

} // namespace

StoredResults stored_results(const std::string& path, const WorkControl& work)
{
    const std::unique_ptr<Database> database = open_any_store_file(path);
    StoredResults out;
    out.program = database->answer("SELECT program FROM store");
    Statement plans(*database, "SELECT scenario, scenario_json, space_json, memory_headroom "
                               "FROM plans ORDER BY plan");
    while (plans.step()) {
        StoredQuestion asked{plans.text(0), plans.text(1), plans.text(2), plans.real(3)};
        if (std::ranges::find(out.asked, asked.scenario_json, &StoredQuestion::scenario_json) ==
            out.asked.end())
            out.asked.push_back(std::move(asked));
    }
    // The hash that points are known by puts them in an order that mixes them, always the same.
    Statement points(*database,
                     "SELECT tp, cp, pp, vpp, ep, etp, zero, schedule, global_batch, micro_batch, "
                     "recompute, recompute_layers, step_time_s, peak_memory_bytes, "
                     "reserved_memory_bytes, device_memory_bytes, refusal FROM points");
    while (points.step()) {
        work.check();
        out.points.push_back({choice_at(points, 0), facts_at(points)});
    }
    return out;
}

} // namespace trainyard
