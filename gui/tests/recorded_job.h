#pragma once

// A small job of the repository's scenarios with all its ops.

#include "sim/study/session.h"

#include <memory>
#include <optional>

namespace trainyard::gui::test {

// scenarios/llama2-7b-tp2-pp2-dp2.json, every rank, the last step; `slow_rank`, where given, is 30
// % slower.
std::shared_ptr<const Outcome> recorded_job(std::optional<int> slow_rank = std::nullopt);

} // namespace trainyard::gui::test
