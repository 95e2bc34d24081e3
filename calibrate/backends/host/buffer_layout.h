#pragma once

// Where a rank's input and output of an op lie in its memory.

#include "calibrate/measure/backend/work.h"

#include <cstddef>
#include <span>

namespace trainyard {

struct BufferLayout {
    std::size_t bytes = 0; // of all
    std::size_t input = 0; // where it starts
    std::size_t input_bytes = 0;
    std::size_t output = 0;
    std::size_t output_bytes = 0;
};

// In place, the input of an all-gather is the rank's part of the output; of every other collective
// input and output start together.
BufferLayout layout_of(const CollectiveWork& work, int rank, int ranks);

// One op's.
struct OpBuffers {
    std::span<std::byte> input;
    std::span<std::byte> output;
};

inline OpBuffers buffers_in(std::span<std::byte> memory, const BufferLayout& layout)
{
    return {memory.subspan(layout.input, layout.input_bytes),
            memory.subspan(layout.output, layout.output_bytes)};
}

} // namespace trainyard
