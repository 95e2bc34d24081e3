// What a framework issues for a rank's experts, and what its host waits for.

#include "tests/catch.h"
#include "tests/unit/workload/models.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

const Kernel& named(const std::vector<Kernel>& all, std::string_view name)
{
    const auto found = std::ranges::find(all, name, &Kernel::name);
    REQUIRE(found != all.end());
    return *found;
}

bool host_waits(const LayerWork& layer)
{
    return std::ranges::any_of(kernels(layer.forward), &Kernel::host_waits);
}

// On 8 ranks: 16 experts each.
Transformer many_experts()
{
    Transformer model = mixtral();
    model.moe = MixtureOfExperts{.experts = 128, .experts_per_token = 8, .expert_ffn = 768};
    return model;
}

Partition on_8(Precision precision)
{
    Partition p = partition(4096);
    p.ep = 8;
    p.precision = precision;
    p.kernels.layer_launches_forward = 14;
    p.kernels.layer_launches_backward = 26;
    p.kernels.moe_launches_forward = 20;
    p.kernels.moe_launches_backward = 30;
    p.kernels.expert_launches = 1;
    p.kernels.expert_fp8_launches = 3;
    p.kernels.expert_choice_launches = 4;
    p.kernels.counts_on_host = true;
    return p;
}

} // namespace

TEST_CASE("each expert's product is launched apart, and chosen anew where its rows change")
{
    Partition p = on_8(Precision::bf16);
    const LayerWork dropless = work(many_experts(), moe_layer, p);
    CHECK(named(kernels(dropless.forward), "expert_up").launches == 16 * 5);
    CHECK(named(kernels(dropless.backward), "expert_up_weight_gradient").launches == 16 * 5);
    // 2 products forward, 4 backward, beyond the one that the framework's count has for each.
    CHECK(launch_count(dropless.forward) == 34 + 2 * (16 * 5 - 1));
    CHECK(launch_count(dropless.backward) == 56 + 4 * (16 * 5 - 1));
    p.precision = Precision::mxfp8;
    CHECK(named(kernels(work(many_experts(), moe_layer, p).forward), "expert_up").launches ==
          16 * 8);
    p.experts.capacity_factor = 1.0; // the same rows in each pass
    CHECK(named(kernels(work(many_experts(), moe_layer, p).forward), "expert_up").launches ==
          16 * 4);
}

TEST_CASE("the host waits for the experts' counts unless tokens are dropped to fixed ones")
{
    Partition p = on_8(Precision::bf16);
    CHECK(host_waits(work(many_experts(), moe_layer, p)));
    p.experts.capacity_factor = 1.0;
    CHECK_FALSE(host_waits(work(many_experts(), moe_layer, p)));
    p.experts.capacity_factor.reset();
    p.kernels.counts_on_host = false;
    CHECK_FALSE(host_waits(work(many_experts(), moe_layer, p)));
}

TEST_CASE("a captured part is one launch, and does the same work")
{
    Partition p = on_8(Precision::bf16);
    const LayerWork eager = work(many_experts(), moe_layer, p);
    p.kernels.graphed = {GraphedPart::attention};
    const LayerWork graphed = work(many_experts(), moe_layer, p);
    const auto launches = [](const LayerWork& layer) {
        int sum = 0;
        for (const Kernel& kernel : kernels(layer.forward))
            if (kernel.use == KernelUse::attention)
                sum += kernel.launches;
        return sum;
    };
    CHECK(launches(eager) > 1);
    CHECK(launches(graphed) == 1);
    CHECK(hardware_flops(graphed.forward).value() == hardware_flops(eager.forward).value());
    CHECK(memory_bytes(graphed.backward) == memory_bytes(eager.backward));
}

TEST_CASE("fused experts leave their activation's pass and two casts out, and nothing else")
{
    Partition p = on_8(Precision::mxfp8);
    const LayerWork apart = work(many_experts(), moe_layer, p);
    p.kernels.fused_experts = true;
    const LayerWork fused = work(many_experts(), moe_layer, p);
    CHECK(hardware_flops(fused.forward).value() == hardware_flops(apart.forward).value());
    CHECK(hardware_flops(fused.backward).value() == hardware_flops(apart.backward).value());
    CHECK(named(kernels(fused.forward), "expert_up").launches == 1);
    CHECK(value(named(kernels(fused.forward), "expert_activation").bytes) == 0);
    const auto has = [](const WorkList& items, std::string_view name) {
        const std::vector<Kernel> all = kernels(items);
        return std::ranges::find(all, name, &Kernel::name) != all.end();
    };
    CHECK(has(fused.forward, "expert_up_cast"));
    CHECK_FALSE(has(fused.forward, "expert_down_cast"));
    CHECK(has(fused.backward, "expert_down_gradient_cast"));
    CHECK_FALSE(has(fused.backward, "expert_up_gradient_cast"));
    // The first product writes its result in 16 bit and the activation's casts along both sides:
    // (2 + 2 (1 + 1/32) / 2) bytes per element of its result in place of 2.
    const double rows = 4096.0 * 8;
    const double more = value(named(kernels(fused.forward), "expert_up").bytes) -
                        value(named(kernels(apart.forward), "expert_up").bytes);
    CHECK_THAT(more, WithinRel(rows * 2 * 768 * (1 + 1.0 / 32), 1e-9));
    p.precision = Precision::bf16; // there is no such kernel
    p.kernels.fused_experts = false;
    const LayerWork wide = work(many_experts(), moe_layer, p);
    p.kernels.fused_experts = true;
    CHECK(work(many_experts(), moe_layer, p).forward == wide.forward);
}

TEST_CASE(
    "biases and clamps of experts are passes of their own where the framework adds them apart")
{
    Transformer model = many_experts();
    model.mlp_bias = true;
    model.clamped_activation = true;
    Partition p = on_8(Precision::bf16);
    const LayerWork within = work(model, moe_layer, p);
    p.kernels.expert_bias_apart = true;
    const LayerWork apart = work(model, moe_layer, p);
    const double rows = 4096.0 * 8;
    // 28 bytes per element of the result and 8 passes over an activation's 16-bit element.
    CHECK(memory_bytes(apart.forward) - memory_bytes(within.forward) ==
          rows * (28 * 4096 + 8 * 2 * 768));
    CHECK(memory_bytes(apart.backward) - memory_bytes(within.backward) ==
          rows * (40 * 4096 + 10 * 2 * 768));
    CHECK(named(kernels(apart.forward), "expert_bias").launches >= 2 * 16);
}

TEST_CASE("DeepEP and HybridEP send a token once to each rank that holds some of its experts")
{
    Partition p = on_8(Precision::bf16);
    const auto bytes = [&] {
        return communication_bytes(work(many_experts(), moe_layer, p).forward, GroupKind::ep,
                                   CollectiveKind::all_to_all);
    };
    const double each = bytes();
    // No expert of 8 different ones of 128 on a rank with 16: (112 ... 105) / (128 ... 121).
    double none = 1;
    for (int drawn = 0; drawn < 8; ++drawn)
        none *= (112.0 - drawn) / (128.0 - drawn);
    for (const Dispatcher dispatcher : {Dispatcher::deepep, Dispatcher::hybridep}) {
        p.experts.dispatcher = dispatcher;
        p.ep_nodes = 1;
        CHECK_THAT(bytes() / each, WithinRel(8 * (1 - none) / 8, 1e-4));
        p.ep_nodes = 4; // one copy for each node
        CHECK_THAT(bytes() / each, WithinRel(3.5995 / 8, 1e-4));
    }
}
