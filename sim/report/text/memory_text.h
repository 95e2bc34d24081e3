#pragma once

// A memory estimate tensor by tensor: what `trainyard memory` prints.

#include "sim/base/json.h"
#include "sim/report/text/paint.h"
#include "sim/strategy/memory.h"
#include "sim/study/prediction.h"

namespace trainyard {

struct MemoryTextOptions {
    std::optional<int> stage; // the fullest when absent
    std::size_t tensors = 20; // rows at most
    int steps = 2;            // that the allocator saw
    std::size_t width = 100;  // of a line, in cells
};

// `peak`: of the stage that is shown.
std::string memory_text(const MemoryEstimate& memory, const PeakPrediction& peak,
                        const MemoryTextOptions& options, const Paint& paint);

// "backward attention, micro-batch 3, layer 17".
std::string to_text(const PeakPlace& place);

// Stages with kinds, the peak's place and tensors, and the allocator's view; `tensors` off leaves
// the tensors out.
enum class MemoryDetail : std::uint8_t { kinds, tensors };
Json memory_json(const MemoryEstimate& memory, MemoryDetail detail);
// With tensors; and, of the stage asked for, whether it fits and its interval, named as in a result.
Json memory_json(const MemoryEstimate& memory, const PeakPrediction& peak);

} // namespace trainyard
