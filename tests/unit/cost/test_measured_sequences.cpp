// Surfaces of scans and convolutions: the form by hand and against the fit's own, siblings of a
// chip, what serves which kernel.

#include "sim/base/fields.h"
#include "sim/cost/kernel_time.h"
#include "sim/cost/measured_kernels.h"
#include "sim/cost/measured_sequences.h"
#include "tests/unit/cost/support.h"

#include <cmath>

using namespace trainyard;
using Catch::Matchers::WithinRel;

namespace {

const SequenceDevice h100_sizes{132, Bytes(50'000'000)};

SizeCorrection nothing_left(std::size_t sizes)
{
    SizeCorrection out;
    out.knots.assign(sizes, {1, 1 << 20});
    out.per_mille.assign(std::size_t{1} << sizes, 0);
    return out;
}

MeasuredScan some_scan()
{
    MeasuredScan scan;
    scan.kernel = SequenceKernel::gated_delta_rule;
    scan.memory = Bandwidth(2e12);
    scan.step = Seconds(1.5e-6);
    scan.heads_per_sm = 1.5;
    scan.cached = 4;
    scan.correction = nothing_left(2);
    return scan;
}

MeasuredConvolution some_convolution()
{
    MeasuredConvolution convolution;
    convolution.kernel = SequenceKernel::cuda_convolution;
    convolution.memory = Bandwidth(2.4e12);
    convolution.token = Seconds(1.9e-9);
    convolution.cached = 2;
    convolution.footprint = 0.9;
    convolution.correction = nothing_left(3);
    return convolution;
}

SequenceShape scan_shape(std::int64_t batch, std::int64_t length, std::int64_t heads,
                         std::int64_t key = 128, std::int64_t value = 128)
{
    return {.kernel = SequenceKernel::gated_delta_rule,
            .batch = batch,
            .length = length,
            .heads = heads,
            .key_dim = key,
            .value_dim = value};
}

SequenceShape convolution_shape(std::int64_t batch, std::int64_t length, std::int64_t channels)
{
    return {.kernel = SequenceKernel::cuda_convolution,
            .batch = batch,
            .length = length,
            .channels = channels};
}

Kernel scan_kernel(const SequenceShape& shape)
{
    Kernel kernel;
    kernel.kind = KernelKind::gemm;
    kernel.use = KernelUse::recurrence_core;
    kernel.gemm = {64, 128, 500, shape.batch * shape.heads * shape.length / 64};
    kernel.bytes =
        Bytes(static_cast<std::uint64_t>(shape.batch * shape.heads * shape.length * 5120));
    kernel.sequence = shape;
    return kernel;
}

} // namespace

TEST_CASE("a scan takes the time of the form that was fitted")
{
    // ScanForm of tests/validation/kernels/linear.py with these constants on 132 SMs.
    const MeasuredScan scan = some_scan();
    CHECK_THAT(scan.time(scan_shape(1, 4096, 32), h100_sizes).value(),
               WithinRel(3.5888791558365165e-4, 1e-12));
    CHECK_THAT(scan.time(scan_shape(8, 8192, 32, 128, 256), h100_sizes).value(),
               WithinRel(7.2461716193177005e-3, 1e-12));
    CHECK_THAT(scan.time(scan_shape(1, 1000, 8, 64), h100_sizes).value(),
               WithinRel(2.877769306291715e-5, 1e-12));
}

TEST_CASE("a convolution takes the time of the form that was fitted")
{
    // ConvolutionForm of the same file.
    const MeasuredConvolution convolution = some_convolution();
    CHECK_THAT(convolution.time(convolution_shape(1, 4096, 6144), h100_sizes).value(),
               WithinRel(4.13796659695901e-5, 1e-12));
    CHECK_THAT(convolution.time(convolution_shape(8, 2048, 8192), h100_sizes).value(),
               WithinRel(2.2369608112101811e-4, 1e-12));
    CHECK_THAT(convolution.time(convolution_shape(1, 500, 1024), h100_sizes).value(),
               WithinRel(9.595192329739165e-7, 1e-12));
}

TEST_CASE("a scan's backward pass moves more and goes through the chunks again")
{
    MeasuredScan scan = some_scan();
    scan.cached = 1;
    SequenceShape shape = scan_shape(4, 8192, 32);
    const Seconds there = scan.time(shape, h100_sizes);
    shape.traffic = 2;
    shape.chains = 2;
    CHECK_THAT(scan.time(shape, h100_sizes) / there, WithinRel(2, 1e-9));
    scan.memory = Bandwidth(1e30); // the chain alone
    shape.traffic = 9;
    const Seconds both = scan.time(shape, h100_sizes);
    shape.chains = 1;
    CHECK_THAT(both / scan.time(shape, h100_sizes), WithinRel(2, 1e-9));
}

TEST_CASE("the scans and convolutions of a chip serve its other boards")
{
    const Profile full = assembled("H100-SXM5-80GB");
    const Profile slow = assembled("H100-PCIe-80GB");
    REQUIRE(full.hardware.kernels == slow.hardware.kernels);
    const MeasuredKernels there = full.hardware.kernels.on(slow.hardware.device);
    const MeasuredScan& before = *full.hardware.kernels.scan_of(SequenceKernel::gated_delta_rule);
    const MeasuredScan& after = *there.scan_of(SequenceKernel::gated_delta_rule);
    CHECK_THAT(
        after.memory / before.memory,
        WithinRel(slow.hardware.device.hbm_bandwidth / full.hardware.device.hbm_bandwidth, 1e-9));
    // A step of one chunk follows the clock of an SM.
    const double clock = usual_peak(slow.hardware.device) / usual_peak(full.hardware.device) *
                         full.hardware.device.sms / slow.hardware.device.sms;
    CHECK_THAT(before.step / after.step, WithinRel(clock, 1e-9));
}

TEST_CASE("a scan that was timed takes its time, one that was not its operations and bytes")
{
    const Profile profile = assembled("H100-SXM5-80GB");
    const CostModel model(profile);
    const Kernel timed = scan_kernel(scan_shape(1, 8192, 32));
    const MeasuredScan& surface =
        *profile.hardware.kernels.scan_of(SequenceKernel::gated_delta_rule);
    CHECK_THAT(device_time(timed, model.compute_context()).value(),
               WithinRel(surface.time(timed.sequence, h100_sizes).value(), 1e-9));
    Kernel plain = timed;
    plain.sequence.kernel = SequenceKernel::none;
    CHECK(device_time(plain, model.compute_context()) !=
          device_time(timed, model.compute_context()));
    const CostModel ampere(assembled("A100-SXM4-80GB")); // timed no scan
    CHECK(device_time(timed, ampere.compute_context()) ==
          device_time(plain, ampere.compute_context()));
}

TEST_CASE("no scan or convolution beats the data sheet")
{
    for (const char* name : {"H100-SXM5-80GB", "B200-SXM-180GB", "GB300", "L40S"}) {
        const Profile profile = assembled(name);
        const CostModel model(profile);
        for (const std::int64_t length : {64, 1000, 8192, 131072}) {
            CAPTURE(name, length);
            const Kernel scan = scan_kernel(scan_shape(1, length, 32));
            const Bandwidth hbm = profile.hardware.device.hbm_bandwidth;
            CHECK(device_time(scan, model.compute_context()) >= scan.bytes / hbm);
            Kernel convolution;
            convolution.sequence = convolution_shape(1, length, 6144);
            convolution.bytes = Bytes(static_cast<std::uint64_t>(length * 6144 * 4));
            CHECK(device_time(convolution, model.compute_context()) >= convolution.bytes / hbm);
        }
    }
}

TEST_CASE("latent attention and encoders take surfaces of their own")
{
    MeasuredKernels kernels = assembled("H100-SXM5-80GB").hardware.kernels;
    kernels.latent = {kernels.attention.front()};
    AttentionShape shape;
    shape.query_length = shape.key_length = 4096;
    shape.head_dim = 192;
    shape.value_dim = 128;
    CHECK(kernels.attention_of(shape) == &kernels.latent.front());
    shape.head_dim = shape.value_dim = 72;
    shape.causal = false;
    CHECK(kernels.attention_of(shape)->head_dim == 72);
    shape.causal = true;
    CHECK(kernels.attention_of(shape)->head_dim == 64);
    CHECK(kernels.attention_of(shape) != &kernels.encoder.front());
}

TEST_CASE("scans and convolutions of other kinds than their list's are refused where they stand")
{
    const auto problems_of = [](const std::string& text) {
        const Checked<Json> json = parse_json(text, "kernels.json");
        REQUIRE(json);
        Problems problems;
        MeasuredKernels kernels;
        const Reader reader(*json, "kernels.json", problems);
        fields_of<MeasuredKernels>().read(reader, kernels);
        check(reader, kernels);
        return problems;
    };
    const std::string start = R"({"sms": 4, "peak": "1 TFLOP/s", "hbm_bandwidth": "1 GB/s", )";
    const std::string scan = R"({"kernel": "KIND", "memory": "1 GB/s", "correction":
        {"knots": [[1, 2], [1, 2]], "per_mille": [0, 0, 0, 0]}})";
    const auto with = [&](const std::string& list, const std::string& kind) {
        std::string entry = scan;
        entry.replace(entry.find("KIND"), 4, kind);
        return problems_of(start + "\"" + list + "\": [" + entry + "]}");
    };
    CHECK(with("scans", "kimi_delta_rule").empty());
    const Problems other = with("scans", "cuda_convolution");
    REQUIRE(other.size() == 1);
    CHECK(other[0].pointer == "/scans/0/kernel");
    const Problems sizes = with("convolutions", "cuda_convolution");
    REQUIRE(sizes.size() == 1);
    CHECK(sizes[0].pointer == "/convolutions/0/correction/knots");
}
