#include "sim/study/device_models.h"

#include "sim/cost/part_files.h"
#include "sim/topology/topology_model.h"

#include <fmt/core.h>

#include <map>
#include <optional>

namespace trainyard {

namespace {

std::string hint_for(const std::map<std::string, int>& counts)
{
    std::string parts;
    for (const auto& [model, count] : counts)
        parts += fmt::format("{}{} of {}", parts.empty() ? "" : ", ", count, model);
    return fmt::format("this job's ranks run on {}: name the slowest model for all, with "
                       "\"slowdown\" below 1 in perturbations for the faster devices, or plan each "
                       "part by itself",
                       parts);
}

} // namespace

Problems device_model_problems(const Topology& topology, const Device& device, int world,
                               const Input& input)
{
    const Json* const devices = input.json.find("devices");
    if (devices == nullptr) // generated: one model throughout
        return {};
    const std::string first = topology.device(DeviceId{0}).model;
    const bool known = answers_to(device.name, device.aliases, first);
    std::map<std::string, int> counts;
    std::optional<DeviceId> other;
    for (int rank = 0; rank < world; ++rank) {
        const auto id = make_id<DeviceId>(static_cast<std::size_t>(rank));
        const std::string model = topology.device(id).model;
        const bool same =
            model == first || (known && answers_to(device.name, device.aliases, model));
        ++counts[same ? first : model];
        if (!same && !other)
            other = id;
    }
    if (!other)
        return {};
    return {{input.file, devices->items()[other->value].line(),
             fmt::format("/devices/{}/model", other->value),
             fmt::format("\"{}\" is of model {}, \"{}\" of {}: a job over several models of device "
                         "is not simulated",
                         topology.model().device_name(*other), topology.device(*other).model,
                         topology.model().device_name(DeviceId{0}), first),
             hint_for(counts), Severity::error}};
}

} // namespace trainyard
