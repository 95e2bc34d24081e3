#include "sim/cost/kernel_time.h"

#include "sim/workload/number_format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace trainyard {
namespace {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b)
{
    return (a + b - 1) / b;
}

FlopRate peak_of(Precision precision, const Device& device)
{
    return device.peak.at(executed_precision(precision, device));
}

FlopRate gemm_rate(Precision precision, const Device& device)
{
    return peak_of(precision, device) *
           device.gemm_efficiency.at(executed_precision(precision, device));
}

// Fused attention and scans were timed in 16 bit only.
bool was_timed_in(Precision precision, const Device& device)
{
    const Precision executed = executed_precision(precision, device);
    return executed == Precision::bf16 || executed == Precision::fp16;
}

double use_efficiency(const Kernel& kernel, const ComputeContext& context)
{
    switch (kernel.use) {
    case KernelUse::attention_square:
    case KernelUse::recurrence_core:
        return context.device->square_gemm;
    case KernelUse::expert:
        return is_narrow(kernel.precision) ? context.software->expert_gemm_8
                                           : context.software->expert_gemm_16;
    case KernelUse::head:
        return context.device->head_gemm;
    case KernelUse::convolution:
        return context.device->convolution;
    default:
        return 1;
    }
}

double traffic_factor(KernelUse use, const SoftwareClass& software)
{
    switch (use) {
    case KernelUse::expert:
        return software.moe_elementwise_factor;
    case KernelUse::convolution:
        return software.normalisation_factor;
    case KernelUse::attention_square: // its passes are counted, not listed
    case KernelUse::recurrence_core:
    case KernelUse::states:
        return 1;
    default:
        return software.elementwise_factor;
    }
}

// Filling and draining a tile takes as long whatever the format, so formats with a slower main loop
// lose less to it: k_half is stated for the 16-bit rate.
double k_half(Precision precision, const Device& device)
{
    const FlopRate usual = usual_peak(device);
    return device.gemm_k_half * std::min(1.0, peak_of(precision, device) / usual);
}

// Weight gradients of convolutions sum over many more pixels than they have weights: the sum is
// split over all SMs, and only the edges of tiles are lost.
double sm_utilisation(const Kernel& kernel, const Device& device)
{
    const GemmShape& shape = kernel.gemm;
    const bool split_sum =
        kernel.use == KernelUse::convolution && shape.k > std::max(shape.m, shape.n);
    return wave_utilisation(shape, split_sum ? 1 : device.sms);
}

double attention_efficiency(const Kernel& kernel, const ComputeContext& context)
{
    const AttentionShape& shape = kernel.attention;
    const Device& device = *context.device;
    double efficiency = device.attention.at(shape.kernel);
    if (!(efficiency > 0)) // no fused kernels: products one after the other
        efficiency = device.gemm_efficiency.at(executed_precision(kernel.precision, device)) *
                     device.square_gemm;
    const std::int64_t head = (shape.head_dim + shape.value_dim + 1) / 2;
    if (head <= 64)
        efficiency *= device.attention_head_64;
    else if (head < 128)
        efficiency *= device.attention_head_96;
    const double length = static_cast<double>(shape.key_length) * shape.seen_share; // of documents
    efficiency *= length / (length + device.attention_half_length);
    if (shape.backward)
        efficiency *= device.attention_backward;
    if (shape.query_length < shape.key_length)
        efficiency *= context.software->attention_across_cp;
    return efficiency;
}

// None of recurrences' chunks and convolutions, which are other kernels.
const MeasuredGemm* measured_gemm(const Kernel& kernel, const ComputeContext& context)
{
    if (context.kernels == nullptr || kernel.use == KernelUse::recurrence_core ||
        kernel.use == KernelUse::convolution)
        return nullptr;
    return context.kernels->gemm_of(executed_precision(kernel.precision, *context.device));
}

const MeasuredAttention* measured_attention(const Kernel& kernel, const ComputeContext& context)
{
    const Device& device = *context.device;
    const bool timed =
        device.attention.at(kernel.attention.kernel) > 0 && was_timed_in(kernel.precision, device);
    return context.kernels == nullptr || !timed ? nullptr
                                                : context.kernels->attention_of(kernel.attention);
}

// Nothing where the kernel was not timed. A scan's clock counts, a convolution waits for memory.
std::optional<Seconds> measured_sequence(const Kernel& kernel, const ComputeContext& context)
{
    const SequenceShape& shape = kernel.sequence;
    if (context.kernels == nullptr || shape.kernel == SequenceKernel::none)
        return std::nullopt;
    const Device& device = *context.device;
    const SequenceDevice on{device.sms, context.kernels->cache};
    const Seconds least = std::max(kernel.bytes / device.hbm_bandwidth,
                                   hardware_flops(kernel) / peak_of(kernel.precision, device));
    if (kernel.kind == KernelKind::memory_bound) {
        const MeasuredConvolution* convolution = context.kernels->convolution_of(shape.kernel);
        return convolution == nullptr
                   ? std::nullopt
                   : std::optional(std::max(least, convolution->time(shape, on)));
    }
    const MeasuredScan* scan = context.kernels->scan_of(shape.kernel);
    if (scan == nullptr || !was_timed_in(kernel.precision, device))
        return std::nullopt;
    return std::max(least, scan->time(shape, on) / (device.under_load.clock * context.clock));
}

// Operations backward / forward: scores are computed again.
double backward_operations(const AttentionShape& shape)
{
    const auto keys = static_cast<double>(shape.head_dim);
    const auto values = static_cast<double>(shape.value_dim);
    return (3 * keys + 2 * values) / (keys + values);
}

} // namespace

Precision executed_precision(Precision precision, const Device& device)
{
    // 8- and 4-bit kernels exist for the units they were written for: elsewhere 16 bit is used.
    constexpr std::array wider{Precision::bf16, Precision::fp16, Precision::tf32, Precision::fp32};
    if (device.peak.at(precision).value() > 0)
        return precision;
    auto candidate = std::find(wider.begin(), wider.end(), precision);
    if (candidate == wider.end())
        candidate = wider.begin();
    for (; candidate != wider.end(); ++candidate)
        if (device.peak.at(*candidate).value() > 0)
            return *candidate;
    return device.peak.bf16.value() > 0   ? Precision::bf16
           : device.peak.fp16.value() > 0 ? Precision::fp16
                                          : Precision::fp32;
}

double wave_utilisation(const GemmShape& shape, int sms)
{
    struct Tile {
        std::int64_t rows;
        std::int64_t columns;
        double penalty;
    };
    constexpr std::array<Tile, 4> tiles{
        {{256, 128, 1.0}, {128, 128, 0.93}, {128, 64, 0.8}, {64, 64, 0.6}}};
    const double elements = static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                            static_cast<double>(shape.batch);
    double best = 0;
    for (const Tile& tile : tiles) {
        const std::int64_t count =
            ceil_div(shape.m, tile.rows) * ceil_div(shape.n, tile.columns) * shape.batch;
        const double swept = static_cast<double>(tile.rows * tile.columns) *
                             static_cast<double>(ceil_div(count, sms)) * sms;
        best = std::max(best, tile.penalty * elements / swept);
    }
    return best;
}

Seconds gemm_time(const Kernel& kernel, const ComputeContext& context)
{
    const GemmShape& shape = kernel.gemm;
    const Device& device = *context.device;
    if (const GemmSurface& measured =
            device.gemm_surface.at(executed_precision(kernel.precision, device));
        !measured.empty() && kernel.use != KernelUse::recurrence_core)
        return measured.time(shape) /
               (use_efficiency(kernel, context) * device.under_load.clock * context.clock);
    const Flops work(2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                     static_cast<double>(shape.k) * static_cast<double>(shape.batch));
    if (const MeasuredGemm* measured = measured_gemm(kernel, context)) {
        const double reached =
            use_efficiency(kernel, context) *
            device.under_load.gemm_share(executed_precision(kernel.precision, device)) *
            device.under_load.clock * context.clock;
        return std::max({measured->time(shape, kernel.bytes, device.sms) / reached,
                         work / peak_of(kernel.precision, device),
                         kernel.bytes / device.hbm_bandwidth});
    }
    const double k = static_cast<double>(shape.k);
    const double efficiency = use_efficiency(kernel, context) * device.under_load.clock *
                              context.clock * sm_utilisation(kernel, device) * k /
                              (k + k_half(kernel.precision, device));
    const FlopRate rate = gemm_rate(kernel.precision, device) * efficiency;
    const Seconds moved = kernel.bytes / (device.hbm_bandwidth * device.hbm_gemm);
    return kernel.use == KernelUse::recurrence_core ? work / rate + moved
                                                    : std::max(work / rate, moved);
}

Seconds attention_time(const Kernel& kernel, const ComputeContext& context)
{
    const Device& device = *context.device;
    const FlopRate peak = peak_of(kernel.precision, device);
    if (const MeasuredAttention* measured = measured_attention(kernel, context)) {
        const AttentionShape& shape = kernel.attention;
        const double reached =
            device.under_load.attention_share() * device.under_load.clock * context.clock *
            device.attention.at(shape.kernel) /
            device.attention.at(context.kernels->attention_kernel) *
            (shape.query_length < shape.key_length ? context.software->attention_across_cp : 1);
        const double times =
            shape.backward ? backward_operations(shape) / device.attention_backward : 1;
        return std::max({measured->time(shape, times, device.sms) / reached,
                         hardware_flops(kernel) / peak, kernel.bytes / device.hbm_bandwidth});
    }
    const double share = std::min(1.0, attention_efficiency(kernel, context) *
                                           device.under_load.clock * context.clock);
    return std::max(hardware_flops(kernel) / (peak * share),
                    kernel.bytes / (device.hbm_bandwidth * device.hbm_gemm));
}

Seconds memory_time(const Kernel& kernel, const ComputeContext& context)
{
    return kernel.bytes / (context.device->hbm_bandwidth * context.device->hbm_efficiency) *
           traffic_factor(kernel.use, *context.software);
}

Seconds device_time(const Kernel& kernel, const ComputeContext& context)
{
    if (const std::optional<Seconds> measured = measured_sequence(kernel, context))
        return *measured;
    switch (kernel.kind) {
    case KernelKind::gemm:
        return gemm_time(kernel, context);
    case KernelKind::attention:
        return attention_time(kernel, context);
    case KernelKind::memory_bound:
        break;
    }
    return memory_time(kernel, context);
}

bool waits_for_memory(const Kernel& kernel, const ComputeContext& context)
{
    const Device& device = *context.device;
    const Precision executed = executed_precision(kernel.precision, device);
    if (kernel.kind == KernelKind::memory_bound)
        return true;
    const bool measured =
        measured_sequence(kernel, context) ||
        (kernel.kind == KernelKind::gemm ? !device.gemm_surface.at(executed).empty() ||
                                               measured_gemm(kernel, context) != nullptr
                                         : measured_attention(kernel, context) != nullptr);
    if (measured)
        return kernel.bytes / device.hbm_bandwidth >
               hardware_flops(kernel) / peak_of(kernel.precision, device);
    const Seconds moved = kernel.bytes / (device.hbm_bandwidth * device.hbm_gemm);
    const Seconds all = device_time(kernel, context);
    return !((kernel.use == KernelUse::recurrence_core ? all - moved : all) > moved);
}

Seconds launch_gaps(const Kernel& kernel, const Device& device)
{
    if (kernel.launches == 0)
        return Seconds(0);
    const double first = kernel.kind == KernelKind::gemm ? 1.0 : 0.5;
    const bool side_by_side =
        kernel.use == KernelUse::expert && kernel.kind == KernelKind::gemm; // on several streams
    return device.launch_gap * (first + (side_by_side ? 0 : 0.5 * (kernel.launches - 1)));
}

} // namespace trainyard
