#include "sim/strategy/optimizers.h"
#include "tests/catch.h"
#include "tests/unit/strategy/plans.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

// small_decoder: h = 1024, f = 4096, V = 8192. Matrices of a layer: q, k, v, output of h x h, three
// of h x f.
constexpr double h = 1024;
constexpr double f = 4096;
constexpr double matrices = 4 * h * h + 3 * h * f;
constexpr double norms = 2 * h;

Job job_with(Optimizer optimizer, int zero = 0, int dp = 1, int tp = 1)
{
    Strategy strategy;
    strategy.zero = zero;
    strategy.dp = dp;
    strategy.tp = tp;
    Training training = training_of(dp);
    training.optimizer = optimizer;
    return job_of(small_decoder(), strategy, training);
}

OptimizerShare of_layer(const Job& job, LayerKind::Role role = LayerKind::Role::dense)
{
    const LayerKind kind{role};
    return optimizer_share(job, kind, layer_work(job.model, kind, partition_of(job)).trained);
}

double operations(const WorkList& items)
{
    return hardware_flops(items).value();
}

std::string refused(Optimizer optimizer, int zero, int dp)
{
    JobRequest request;
    request.model = small_decoder();
    request.training = training_of(dp);
    request.training.optimizer = optimizer;
    request.strategy.zero = zero;
    request.devices = dp;
    const Checked<Job> job = resolve(request);
    REQUIRE_FALSE(job);
    REQUIRE(job.error().size() == 1);
    CHECK(job.error()[0].pointer == "/training/optimizer");
    return job.error()[0].hint;
}

} // namespace

TEST_CASE("Adam keeps 12 bytes per parameter, momentum SGD 8, the fp32 copy included")
{
    CHECK(of_layer(job_with(Optimizer::adam)).state.dense == 12 * (matrices + norms));
    CHECK(of_layer(job_with(Optimizer::sgd)).state.dense == 8 * (matrices + norms));
    CHECK(of_layer(job_with(Optimizer::adam)).adam_equivalent.dense == matrices + norms);
}

TEST_CASE("Adafactor keeps a sum per row and per column in place of a moment per parameter")
{
    const double factors = 4 * (h + h) + 3 * (h + f);
    CHECK(of_layer(job_with(Optimizer::adafactor)).state.dense ==
          Approx(4 * (matrices + norms) + 4 * (factors + norms)));
    CHECK(of_layer(job_with(Optimizer::adafactor), LayerKind::Role::embedding).state.dense ==
          Approx(4 * 8192 * h + 4 * (8192 + h)));
}

TEST_CASE("Muon keeps one momentum of matrices, Adam's two moments of the rest")
{
    CHECK(of_layer(job_with(Optimizer::muon)).state.dense == 8 * matrices + 12 * norms);
    CHECK(of_layer(job_with(Optimizer::muon), LayerKind::Role::head).state.dense ==
          12 * (8192 * h + h));
}

TEST_CASE("five Newton-Schulz iterations take 4 m^2 n + 2 m^3 operations each")
{
    const std::vector<LayerKind> layers(8, LayerKind{LayerKind::Role::dense});
    const double square = 4 * h * h * h + 2 * h * h * h;
    const double wide = 4 * h * h * f + 2 * h * h * h;
    const double all = 8 * 5 * (4 * square + 3 * wide);
    CHECK(operations(newton_schulz(job_with(Optimizer::muon), layers)) == all);
    CHECK(newton_schulz(job_with(Optimizer::adam), layers).empty());
    // Every DDP rank does all; with the distributed optimizer whole matrices are dealt out.
    CHECK(operations(newton_schulz(job_with(Optimizer::muon, 0, 4), layers)) == all);
    CHECK(operations(newton_schulz(job_with(Optimizer::muon, 1, 4), layers)) == all / 4);
}

TEST_CASE("under tensor parallelism each rank orthogonalises its part of a matrix")
{
    const std::vector<LayerKind> layers{LayerKind{LayerKind::Role::dense}};
    const double m = h / 2;
    const double square = 4 * m * m * h + 2 * m * m * m;     // 512 x 1024
    const double wide = 4 * h * h * (f / 2) + 2 * h * h * h; // 1024 x 2048
    CHECK(operations(newton_schulz(job_with(Optimizer::muon, 0, 1, 2), layers)) ==
          5 * (4 * square + 3 * wide));
}

TEST_CASE("the step ends with the optimizer's products")
{
    const Plan plain = make_plan(job_with(Optimizer::adam));
    const Plan muon = make_plan(job_with(Optimizer::muon));
    const auto of_optimizer = [](const Plan& plan) {
        double sum = 0;
        for (const ComputeRequest& request : plan.compute)
            if (request.phase == Phase::optimizer)
                sum += operations(request.kernels);
        return sum;
    };
    const std::vector<LayerKind> layers(8, LayerKind{LayerKind::Role::dense});
    CHECK(of_optimizer(plain) == 0);
    CHECK(of_optimizer(muon) == operations(newton_schulz(job_with(Optimizer::muon), layers)));
}

TEST_CASE("optimizers that need whole matrices are refused where they are cut")
{
    CHECK_THAT(refused(Optimizer::adafactor, 1, 4), ContainsSubstring("zero 0 or 3"));
    CHECK_THAT(refused(Optimizer::muon, 3, 4), ContainsSubstring("zero 0 or 1"));
}
