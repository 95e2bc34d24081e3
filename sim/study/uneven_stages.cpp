#include "sim/study/uneven_stages.h"

#include "sim/workload/layer_work.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace trainyard {
namespace {

// Forward operations of a model's layers, and of what the outer stages hold besides.
struct LayerLoads {
    std::vector<double> layers;
    double first = 0;
    double last = 0;
};

LayerLoads loads_of(const Transformer& model, std::int64_t sequence_length)
{
    LayerLoads loads;
    const std::vector<LayerKind> kinds = layers_of(Model{"", model});
    std::vector<std::pair<LayerKind, double>> known; // few kinds make many layers
    for (const LayerKind& kind : kinds) {
        auto found = std::ranges::find(known, kind, &std::pair<LayerKind, double>::first);
        if (found == known.end())
            found = known.insert(
                known.end(),
                {kind, forward_flops_per_sequence(model, kind, sequence_length).value()});
        const bool of_layer =
            kind.role == LayerKind::Role::dense || kind.role == LayerKind::Role::moe;
        if (kind.encoder >= 0 || kind.role == LayerKind::Role::embedding)
            loads.first += found->second;
        else if (!of_layer || kind.predicts_further)
            loads.last += found->second;
        else
            loads.layers.push_back(found->second);
    }
    return loads;
}

// The most that one of these stages has.
double heaviest(const LayerLoads& loads, const std::vector<int>& stages)
{
    double most = 0;
    auto at = loads.layers.begin();
    for (std::size_t i = 0; i < stages.size(); ++i) {
        double sum = std::accumulate(at, at + stages[i], i == 0 ? loads.first : 0.0);
        at += stages[i];
        if (i + 1 == stages.size())
            sum += loads.last;
        most = std::max(most, sum);
    }
    return most;
}

// As many layers to each stage from the front as stay below `most`, at least one, and one left for
// each stage behind; the last takes the rest.
std::vector<int> filled(const LayerLoads& loads, int stages, double most)
{
    std::vector<int> out;
    const int layers = static_cast<int>(loads.layers.size());
    int next = 0;
    for (int stage = 0; stage + 1 < stages; ++stage) {
        double sum = stage == 0 ? loads.first : 0;
        const int begin = next;
        const int end = layers - (stages - 1 - stage);
        while (next < end) {
            const double with = sum + loads.layers[static_cast<std::size_t>(next)];
            if (next > begin && with > most)
                break;
            sum = with;
            ++next;
        }
        out.push_back(next - begin);
    }
    out.push_back(layers - next);
    return out;
}

std::vector<int> by_operations(const LayerLoads& loads, int stages)
{
    double low = 0;
    double high =
        std::accumulate(loads.layers.begin(), loads.layers.end(), loads.first + loads.last);
    constexpr int halvings = 50;
    for (int i = 0; i < halvings; ++i) {
        const double most = (low + high) / 2;
        (heaviest(loads, filled(loads, stages, most)) <= most ? high : low) = most;
    }
    return filled(loads, stages, high);
}

} // namespace

std::vector<int> uneven_stages(int layers, int stages, int leading_dense_layers)
{
    int more = layers % stages;
    std::vector<int> out(static_cast<std::size_t>(stages), layers / stages);
    const int first = leading_dense_layers > 0 ? 0 : 1;
    for (int i = 0; i < stages - 1 && more > 0; ++i, --more)
        ++out[static_cast<std::size_t>((first + i) % (stages - 1))];
    return out;
}

std::vector<int> balanced_stages(const Transformer& model, int stages, std::int64_t sequence_length)
{
    const bool divides = model.layers % stages == 0;
    if (model.pattern.empty() && model.encoders.empty())
        return divides ? std::vector<int>()
                       : uneven_stages(model.layers, stages,
                                       model.moe ? model.moe->leading_dense_layers : 0);
    const LayerLoads loads = loads_of(model, sequence_length);
    std::vector<int> balanced = by_operations(loads, stages);
    if (!divides)
        return balanced;
    const std::vector<int> even(static_cast<std::size_t>(stages), model.layers / stages);
    constexpr double as_good = 1.02;
    if (heaviest(loads, even) <= as_good * heaviest(loads, balanced))
        return {};
    return balanced;
}

} // namespace trainyard
