#pragma once

// The kernels of one rank's step by what they are for: what they compute, move and take. What a
// roofline (Williams, Waterman and Patterson 2009) shows.

#include "sim/study/outcome.h"

namespace trainyard {

enum class KernelPart : std::uint8_t {
    attention, // projections to and from it too
    mlp,
    experts,     // router, permutation, grouped products
    norm,        // and residual sums
    product,     // convolutions and products of models that list their layers
    elementwise, // ... and what goes with them
    embedding,
    head,   // logits, loss, pooler
    states, // updates and copies of parameters, gradients, optimizer
    other   // compute ops without kernels
};
inline constexpr std::size_t kernel_part_count = 10;

std::string_view title_of(KernelPart part); // "MLP"
std::string_view title_of(Phase phase);     // "gradient sync"

// Norms and residual sums apart, unlike on timelines (strategy/lower/parts.h).
KernelPart kernel_part(const Kernel& kernel);

// Kernels of one name, shape and format in a class.
struct KernelRow {
    std::string name;
    std::string shape; // "8192 x 6144 x 4096", "32 heads of 128, 8192 x 8192"; empty: none
    Precision precision = Precision::bf16;
    std::uint64_t count = 0; // per step
    Seconds time;            // of all of them

    bool operator==(const KernelRow&) const = default;
};

enum class KernelLimit : std::uint8_t { compute, memory, launch };
std::string_view title_of(KernelLimit limit);

// The kernels of one part in one phase, per step of one rank.
struct KernelClass {
    KernelPart part = KernelPart::other;
    Phase phase = Phase::other;
    std::uint64_t count = 0;
    Flops flops;                 // executed; memory-bound kernels count none
    double bytes = 0;            // of device memory, read and written
    Seconds time;                // each alone on the device
    std::array<Seconds, 3> by;   // the same by KernelLimit; launch: idle around launches
    std::vector<KernelRow> rows; // longest first

    double intensity() const { return bytes > 0 ? flops.value() / bytes : 0; } // FLOP/byte
    KernelLimit limit() const; // of most of its time
    bool operator==(const KernelClass&) const = default;
};

// Of one lane, in order of parts and phases. Times are those of the engine's ops before
// communication, jitter or windows of low speed slow them: they sum to the lane's compute time
// where nothing does. An op's time is shared out among its kernels as the cost model has it.
std::vector<KernelClass> kernel_classes(const Outcome& outcome, LaneId lane);

// What bounds a rate of operations.
struct Roof {
    Precision precision = Precision::bf16; // as executed
    FlopRate peak;                         // dense
    FlopRate reachable; // that large products reach; 0: not known (measured times instead)

    bool operator==(const Roof&) const = default;
};

// Of the formats in which the classes compute, highest first.
std::vector<Roof> roofs_of(const Outcome& outcome, const std::vector<KernelClass>& classes);

} // namespace trainyard
