// The plans of a store: what was asked, and the bounds of its space.

#include "sim/study/search/search.h"
#include "sim/study/store/plan_store.h"
#include "sim/study/store/stored_layout.h"

namespace trainyard {

namespace {

void put_layouts(Database& database, std::int64_t plan, const PossibleLayouts& found,
                 const SpaceFacts& facts)
{
    Statement put(database, "INSERT INTO layouts VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    for (const PossibleLayout& layout : found.layouts) {
        const LayoutChoice& c = layout.choice;
        put.bind(plan, layout.number, c.tp, c.cp, c.pp, c.vpp, c.ep, c.etp, replicas_of(c, facts),
                 c.zero, c.schedule->name(), c.global_batch, c.micro_batch,
                 to_name(c.recompute.kind), c.recompute.layers, layout.least.time.value(),
                 layout.least.memory.value())
            .run();
    }
}

void put_excluded(Database& database, std::int64_t plan, const ExclusionCounts& excluded)
{
    Statement put(database, "INSERT INTO excluded VALUES (?,?,?,?,?,?)");
    for (const auto& [why, count] : excluded)
        put.bind(plan, to_name(why.first), why.second, count.points, count.example, count.first)
            .run();
}

PossibleLayout layout_at(const Statement& row)
{
    return {choice_at(row, 1),
            {Seconds(row.real(13)), bytes_at(row, 14)},
            static_cast<std::uint64_t>(row.integer(0))};
}

} // namespace

std::vector<StoredPlan> PlanStore::plans()
{
    const std::lock_guard lock(database_mutex_);
    Statement rows(*database_,
                   "SELECT plan, question, shard, shards, shown FROM plans ORDER BY plan");
    std::vector<StoredPlan> out;
    while (rows.step()) {
        StoredPlan plan{rows.integer(0),
                        rows.text(1),
                        static_cast<int>(rows.integer(2)),
                        static_cast<int>(rows.integer(3)),
                        {}};
        if (!rows.is_null(4))
            plan.shown = static_cast<std::size_t>(rows.integer(4));
        out.push_back(std::move(plan));
    }
    return out;
}

PossibleLayouts PlanStore::bounds(std::int64_t plan)
{
    const std::lock_guard lock(database_mutex_);
    PossibleLayouts out;
    Statement layouts(*database_,
                      "SELECT number, tp, cp, pp, vpp, ep, etp, zero, schedule, global_batch, "
                      "micro_batch, recompute, recompute_layers, bound_s, bound_memory_bytes "
                      "FROM layouts WHERE plan = ? ORDER BY number");
    layouts.bind(plan);
    while (layouts.step())
        out.layouts.push_back(layout_at(layouts));
    Statement excluded(*database_,
                       "SELECT reason, field, points, example, first_number FROM excluded "
                       "WHERE plan = ?");
    excluded.bind(plan);
    while (excluded.step())
        out.excluded[{stored_word<Exclusion>(excluded.text(0)), excluded.text(1)}] = {
            static_cast<std::uint64_t>(excluded.integer(2)), excluded.text(3),
            static_cast<std::uint64_t>(excluded.integer(4))};
    Statement nearest(*database_, "SELECT nearest_memory_bytes FROM plans WHERE plan = ?");
    nearest.bind(plan);
    if (nearest.step() && !nearest.is_null(0)) {
        out.nearest.emplace();
        out.nearest->memory = Bytes(static_cast<std::uint64_t>(nearest.integer(0)));
    }
    return out;
}

std::int64_t PlanStore::keep_bounds(const StoredPlan& plan, const StoredQuestion& asked,
                                    const PossibleLayouts& found, const SpaceFacts& facts)
{
    const std::lock_guard lock(database_mutex_);
    Transaction transaction(*database_);
    std::optional<std::int64_t> nearest;
    if (found.nearest)
        nearest = static_cast<std::int64_t>(found.nearest->memory.value());
    Statement(*database_, "INSERT OR IGNORE INTO plans VALUES (NULL,?,?,?,?,?,?,?,?,NULL,NULL)")
        .bind(plan.question, plan.shard, plan.shards, asked.scenario, asked.scenario_json,
              asked.space_json, asked.headroom, nearest)
        .run();
    const bool fresh = database_->changes() > 0;
    Statement row(*database_,
                  "SELECT plan FROM plans WHERE question = ? AND shard = ? AND shards = ?");
    row.bind(plan.question, plan.shard, plan.shards).step();
    const std::int64_t number = row.integer(0);
    row.reset();
    if (fresh) {
        put_layouts(*database_, number, found, facts);
        put_excluded(*database_, number, found.excluded);
    }
    transaction.commit();
    return number;
}

void PlanStore::finish(std::int64_t plan, std::size_t shown, const std::string& result_json)
{
    commit();
    const std::lock_guard lock(database_mutex_);
    Statement(*database_,
              "UPDATE plans SET shown = max(coalesce(shown, 0), ?), result_json = ? WHERE plan = ?")
        .bind(static_cast<std::int64_t>(shown),
              result_json.empty() ? std::nullopt : std::optional(result_json), plan)
        .run();
}

} // namespace trainyard
