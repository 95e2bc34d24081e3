#include "sim/study/training/training_cost.h"

#include "sim/cost/device_catalogue.h"

namespace trainyard {

namespace {

constexpr double hour = 3600;
constexpr double month = 30.44 * 24 * hour;

// Of the site, in J.
double energy_of(const WholeTrainingRequest& request, int spare_nodes, double watts,
                 const WallAccount& account)
{
    const PowerModel& power = request.power;
    const Seconds busy = account[WallTime::steps] + account[WallTime::stragglers] +
                         account[WallTime::evaluation] + account[WallTime::lost_work];
    const Seconds wall = account.total();
    const double shares = power.busy * busy.value() + power.stalled * (wall - busy).value();
    const double spares = power.stalled * wall.value() * spare_nodes * request.gpus_per_node;
    const double hosts = power.node_watts * wall.value() * (request.nodes() + spare_nodes);
    return power.pue * (watts * (request.gpus * shares + spares) + hosts);
}

} // namespace

std::optional<double> rated_watts(const std::string& device)
{
    const KnownDevice* const known = shipped_devices().named_in(device);
    if (known == nullptr || known->device.board_watts <= 0)
        return std::nullopt;
    return known->device.board_watts;
}

TrainingCost training_cost(const WholeTrainingRequest& request, const FailureProcess& process,
                           const WallAccount& account)
{
    const PriceModel& prices = request.prices;
    const Seconds wall = account.total();
    const double hours = wall.value() / hour;
    const int gpus = request.gpus + process.spare_nodes * request.gpus_per_node;
    TrainingCost out;
    out.gpu_hours = hours * gpus;
    out.gpu_watts = request.power.gpu_watts ? request.power.gpu_watts : rated_watts(request.device);
    if (out.gpu_watts) {
        const double joules = energy_of(request, process.spare_nodes, *out.gpu_watts, account);
        out.energy_kwh = joules / (1000 * hour);
        out.mean_watts = joules / wall.value();
    }
    if (!prices.gpu_hour && !prices.node_hour && !prices.kilowatt_hour && !prices.terabyte_month)
        return out;
    out.rent = prices.gpu_hour.value_or(0) * out.gpu_hours +
               prices.node_hour.value_or(0) * hours * (request.nodes() + process.spare_nodes);
    out.electricity = prices.kilowatt_hour.value_or(0) * out.energy_kwh.value_or(0);
    const double kept =
        static_cast<double>(process.checkpoint.bytes.value()) / 1e12 * prices.checkpoints_kept;
    out.storage = prices.terabyte_month.value_or(0) * kept * wall.value() / month;
    out.money = out.rent + out.electricity + out.storage;
    return out;
}

} // namespace trainyard
