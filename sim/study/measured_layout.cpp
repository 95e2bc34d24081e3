#include "sim/study/measured_layout.h"

#include "sim/base/files.h"
#include "sim/study/jobs/layout_text.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

void forget_layout(Training& training)
{
    const Training usual;
    training.micro_batch = usual.micro_batch;
    training.recompute = usual.recompute;
    training.recompute_layers = usual.recompute_layers;
}

void forget_layout(Strategy& strategy)
{
    const Strategy usual;
    strategy.tp = usual.tp;
    strategy.pp = usual.pp;
    strategy.vpp = usual.vpp;
    strategy.cp = usual.cp;
    strategy.ep = usual.ep;
    strategy.etp = usual.etp;
    strategy.dp = usual.dp;
    strategy.zero = usual.zero;
    strategy.shard_group = usual.shard_group;
    strategy.reshard_after_forward = usual.reshard_after_forward;
    strategy.sequence_parallel = usual.sequence_parallel;
    strategy.schedule = usual.schedule;
    strategy.stage_layers = usual.stage_layers;
    strategy.pipeline = usual.pipeline;
    strategy.tensor = usual.tensor;
    strategy.context = usual.context;
    strategy.rank_order = usual.rank_order;
}

std::string text_of(const Scenario& scenario)
{
    return to_text(to_json(scenario), JsonStyle::compact);
}

} // namespace

MeasuredLayout measured_layout(const MeasuredRecord& record, const ScenarioFile& file, int dp)
{
    Scenario scenario = file.scenario;
    scenario.description.clear();
    scenario.strategy.dp = dp;
    if (Json* const name = scenario.model.value.find("name"))
        *name = Json(); // a label: what tells models apart is their sizes
    MeasuredLayout out;
    out.layout = content_hash(text_of(scenario));
    out.words =
        fmt::format("{}, micro-batch {}", described(scenario), scenario.training.micro_batch);
    const Strategy& sizes = scenario.strategy;
    const int devices = sizes.tp * sizes.pp * sizes.cp * dp;
    forget_layout(scenario.strategy);
    forget_layout(scenario.training);
    // Paths in the scenario begin at its folder.
    out.job = content_hash(fmt::format("{}|{}|{}|{}|{}", text_of(scenario), file.base.string(),
                                       devices, record.source.key, record.source.release));
    return out;
}

} // namespace trainyard
