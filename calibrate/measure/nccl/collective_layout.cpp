#include "calibrate/measure/nccl/collective_layout.h"

#include <algorithm>

namespace trainyard {

namespace {

// NCCL has no barrier: it is an all-reduce of one element.
bool adds_up(CollectiveKind kind)
{
    return reduces(kind) || kind == CollectiveKind::barrier;
}

std::uint64_t element_count(const CollectiveWork& work, int ranks)
{
    if (work.collective == CollectiveKind::barrier)
        return 1;
    const auto element = static_cast<std::uint64_t>(element_bytes(work.type));
    const std::uint64_t parts =
        counts_one_share(work.collective) ? static_cast<std::uint64_t>(ranks) : 1;
    return std::max<std::uint64_t>(1, work.size.value() / element / parts);
}

} // namespace

CollectiveLayout layout_of(const CollectiveWork& work, int rank, int ranks)
{
    using enum CollectiveKind;
    CollectiveLayout layout;
    layout.count = element_count(work, ranks);
    const std::uint64_t one = layout.count * static_cast<std::uint64_t>(element_bytes(work.type));
    const std::uint64_t all = one * static_cast<std::uint64_t>(ranks);
    const std::uint64_t own = one * static_cast<std::uint64_t>(rank);
    layout.send_bytes =
        work.collective == reduce_scatter || work.collective == all_to_all ? all : one;
    layout.receive_bytes =
        work.collective == all_gather || work.collective == all_to_all ? all : one;
    if (work.buffers == Buffers::in_place) {
        layout.send_at = work.collective == all_gather ? own : 0;
        layout.receive_at = work.collective == reduce_scatter ? own : 0;
        layout.slot = aligned(std::max(layout.send_bytes, layout.receive_bytes));
    } else {
        layout.receive_at = aligned(layout.send_bytes);
        layout.slot = layout.receive_at + aligned(layout.receive_bytes);
    }
    return layout;
}

DataPattern sent_pattern(const CollectiveWork& work, int rank, int ranks)
{
    const CollectiveLayout layout = layout_of(work, rank, ranks);
    return {adds_up(work.collective) ? PatternKind::summand : PatternKind::plain,
            work.type,
            layout.send_bytes / static_cast<std::uint64_t>(element_bytes(work.type)),
            0,
            rank,
            ranks};
}

std::vector<ExpectedPart> expected_parts(const CollectiveWork& work, int rank, int ranks)
{
    using enum CollectiveKind;
    const CollectiveLayout layout = layout_of(work, rank, ranks);
    const std::uint64_t one = layout.count * static_cast<std::uint64_t>(element_bytes(work.type));
    const std::uint64_t own = layout.count * static_cast<std::uint64_t>(rank);
    const auto part = [&](PatternKind kind, std::uint64_t place, std::uint64_t first, int source) {
        return ExpectedPart{layout.receive_at + place * one,
                            {kind, work.type, layout.count, first, source, ranks}};
    };
    switch (work.collective) {
    case all_reduce:
    case barrier:
        return {part(PatternKind::sum, 0, 0, rank)};
    case reduce_scatter:
        return {part(PatternKind::sum, 0, own, rank)};
    case reduce:
        if (rank != work.root)
            return {};
        return {part(PatternKind::sum, 0, 0, rank)};
    case broadcast:
        return {part(PatternKind::plain, 0, 0, work.root)};
    case all_gather:
    case all_to_all: {
        std::vector<ExpectedPart> parts;
        for (int source = 0; source < ranks; ++source)
            parts.push_back(part(PatternKind::plain, static_cast<std::uint64_t>(source),
                                 work.collective == all_to_all ? own : 0, source));
        return parts;
    }
    case send_receive:
        break;
    }
    return {};
}

} // namespace trainyard
