#include "sim/strategy/stages.h"

namespace trainyard {

std::vector<int> layers_per_stage(const Job& job)
{
    if (!job.strategy.stage_layers.empty())
        return job.strategy.stage_layers;
    const int stages = job.strategy.pp * job.strategy.vpp;
    const int layers = std::get<Transformer>(job.model.architecture).layers;
    return std::vector<int>(static_cast<std::size_t>(stages), layers / stages);
}

std::vector<std::vector<LayerKind>> cut_into_stages(const Job& job)
{
    const std::vector<LayerKind> layers = layers_of(job.model);
    if (!job.model.is_transformer())
        return {layers};
    std::vector<std::vector<LayerKind>> stages;
    auto next = layers.begin();
    for (const int count : layers_per_stage(job)) {
        std::vector<LayerKind>& stage = stages.emplace_back();
        if (next == layers.begin())
            stage.push_back(*next++);
        stage.insert(stage.end(), next, next + count);
        next += count;
    }
    stages.back().push_back(layers.back());
    return stages;
}

} // namespace trainyard
