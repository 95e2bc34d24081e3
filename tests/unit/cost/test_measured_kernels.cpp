// Surfaces fitted to measured kernels: the form by hand, the correction, siblings of a chip, files.

#include "sim/base/fields.h"
#include "sim/cost/kernel_time.h"
#include "sim/cost/measured_kernels.h"
#include "sim/workload/number_format.h"
#include "tests/unit/cost/support.h"

#include <array>
#include <cmath>

using namespace trainyard;
using Catch::Matchers::WithinRel;

namespace {

SizeCorrection no_correction(std::size_t sizes)
{
    SizeCorrection out;
    out.knots.assign(sizes, {1, 1 << 20});
    out.per_mille.assign(std::size_t{1} << sizes, 0);
    return out;
}

// 100 TFLOP/s on any tile, so much memory that it never counts.
MeasuredGemm plain_gemm()
{
    MeasuredGemm out;
    out.rate = FlopRate(100e12);
    out.ramp = Seconds(1e-6);
    out.memory = Bandwidth(1e18);
    out.penalties = {1, 1, 1, 1};
    out.correction = no_correction(3);
    return out;
}

Kernel product_of(std::int64_t m, std::int64_t n, std::int64_t k)
{
    Kernel kernel;
    kernel.kind = KernelKind::gemm;
    kernel.gemm = {m, n, k};
    kernel.bytes = Bytes(static_cast<std::uint64_t>(2 * (m * k + k * n + m * n)));
    return kernel;
}

Seconds time_of(const MeasuredGemm& gemm, const Kernel& kernel, int sms)
{
    return gemm.time(kernel.gemm, kernel.bytes, sms);
}

Problems kernel_problems(const std::string& text)
{
    const Checked<Json> json = parse_json(text, "kernels.json");
    REQUIRE(json);
    Problems problems;
    MeasuredKernels kernels;
    const Reader reader(*json, "kernels.json", problems);
    fields_of<MeasuredKernels>().read(reader, kernels);
    check(reader, kernels);
    return problems;
}

std::string gemm_file(const std::string& knots, const std::string& values)
{
    return R"({"sms": 4, "peak": "1 TFLOP/s", "hbm_bandwidth": "1 GB/s", "gemm": [{"precision": "bf16",
        "rate": "1 TFLOP/s", "memory": "1 GB/s", "penalties": [1, 1, 1, 1],
        "correction": {"knots": )" +
           knots + R"(, "per_mille": )" + values + "}}]}";
}

} // namespace

TEST_CASE("a correction is met at its knots, bilinear in logarithms between, flat beyond")
{
    SizeCorrection correction;
    correction.knots = {{1, 16}, {2, 8, 32}};
    correction.per_mille = {0, 100, 200, -1000, 300, 400};
    const auto factor = [&](double a, double b) { return correction.factor(std::array{a, b}); };
    CHECK_THAT(factor(1, 8), WithinRel(std::exp(0.1), 1e-12));
    CHECK_THAT(factor(16, 2), WithinRel(std::exp(-1), 1e-12));
    CHECK_THAT(factor(4, 2), WithinRel(std::exp(-0.5), 1e-12)); // half the way in logarithms
    CHECK_THAT(factor(4, 16), WithinRel(std::exp((0.1 + 0.2 + 0.3 + 0.4) / 4), 1e-12));
    CHECK(factor(1000, 1000) == factor(16, 32));
    CHECK(factor(0.01, 1) == factor(1, 2));
}

TEST_CASE("one wave of a product takes its operations at the rate, and a ramp")
{
    // 4 SMs, two tiles of 256 x 256 on pairs of them.
    const double flops = 2.0 * 256 * 512 * 8192;
    CHECK_THAT(time_of(plain_gemm(), product_of(256, 512, 8192), 4).value(),
               WithinRel(flops / 100e12 + 1e-6, 1e-9));
}

TEST_CASE("a last wave costs the share of its idle SMs that waves says")
{
    MeasuredGemm gemm = plain_gemm();
    gemm.split_ramps = 1e9; // never split
    gemm.penalties = {100, 1, 1, 1};
    const Seconds one = time_of(gemm, product_of(512, 256, 4096), 4); // two tiles, one wave
    gemm.waves = 1;
    CHECK_THAT(time_of(gemm, product_of(768, 256, 4096), 4) / one, WithinRel(2, 1e-9));
    gemm.waves = 0;
    CHECK_THAT(time_of(gemm, product_of(768, 256, 4096), 4) / one, WithinRel(1.5, 1e-9));
}

TEST_CASE("few tiles over a long sum are split, at a price")
{
    MeasuredGemm gemm = plain_gemm();
    const Kernel thin = product_of(64, 64, 1 << 16);
    const Seconds split = time_of(gemm, thin, 64);
    gemm.split_ramps = 1e9;
    CHECK(split < time_of(gemm, thin, 64) / 4);
}

TEST_CASE("a product is corrected by its tiles for the SMs and by the rows of its last tiles")
{
    MeasuredGemm gemm = plain_gemm();
    const Kernel full = product_of(512, 512, 4096);   // 16 tiles on 8 SMs: two waves
    const Kernel padded = product_of(513, 512, 4096); // 768 rows are computed, 20 tiles
    const Seconds plain = time_of(gemm, full, 8);
    const Seconds plain_padded = time_of(gemm, padded, 8);
    gemm.by_waves.knots = {{100, 200, 250}, {1, 1 << 20}};
    gemm.by_waves.per_mille = {0, 0, 100, 100, 300, 300};
    CHECK_THAT(time_of(gemm, full, 8) / plain, WithinRel(std::exp(0.1), 1e-9));
    CHECK_THAT(time_of(gemm, padded, 8) / plain_padded, WithinRel(std::exp(0.3), 1e-9));
    gemm.by_waves = {};
    gemm.by_padding.knots = {{100, 200}, {1, 1 << 20}};
    gemm.by_padding.per_mille = {0, 0, 500, 500};
    CHECK_THAT(time_of(gemm, full, 8) / plain, WithinRel(1, 1e-9));
    CHECK_THAT(time_of(gemm, padded, 8) / plain_padded,
               WithinRel(std::exp(0.5 * std::log(768.0 / 513) / std::log(2.0)), 1e-9));
}

TEST_CASE("products of shipped kernels take longer when they double, whatever their size")
{
    // Sizes of the tables and far beyond them, on and off the tiles.
    const std::array<std::int64_t, 14> sizes{1,    7,    32,   96,    128,   384,   513,
                                             1024, 2304, 4096, 10240, 16384, 65536, 150000};
    for (const char* name : {"A100-SXM4-80GB", "H100-SXM5-80GB", "H200-SXM-141GB", "L40S",
                             "B200-SXM-180GB", "B300-SXM-288GB", "GB200", "GB300"})
    {
        const MeasuredKernels kernels = assembled(name).hardware.kernels;
        for (const MeasuredGemm& gemm : kernels.gemm)
            for (const std::int64_t m : sizes)
                for (const std::int64_t n : sizes)
                    for (const std::int64_t k : sizes) {
                        const double time = time_of(gemm, product_of(m, n, k), kernels.sms).value();
                        INFO(name << " " << to_name(gemm.precision) << " " << m << "x" << n << "x"
                                  << k);
                        REQUIRE(time > 0);
                        for (const auto& [rows, columns, depth] :
                             {std::array{2, 1, 1}, std::array{1, 2, 1}, std::array{1, 1, 2}})
                            REQUIRE(time_of(gemm, product_of(rows * m, columns * n, depth * k),
                                            kernels.sms)
                                        .value() >= time * (1 - 0.05));
                    }
    }
}

TEST_CASE("memory's time counts where it is longer, and what is added to a buffer comes after")
{
    MeasuredGemm gemm = plain_gemm();
    gemm.memory = Bandwidth(1e9);
    Kernel kernel = product_of(256, 512, 64);
    const double bytes = static_cast<double>(kernel.bytes.value());
    const Seconds plain = time_of(gemm, kernel, 4);
    CHECK_THAT(plain.value(), WithinRel(bytes / 1e9, 1e-6));
    kernel.bytes = kernel.bytes + Bytes(6 * 256 * 512); // fp32, read and written
    CHECK_THAT(time_of(gemm, kernel, 4).value(),
               WithinRel(plain.value() + 6.0 * 256 * 512 / 1e9, 1e-9));
}

TEST_CASE("attention in whole blocks takes its triangle, a window its band")
{
    MeasuredAttention attention;
    attention.rate = FlopRate(100e12);
    attention.memory = Bandwidth(1e18);
    attention.block = 64;
    attention.correction = no_correction(2);
    AttentionShape shape;
    shape.batch = 2;
    shape.heads = 512;
    shape.kv_heads = 512;
    shape.head_dim = shape.value_dim = 128;
    shape.query_length = shape.key_length = 4096;
    // Blocks on the diagonal are computed whole: s (s + block) / 2 pairs. Waves are full.
    const double triangle = 1024.0 * 4096 * (4096 + 64) / 2;
    CHECK_THAT(attention.time(shape, 1, 64).value(), WithinRel(2 * 256 * triangle / 100e12, 1e-3));
    CHECK_THAT(attention.time(shape, 2.5, 64) / attention.time(shape, 1, 64), WithinRel(2.5, 1e-9));
    shape.window = 4096; // all of it
    CHECK_THAT(attention.time(shape, 1, 64).value(), WithinRel(2 * 256 * triangle / 100e12, 1e-3));
    shape.window = 512;
    const double band = 1024.0 * (512.0 * (512 + 64) / 2 + (4096 - 512) * (512.0 + 64));
    CHECK_THAT(attention.time(shape, 1, 64).value(), WithinRel(2 * 256 * band / 100e12, 1e-3));
    shape.window = 0;
    shape.causal = false;
    CHECK_THAT(attention.time(shape, 1, 64).value(),
               WithinRel(2 * 256 * 1024.0 * 4096 * 4096 / 100e12, 1e-3));
    // Queries of half a sequence that see all its keys, as balanced context parallelism leaves
    // them.
    shape.causal = true;
    const Seconds whole = attention.time(shape, 1, 64);
    shape.query_length = 2048;
    CHECK_THAT(attention.time(shape, 1, 64) / whole, WithinRel(0.5, 1e-3));
}

TEST_CASE("a head of more keys than were timed is corrected as the heads that have its operations")
{
    MeasuredAttention attention;
    attention.rate = FlopRate(100e12);
    attention.memory = Bandwidth(1e18);
    attention.block = 64;
    AttentionShape shape;
    shape.batch = 1;
    shape.kv_heads = 1;
    shape.head_dim = shape.value_dim = 128;
    const auto corrected = [&](std::int64_t heads, std::int64_t queries, std::int64_t keys) {
        shape.heads = shape.kv_heads = heads;
        shape.query_length = queries;
        shape.key_length = keys;
        attention.correction = no_correction(2);
        const Seconds plain = attention.time(shape, 1, 64);
        attention.correction = {{{512, 4096}, {1, 64}}, {0, 0, 0, 600}};
        return std::log(attention.time(shape, 1, 64) / plain);
    };
    CHECK(corrected(1, 4096, 4096) == Approx(0.0).margin(1e-9));
    CHECK(corrected(8, 4096, 4096) == Approx(0.3)); // half of the way from 1 to 64
    CHECK(corrected(2, 8192, 8192) == Approx(0.3)); // 2^2 times the operations
    CHECK(corrected(2, 4096, 16384) == Approx(0.3));
    CHECK(corrected(1, 65536, 65536) == Approx(0.6)); // flat beyond the last
    shape.window = 512;
    CHECK(corrected(4, 8192, 8192) == Approx(0.3)); // twice the operations
}

TEST_CASE("packed blocks hold the queries of all heads of a key head")
{
    MeasuredAttention attention;
    attention.rate = FlopRate(100e12);
    attention.memory = Bandwidth(1e18);
    attention.block = 128;
    attention.correction = no_correction(2);
    AttentionShape shape;
    shape.batch = 1;
    shape.heads = 512;
    shape.kv_heads = 64;
    shape.head_dim = shape.value_dim = 128;
    shape.query_length = shape.key_length = 4096;
    shape.window = 128;
    const auto band = [](double block) {
        return 512.0 * (128.0 * (128 + block) / 2 + (4096 - 128) * (128.0 + block));
    };
    CHECK_THAT(attention.time(shape, 1, 64).value(), WithinRel(2 * 256 * band(128) / 100e12, 1e-3));
    attention.packed = true; // 16 positions of 8 heads
    CHECK_THAT(attention.time(shape, 1, 64).value(), WithinRel(2 * 256 * band(16) / 100e12, 1e-3));
    shape.kv_heads = 512;
    CHECK_THAT(attention.time(shape, 1, 64).value(), WithinRel(2 * 256 * band(128) / 100e12, 1e-3));
}

TEST_CASE("a head size that was not timed takes its products and as much softmax")
{
    const MeasuredKernels kernels = assembled("A100-SXM4-80GB").hardware.kernels;
    AttentionShape shape;
    shape.batch = 4;
    shape.heads = shape.kv_heads = 32;
    shape.query_length = shape.key_length = 8192;
    const auto time = [&](int head) {
        shape.head_dim = shape.value_dim = head;
        return kernels.attention_of(shape)->time(shape, 1, kernels.sms);
    };
    REQUIRE(kernels.attention.size() == 1);
    REQUIRE(kernels.attention[0].head_dim == 128);
    // (64 + 32) / (128 + 32), not a half: the softmax of a pair stays.
    CHECK_THAT(time(64) / time(128), WithinRel(0.6, 0.01));
    CHECK_THAT(time(256) / time(128), WithinRel(1.8, 0.01));
}

TEST_CASE("one head of few SMs' work waits for its longest block")
{
    MeasuredAttention attention;
    attention.rate = FlopRate(100e12);
    attention.memory = Bandwidth(1e18);
    attention.correction = no_correction(2);
    AttentionShape shape;
    shape.batch = shape.heads = shape.kv_heads = 1;
    shape.head_dim = shape.value_dim = 128;
    shape.query_length = shape.key_length = 8192;
    const double longest = 2.0 * 256 * 128 * 8192 / (100e12 / 132);
    CHECK(attention.time(shape, 1, 132).value() >= longest);
}

TEST_CASE("the kernels of a chip serve its other boards by peak and bandwidth")
{
    const Profile full = assembled("A100-SXM4-80GB");
    const Profile small = assembled("A100-SXM4-40GB");
    REQUIRE(full.hardware.kernels == small.hardware.kernels);
    const MeasuredKernels there = full.hardware.kernels.on(small.hardware.device);
    const MeasuredGemm& before = *full.hardware.kernels.gemm_of(Precision::bf16);
    const MeasuredGemm& after = *there.gemm_of(Precision::fp16);
    CHECK(after.rate == before.rate); // one chip, one clock
    CHECK_THAT(
        after.memory / before.memory,
        WithinRel(small.hardware.device.hbm_bandwidth / full.hardware.device.hbm_bandwidth, 1e-9));
    CHECK(there.gemm_of(Precision::nvfp4) == nullptr);
}

TEST_CASE("attention takes the nearest head size, windows only where there is one")
{
    const MeasuredKernels kernels = assembled("H100-SXM5-80GB").hardware.kernels;
    AttentionShape shape;
    shape.head_dim = shape.value_dim = 112;
    shape.query_length = shape.key_length = 4096;
    REQUIRE(kernels.attention_of(shape) != nullptr);
    CHECK(kernels.attention_of(shape)->head_dim == 128);
    CHECK(kernels.attention_of(shape)->window == 0);
    shape.window = 4096; // no narrower than the sequence
    CHECK(kernels.attention_of(shape)->window == 0);
    shape.window = 200;
    CHECK(kernels.attention_of(shape)->window == 128);
    // A window that leaves out next to nothing costs next to nothing less.
    for (const int size : {64, 128, 256}) {
        shape.head_dim = shape.value_dim = size;
        shape.batch = 1;
        shape.heads = shape.kv_heads = 32;
        shape.window = 0;
        const Seconds whole = kernels.attention_of(shape)->time(shape, 1, 132);
        shape.window = 4095;
        CHECK_THAT(kernels.attention_of(shape)->time(shape, 1, 132) / whole, WithinRel(1, 0.01));
    }
}

TEST_CASE("no product of measured kernels beats the peak")
{
    for (const char* name : {"A100-SXM4-80GB", "H100-SXM5-80GB", "B200-SXM-180GB", "GB300"}) {
        const Profile profile = assembled(name);
        const CostModel model(profile);
        for (const std::int64_t side : {33, 512, 3000, 8192, 50000})
            for (const Precision precision : {Precision::bf16, Precision::fp8, Precision::nvfp4}) {
                Kernel kernel = product_of(side, 8192, side);
                kernel.precision = precision;
                const Precision executed = executed_precision(precision, profile.hardware.device);
                INFO(name << " " << side << " " << to_name(precision));
                CHECK(device_time(kernel, model.compute_context()) >=
                      hardware_flops(kernel) / profile.hardware.device.peak.at(executed));
            }
    }
}

TEST_CASE("a step reaches the share of measured rates that the device says")
{
    Profile profile = assembled("H100-SXM5-80GB");
    const Kernel kernel = product_of(8192, 8192, 8192);
    const Seconds usual = device_time(kernel, CostModel(profile).compute_context());
    profile.hardware.device.under_load.gemm.bf16 *= 0.5;
    CHECK_THAT(device_time(kernel, CostModel(profile).compute_context()) / usual,
               WithinRel(2, 1e-9));
}

TEST_CASE("corrections of another shape than their knots are refused where they stand")
{
    CHECK(
        kernel_problems(gemm_file("[[1, 2], [1, 2], [1, 2]]", "[0, 0, 0, 0, 0, 0, 0, 0]")).empty());
    const Problems count = kernel_problems(gemm_file("[[1, 2], [1, 2], [1, 2]]", "[0, 0, 0]"));
    REQUIRE(count.size() == 1);
    CHECK(count[0].pointer == "/gemm/0/correction/per_mille");
    CHECK(count[0].message == "3 values for 8 combinations of the sizes");
    std::string waves = gemm_file("[[1, 2], [1, 2], [1, 2]]", "[0, 0, 0, 0, 0, 0, 0, 0]");
    waves.insert(waves.find("\"correction\""),
                 R"("by_waves": {"knots": [[1, 2]], "per_mille": [0, 0]}, )");
    const Problems sizes = kernel_problems(waves);
    REQUIRE(sizes.size() == 1);
    CHECK(sizes[0].pointer == "/gemm/0/by_waves/knots");
    CHECK(sizes[0].message == "expected 2 lists of ascending sizes");
    for (const char* knots : {"[[1, 2], [1, 2]]", "[[2, 1], [1, 2], [1, 2]]",
                              "[[1], [1, 2], [1, 2]]", "[[0, 2], [1, 2], [1, 2]]"})
    {
        const Problems problems = kernel_problems(gemm_file(knots, "[0, 0, 0, 0, 0, 0, 0, 0]"));
        REQUIRE(problems.size() == 1);
        CHECK(problems[0].pointer == "/gemm/0/correction/knots");
    }
}

TEST_CASE("kernels that are never looked up, or no kernels, are refused")
{
    const auto with = [](const std::string& more) {
        std::string text = gemm_file("[[1, 2], [1, 2], [1, 2]]", "[0, 0, 0, 0, 0, 0, 0, 0]");
        return kernel_problems(text.insert(1, more));
    };
    const Problems unfused = with(R"("attention_kernel": "unfused", )");
    REQUIRE(unfused.size() == 1);
    CHECK(unfused[0].pointer == "/attention_kernel");
    std::string half = gemm_file("[[1, 2], [1, 2], [1, 2]]", "[0, 0, 0, 0, 0, 0, 0, 0]");
    half.replace(half.find("bf16"), 4, "fp16");
    const Problems never = kernel_problems(half);
    REQUIRE(never.size() == 1);
    CHECK(never[0].pointer == "/gemm/0/precision");
    CHECK(kernel_problems(gemm_file("[[1, 2], [1, 2], [1, 2]]", "[0, 0, 0, 0, 0, 0, 0, 9000]"))
              .size() == 1);
}
