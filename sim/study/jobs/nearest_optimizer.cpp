#include "sim/study/jobs/nearest_optimizer.h"

#include "sim/base/spelling.h"
#include "sim/base/words.h"

#include <array>

namespace trainyard {
namespace {

constexpr std::string_view one_state = "taken as Adam: it keeps one state a parameter, Adam two";
constexpr std::string_view one_byte_state =
    "taken as Adam: it keeps one state of 8 bit a parameter, Adam two in fp32";
constexpr std::string_view low_rank = "taken as Adam: its states are of low rank and take less";
constexpr std::string_view byte_states = "taken as Adam with states in fp32: its own are of 8 bit";
constexpr std::string_view same_states = "taken as Adam, whose two states a parameter it has";

// The longest beginning that fits counts.
struct Kin {
    Optimizer optimizer;
    std::string_view difference;
    std::string_view names;
};
constexpr std::array kins{
    Kin{Optimizer::adam, "",
        "adam adamw fusedadam distributedfusedadam mcoredistributedoptim decoupledadamw cpuadam "
        "deepspeedcpuadam"},
    Kin{Optimizer::adam, "taken as Adam: states stay on the device", "pagedadamw hybridadam"},
    Kin{Optimizer::adam, byte_states, "pagedadamw8bit adamw8bit adamwbnb8bit adamwtorch8bit"},
    Kin{Optimizer::adam, "taken as Adam with states in fp32: its own are of 4 bit",
        "adamwtorch4bit"},
    Kin{Optimizer::adam, "taken as Adam: gradients cross the network uncompressed",
        "onebitadam onebitlamb zerooneadam"},
    Kin{Optimizer::adam, "taken as Adam: it keeps three states a parameter, Adam two",
        "ademamix adan"},
    Kin{Optimizer::adam, same_states,
        "lamb fusedlamb stableadamw schedulefreeadamw radam nadam adamax"},
    Kin{Optimizer::adam, "taken as Adam: without the bases it turns to", "soap"},
    Kin{Optimizer::adam, "taken as Adam: without estimates of curvature", "sophia sophiag"},
    Kin{Optimizer::adam, one_state, "lion lion32bit pagedlion32bit decoupledlionw rmsprop adagrad"},
    Kin{Optimizer::adam, one_byte_state, "lion8bit pagedlion8bit"},
    Kin{Optimizer::adam, low_rank,
        "galoreadamw galoreadamwlayerwise apolloadamw apolloadamwlayerwise"},
    Kin{Optimizer::sgd, "", "sgd"},
    Kin{Optimizer::adafactor, "", "adafactor"},
    Kin{Optimizer::muon, "", "muon distmuon adaptivemuon"},
    Kin{Optimizer::muon, "taken as Muon, of full rank", "dion"},
    Kin{Optimizer::muon, "taken as Muon: it keeps a norm a row too", "normuon"},
};

} // namespace

std::optional<NearestOptimizer> nearest_optimizer(std::string_view name)
{
    const std::string plain = plain_name(name.substr(name.rfind('.') + 1)); // torch.optim.AdamW
    std::optional<NearestOptimizer> best;
    for (const Kin& kin : kins)
        for (const std::string_view one : split(kin.names, ' '))
            if (plain.starts_with(one) && (!best || one.size() > best->name.size()))
                best = NearestOptimizer{one, kin.optimizer, kin.difference};
    const bool family = best && (plain == best->name || best->name.starts_with("adamw") ||
                                 best->name.starts_with("pagedadamw"));
    return family ? best : std::nullopt;
}

} // namespace trainyard
