#include "calibrate/backends/host/buffer_layout.h"

#include <algorithm>

namespace trainyard {

BufferLayout layout_of(const CollectiveWork& work, int rank, int ranks)
{
    using enum CollectiveKind;
    const std::size_t whole = work.size.value();
    const std::size_t share = whole / static_cast<std::size_t>(ranks);

    BufferLayout layout;
    layout.input_bytes = work.collective == all_gather ? share : whole;
    layout.output_bytes = work.collective == reduce_scatter ? share : whole;
    if (work.buffers == Buffers::in_place) {
        layout.bytes = std::max(layout.input_bytes, layout.output_bytes);
        if (work.collective == all_gather)
            layout.input = share * static_cast<std::size_t>(rank);
        return layout;
    }
    constexpr std::size_t line = 64;
    layout.output = (layout.input_bytes + line - 1) / line * line;
    layout.bytes = layout.output + layout.output_bytes;
    return layout;
}

} // namespace trainyard
