#include "sim/strategy/lower/stage_lowering.h"

#include "sim/strategy/lower/exchange_writer.h"
#include "sim/strategy/lower/step_end.h"
#include "sim/strategy/model_states.h"

#include <algorithm>

namespace trainyard {

namespace {

// Layers of the pass's chunk in the order in which the pass goes through them.
std::vector<std::size_t> layers_of_pass(const std::vector<PlacedLayer>& layers, const Pass& pass)
{
    std::vector<std::size_t> chunk;
    for (std::size_t i = 0; i < layers.size(); ++i)
        if (layers[i].chunk == pass.chunk)
            chunk.push_back(i);
    if (pass.kind == PassKind::backward)
        std::ranges::reverse(chunk);
    return chunk;
}

std::vector<Visit> visits_of(const std::vector<PlacedLayer>& layers,
                             const std::vector<Pass>& passes)
{
    std::vector<Visit> visits;
    for (const Pass& pass : passes)
        for (const std::size_t layer : layers_of_pass(layers, pass))
            visits.push_back({pass.kind, pass.micro_batch, layer});
    std::vector<bool> seen(layers.size(), false);
    for (Visit& visit : visits)
        if (visit.kind == PassKind::forward && !seen[visit.layer])
            visit.first = seen[visit.layer] = true;
    std::fill(seen.begin(), seen.end(), false);
    for (auto visit = visits.rbegin(); visit != visits.rend(); ++visit)
        if (visit->kind == PassKind::backward && !seen[visit->layer])
            visit->last = seen[visit->layer] = true;
    return visits;
}

std::string role_name(const Job& job, int stage)
{
    return job.strategy.pp == 1 ? "rank" : "stage " + std::to_string(stage);
}

std::vector<Tensor> held_always(const Job& job, const StageContent& stage)
{
    std::vector<HeldLayer> held;
    for (const PlacedLayer& layer : stage.layers)
        held.push_back(stage.work.kinds[layer.kind].held);
    const ModelStates states = model_states(job, held);
    const auto tensor = [](const char* name, MemoryKind kind, Bytes bytes) {
        return Tensor{name, kind, static_cast<std::int64_t>(bytes.value()), TensorScope::step};
    };
    return {tensor("parameters", MemoryKind::parameters, states.parameters),
            tensor("gradients", MemoryKind::gradients, states.gradients),
            tensor("optimizer state", MemoryKind::optimizer, states.optimizer)};
}

} // namespace

void lower_stage(PlanBuilder& plan, LayerCatalog& catalog, const StageRequest& request)
{
    const Job& job = request.job;
    StageContent content{
        request.work, layers_of_stage(request.work, job.strategy.pp, request.stage), {}};
    content.visits = visits_of(content.layers, request.passes);
    const auto data_parallel = make_data_parallel(job, content);

    StageWriter writer(plan, job, role_name(job, request.stage));
    ExchangeWriter exchanges(writer, request.exchanges, request.work);
    std::size_t visit = 0;
    for (std::size_t i = 0; i < request.passes.size(); ++i) {
        const Pass& pass = request.passes[i];
        exchanges.write_gap(i);
        EventId input = exchanges.input_of(i);
        for (const std::size_t layer : layers_of_pass(content.layers, pass)) {
            const PlacedLayer& placed = content.layers[layer];
            const LayerBlock& block =
                catalog.block(placed.kind, pass.kind, data_parallel->memory(visit));
            const EventId parameters = data_parallel->before(writer, visit);
            writer.layer(block, input, parameters, content.visits[visit].index(placed));
            data_parallel->after(writer, visit, block);
            input = writer.never();
            ++visit;
        }
    }
    exchanges.write_gap(request.passes.size());
    write_step_end(writer, content, request.stage, *data_parallel);
    plan.role(std::move(writer).finish(), held_always(job, content));
}

} // namespace trainyard
