#pragma once

#include "gui/timeline/timeline_data.h"

namespace trainyard::gui::test {

// Rows of `count` slices each, of random kinds, lengths and distances; they belong to no run.
TimelineData random_rows(std::size_t rows, std::uint32_t count, std::uint64_t seed);

} // namespace trainyard::gui::test
