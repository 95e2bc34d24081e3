// What keeps states or parameters from living outside the device's memory.

#include "sim/strategy/misfits.h"
#include "sim/strategy/state_shards.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

struct Target {
    const char* pointer;
    OffloadTarget target;
};

std::vector<Target> targets(const OffloadOptions& offload)
{
    std::vector<Target> out;
    for (const Target& each : {Target{"/strategy/offload/optimizer", offload.optimizer},
                               Target{"/strategy/offload/parameters", offload.parameters}})
        if (each.target != OffloadTarget::none)
            out.push_back(each);
    return out;
}

// An idle GPU for every rank, in the rank's NVLink domain.
void check_peer(const Job& job, const Device& device, const char* pointer, Problems& problems)
{
    if (!(device.peer_copy.value() > 0))
        problems.push_back(
            refusal(pointer, fmt::format("{} does not copy to other devices directly", device.name),
                    "use \"cpu\""));
    else if (2 * job.world() > job.gpus_per_node)
        problems.push_back(refusal(
            pointer,
            fmt::format("{} ranks leave no idle GPU for each among the {} of their NVLink domain",
                        job.world(), job.gpus_per_node),
            fmt::format("use at most {} ranks, or \"cpu\"", std::max(1, job.gpus_per_node / 2))));
}

Diagnostic unknown_host_copy(std::string pointer, const Device& device)
{
    return refusal(std::move(pointer),
                   fmt::format("no rate of copies between {} and its host is known", device.name),
                   "set hardware.device.host_copy");
}

} // namespace

Problems offload_misfits(const Job& job)
{
    const Strategy& s = job.strategy;
    const OffloadOptions& offload = s.offload;
    Problems problems;
    const auto refuse = [&](const char* pointer, std::string message, std::string hint) {
        problems.push_back(refusal(pointer, std::move(message), std::move(hint)));
    };
    if (offload.activation_layers > 0 && !job.model.is_transformer())
        refuse("/strategy/offload/activation_layers", "layers of a list are not told apart",
               "leave strategy.offload.activation_layers out");
    const bool replicas = dense_shards(job).all() > 1;
    if (offload.optimizer != OffloadTarget::none && s.zero == 0 && replicas)
        refuse("/strategy/offload/optimizer",
               "with zero 0 every replica would keep and update the same states",
               "use zero 1, 2 or 3");
    if (offload.optimizer != OffloadTarget::none && job.training.optimizer == Optimizer::muon)
        refuse("/strategy/offload/optimizer",
               "muon orthogonalises whole matrices on the device, with its states beside them",
               "use adam, sgd or adafactor, or leave strategy.offload.optimizer out");
    if (offload.parameters == OffloadTarget::none)
        return problems;
    if (s.zero != 3)
        refuse("/strategy/offload/parameters",
               fmt::format("with zero {} the device needs all parameters at once", s.zero),
               "use zero 3");
    if (s.fsdp.reshard_ranks)
        refuse("/strategy/offload/parameters",
               "units are kept over few ranks after forward (fsdp.reshard_ranks)",
               "leave one of the two out");
    if (s.fsdp.param_dtype)
        refuse("/strategy/offload/parameters", "parameters on the host travel as they are held",
               "leave fsdp.param_dtype out");
    return problems;
}

Problems offload_misfits(const Job& job, const Device& device)
{
    Problems problems;
    for (const Target& each : targets(job.strategy.offload)) {
        if (each.target == OffloadTarget::peer)
            check_peer(job, device, each.pointer, problems);
        else if (each.target == OffloadTarget::grace && device.host_link != HostLink::c2c)
            problems.push_back(
                refusal(each.pointer, fmt::format("{} reaches its host over PCIe", device.name),
                        device.peer_copy.value() > 0 ? "use \"cpu\" or \"peer\"" : "use \"cpu\""));
        else if (!(device.host_copy.value() > 0))
            problems.push_back(unknown_host_copy(each.pointer, device));
    }
    if (job.strategy.offload.activation_layers > 0 && !(device.host_copy.value() > 0))
        problems.push_back(unknown_host_copy("/strategy/offload/activation_layers", device));
    const OffloadTarget optimizer = job.strategy.offload.optimizer;
    const bool on_host = optimizer == OffloadTarget::cpu || optimizer == OffloadTarget::grace;
    if (on_host && !(device.host_memory.value() > 0))
        problems.push_back(
            refusal("/strategy/offload/optimizer",
                    fmt::format("the memory bandwidth of {}'s host is not known", device.name),
                    "set hardware.device.host_memory"));
    return problems;
}

} // namespace trainyard
