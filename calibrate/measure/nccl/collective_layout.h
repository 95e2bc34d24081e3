#pragma once

// How a collective's buffers lie and what they must hold afterwards.

#include "calibrate/measure/backend/work.h"
#include "calibrate/measure/nccl/pattern.h"

namespace trainyard {

// One rank's buffers of one op, in one slot of memory; offsets and sizes in bytes. In place, they
// overlap as nccl.h says for each collective.
struct CollectiveLayout {
    std::uint64_t count = 0; // elements, as the library's function counts them
    std::uint64_t send_at = 0;
    std::uint64_t send_bytes = 0;
    std::uint64_t receive_at = 0;
    std::uint64_t receive_bytes = 0;
    std::uint64_t slot = 0;

    bool operator==(const CollectiveLayout&) const = default;
};

// A part of the result and what it must be.
struct ExpectedPart {
    std::uint64_t at = 0; // bytes into the slot
    DataPattern pattern;

    bool operator==(const ExpectedPart&) const = default;
};

// Buffers start at multiples of this, as allocators of frameworks align them.
inline constexpr std::uint64_t slot_alignment = 512;

constexpr std::uint64_t aligned(std::uint64_t bytes)
{
    return (bytes + slot_alignment - 1) / slot_alignment * slot_alignment;
}

// As in nccl-tests, `work.size` is rounded down to whole elements for each rank where ranks have
// parts of it; at least one element. A barrier is an all-reduce of one element, since NCCL has no
// other. Requires rank < ranks.
CollectiveLayout layout_of(const CollectiveWork& work, int rank, int ranks);

// What fills the send buffer before an op that is checked.
DataPattern sent_pattern(const CollectiveWork& work, int rank, int ranks);

// What the slot holds afterwards; empty on ranks without a result.
std::vector<ExpectedPart> expected_parts(const CollectiveWork& work, int rank, int ranks);

} // namespace trainyard
