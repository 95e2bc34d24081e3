#include "sim/study/training/training_cost.h"

#include "sim/cost/device_catalogue.h"

#include <array>
#include <string_view>

namespace trainyard {

namespace {

constexpr double hour = 3600;
constexpr double month = 30.44 * 24 * hour;

struct BoardPower {
    std::string_view key; // in the catalogue
    double watts;
};

// Thermal design power of the vendors' data sheets (2017 to 2025).
constexpr std::array board_powers{
    BoardPower{"v100_sxm2_16", 300},  BoardPower{"v100_sxm2_32", 300},
    BoardPower{"v100_sxm3_32", 350},  BoardPower{"a100_sxm4_40", 400},
    BoardPower{"a100_sxm4_80", 400},  BoardPower{"a800_sxm4_80", 400},
    BoardPower{"a100_pcie_40", 250},  BoardPower{"a100_pcie_80", 300},
    BoardPower{"a10", 150},           BoardPower{"l40s", 350},
    BoardPower{"rtx4090", 450},       BoardPower{"h100_sxm5_80", 700},
    BoardPower{"h100_sxm5_96", 700},  BoardPower{"h100_pcie_80", 350},
    BoardPower{"h100_nvl_94", 400},   BoardPower{"h200_sxm_141", 700},
    BoardPower{"h800_sxm_80", 700},   BoardPower{"h20_sxm_96", 400},
    BoardPower{"gh200_96", 700},      BoardPower{"gh200_144", 900},
    BoardPower{"b200_sxm_180", 1000}, BoardPower{"gb200_186", 1200},
    BoardPower{"b300_sxm_288", 1100}, BoardPower{"gb300_279", 1400},
    BoardPower{"mi300x", 750},        BoardPower{"mi325x", 1000},
    BoardPower{"mi355x", 1400},
};

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
    if (known == nullptr)
        return std::nullopt;
    for (const BoardPower& board : board_powers)
        if (board.key == known->key)
            return board.watts;
    return std::nullopt;
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
