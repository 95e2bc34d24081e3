#include "sim/strategy/lower/job_work.h"

#include <algorithm>

namespace trainyard {

JobWork job_work(const Job& job)
{
    const Partition partition = partition_of(job);
    const std::vector<std::vector<StageLayer>> stages = cut_into_stages(job);
    const std::vector<std::vector<HeldLayer>> held = held_layers(job);
    JobWork out;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        std::vector<std::size_t>& stage = out.stages.emplace_back();
        for (std::size_t i = 0; i < stages[s].size(); ++i) {
            const StageLayer& layer = stages[s][i];
            const auto found = std::ranges::find(out.kinds, layer, &KindOfLayer::layer);
            stage.push_back(static_cast<std::size_t>(found - out.kinds.begin()));
            if (found == out.kinds.end())
                out.kinds.push_back(
                    {layer, layer_work(job.model, layer.kind, partition), held[s][i]});
        }
    }
    return out;
}

std::vector<PlacedLayer> layers_of_stage(const JobWork& work, int stages, int stage)
{
    std::vector<PlacedLayer> layers;
    std::size_t number = 0;
    for (std::size_t s = 0; s < work.stages.size(); ++s) {
        const int at = static_cast<int>(s);
        for (const std::size_t kind : work.stages[s]) {
            if (at % stages == stage)
                layers.push_back({at / stages, kind, static_cast<std::uint16_t>(number)});
            ++number;
        }
    }
    return layers;
}

} // namespace trainyard
