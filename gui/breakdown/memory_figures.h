#pragma once

// What the picture of a device's memory and its texts count in.

#include "gui/breakdown/chart_panel.h"
#include "gui/breakdown/memory_columns.h"
#include "sim/base/units.h"

#include <algorithm>
#include <optional>

namespace trainyard::gui {

inline double gigabytes(std::int64_t bytes)
{
    return static_cast<double>(bytes) / 1e9;
}

inline double gigabytes(Bytes bytes)
{
    return static_cast<double>(bytes.value()) / 1e9;
}

inline QString display(std::int64_t bytes)
{
    return text_of(to_display(Bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0)))));
}

inline std::size_t index_of(MemoryKind kind)
{
    return static_cast<std::size_t>(kind);
}

// What the allocator reserves in all, what lies outside it included; nothing where it was not gone
// through.
inline std::optional<Bytes> reserved(const StageMemory& stage)
{
    return stage.allocator ? std::optional(stage.total()) : std::nullopt;
}

} // namespace trainyard::gui
