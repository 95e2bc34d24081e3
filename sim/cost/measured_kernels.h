#pragma once

// Times of GEMM and fused attention as surfaces fitted to measured times of single kernels: a form
// of few constants, and a correction over the sizes.

#include "sim/cost/measured_sequences.h"
#include "sim/cost/provenance.h"
#include "sim/cost/size_correction.h"
#include "sim/workload/kernel.h"

#include <string>
#include <vector>

namespace trainyard {

struct Device;

// GEMMs of one number format. Without launch and without the quantisation of operands, which are
// kernels and gaps of their own:
//
//   (compute^4 + memory^4)^(1/4) x corrections + added / memory
//   compute: the least over tiles Tm x Tn and splits s of k of
//            waves x (k / s x 2 Tm Tn SMs / rate x penalty + ramp) + what splitting costs,
//            waves: tiles x s / SMs, of whose last one that is not full the share `waves` counts
//   memory:  operands and a 16-bit result / memory
//   added:   bytes beyond those: a weight gradient is read, added to and written after the main
//            loop, which no timed kernel does
//
// Tiles: 256x256 on pairs of SMs, 256x128, 128x256, 128x128, 256x64, 64x256, 128x64, 64x128, 64x64;
// splits: 1, 2, 4, 8, which cost `split_ramps` ramps and the partial sums' way through memory.
// What a library chooses jumps with the number of tiles for the SMs (tiles of 128x128 / SMs, in per
// cent) and with rows that leave a pair of tiles partly empty (rows in whole pairs / m, in per
// cent): tabulated over both.
struct MeasuredGemm {
    Precision precision = Precision::bf16;
    std::string kernel;            // library that was timed
    FlopRate rate;                 // of full waves of the largest tile
    Seconds ramp;                  // filling and draining a tile
    Bandwidth memory;              // what operands and results reach
    double split_ramps = 0;        // ramps that joining partial sums takes
    std::vector<double> penalties; // of the smaller tiles: 256x128; 128x128; 128x64; 64x64
    double waves = 1;              // share of a last wave's idle SMs that is lost
    SizeCorrection correction;     // m (of all products of a batch), n, k
    SizeCorrection by_waves;       // tiles / SMs, k
    SizeCorrection by_padding;     // rows in whole pairs of tiles / m, k
    SurfaceErrors errors;

    Seconds time(const GemmShape& shape, Bytes bytes, int sms) const;
    bool operator==(const MeasuredGemm&) const = default;
};

// Forward passes of fused attention with one head size and window. Blocks of `block` queries share
// the SMs, each with the keys that any of its queries sees, in steps of 64, and `edge` keys more
// for filling and draining. `packed` blocks hold queries of all heads that share a key head.
// Without launch:
//
//   (compute^4 + memory^4)^(1/4) x corrections
//   compute: 2 (d + dv) / rate x (all^4 + longest^4)^(1/4)
//            all: pairs of all blocks, x waves / (blocks / SMs), of a last wave that is not full
//            the share `waves`; longest: those of the block that sees most keys, x SMs
//   memory:  queries, keys, values and results at 2 bytes / memory
//
// Another head size than the timed one takes operations by its size and as much softmax a pair:
// x (d + dv + 2 softmax_width) / (2 head_dim + 2 softmax_width) in place of (d + dv) / (2
// head_dim). The fit holds besides what the timed framework does to write keys into pages, which no
// training step has.
struct MeasuredAttention {
    int head_dim = 128;
    int window = 0; // 0: whole sequences
    FlopRate rate;
    double edge = 0;
    Bandwidth memory;
    double waves = 1;
    int block = 128; // queries that an SM takes at a time
    bool packed = false;
    SizeCorrection correction;   // keys, batch x heads
    SizeCorrection by_waves;     // keys, blocks / SMs in per cent
    SizeCorrection by_key_heads; // batch x heads, key heads
    SizeCorrection by_groups;    // blocks / SMs in per cent, heads of a key head
    SizeCorrection by_tokens;    // batch x queries, key heads
    SurfaceErrors errors;

    // Of a backward pass: `times` the operations of the forward one, twice the bytes.
    Seconds time(const AttentionShape& shape, double times, int sms) const;
    bool operator==(const MeasuredAttention&) const = default;
};

// What was measured on one device. Times of short runs of one kernel: what a training step reaches
// of them is Device::under_load.
struct MeasuredKernels {
    std::string name;
    std::vector<std::string> aliases;
    int compute_capability = 0; // of the device it was measured on, as the next four
    int sms = 0;
    FlopRate peak; // dense, 16 bit
    Bandwidth hbm_bandwidth;
    Bytes cache; // of second level
    AttentionKernel attention_kernel =
        AttentionKernel::cudnn; // what the tables of attention are of
    std::vector<MeasuredGemm> gemm;
    std::vector<MeasuredAttention> attention;
    std::vector<MeasuredAttention> latent;  // keys wider than values, projected up
    std::vector<MeasuredAttention> encoder; // without a mask
    std::vector<MeasuredScan> scans;
    std::vector<MeasuredConvolution> convolutions;
    ProvenanceMap provenance;

    // Null where there is none. fp16 is as bf16, mxfp8 as fp8.
    const MeasuredGemm* gemm_of(Precision precision) const;
    // The nearest head size of its kind: latent, without a mask, other; for a window the nearest of
    // windows and whole sequences. Null: no attention at all.
    const MeasuredAttention* attention_of(const AttentionShape& shape) const;
    // Null: not timed. Of a convolution that was not, another one's.
    const MeasuredScan* scan_of(SequenceKernel kernel) const;
    const MeasuredConvolution* convolution_of(SequenceKernel kernel) const;

    // The same kernels on a device of the same chip: rates by its peak, memory by its bandwidth.
    MeasuredKernels on(const Device& device) const;
    bool operator==(const MeasuredKernels&) const = default;
};

inline constexpr std::string_view kernels_format = "trainyard.kernels/1";

template <>
const FieldTable<MeasuredGemm>& fields_of<MeasuredGemm>();
template <>
const FieldTable<MeasuredAttention>& fields_of<MeasuredAttention>();
template <>
const FieldTable<MeasuredKernels>& fields_of<MeasuredKernels>();

void check(const Reader& reader, const MeasuredKernels& kernels);

} // namespace trainyard
