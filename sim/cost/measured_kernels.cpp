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

// The larger of two times, rounded where they are alike.
double either(double a, double b)
{
    return std::sqrt(std::sqrt(a * a * a * a + b * b * b * b));
}

// Rounds of work over the SMs, of whose last one the share `lost` of what idles counts.
double rounds(double full, double lost)
{
    return full < 1 ? 1 : full + lost * (std::ceil(full) - full);
}

struct Cell {
    std::size_t below;
    double part; // of the way to the next knot
};

Cell cell_of(const std::vector<std::int64_t>& knots, double size)
{
    const double clamped =
        std::clamp(size, static_cast<double>(knots.front()), static_cast<double>(knots.back()));
    const auto above = std::upper_bound(
        knots.begin() + 1, knots.end() - 1, clamped,
        [](double wanted, std::int64_t knot) { return wanted < static_cast<double>(knot); });
    const auto high = static_cast<double>(*above);
    const auto low = static_cast<double>(*(above - 1));
    return {static_cast<std::size_t>(above - knots.begin()) - 1,
            std::log(clamped / low) / std::log(high / low)};
}

void check_correction(const Reader& reader, const SizeCorrection& correction, std::size_t sizes)
{
    if (correction == SizeCorrection{})
        return; // 1 everywhere
    std::size_t count = 1;
    bool sorted = correction.knots.size() == sizes;
    for (const std::vector<std::int64_t>& knots : correction.knots) {
        count *= knots.size();
        sorted = sorted && knots.size() >= 2 && knots.front() > 0 &&
                 std::ranges::adjacent_find(knots, std::ranges::greater_equal{}) == knots.end();
    }
    if (!sorted)
        reader.member("knots").error(fmt::format("expected {} lists of ascending sizes", sizes),
                                     "two positive sizes or more in each");
    else if (std::ranges::any_of(correction.per_mille, [](int v) { return std::abs(v) > 5000; }))
        reader.member("per_mille")
            .error("a correction of more than e^5", "1000 log(ratio) is meant");
    else if (count != correction.per_mille.size())
        reader.member("per_mille")
            .error(fmt::format("{} values for {} combinations of the sizes",
                               correction.per_mille.size(), count));
}

} // namespace

double SizeCorrection::factor(std::span<const double> sizes) const
{
    if (knots.empty())
        return 1;
    constexpr std::size_t most = std::max(gemm_sizes, attention_sizes);
    std::array<Cell, most> cells{};
    for (std::size_t axis = 0; axis < sizes.size(); ++axis)
        cells[axis] = cell_of(knots[axis], sizes[axis]);
    double sum = 0;
    for (unsigned corner = 0; corner < (1U << sizes.size()); ++corner) {
        std::size_t index = 0;
        double weight = 1;
        for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
            const bool up = (corner >> axis & 1U) != 0;
            weight *= up ? cells[axis].part : 1 - cells[axis].part;
            index = index * knots[axis].size() + cells[axis].below + (up ? 1 : 0);
        }
        sum += weight * per_mille[index];
    }
    return std::exp(sum / 1000);
}

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
    const double window =
        shape.window > 0 ? std::min(static_cast<double>(shape.window), keys) : keys;
    const auto key_heads = static_cast<double>(std::max<std::int64_t>(1, shape.kv_heads));
    const double group = static_cast<double>(shape.heads) / key_heads;
    const double shared = packed ? group : 1;
    double per_query = (shape.causal ? window : keys) + edge;
    double longest = width * per_query;
    if (shape.causal && shape.skips_masked) {
        // A block of `rise` queries that ends at q sees min(q, window + rise) keys.
        const double rise = width / shared;
        const double rows = std::ceil(length / rise) * rise;
        const double inside = std::min(window, rows);
        const double seen = inside * (inside + rise) / 2 + (rows - inside) * (window + rise);
        per_query = seen / length + edge;
        longest = width * (std::min(window + rise, keys) + edge);
    }
    const double blocks = heads / shared * std::ceil(queries * shared / width) / sms;
    const double all = heads * queries * per_query * rounds(blocks, waves) / blocks;
    const double timed = 2.0 * head_dim;
    const double effort = timed * (widths + 2 * softmax_width) / (timed + 2 * softmax_width);
    const double compute = 2 * effort / rate.value() * either(all, longest * sms) * times;
    const double passes = shape.backward ? 2 : 1;
    const double moved = passes * 2 * heads * queries * widths * (1 + 1 / group) / memory.value();
    const double tokens = static_cast<double>(shape.batch) * queries;
    return Seconds(either(compute, moved) * correction.factor(std::array{length, heads}) *
                   by_waves.factor(std::array{length, per_cent * blocks}) *
                   by_key_heads.factor(std::array{heads, key_heads}) *
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

const MeasuredAttention* MeasuredKernels::attention_of(const AttentionShape& shape) const
{
    const double head = static_cast<double>(shape.head_dim + shape.value_dim) / 2;
    const bool windowed = shape.window > 0 && shape.window < shape.key_length;
    const MeasuredAttention* nearest = nullptr;
    double least = std::numeric_limits<double>::infinity();
    for (const MeasuredAttention& one : attention) {
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
    for (MeasuredAttention& one : out.attention) {
        one.rate = one.rate * compute;
        one.memory = one.memory * memory;
    }
    out.sms = device.sms;
    out.peak = usual_peak(device);
    out.hbm_bandwidth = device.hbm_bandwidth;
    return out;
}

template <>
const FieldTable<SizeCorrection>& fields_of<SizeCorrection>()
{
    using C = SizeCorrection;
    static const auto table =
        FieldTable<C>("correction", "Measured / form over a few sizes.")
            .field("knots", &C::knots, {.help = "of each size, ascending", .required = true})
            .field("per_mille", &C::per_mille,
                   {.help = "1000 log(measured / form), last size fastest", .required = true});
    return table;
}

template <>
const FieldTable<SurfaceErrors>& fields_of<SurfaceErrors>()
{
    using E = SurfaceErrors;
    static const auto table =
        FieldTable<E>("errors", "|predicted / measured - 1| of rows that the fit did not see.")
            .field("rows", &E::rows, {.help = "that were measured", .min = 0})
            .field("median", &E::median, not_negative("of them"))
            .field("p90", &E::p90, not_negative("that nine in ten stay below"));
    return table;
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
            .field("sms", &M::sms, {.help = "of the device it was measured on", .min = 0})
            .field("peak", &M::peak, not_negative("dense 16-bit peak of that device"))
            .field("hbm_bandwidth", &M::hbm_bandwidth, not_negative("of that device"))
            .field("attention_kernel", &M::attention_kernel,
                   {.help = "which kernel the times of attention are of"})
            .field("gemm", &M::gemm, {.help = "by number format"})
            .field("attention", &M::attention, {.help = "by head size and window"});
    return table;
}

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
    for (std::size_t i = 0; i < kernels.attention.size(); ++i) {
        const MeasuredAttention& one = kernels.attention[i];
        const Reader at = reader.member("attention").element(i);
        need_positive(at, "attention",
                      {{"rate", one.rate.value()}, {"memory", one.memory.value()}});
        for (const auto& [name, grid] :
             {std::pair{"correction", &one.correction}, std::pair{"by_waves", &one.by_waves},
              std::pair{"by_key_heads", &one.by_key_heads}, std::pair{"by_groups", &one.by_groups},
              std::pair{"by_tokens", &one.by_tokens}})
            check_correction(at.member(name), *grid, attention_sizes);
    }
}

} // namespace trainyard
