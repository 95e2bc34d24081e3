#include "sim/strategy/memory/live_peak.h"
#include "tests/catch.h"
#include "tests/property/random_laws.h"
#include "tests/support/flaws.h"
#include "tests/support/replay_flaws.h"
#include "tests/unit/strategy/plans.h"

#include <map>

namespace trainyard::testing {

namespace {

// Bytes that ops take (or give back) by instant, ends and starts of one instant together.
std::map<SimTime, std::int64_t> changes(const Program& program, const Role& role, LaneId lane,
                                        const std::vector<OpRecord>& records)
{
    std::map<StreamId, std::vector<const Op*>> streams; // of one step
    for (const BlockUse& use : role.order)
        for (const Op& op : program.blocks[use.block.value].ops)
            streams[op.stream].push_back(&op);
    std::map<StreamId, std::size_t> next;
    std::map<SimTime, std::int64_t> out;
    for (const OpRecord& record : records) {
        if (record.lane != lane)
            continue;
        const std::vector<const Op*>& ops = streams.at(record.stream);
        const Op& op = *ops[next[record.stream]++ % ops.size()];
        if (!op.memory.valid())
            continue;
        const MemoryEffect& effect = program.memory_effects[op.memory.value];
        out[record.start] += effect.at_start;
        out[record.end] += effect.at_end;
    }
    return out;
}

} // namespace

void check_memory_over_time(const Draws& draws)
{
    const Topology cluster = cluster_for_random_jobs();
    each_job(draws, random_request, [&](const JobRequest&, const Job& job) {
        const Plan plan = make_plan(job);
        BindOptions options;
        options.folding = Folding::replicas;
        const Binding binding = bind(plan, job, cluster, h100_costs(), options);
        REQUIRE(flaws(plan.program) == std::vector<std::string>{});
        for (const Role& role : plan.program.roles)
            REQUIRE(replay_flaws(plan.program, role) == std::vector<std::string>{});
        RunControl control;
        control.steps = 3;
        control.record.lane = [](LaneId) { return true; };
        const Checked<StepResult> result = run_reference(plan.program, binding, control);
        REQUIRE(result.has_value());
        for (std::size_t l = 0; l < binding.lanes.size(); ++l) {
            const Role& role = plan.program.roles[binding.lanes[l].role.value];
            std::int64_t held = 0;
            for (const auto& [time, change] :
                 changes(plan.program, role, make_id<LaneId>(l), result->records)) {
                held += change;
                REQUIRE(held >= 0);
            }
            CHECK(held == 0);
        }
    });
}

} // namespace trainyard::testing
