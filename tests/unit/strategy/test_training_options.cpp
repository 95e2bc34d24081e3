#include "sim/strategy/memory.h"
#include "sim/strategy/packing.h"
#include "tests/catch.h"
#include "tests/unit/strategy/plans.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

using enum AdapterTarget;

JobRequest request_of(const Model& model)
{
    JobRequest request;
    request.model = model;
    request.training = training_of(4);
    request.devices = 4;
    return request;
}

Diagnostic problem_of(const JobRequest& request)
{
    const Checked<Job> job = resolve(request);
    REQUIRE_FALSE(job);
    REQUIRE(job.error().size() == 1);
    return job.error()[0];
}

double kind(const Job& job, const char* name)
{
    const StageMemory stage = estimate_memory(job, {}).stages[0];
    const auto found = stage.kinds.find(name);
    return found == stage.kinds.end() ? 0 : static_cast<double>(found->second.value());
}

double reduced_bytes(const Plan& plan)
{
    double sum = 0;
    for (const CollectiveKind collective :
         {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter})
        sum += volume(plan, 0, collective, GroupKind::dp).bytes;
    return sum;
}

} // namespace

TEST_CASE(
    "a frozen model has neither gradients nor optimizer state, and adapters alone are reduced")
{
    // Rank 8 beside q and v of 8 layers: 8 x 2 x 8 x 2048.
    constexpr double adapters = 8 * 2 * 8 * 2048.0;
    for (const int zero : {0, 1, 3}) {
        CAPTURE(zero);
        JobRequest request = request_of(small_decoder());
        request.strategy.zero = zero;
        request.training.fp32_gradients = true;
        request.training.lora = Lora{.rank = 8, .targets = {q_proj, v_proj}};
        const Checked<Job> job = resolve(request);
        REQUIRE(job);
        const double shard = zero == 0 ? 1 : 4;
        CHECK(kind(*job, "gradients") == 4 * adapters / (zero == 3 ? 4 : 1));
        CHECK(kind(*job, "optimizer") == 12 * adapters / shard);
        CHECK(reduced_bytes(make_plan(*job)) == 4 * adapters);
        const double parameters = count_parameters(small_decoder()).total + adapters;
        CHECK(kind(*job, "parameters") == Approx(2 * parameters / (zero == 3 ? 4 : 1)));
    }
}

TEST_CASE("adapters of matrices that a model lacks are refused")
{
    JobRequest request = request_of(small_mixture());
    request.training.lora = Lora{.rank = 8, .targets = {up_proj}};
    CHECK(problem_of(request).message == "adapters of experts are not supported");
    request.training.lora = Lora{.rank = 8, .targets = {}};
    CHECK_THAT(problem_of(request).message, ContainsSubstring("nothing is trained"));
    request.training.lora = Lora{.rank = 8, .targets = {q_proj, linear_qkv}};
    CHECK_THAT(problem_of(request).message, ContainsSubstring("same matrix"));
    Model narrow = small_decoder();
    std::get<Transformer>(narrow.architecture).value_head_dim = 64;
    request = request_of(narrow);
    request.training.lora = Lora{.rank = 8, .targets = {v_proj}};
    CHECK_THAT(problem_of(request).message, ContainsSubstring("not as wide as the keys'"));
    CHECK(problem_of(request).hint == "targets that work here: q_proj, k_proj, o_proj");
    request.training.lora = Lora{.rank = 8, .targets = {q_proj, k_proj, o_proj}};
    CHECK(resolve(request));
}

TEST_CASE("documents fill the sequence")
{
    CHECK(documents_of({.document_length = 400}, 1024) == std::vector<std::int64_t>{400, 400, 224});
    JobRequest request = request_of(small_decoder());
    request.training.packing = Packing{};
    CHECK(problem_of(request).pointer == "/training/packing");
    request.training.packing = Packing{.documents = {512, 511}};
    CHECK(problem_of(request).pointer == "/training/packing/documents");
    CHECK(problem_of(request).message == "documents of 1023 tokens in a sequence of 1024");
    request.training.packing = Packing{.document_length = 2048};
    CHECK(problem_of(request).pointer == "/training/packing/document_length");
    request.training.packing = Packing{.documents = {512, 512}};
    CHECK(partition_of(resolve(request).value()).documents == std::vector<std::int64_t>{512, 512});
}

TEST_CASE("layers at the ends may keep 16-bit products, of narrow formats only")
{
    JobRequest request = request_of(small_decoder());
    request.training.formats.last_wide_layers = 2;
    CHECK_THAT(problem_of(request).message, ContainsSubstring("no narrower products"));
    request.training.precision = Precision::nvfp4;
    const Checked<Job> job = resolve(request);
    REQUIRE(job);
    const Plan plan = make_plan(*job);
    double wide = 0;
    double narrow = 0;
    std::vector<double> uses(plan.compute.size());
    for_each_op(plan.program, plan.program.roles[0],
                [&](const Block&, const Op& op, const BlockUse&) {
                    if (op.kind == OpKind::compute)
                        uses[op.cost.value] += 1;
                });
    for (std::size_t i = 0; i < plan.compute.size(); ++i)
        for (const WorkItem& item : plan.compute[i].kernels)
            if (const auto* kernel = std::get_if<Kernel>(&item))
                if (kernel->kind == KernelKind::gemm && kernel->use != KernelUse::head)
                    (kernel->precision == Precision::nvfp4 ? narrow : wide) +=
                        uses[i] * hardware_flops(*kernel).value();
    CHECK(3 * wide == narrow); // 2 of 8 layers
}

TEST_CASE("parameters gathered in fp8 travel in one byte, embedding and head in two")
{
    const auto gathered = [](bool narrow) {
        JobRequest request = request_of(small_decoder());
        request.strategy.zero = 1;
        request.training.precision = Precision::fp8;
        request.training.formats.parameter_gather = narrow;
        return volume(make_plan(resolve(request).value()), 0, CollectiveKind::all_gather,
                      GroupKind::dp)
            .bytes;
    };
    const double ends = 2 * 8192.0 * 1024 + 1024;
    const double layers = count_parameters(small_decoder()).total - ends;
    CHECK(gathered(false) == 2 * (layers + ends));
    CHECK(gathered(true) == layers + 2 * ends);
}

TEST_CASE("16-bit matrices are cast once per step, those gathered in fp8 are not")
{
    const auto cast = [](Precision precision, bool narrow) {
        JobRequest request = request_of(small_decoder());
        request.training.precision = precision;
        request.training.formats.parameter_gather = narrow;
        double bytes = 0;
        const Plan plan = make_plan(resolve(request).value());
        for (const ComputeRequest& compute : plan.compute)
            for (const WorkItem& item : compute.kernels)
                if (const auto* kernel = std::get_if<Kernel>(&item))
                    if (kernel->name == "cast parameters")
                        bytes += static_cast<double>(kernel->bytes.value());
        return bytes;
    };
    const double layers = 8 * (4 * 1024.0 * 1024 + 3 * 1024.0 * 4096 + 2 * 1024);
    CHECK(cast(Precision::bf16, false) == 0);
    CHECK(cast(Precision::fp8, true) == 0);
    CHECK(cast(Precision::fp8, false) == (2 + 2) * layers);
    CHECK(cast(Precision::nvfp4, false) == (2 + 2 * 0.5625) * layers);
}

TEST_CASE("casts of 16-bit matrices are kept beside them, for both directions")
{
    const auto held = [](Precision precision, bool narrow, int wide) {
        JobRequest request = request_of(small_decoder());
        request.training.precision = precision;
        request.training.formats.parameter_gather = narrow;
        request.training.formats.last_wide_layers = wide;
        return kind(resolve(request).value(), "parameters");
    };
    const double layer = 4 * 1024.0 * 1024 + 3 * 1024.0 * 4096 + 2 * 1024;
    const double plain = held(Precision::bf16, false, 0);
    CHECK(held(Precision::mxfp8, true, 0) == plain);
    CHECK(held(Precision::nvfp4, false, 0) - plain == 2 * 0.5625 * 8 * layer);
    CHECK(held(Precision::nvfp4, false, 2) - plain == 2 * 0.5625 * 6 * layer);
}

TEST_CASE("only formats whose scales a shard knows are gathered as they are")
{
    JobRequest request = request_of(small_decoder());
    request.training.precision = Precision::nvfp4;
    request.training.formats.parameter_gather = true;
    CHECK(problem_of(request).hint == "formats that can: fp8, mxfp8");
}
