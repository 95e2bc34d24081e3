#pragma once

// How long a device computes: GEMM, fused attention, memory-bound kernels.

#include "sim/cost/device.h"
#include "sim/cost/measured_kernels.h"
#include "sim/cost/software.h"
#include "sim/workload/kernel.h"

namespace trainyard {

// What a kernel's time depends on besides its shape.
struct ComputeContext {
    const Device* device = nullptr;
    const MeasuredKernels* kernels = nullptr; // on this device; null, or empty: none
    const SoftwareClass* software = nullptr;
    double clock = 1; // installation factor: of GEMM and attention rates
};

// The format whose units run a GEMM of `precision`: devices without such units take 16 bit for
// narrow formats (mxfp8 on Hopper, fp8 on Ampere) and the next wider one for others (bf16 as fp16
// on Volta, tf32 as fp32). fp8_block runs on the units of fp8.
Precision executed_precision(Precision precision, const Device& device);

// Share of the device's SM time that a GEMM's tiles use: the best over four tile sizes of
//   penalty x m n batch / (Tm Tn waves SMs),   waves = ceil(tiles / SMs)
// so that a last, partial wave costs as much as a full one (NVIDIA, "Matrix multiplication
// background"). Tiles 256x128, 128x128, 128x64, 64x64 with penalties 1, 0.93, 0.8, 0.6.
double wave_utilisation(const GemmShape& shape, int sms);

// Where the device has a measured surface, its time; where kernels of its chip are measured, theirs
// at what a step reaches of it, no less than the operations take at the peak. Else
// max(2 m n k batch / (peak x efficiency x waves x k / (k + k_half)), bytes / HBM). k_half shrinks
// with the rate of formats slower than 16 bit. Convolutions run as implicit GEMMs; their weight
// gradients split the sum over k, so that no SM idles in a last wave. Both are divided by the
// efficiency of the kernel's use and by clocks.
//
// Kernels of a recurrence's chunks that were not timed take the sum of the two: a block of them
// loads a chunk, multiplies it once and stores it, with nothing to overlap. Against published times
// of Mamba-2: 1.4 ms where TileLang's scan takes 1.28 (H800, 8 x 8192 tokens, 80 heads of 64, state
// 128, chunks of 256; its benchmark/mamba2), 4.5 ms where mamba_ssm's forward takes 6.3 (16 x 8192
// tokens, 8 heads and groups of 128, chunks of 64, on a GPU not named, A100 taken;
// fla-org/flash-linear-attention pull request 50).
Seconds gemm_time(const Kernel& kernel, const ComputeContext& context);

// Where kernels of its chip are measured, their time at what a step reaches of it; other kernels by
// the ratio of their efficiencies. Else, and in formats other than 16 bit, which were not timed,
// operations executed / (the format's peak x efficiency(kernel, head size, direction) x
// s / (s + half)), at least the bytes' time.
Seconds attention_time(const Kernel& kernel, const ComputeContext& context);

// bytes x traffic factor of the software / (HBM x efficiency).
Seconds memory_time(const Kernel& kernel, const ComputeContext& context);

// That of its kind, without gaps around launches.
Seconds device_time(const Kernel& kernel, const ComputeContext& context);

// Whether the bytes decide a kernel's time: always of memory-bound ones, of others where the bytes'
// time is the larger of the two. Where kernels are measured, where the bytes at the data sheet's
// bandwidth take longer than the operations at the peak.
bool waits_for_memory(const Kernel& kernel, const ComputeContext& context);

// Device idle around the launches of one kernel: a gap for a GEMM, half a gap for others.
Seconds launch_gaps(const Kernel& kernel, const Device& device);

} // namespace trainyard
