#include "sim/study/training/training_sensitivity.h"

#include "sim/base/units.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace trainyard {

namespace {

using Request = WholeTrainingRequest;

// An assumption that plays a part, and how to scale it.
struct Lever {
    std::string name;
    double value = 0; // SI units
    double low = 0.5, high = 2;
    std::function<void(Request&, double value)> set;
    std::string (*text)(double value) = nullptr;
};

std::string time_text(double seconds)
{
    for (const auto& [unit, name] : {std::pair{86400.0, "d"}, {3600.0, "h"}, {60.0, "min"}})
        if (seconds >= 2 * unit)
            return fmt::format("{:.3g} {}", seconds / unit, name);
    return to_display(Seconds(seconds));
}

std::string hours_text(double seconds)
{
    return fmt::format("{:.6g} h", seconds / 3600);
}

std::string number_text(double value)
{
    return fmt::format("{:.3g}", value);
}

std::string share_text(double value)
{
    return fmt::format("{:.3g} %", 100 * value);
}

std::string power_text(double watts)
{
    return fmt::format("{:.0f} W", watts);
}

// Sets a field that is a time, given or not.
template <class Field>
auto setter(Field FailureModel::*field)
{
    return [field](Request& request, double value) { request.failures.*field = Seconds(value); };
}

double given(const std::optional<Seconds>& time)
{
    return time ? time->value() : 0.0;
}

void add_steps(std::vector<Lever>& out, const Request& request)
{
    const double step = request.step_time.value();
    Lever lever{"step time",
                step,
                0.9,
                1.1,
                [step](Request& changed, double value) {
                    changed.step_time = Seconds(value);
                    for (BatchRamp& stage : changed.ramp)
                        if (stage.step_time)
                            *stage.step_time *= value / step;
                    changed.step_time_low.reset();
                    changed.step_time_high.reset();
                },
                time_text};
    if (request.step_time_low && request.step_time_high) {
        lever.low = request.step_time_low->value() / step;
        lever.high = request.step_time_high->value() / step;
    }
    out.push_back(std::move(lever));
    out.push_back({"evaluation", request.evaluation, 0.5, 2,
                   [](Request& changed, double value) { changed.evaluation = value; }, share_text});
    out.push_back({"stragglers", request.stragglers, 0.5, 2,
                   [](Request& changed, double value) { changed.stragglers = value; }, share_text});
}

void add_failures(std::vector<Lever>& out, const WholeTraining& training)
{
    const FailureModel& model = training.request.failures;
    const FailureProcess& process = training.process;
    out.push_back({"MTBF per GPU", given(model.mtbf_per_gpu), 0.5, 2,
                   setter(&FailureModel::mtbf_per_gpu), hours_text});
    out.push_back({"MTBF per node", given(model.mtbf_per_node), 0.5, 2,
                   setter(&FailureModel::mtbf_per_node), hours_text});
    out.push_back({"spot interruptions per node", given(model.spot_mtbf_per_node), 0.5, 2,
                   setter(&FailureModel::spot_mtbf_per_node), hours_text});
    const bool fails = process.hardware_rate > 0;
    out.push_back({"detection", fails ? model.detection.value() : 0, 0.5, 2,
                   setter(&FailureModel::detection), time_text});
    out.push_back({"restart", process.rate() > 0 ? model.restart.value() : 0, 0.5, 2,
                   setter(&FailureModel::restart), time_text});
    out.push_back({"repair", fails ? model.repair.value() : 0, 0.5, 2,
                   setter(&FailureModel::repair), time_text});
    out.push_back({"return of spot capacity",
                   model.spot_mtbf_per_node ? model.spot_return.value() : 0, 0.5, 2,
                   setter(&FailureModel::spot_return), time_text});
}

void add_checkpoints(std::vector<Lever>& out, const WholeTraining& training)
{
    const CheckpointCost cost = training.process.checkpoint;
    const auto set_time = [cost](Request& request, double value) {
        CheckpointModel& model = request.checkpoints;
        model.time = Seconds(value);
        model.bytes.reset();
        model.bandwidth.reset();
        if (model.asynchronous)
            model.block = cost.block * (value / cost.write.value());
    };
    out.push_back({"checkpoint", cost.write.value(), 0.5, 2, set_time, time_text});
    out.push_back(
        {"checkpoint interval", given(training.request.checkpoints.interval), 0.5, 2,
         [](Request& request, double value) { request.checkpoints.interval = Seconds(value); },
         time_text});
}

void add_costs(std::vector<Lever>& out, const WholeTraining& training)
{
    const PriceModel& prices = training.request.prices;
    const auto price = [&](std::string name, std::optional<double> PriceModel::*field) {
        out.push_back({std::move(name), (prices.*field).value_or(0), 0.8, 1.2,
                       [field](Request& request, double value) { request.prices.*field = value; },
                       number_text});
    };
    price("price of a GPU hour", &PriceModel::gpu_hour);
    price("price of a node hour", &PriceModel::node_hour);
    price("price of a kWh", &PriceModel::kilowatt_hour);
    price("price of a TB month", &PriceModel::terabyte_month);
    if (!prices.kilowatt_hour)
        return;
    out.push_back({"power of a GPU", training.cost.gpu_watts.value_or(0), 0.8, 1.2,
                   [](Request& request, double value) { request.power.gpu_watts = value; },
                   power_text});
    const double pue = training.request.power.pue;
    out.push_back({"PUE", pue, 1 / pue, 1.2,
                   [](Request& request, double value) { request.power.pue = value; }, number_text});
}

TrainingSensitivity moved(const Lever& lever, const Request& request)
{
    TrainingSensitivity out;
    out.name = lever.name;
    const auto answer = [&](double value, std::optional<Seconds>& wall,
                            std::optional<double>& money) {
        Request changed = request;
        lever.set(changed, value);
        if (const Checked<WholeTraining> training = whole_training(changed)) {
            wall = training->time.mean();
            money = training->cost.money;
        }
        return lever.text(value);
    };
    out.low_value = answer(lever.value * lever.low, out.low_wall, out.low_money);
    out.high_value = answer(lever.value * lever.high, out.high_wall, out.high_money);
    return out;
}

double money_swing(const TrainingSensitivity& one)
{
    return one.low_money && one.high_money ? std::abs(*one.high_money - *one.low_money) : 0.0;
}

} // namespace

double TrainingSensitivity::swing(Seconds wall) const
{
    if (!low_wall || !high_wall)
        return std::numeric_limits<double>::infinity();
    const auto [least, most] = std::minmax({wall, *low_wall, *high_wall});
    return (most - least).value();
}

std::vector<TrainingSensitivity> training_sensitivities(const WholeTraining& training)
{
    std::vector<Lever> levers;
    add_steps(levers, training.request);
    add_failures(levers, training);
    add_checkpoints(levers, training);
    add_costs(levers, training);
    Request as_planned = training.request;
    as_planned.failures.spare_nodes = training.process.spare_nodes; // others are not bought
    std::vector<TrainingSensitivity> out;
    for (const Lever& lever : levers)
        if (lever.value > 0)
            out.push_back(moved(lever, as_planned));
    const Seconds wall = training.time.mean();
    std::erase_if(out, [&](const TrainingSensitivity& one) {
        return one.swing(wall) == 0 && money_swing(one) == 0;
    });
    std::ranges::stable_sort(out, [&](const auto& a, const auto& b) {
        return std::pair(a.swing(wall), money_swing(a)) > std::pair(b.swing(wall), money_swing(b));
    });
    return out;
}

} // namespace trainyard
