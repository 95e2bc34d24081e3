#pragma once

// Where the layers of a model begin and end in a sequence of kernels: nothing names them, but what
// they run repeats.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainyard {

// A kernel of one phase, in the order in which they ran.
struct PassKernel {
    std::uint32_t kind = 0;    // what it is, finely: by name and shapes
    std::uint32_t name = 0;    // by name alone
    double time = 0;           // s
    std::uint32_t stretch = 0; // kernels with nothing of another phase between them

    bool operator==(const PassKernel&) const = default;
};

// Kernels [first, behind) of one layer's pass.
struct KernelPass {
    std::size_t first = 0;
    std::size_t behind = 0;

    bool operator==(const KernelPass&) const = default;
};

struct FoundPasses {
    std::vector<KernelPass> passes; // in order; empty: what runs does not repeat so often
    double alike = 0;               // share of their time that kernels take which all of them run

    bool operator==(const FoundPasses&) const = default;
};

// Finds `ends.size()` passes, two or more; `ends` says which of them is followed by another layer's
// of the same micro-batch (false) and which is the last of its micro-batch (true). A pass is told
// by the kernels that run as often as there are passes, or do so behind a certain other, and in
// turn; between two of one micro-batch nothing is left out. Of several such
// ways the one that most time is common to; none where half of what passes run is not, or what is
// takes less than a fifth of all time. Where the first begins and the last ends is told by what the
// others run there. n log n, and the square of a pass where passes differ.
FoundPasses find_passes(const std::vector<PassKernel>& kernels, const std::vector<bool>& ends);

// How often what runs repeats: the number of passes that tells most of the time; 0: none tells a
// fifth.
std::size_t likely_passes(const std::vector<PassKernel>& kernels);

} // namespace trainyard
