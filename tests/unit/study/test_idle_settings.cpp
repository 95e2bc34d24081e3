// Settings that have no effect are told.

#include "sim/study/idle_settings.h"
#include "tests/catch.h"

#include <algorithm>

using namespace trainyard;

namespace {

// Of a scenario with eight layers that states this strategy.
Problems told(const Strategy& strategy, Training training)
{
    Transformer model;
    model.hidden = model.ffn = 256;
    model.layers = model.heads = model.kv_heads = 8;
    model.head_dim = 32;
    model.vocabulary = 1024;
    training.global_batch = 1;
    JobRequest request;
    request.model = Model{"small", model};
    request.strategy = strategy;
    request.training = training;
    request.devices = strategy.tp;
    Scenario scenario;
    scenario.strategy = strategy;
    scenario.training = training;
    return idle_settings(scenario, resolve(request).value());
}

bool tells(const Problems& problems, std::string_view pointer)
{
    return std::ranges::find(problems, pointer, &Diagnostic::pointer) != problems.end();
}

} // namespace

TEST_CASE("overlap of tensor parallelism has no effect without sequence parallelism")
{
    Strategy strategy;
    strategy.tp = 2;
    strategy.overlap.tp = true;
    strategy.sequence_parallel = true;
    CHECK_FALSE(tells(told(strategy, Training{}), "/strategy/overlap/tp"));
    strategy.sequence_parallel = false;
    CHECK(tells(told(strategy, Training{}), "/strategy/overlap/tp"));
}

TEST_CASE("activations that are recomputed do not wait on the host")
{
    constexpr const char* place = "/strategy/offload/activation_layers";
    Strategy strategy;
    strategy.offload.activation_layers = 4;
    Training training = Training{};
    CHECK_FALSE(tells(told(strategy, training), place));
    training.recompute = Recompute::full;
    CHECK(tells(told(strategy, training), place));
    training.recompute_layers = 4; // of 8
    CHECK_FALSE(tells(told(strategy, training), place));
    training.recompute_layers = 6;
    const Problems some = told(strategy, training);
    REQUIRE(tells(some, place));
    CHECK_THAT(std::ranges::find(some, place, &Diagnostic::pointer)->message,
               ContainsSubstring("2 layers"));
}
