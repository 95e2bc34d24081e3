#include "sim/cost/measured_kernels.h"

#include "sim/base/fields.h"
#include "sim/cost/device.h"
#include "sim/cost/field_kinds.h"
#include "sim/workload/number_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace trainyard {
namespace {

struct TileSize {
    double rows;
    double columns;
    std::size_t penalty; // how many of the penalties count
    int sms;             // that work on one tile together
};
constexpr std::array<TileSize, 9> tile_sizes{{{256, 256, 0, 2},
                                              {256, 128, 1, 1},
                                              {128, 256, 1, 1},
                                              {128, 128, 2, 1},
                                              {256, 64, 2, 1},
                                              {64, 256, 2, 1},
                                              {128, 64, 3, 1},
                                              {64, 128, 3, 1},
                                              {64, 64, 4, 1}}};
constexpr std::array<double, 4> splits{1, 2, 4, 8};
constexpr std::size_t penalty_count = 4;
constexpr double key_step = 64;   // keys that attention takes at a time
constexpr double tile_side = 128; // rows and columns that waves are counted in
constexpr double pair_rows = 256; // two tiles', which padding is counted in
constexpr double per_cent = 100;
constexpr std::size_t gemm_sizes = 3;
constexpr std::size_t attention_sizes = 2;
// Key and value widths whose products of matrices take an SM as long as the softmax of a pair: 16
// exponentials a clock beside 2048 operations, on the chips (A100) whose tables lack head sizes.
constexpr double softmax_width = 32;

// Rounds of work over the SMs, of whose last one the share `lost` of what idles counts.
double rounds(double full, double lost)
{
    return full < 1 ? 1 : full + lost * (std::ceil(full) - full);
}

} // namespace

Seconds MeasuredGemm::time(const GemmShape& shape, Bytes bytes, int sms) const
{
    const auto m = static_cast<double>(shape.m);
    const auto n = static_cast<double>(shape.n);
    const auto k = static_cast<double>(shape.k);
    const auto batch = static_cast<double>(shape.batch);
    std::array<double, penalty_count + 1> penalty{1};
    for (std::size_t i = 0; i < penalty_count; ++i)
        penalty[i + 1] = penalty[i] * penalties[i];
    const double joining = split_ramps * ramp.value() + 4 * m * n * batch / memory.value();
    double compute = std::numeric_limits<double>::infinity();
    for (const TileSize& tile : tile_sizes) {
        const double units = sms / tile.sms;
        const double per_k =
            2 * tile.rows * tile.columns * units / rate.value() * penalty[tile.penalty];
        const double count = std::ceil(m / tile.rows) * std::ceil(n / tile.columns) * batch;
        for (const double split : splits) {
            const double whole =
                rounds(count * split / units, waves) * (k / split * per_k + ramp.value());
            compute = std::min(compute, split > 1 ? whole + joining : whole);
        }
    }
    const double timed = (operand_bytes(precision) * (m * k + k * n) + 2 * m * n) * batch;
    const double added = std::max(0.0, static_cast<double>(bytes.value()) - timed);
    const double tiles = std::ceil(m / tile_side) * std::ceil(n / tile_side) * batch;
    const double rows = std::ceil(m / pair_rows) * pair_rows;
    return Seconds(either(compute, timed / memory.value()) *
                       correction.factor(std::array{m * batch, n, k}) *
                       by_waves.factor(std::array{per_cent * tiles / sms, k}) *
                       by_padding.factor(std::array{per_cent * rows / m, k}) +
                   added / memory.value());
}

Seconds MeasuredAttention::time(const AttentionShape& shape, double times, int sms) const
{
    const auto width = static_cast<double>(block);
    const auto queries = static_cast<double>(shape.query_length);
    // Documents see themselves only.
    const double length = static_cast<double>(shape.key_length) * shape.seen_share;
    const auto heads = static_cast<double>(shape.batch * shape.heads);
    const auto widths = static_cast<double>(shape.head_dim + shape.value_dim);
    const double keys = std::ceil(length / key_step) * key_step;
    const double in_window =
        shape.window > 0 ? std::min(static_cast<double>(shape.window), keys) : keys;
    const auto key_heads = static_cast<double>(std::max<std::int64_t>(1, shape.kv_heads));
    const double group = static_cast<double>(shape.heads) / key_heads;
    const double shared = packed ? group : 1;
    double per_query = (shape.causal ? in_window : keys) + edge;
    double longest = width * per_query;
    if (shape.causal && shape.skips_masked) {
        // A block of `rise` queries that ends at q sees min(q, in_window + rise) keys.
        const double rise = width / shared;
        const double rows = std::ceil(length / rise) * rise;
        const double inside = std::min(in_window, rows);
        const double seen = inside * (inside + rise) / 2 + (rows - inside) * (in_window + rise);
        per_query = seen / length + edge;
        longest = width * (std::min(in_window + rise, keys) + edge);
    }
    const double blocks = heads / shared * std::ceil(queries * shared / width) / sms;
    const double all = heads * queries * per_query * rounds(blocks, waves) / blocks;
    const double timed = 2.0 * head_dim;
    const double effort = timed * (widths + 2 * softmax_width) / (timed + 2 * softmax_width);
    const double compute = 2 * effort / rate.value() * either(all, longest * sms) * times;
    const double passes = shape.backward ? 2 : 1;
    const double moved = passes * 2 * heads * queries * widths * (1 + 1 / group) / memory.value();
    const double tokens = static_cast<double>(shape.batch) * queries;
    // A head of more keys than were timed counts as the heads of most keys that have its
    // operations.
    const double most = correction.largest(0);
    const double alike =
        length > most ? std::max(1.0, queries * in_window / (most * std::min(in_window, most)))
                      : 1.0;
    return Seconds(either(compute, moved) * correction.factor(std::array{length, alike * heads}) *
                   by_waves.factor(std::array{length, per_cent * blocks}) *
                   by_key_heads.factor(std::array{alike * heads, alike * key_heads}) *
                   by_groups.factor(std::array{per_cent * blocks, group}) *
                   by_tokens.factor(std::array{tokens, key_heads}));
}

const MeasuredGemm* MeasuredKernels::gemm_of(Precision precision) const
{
    const Precision like = precision == Precision::fp16    ? Precision::bf16
                           : precision == Precision::mxfp8 ? Precision::fp8
                                                           : precision;
    const auto found = std::ranges::find(gemm, like, &MeasuredGemm::precision);
    return found == gemm.end() ? nullptr : &*found;
}

const MeasuredScan* MeasuredKernels::scan_of(SequenceKernel kernel) const
{
    const auto found = std::ranges::find(scans, kernel, &MeasuredScan::kernel);
    return found == scans.end() ? nullptr : &*found;
}

const MeasuredConvolution* MeasuredKernels::convolution_of(SequenceKernel kernel) const
{
    const auto found = std::ranges::find(convolutions, kernel, &MeasuredConvolution::kernel);
    if (found != convolutions.end())
        return &*found;
    return convolutions.empty() ? nullptr : &convolutions.front();
}

const MeasuredAttention* MeasuredKernels::attention_of(const AttentionShape& shape) const
{
    const double head = static_cast<double>(shape.head_dim + shape.value_dim) / 2;
    const bool windowed = shape.window > 0 && shape.window < shape.key_length;
    const MeasuredAttention* nearest = nullptr;
    double least = std::numeric_limits<double>::infinity();
    const std::vector<MeasuredAttention>& of_kind =
        shape.head_dim > shape.value_dim && !latent.empty() ? latent
        : !shape.causal && !windowed && !encoder.empty()    ? encoder
                                                            : attention;
    for (const MeasuredAttention& one : of_kind) {
        if (one.window > 0 && !windowed)
            continue;
        const auto keys = one.window > 0 ? static_cast<double>(one.window)
                                         : static_cast<double>(shape.key_length);
        double away = std::abs(std::log(head / one.head_dim));
        if (windowed)
            away += 0.1 * std::abs(std::log(static_cast<double>(shape.window) / keys));
        if (away < least) {
            least = away;
            nearest = &one;
        }
    }
    return nearest;
}

MeasuredKernels MeasuredKernels::on(const Device& device) const
{
    MeasuredKernels out = *this;
    if (sms == 0)
        return out;
    const double compute = usual_peak(device) / peak;
    const double memory = device.hbm_bandwidth / hbm_bandwidth;
    for (MeasuredGemm& one : out.gemm) {
        one.rate = one.rate * compute;
        one.memory = one.memory * memory;
    }
    for (std::vector<MeasuredAttention>* list : {&out.attention, &out.latent, &out.encoder})
        for (MeasuredAttention& one : *list) {
            one.rate = one.rate * compute;
            one.memory = one.memory * memory;
        }
    const double clock = compute * sms / device.sms;
    for (MeasuredScan& one : out.scans) {
        one.memory = one.memory * memory;
        one.step = one.step / clock;
    }
    for (MeasuredConvolution& one : out.convolutions) {
        one.memory = one.memory * memory;
        one.token = one.token / clock;
    }
    out.sms = device.sms;
    out.peak = usual_peak(device);
    out.hbm_bandwidth = device.hbm_bandwidth;
    return out;
}

template <>
const FieldTable<MeasuredGemm>& fields_of<MeasuredGemm>()
{
    using G = MeasuredGemm;
    static const auto table =
        FieldTable<G>("gemm", "GEMMs of one number format.")
            .field("precision", &G::precision, {.help = "number format", .required = true})
            .field("kernel", &G::kernel, {.help = "library that was timed"})
            .field("rate", &G::rate,
                   {.help = "of full waves of the largest tile", .required = true})
            .field("ramp", &G::ramp, not_negative("filling and draining a tile"))
            .field("memory", &G::memory, {.help = "rate of operands and results", .required = true})
            .field("split_ramps", &G::split_ramps, not_negative("ramps to join partial sums"))
            .field("penalties", &G::penalties,
                   {.help = "time per operation of each smaller class of tiles / the larger one's",
                    .required = true})
            .field("waves", &G::waves, share("share of a last wave's idle SMs that is lost"))
            .field("correction", &G::correction, {.help = "over m, n and k", .required = true})
            .field("by_waves", &G::by_waves, {.help = "over tiles / SMs in per cent and k"})
            .field("by_padding", &G::by_padding,
                   {.help = "over rows in whole pairs of tiles / m in per cent, and k"})
            .field("errors", &G::errors, {.help = "of rows left out"});
    return table;
}

template <>
const FieldTable<MeasuredAttention>& fields_of<MeasuredAttention>()
{
    using A = MeasuredAttention;
    static const auto table =
        FieldTable<A>("attention", "Causal forward attention of one head size and window.")
            .field("head_dim", &A::head_dim, {.help = "head size", .min = 1, .required = true})
            .field("window", &A::window, {.help = "keys that a query sees; 0: all", .min = 0})
            .field("rate", &A::rate, {.help = "of full waves", .required = true})
            .field("edge", &A::edge, not_negative("masked keys per query computed all the same"))
            .field("memory", &A::memory, {.help = "rate of operands and results", .required = true})
            .field("waves", &A::waves, share("share of a last wave's idle SMs that is lost"))
            .field("block", &A::block,
                   {.help = "queries that an SM takes at a time", .min = 1, .max = 4096})
            .field("packed", &A::packed, {.help = "the heads of a key head share blocks"})
            .field("correction", &A::correction,
                   {.help = "over keys and batch x heads", .required = true})
            .field("by_waves", &A::by_waves, {.help = "over keys and blocks / SMs in per cent"})
            .field("by_key_heads", &A::by_key_heads, {.help = "over batch x heads and key heads"})
            .field("by_groups", &A::by_groups,
                   {.help = "over blocks / SMs in per cent and heads of a key head"})
            .field("by_tokens", &A::by_tokens, {.help = "over batch x queries and key heads"})
            .field("errors", &A::errors, {.help = "of rows left out"});
    return table;
}

template <>
const FieldTable<MeasuredKernels>& fields_of<MeasuredKernels>()
{
    using M = MeasuredKernels;
    static const auto table =
        FieldTable<M>("kernels", "Surfaces fitted to measured times of single kernels.")
            .field("name", &M::name, {.help = "as devices name it"})
            .field("aliases", &M::aliases, {.help = "other names it is known by"})
            .field("compute_capability", &M::compute_capability,
                   {.help = "of CUDA, of that device, 90 for 9.0; 0: serves any device",
                    .min = 0,
                    .max = 999})
            .field("sms", &M::sms, {.help = "of the device it was measured on", .min = 0})
            .field("peak", &M::peak, not_negative("dense 16-bit peak of that device"))
            .field("hbm_bandwidth", &M::hbm_bandwidth, not_negative("of that device"))
            .field("cache", &M::cache, {.help = "second-level cache of that device"})
            .field("attention_kernel", &M::attention_kernel,
                   {.help = "which kernel the times of attention are of"})
            .field("gemm", &M::gemm, {.help = "by number format"})
            .field("attention", &M::attention, {.help = "by head size and window"})
            .field("latent", &M::latent,
                   {.help = "attention whose keys are wider than its values, by their mean"})
            .field("encoder", &M::encoder, {.help = "attention without a mask, by head size"})
            .field("scans", &M::scans, {.help = "chunked scans of recurrent mixers, by kernel"})
            .field("convolutions", &M::convolutions, {.help = "short convolutions, by kernel"});
    return table;
}

namespace {

void check_attention(const Reader& reader, const std::vector<MeasuredAttention>& list)
{
    for (std::size_t i = 0; i < list.size(); ++i) {
        const Reader at = reader.element(i);
        need_positive(at, "attention",
                      {{"rate", list[i].rate.value()}, {"memory", list[i].memory.value()}});
        const MeasuredAttention& one = list[i];
        for (const auto& [name, grid] :
             {std::pair{"correction", &one.correction}, std::pair{"by_waves", &one.by_waves},
              std::pair{"by_key_heads", &one.by_key_heads}, std::pair{"by_groups", &one.by_groups},
              std::pair{"by_tokens", &one.by_tokens}})
            check_correction(at.member(name), *grid, attention_sizes);
    }
}

} // namespace

void check(const Reader& reader, const MeasuredKernels& kernels)
{
    if (kernels == MeasuredKernels{})
        return;
    need_positive(reader, "kernels",
                  {{"sms", kernels.sms},
                   {"peak", kernels.peak.value()},
                   {"hbm_bandwidth", kernels.hbm_bandwidth.value()}});
    if (kernels.attention_kernel == AttentionKernel::unfused)
        reader.member("attention_kernel").error("unfused attention is no kernel", "it is GEMMs");
    for (std::size_t i = 0; i < kernels.gemm.size(); ++i) {
        const MeasuredGemm& one = kernels.gemm[i];
        const Reader at = reader.member("gemm").element(i);
        if (kernels.gemm_of(one.precision) != &one)
            at.member("precision")
                .error(fmt::format("{} is never looked up here", to_name(one.precision)),
                       "one entry a format; fp16 is looked up as bf16, mxfp8 as fp8");
        need_positive(at, "gemm", {{"rate", one.rate.value()}, {"memory", one.memory.value()}});
        if (one.penalties.size() != penalty_count ||
            std::ranges::any_of(one.penalties, [](double p) { return !(p > 0); }))
            at.member("penalties")
                .error(fmt::format("expected {} positive factors", penalty_count));
        check_correction(at.member("correction"), one.correction, gemm_sizes);
        check_correction(at.member("by_waves"), one.by_waves, gemm_sizes - 1);
        check_correction(at.member("by_padding"), one.by_padding, gemm_sizes - 1);
    }
    check_attention(reader.member("attention"), kernels.attention);
    check_attention(reader.member("latent"), kernels.latent);
    check_attention(reader.member("encoder"), kernels.encoder);
    for (std::size_t i = 0; i < kernels.scans.size(); ++i) {
        const Reader at = reader.member("scans").element(i);
        check(at, kernels.scans[i]);
        if (kernels.scan_of(kernels.scans[i].kernel) != &kernels.scans[i])
            at.member("kernel").error("a second entry of one kernel is never looked up");
    }
    for (std::size_t i = 0; i < kernels.convolutions.size(); ++i) {
        const Reader at = reader.member("convolutions").element(i);
        check(at, kernels.convolutions[i]);
        if (kernels.convolution_of(kernels.convolutions[i].kernel) != &kernels.convolutions[i])
            at.member("kernel").error("a second entry of one kernel is never looked up");
    }
}

} // namespace trainyard
