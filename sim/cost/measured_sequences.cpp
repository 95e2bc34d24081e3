#include "sim/cost/measured_sequences.h"

#include "sim/base/fields.h"
#include "sim/cost/field_kinds.h"

#include <array>
#include <cmath>

namespace trainyard {
namespace {

constexpr double chunk_length = 64; // of flash-linear-attention

// Time through memory of short runs that repeat, whose bytes are partly still in the cache.
double through_memory(double moved, Bandwidth memory, double hit, double cached)
{
    return moved / memory.value() * (1 - hit + hit / cached);
}

} // namespace

Seconds MeasuredScan::time(const SequenceShape& shape, const SequenceDevice& device) const
{
    const auto length = static_cast<double>(shape.length);
    const auto heads = static_cast<double>(shape.batch * shape.heads);
    const auto key = static_cast<double>(shape.key_dim);
    const auto value = static_cast<double>(shape.value_dim);
    const double moved =
        4 * heads * length * (3 * key + 3 * value + key * value / chunk_length) * shape.traffic;
    const double hit = 1 / (1 + std::pow(moved / static_cast<double>(device.cache.value()), 1.5));
    const double chain = std::ceil(length / chunk_length) * shape.chains * step.value() *
                         either(1, heads / (heads_per_sm * device.sms));
    return Seconds((through_memory(moved, memory, hit, cached) + chain) *
                   correction.factor(std::array{length, heads}));
}

Seconds MeasuredConvolution::time(const SequenceShape& shape, const SequenceDevice& device) const
{
    const auto length = static_cast<double>(shape.length);
    const auto batch = static_cast<double>(shape.batch);
    const auto channels = static_cast<double>(shape.channels);
    const double moved = 4 * batch * length * channels;
    const double hit =
        1 / (1 + std::pow(footprint * moved / static_cast<double>(device.cache.value()), 6));
    return Seconds(either(through_memory(moved, memory, hit, cached), token.value() * length) *
                   correction.factor(std::array{length, batch, channels}) * shape.traffic);
}

template <>
const FieldTable<MeasuredScan>& fields_of<MeasuredScan>()
{
    using S = MeasuredScan;
    static const auto table =
        FieldTable<S>("scan", "A chunked scan of a recurrent mixer, forward.")
            .field("kernel", &S::kernel, {.help = "which mixer's", .required = true})
            .field("memory", &S::memory, {.help = "rate of what it moves", .required = true})
            .field("step", &S::step, not_negative("of one chunk of 64 tokens, from state to state"))
            .field("heads_per_sm", &S::heads_per_sm,
                   {.help = "heads that an SM takes at a time", .min = 0.001})
            .field("cached", &S::cached,
                   {.help = "how much quicker bytes in the cache are", .min = 1})
            .field("correction", &S::correction,
                   {.help = "over length and batch x heads", .required = true})
            .field("errors", &S::errors, {.help = "of rows left out"});
    return table;
}

template <>
const FieldTable<MeasuredConvolution>& fields_of<MeasuredConvolution>()
{
    using C = MeasuredConvolution;
    static const auto table =
        FieldTable<C>("convolution", "A short convolution, forward.")
            .field("kernel", &C::kernel, {.help = "which library's", .required = true})
            .field("memory", &C::memory, {.help = "rate in and out", .required = true})
            .field("token", &C::token, not_negative("of one token of a sequence that runs alone"))
            .field("cached", &C::cached,
                   {.help = "how much quicker bytes in the cache are", .min = 1})
            .field("footprint", &C::footprint,
                   {.help = "share of the bytes that has to fit the cache", .min = 0.001})
            .field("correction", &C::correction,
                   {.help = "over length, batch and channels", .required = true})
            .field("errors", &C::errors, {.help = "of rows left out"});
    return table;
}

void check(const Reader& reader, const MeasuredScan& scan)
{
    need_positive(reader, "scan", {{"memory", scan.memory.value()}});
    if (scan.kernel != SequenceKernel::gated_delta_rule &&
        scan.kernel != SequenceKernel::kimi_delta_rule)
        reader.member("kernel").error("not a scan", "gated_delta_rule or kimi_delta_rule");
    check_correction(reader.member("correction"), scan.correction, 2);
}

void check(const Reader& reader, const MeasuredConvolution& convolution)
{
    need_positive(reader, "convolution", {{"memory", convolution.memory.value()}});
    if (convolution.kernel != SequenceKernel::fused_convolution &&
        convolution.kernel != SequenceKernel::split_convolutions &&
        convolution.kernel != SequenceKernel::cuda_convolution)
        reader.member("kernel").error("not a convolution",
                                      "fused_convolution, split_convolutions or cuda_convolution");
    check_correction(reader.member("correction"), convolution.correction, 3);
}

} // namespace trainyard
