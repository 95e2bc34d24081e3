#pragma once

// A small job of the repository's scenarios with all its ops, and rows of slices made up at random.

#include "gui/timeline/timeline_data.h"

namespace trainyard::gui::test {

// scenarios/llama2-7b-tp2-pp2-dp2.json, every rank, the last step; `slow_rank`, where given, is 30
// % slower.
std::shared_ptr<const Outcome> recorded_job(std::optional<int> slow_rank = std::nullopt);

// Rows of `count` slices each, of random kinds, lengths and distances.
TimelineData random_rows(std::size_t rows, std::uint32_t count, std::uint64_t seed);

} // namespace trainyard::gui::test
