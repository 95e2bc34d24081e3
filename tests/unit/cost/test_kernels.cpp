#include "sim/base/random.h"
#include "sim/cost/device_catalogue.h"
#include "sim/cost/kernel_time.h"
#include "tests/unit/cost/support.h"

#include <array>

using namespace trainyard;
using namespace trainyard::literals;

namespace {

Kernel gemm(std::int64_t m, std::int64_t n, std::int64_t k, Precision precision = Precision::bf16)
{
    Kernel kernel;
    kernel.kind = KernelKind::gemm;
    kernel.precision = precision;
    kernel.gemm = {m, n, k, 1};
    kernel.bytes = Bytes(static_cast<std::uint64_t>(2 * (m * k + n * k + m * n)));
    return kernel;
}

Kernel attention(std::int64_t length, std::int64_t head)
{
    Kernel kernel;
    kernel.kind = KernelKind::attention;
    kernel.attention.batch = 1;
    kernel.attention.query_length = kernel.attention.key_length = length;
    kernel.attention.heads = kernel.attention.kv_heads = 32;
    kernel.attention.head_dim = kernel.attention.value_dim = head;
    kernel.attention.kernel = AttentionKernel::cudnn;
    return kernel;
}

} // namespace

TEST_CASE("no product beats the peak or the memory")
{
    Random random(11);
    for (const char* device : {"V100", "A100", "H100", "H200", "B200", "GB300", "L40S"}) {
        const CostModel model(assembled(device));
        const Device& d = model.profile().hardware.device;
        for (int trial = 0; trial < 200; ++trial) {
            const Kernel kernel =
                gemm(random.integer(1, 16384), random.integer(1, 16384), random.integer(1, 16384),
                     random.uniform() < 0.5 ? Precision::fp16 : Precision::fp32);
            const double flops = 2.0 * static_cast<double>(kernel.gemm.m) *
                                 static_cast<double>(kernel.gemm.n) *
                                 static_cast<double>(kernel.gemm.k);
            const Seconds time = model.kernel_time(kernel);
            CHECK(time.value() >= flops / d.peak.at(kernel.precision).value());
            CHECK(time >= kernel.bytes / d.hbm_bandwidth);
        }
    }
}

TEST_CASE("no attention or scan beats the peak of its number format, whatever the device")
{
    Random random(12);
    constexpr std::array formats{Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16,
                                 Precision::fp8};
    for (const KnownDevice& known : shipped_devices().all()) {
        const CostModel model(assembled(known.device.name));
        const Device& d = model.profile().hardware.device;
        for (int trial = 0; trial < 100; ++trial) {
            Kernel kernel = attention(random.integer(1, 262144), 32 * random.integer(1, 8));
            kernel.precision = formats[static_cast<std::size_t>(random.integer(0, 4))];
            kernel.attention.backward = random.uniform() < 0.5;
            if (random.uniform() < 0.3) {
                kernel.kind = KernelKind::gemm;
                kernel.use = KernelUse::recurrence_core;
                kernel.gemm = {64, 128, 512, random.integer(1, 65536)};
                kernel.sequence = {.kernel = SequenceKernel::gated_delta_rule,
                                   .length = random.integer(64, 131072),
                                   .heads = 32,
                                   .key_dim = 128,
                                   .value_dim = 128};
            }
            INFO(d.name << " " << to_name(kernel.precision) << " " << kernel.gemm.batch);
            CHECK(model.kernel_time(kernel) >=
                  hardware_flops(kernel) / d.peak.at(executed_precision(kernel.precision, d)));
        }
    }
}

TEST_CASE("attention in fp32 takes as many times longer than in 16 bit as its peak is lower")
{
    const CostModel model(assembled("V100"));
    const Device& d = model.profile().hardware.device;
    Kernel kernel = attention(8192, 128);
    kernel.precision = Precision::fp16;
    const Seconds half = device_time(kernel, model.compute_context());
    kernel.precision = Precision::fp32;
    CHECK_THAT(device_time(kernel, model.compute_context()) / half,
               WithinRel(d.peak.fp16 / d.peak.fp32, 1e-9));
}

TEST_CASE("a large product reaches the fitted share of the peak where no kernel was measured")
{
    const CostModel model(assembled("V100"));
    const Device& d = model.profile().hardware.device;
    // 256 x 128 tiles fill 51.2 of 52 waves of 80 SMs.
    const Kernel kernel = gemm(16384, 8192, 8192, Precision::fp16);
    const double rate = 2.0 * 16384 * 8192 * 8192 / model.kernel_time(kernel).value();
    const double waves = 4096.0 / (80 * 52);
    const double ramp = 8192 / (8192 + d.gemm_k_half);
    CHECK_THAT(rate, WithinRel(d.peak.fp16.value() * d.gemm_efficiency.fp16 * waves * ramp, 0.01));
}

TEST_CASE("one tile more than a full wave costs a wave")
{
    // 132 SMs, tiles of 256 x 128: 132 tiles fill one wave, the 133rd starts another.
    CHECK(wave_utilisation({256 * 132, 128, 4096, 1}, 132) == 1.0);
    const double after = wave_utilisation({256 * 132 + 1, 128, 4096, 1}, 132);
    CHECK(after < 0.75);
    CHECK(after >= 0.5);
    // A batch fills waves as rows do.
    CHECK(wave_utilisation({256, 128, 4096, 132}, 132) == 1.0);
}

TEST_CASE("short sums cost slow formats less than fast ones")
{
    // Filling a tile takes as long; the main loop behind it is twenty times longer in fp32.
    const CostModel model(assembled("A100"));
    const auto lost = [&](Precision precision) {
        return model.kernel_time(gemm(8192, 8192, 256, precision)) /
               model.kernel_time(gemm(8192, 8192, 8192, precision));
    };
    CHECK(lost(Precision::bf16) > 1.3 * 256 / 8192);
    CHECK(lost(Precision::fp32) < 1.05 * 256 / 8192);
}

TEST_CASE("a convolution's weight gradient fills the device although its result is small")
{
    const CostModel model(assembled("V100"));
    const Device& d = model.profile().hardware.device;
    Kernel kernel = gemm(256, 256, 1'000'000, Precision::fp16);
    kernel.bytes = Bytes(0);
    const Seconds alone = model.kernel_time(kernel); // 16 tiles of 64 x 64 at best
    kernel.use = KernelUse::convolution;
    const Seconds split = model.kernel_time(kernel);
    CHECK(split < alone * 0.2);
    const double flops = 2.0 * 256 * 256 * 1e6;
    CHECK(split.value() >= flops / (d.peak.fp16.value() * d.gemm_efficiency.fp16));
}

TEST_CASE("a thin product waits for memory, a fat one for the units")
{
    const CostModel model(assembled("V100"));
    const Device& d = model.profile().hardware.device;
    const Kernel thin =
        gemm(64, std::int64_t{64} * d.sms, 8192, Precision::fp16); // one wave of small tiles
    CHECK_THAT((model.kernel_time(thin) - d.launch_gap).value(),
               WithinRel((thin.bytes / (d.hbm_bandwidth * d.hbm_gemm)).value(), 1e-9));
}

TEST_CASE("fp8 is faster than bf16 where there are units for it and equal where there are none")
{
    const CostModel hopper(assembled("H100"));
    CHECK(hopper.kernel_time(gemm(8192, 8192, 8192, Precision::fp8)) <
          hopper.kernel_time(gemm(8192, 8192, 8192)) * 0.6);
    const CostModel ampere(assembled("A100"));
    CHECK(ampere.kernel_time(gemm(8192, 8192, 8192, Precision::fp8)) ==
          ampere.kernel_time(gemm(8192, 8192, 8192)));
    const CostModel volta(assembled("V100")); // no bf16: as fp16
    CHECK(volta.kernel_time(gemm(8192, 8192, 8192, Precision::bf16)) ==
          volta.kernel_time(gemm(8192, 8192, 8192, Precision::fp16)));
}

TEST_CASE("the use of a product changes its rate: experts, head, scores, convolutions")
{
    const CostModel model(assembled("H100"));
    const Device& d = model.profile().hardware.device;
    const SoftwareClass& software = model.profile().software;
    Kernel kernel = gemm(4096, 4096, 8192);
    kernel.gemm.batch = 8;
    const Seconds dense = model.kernel_time(kernel) - d.launch_gap;
    kernel.use = KernelUse::expert;
    CHECK_THAT((model.kernel_time(kernel) - d.launch_gap) / dense,
               WithinRel(1 / software.expert_gemm_16, 1e-9));
    kernel.use = KernelUse::attention_square;
    CHECK_THAT((model.kernel_time(kernel) - d.launch_gap) / dense,
               WithinRel(1 / d.square_gemm, 1e-9));
    kernel.use = KernelUse::head;
    CHECK_THAT((model.kernel_time(kernel) - d.launch_gap) / dense,
               WithinRel(1 / d.head_gemm, 1e-9));
}

TEST_CASE("causal attention that skips the masked half takes half the time, backward longer")
{
    const CostModel model(
        assembled("V100")); // by the closed form; measured kernels take whole blocks
    Kernel kernel = attention(8192, 128);
    kernel.attention.causal = true;
    const Seconds causal = model.kernel_time(kernel);
    kernel.attention.causal = false;
    CHECK_THAT(model.kernel_time(kernel) / causal, WithinRel(2.0, 0.01));
    kernel.attention.causal = true;
    kernel.attention.backward = true;
    const double backward = model.profile().hardware.device.attention_backward;
    CHECK_THAT(model.kernel_time(kernel) / causal, WithinRel(2.5 / backward, 0.01));
}

TEST_CASE("attention runs better on long sequences and wide heads, and by implementation")
{
    const CostModel model(assembled("H100"));
    const auto rate = [&](const Kernel& kernel) {
        return hardware_flops(kernel) / model.kernel_time(kernel);
    };
    CHECK(rate(attention(512, 128)) < rate(attention(8192, 128)));
    CHECK(rate(attention(8192, 64)) < rate(attention(8192, 96)));
    CHECK(rate(attention(8192, 96)) < rate(attention(8192, 128)));
    Kernel old = attention(8192, 128);
    old.attention.kernel = AttentionKernel::triton;
    CHECK(rate(old) < rate(attention(8192, 128)));
}

TEST_CASE("a memory-bound kernel moves its bytes at the sustained rate and scales with them")
{
    const CostModel model(assembled("A100"));
    const Device& d = model.profile().hardware.device;
    Kernel kernel;
    kernel.bytes = 1_GiB;
    const double factor = model.profile().software.elementwise_factor;
    const Seconds expected = 1_GiB / (d.hbm_bandwidth * d.hbm_efficiency) * factor;
    CHECK_THAT((model.kernel_time(kernel) - d.launch_gap * 0.5).value(),
               WithinRel(expected.value(), 1e-12));
    kernel.launches = 0; // inside a neighbour: no gap of its own
    CHECK_THAT(model.kernel_time(kernel).value(), WithinRel(expected.value(), 1e-12));
}

TEST_CASE("a slower installation slows products and attention, not memory or links")
{
    const Profile profile = assembled("H100");
    const Checked<Profile> slow = with_override(profile, "installation.factor", 0.8);
    REQUIRE(slow);
    const CostModel a(profile);
    const CostModel b(*slow);
    const Seconds gap = profile.hardware.device.launch_gap;
    const Kernel product = gemm(8192, 8192, 8192);
    CHECK_THAT((b.kernel_time(product) - gap) / (a.kernel_time(product) - gap),
               WithinRel(1.25, 1e-9));
    Kernel copy;
    copy.bytes = 1_GiB;
    CHECK(a.kernel_time(copy) == b.kernel_time(copy));
}

TEST_CASE("CUDA graphs take most of the host's time per kernel away")
{
    const CostModel model(assembled("A100", "hdr200", "megatron-2021"));
    const Seconds eager = model.host_per_kernel(Phase::forward, false);
    CHECK(eager > 30_us);
    CHECK(model.host_per_kernel(Phase::backward, false) < eager);
    CHECK_THAT(model.host_per_kernel(Phase::forward, true) / eager, WithinRel(0.1, 1e-12));
}

TEST_CASE("a copy to the host takes a latency and the rate of its link")
{
    const CostModel model(assembled("A100"));
    CHECK(model.host_copy(0_B) == Seconds(0));
    const Device& d = model.profile().hardware.device;
    CHECK(model.host_copy(1_GiB) == d.host_copy_latency + 1_GiB / d.host_copy);
}

TEST_CASE("a list of work takes the sum of its kernels, communications have their own times")
{
    const CostModel model(assembled("H100"));
    const Kernel kernel = gemm(4096, 4096, 4096);
    CHECK(model.kernel_time(WorkList{kernel, Communication{}, kernel}) ==
          model.kernel_time(kernel) + model.kernel_time(kernel));
}
