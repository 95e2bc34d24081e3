#include "sim/study/jobs/nearest_optimizer.h"

#include "sim/base/spelling.h"

#include <algorithm>
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
constexpr std::array optimizers{
    NearestOptimizer{"adam", Optimizer::adam, ""},
    NearestOptimizer{"adamw", Optimizer::adam, ""},
    NearestOptimizer{"fusedadam", Optimizer::adam, ""},
    NearestOptimizer{"distributedfusedadam", Optimizer::adam, ""},
    NearestOptimizer{"mcoredistributedoptim", Optimizer::adam, ""},
    NearestOptimizer{"pagedadamw", Optimizer::adam, "taken as Adam: states stay on the device"},
    NearestOptimizer{"pagedadamw8bit", Optimizer::adam, byte_states},
    NearestOptimizer{"adamw8bit", Optimizer::adam, byte_states},
    NearestOptimizer{"adamwbnb8bit", Optimizer::adam, byte_states},
    NearestOptimizer{"adamwtorch8bit", Optimizer::adam, byte_states},
    NearestOptimizer{"adamwtorch4bit", Optimizer::adam,
                     "taken as Adam with states in fp32: its own are of 4 bit"},
    NearestOptimizer{"onebitadam", Optimizer::adam,
                     "taken as Adam: gradients cross the network uncompressed"},
    NearestOptimizer{"onebitlamb", Optimizer::adam,
                     "taken as Adam: gradients cross the network uncompressed"},
    NearestOptimizer{"zerooneadam", Optimizer::adam,
                     "taken as Adam: gradients cross the network uncompressed"},
    NearestOptimizer{"ademamix", Optimizer::adam,
                     "taken as Adam: it keeps three states a parameter, Adam two"},
    NearestOptimizer{"lamb", Optimizer::adam, same_states},
    NearestOptimizer{"fusedlamb", Optimizer::adam, same_states},
    NearestOptimizer{"adan", Optimizer::adam,
                     "taken as Adam: it keeps three states a parameter, Adam two"},
    NearestOptimizer{"hybridadam", Optimizer::adam, "taken as Adam: states stay on the device"},
    NearestOptimizer{"soap", Optimizer::adam, "taken as Adam: without the bases it turns to"},
    NearestOptimizer{"sophia", Optimizer::adam, "taken as Adam: without estimates of curvature"},
    NearestOptimizer{"sophiag", Optimizer::adam, "taken as Adam: without estimates of curvature"},
    NearestOptimizer{"lion", Optimizer::adam, one_state},
    NearestOptimizer{"lion32bit", Optimizer::adam, one_state},
    NearestOptimizer{"pagedlion32bit", Optimizer::adam, one_state},
    NearestOptimizer{"lion8bit", Optimizer::adam, one_byte_state},
    NearestOptimizer{"pagedlion8bit", Optimizer::adam, one_byte_state},
    NearestOptimizer{"decoupledlionw", Optimizer::adam, one_state},
    NearestOptimizer{"decoupledadamw", Optimizer::adam, ""},
    NearestOptimizer{"cpuadam", Optimizer::adam, ""},
    NearestOptimizer{"deepspeedcpuadam", Optimizer::adam, ""},
    NearestOptimizer{"stableadamw", Optimizer::adam, same_states},
    NearestOptimizer{"schedulefreeadamw", Optimizer::adam, same_states},
    NearestOptimizer{"radam", Optimizer::adam, same_states},
    NearestOptimizer{"nadam", Optimizer::adam, same_states},
    NearestOptimizer{"adamax", Optimizer::adam, same_states},
    NearestOptimizer{"rmsprop", Optimizer::adam, one_state},
    NearestOptimizer{"adagrad", Optimizer::adam, one_state},
    NearestOptimizer{"galoreadamw", Optimizer::adam, low_rank},
    NearestOptimizer{"galoreadamwlayerwise", Optimizer::adam, low_rank},
    NearestOptimizer{"apolloadamw", Optimizer::adam, low_rank},
    NearestOptimizer{"apolloadamwlayerwise", Optimizer::adam, low_rank},
    NearestOptimizer{"sgd", Optimizer::sgd, ""},
    NearestOptimizer{"adafactor", Optimizer::adafactor, ""},
    NearestOptimizer{"muon", Optimizer::muon, ""},
    NearestOptimizer{"distmuon", Optimizer::muon, ""},
    NearestOptimizer{"dion", Optimizer::muon, "taken as Muon, of full rank"},
    NearestOptimizer{"normuon", Optimizer::muon, "taken as Muon: it keeps a norm a row too"},
    NearestOptimizer{"adaptivemuon", Optimizer::muon, ""},
};

} // namespace

std::optional<NearestOptimizer> nearest_optimizer(std::string_view name)
{
    const std::string plain = plain_name(name.substr(name.rfind('.') + 1)); // torch.optim.AdamW
    std::optional<NearestOptimizer> best;
    for (const NearestOptimizer& one : optimizers)
        if (plain.starts_with(one.name) && (!best || one.name.size() > best->name.size()))
            best = one;
    const bool family = best && (plain == best->name || best->name.starts_with("adamw") ||
                                 best->name.starts_with("pagedadamw"));
    return family ? best : std::nullopt;
}

} // namespace trainyard
