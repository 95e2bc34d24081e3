#include "sim/strategy/stages.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {

using LayerRole = LayerKind::Role;

// Ten layers, the first two dense, the rest with experts.
Job job_of(int pp, int vpp)
{
    Transformer t;
    t.layers = 10;
    t.moe = MixtureOfExperts{.leading_dense_layers = 2};
    Job job;
    job.model.architecture = t;
    job.strategy.pp = pp;
    job.strategy.vpp = vpp;
    return job;
}

std::vector<LayerRole> roles(const std::vector<StageLayer>& stage)
{
    std::vector<LayerRole> out;
    for (const StageLayer& layer : stage)
        out.push_back(layer.kind.role);
    return out;
}

int recomputed(const std::vector<StageLayer>& stage)
{
    int count = 0;
    for (const StageLayer& layer : stage)
        count += layer.recompute != Recompute::none;
    return count;
}

} // namespace

TEST_CASE("stages in order are the model front to back")
{
    Job uneven = job_of(3, 1);
    uneven.strategy.stage_layers = {0, 9, 1};
    for (const Job& job : {job_of(1, 1), job_of(5, 1), job_of(5, 2), job_of(2, 5), uneven}) {
        std::vector<LayerKind> joined;
        const auto stages = cut_into_stages(job);
        REQUIRE(stages.size() == static_cast<std::size_t>(job.strategy.pp * job.strategy.vpp));
        for (const std::vector<StageLayer>& stage : stages)
            for (const StageLayer& layer : stage)
                joined.push_back(layer.kind);
        CHECK(joined == layers_of(job.model));
    }
}

TEST_CASE("the embedding opens the first stage and the head closes the last")
{
    const auto stages = cut_into_stages(job_of(5, 1));
    CHECK(roles(stages[0]) ==
          std::vector{LayerRole::embedding, LayerRole::dense, LayerRole::dense});
    CHECK(roles(stages[1]) == std::vector{LayerRole::moe, LayerRole::moe});
    CHECK(roles(stages[4]) == std::vector{LayerRole::moe, LayerRole::moe, LayerRole::head});

    Job job = job_of(3, 1);
    job.strategy.stage_layers = {0, 10, 0};
    const auto ends = cut_into_stages(job);
    CHECK(roles(ends[0]) == std::vector{LayerRole::embedding});
    CHECK(roles(ends[2]) == std::vector{LayerRole::head});
}

TEST_CASE("recomputed layers are spread over a device's chunks, embedding and head never are")
{
    Job job = job_of(1, 2); // five layers in each chunk
    job.training.recompute = Recompute::full;
    CHECK(recomputed(cut_into_stages(job)[0]) == 5);
    CHECK(cut_into_stages(job)[0][0].recompute == Recompute::none);
    CHECK(cut_into_stages(job)[1].back().recompute == Recompute::none);
    for (const int layers : {0, 1, 4, 7, 10}) {
        job.training.recompute_layers = layers;
        const auto stages = cut_into_stages(job);
        CHECK(recomputed(stages[0]) + recomputed(stages[1]) == layers);
        CHECK(recomputed(stages[1]) - recomputed(stages[0]) == layers % 2);
    }
    job.training.recompute_layers.reset();
    job.training.recompute = Recompute::selective;
    CHECK(recomputed(cut_into_stages(job)[1]) == 5);
}

TEST_CASE("a list of layers is one stage")
{
    Job job;
    job.model.architecture = LayerList{{NativeLayer{.name = "a", .repeat = 3}, NativeLayer{}}, 1};
    const auto stages = cut_into_stages(job);
    REQUIRE(stages.size() == 1);
    CHECK(stages[0].size() == layers_of(job.model).size());
}
