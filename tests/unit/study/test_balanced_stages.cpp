#include "sim/study/uneven_stages.h"
#include "sim/workload/layer_work.h"
#include "tests/catch.h"

#include <numeric>

using namespace trainyard;

namespace {

// A stack whose first quarter has wide MLPs and whose others have narrow ones and no attention.
Transformer front_heavy(int layers)
{
    Transformer t;
    t.hidden = 1024;
    t.layers = layers;
    t.heads = t.kv_heads = 16;
    t.head_dim = 64;
    t.ffn = 8192;
    t.vocabulary = 1000;
    LayerForm wide;
    wide.name = "wide";
    LayerForm narrow;
    narrow.name = "narrow";
    narrow.mixer = MixerKind::none;
    narrow.ffn = 2048;
    t.layer_forms = {wide, narrow};
    for (int layer = 0; layer < layers; ++layer)
        t.pattern.push_back(layer < layers / 4 ? "wide" : "narrow");
    return t;
}

double heaviest(const Transformer& model, const std::vector<int>& stages)
{
    const std::vector<LayerKind> kinds = layers_of(Model{"m", model});
    double most = 0;
    std::size_t next = 0;
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
        double sum = 0;
        if (stage == 0)
            sum += forward_flops_per_sequence(model, kinds[next++], 4096).value();
        for (int i = 0; i < stages[stage]; ++i)
            sum += forward_flops_per_sequence(model, kinds[next++], 4096).value();
        if (stage + 1 == stages.size())
            sum += forward_flops_per_sequence(model, kinds[next++], 4096).value();
        most = std::max(most, sum);
    }
    return most;
}

// The least of the heaviest stages over all ways to cut, by trying them.
double best_by_trying(const Transformer& model, int stages, std::vector<int> so_far = {})
{
    const int held = std::accumulate(so_far.begin(), so_far.end(), 0);
    if (static_cast<int>(so_far.size()) + 1 == stages) {
        so_far.push_back(model.layers - held);
        return heaviest(model, so_far);
    }
    double best = std::numeric_limits<double>::infinity();
    const int left = stages - 1 - static_cast<int>(so_far.size());
    for (int layers = 1; held + layers + left <= model.layers; ++layers) {
        so_far.push_back(layers);
        best = std::min(best, best_by_trying(model, stages, so_far));
        so_far.pop_back();
    }
    return best;
}

} // namespace

TEST_CASE("stages of unlike layers are cut so that the heaviest is as light as can be")
{
    for (const int layers : {8, 11, 16})
        for (const int stages : {2, 3, 4}) {
            CAPTURE(layers, stages);
            const Transformer model = front_heavy(layers);
            std::vector<int> cut = balanced_stages(model, stages, 4096);
            if (cut.empty())
                cut.assign(static_cast<std::size_t>(stages), layers / stages);
            CHECK(std::accumulate(cut.begin(), cut.end(), 0) == layers);
            CHECK(heaviest(model, cut) <= 1.02 * best_by_trying(model, stages));
        }
}

TEST_CASE("stages of like layers go by number")
{
    Transformer model = front_heavy(16);
    model.layer_forms.clear();
    model.pattern.clear();
    CHECK(balanced_stages(model, 4, 4096).empty());
    CHECK(balanced_stages(model, 3, 4096) == uneven_stages(16, 3, 0));
}
