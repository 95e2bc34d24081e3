#include "sim/base/fields.h"
#include "sim/report/training/training_text.h"

namespace trainyard {

namespace {

template <class T>
Json json_or_null(const std::optional<T>& value)
{
    if constexpr (std::is_same_v<T, Seconds>)
        return value ? Json(value->value()) : Json();
    else
        return value ? Json(*value) : Json();
}

Json account_json(const WallAccount& account)
{
    Json out = Json::object();
    for (std::size_t i = 0; i < wall_time_kinds; ++i)
        out[to_name(static_cast<WallTime>(i))] = account.by_cause[i].value();
    return out;
}

Json cost_json(const WholeTraining& training)
{
    const TrainingCost& cost = training.cost;
    Json out = Json::object();
    out["gpu_hours"] = cost.gpu_hours;
    out["money"] = json_or_null(cost.money);
    if (cost.money) {
        out["rent"] = cost.rent;
        out["electricity"] = cost.electricity;
        out["storage"] = cost.storage;
        out["money_per_million"] = 1e6 * *cost.money / training.request.tokens;
    }
    out["energy_kwh"] = json_or_null(cost.energy_kwh);
    out["mean_watts"] = json_or_null(cost.mean_watts);
    return out;
}

Json simulated_json(const SimulatedTrainings& simulated)
{
    Json out = Json::object();
    out["trainings"] = static_cast<std::uint64_t>(simulated.durations.size());
    out["mean_s"] = simulated.mean.value();
    out["deviation_s"] = simulated.deviation.value();
    for (const auto& [name, share] : {std::pair{"q05_s", 0.05}, {"median_s", 0.5}, {"q95_s", 0.95}})
        out[name] = simulated.quantile(share).value();
    out["account_s"] = account_json(simulated.account);
    return out;
}

Json sensitivity_json(const TrainingSensitivity& one)
{
    Json out = Json::object();
    out["assumption"] = one.name;
    out["low"] = one.low_value;
    out["high"] = one.high_value;
    out["wall_low_s"] = json_or_null(one.low_wall);
    out["wall_high_s"] = json_or_null(one.high_wall);
    out["money_low"] = json_or_null(one.low_money);
    out["money_high"] = json_or_null(one.high_money);
    return out;
}

} // namespace

Json to_json(const TrainingReport& report)
{
    const WholeTraining& training = report.training;
    const ExpectedTime& time = training.time;
    Json out = Json::object();
    out["format"] = whole_training_format;
    out["request"] = fields_of<WholeTrainingRequest>().write(training.request);
    out["steps"] = training.steps.steps;
    out["wall_s"] = time.mean().value();
    out["wall_deviation_s"] = time.deviation.value();
    out["wall_interval_s"] =
        Json(Json::Array{training.wall.low.value(), training.wall.high.value()});
    out["goodput"] = training.goodput();
    out["in_time"] = json_or_null(training.in_time);
    out["in_budget"] = json_or_null(training.in_budget);
    out["account_s"] = account_json(time.account);
    out["failures"] = time.failures;
    out["interruptions"] = time.interruptions;
    out["spare_nodes"] = training.process.spare_nodes;
    out["checkpoint_interval_s"] = training.interval().value();
    out["checkpoint_write_s"] = training.process.checkpoint.write.value();
    out["checkpoint_block_s"] = training.process.checkpoint.block.value();
    out["cost"] = cost_json(training);
    out["sensitivities"] = json_list(report.sensitivities, sensitivity_json);
    if (report.simulated)
        out["simulated"] = simulated_json(*report.simulated);
    out["assumptions"] = training.assumptions;
    return out;
}

} // namespace trainyard
