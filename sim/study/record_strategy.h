#pragma once

// How a measured job was spread over its GPUs, and what its record leaves to the framework's habit.

#include "sim/study/record_software.h"

#include <tl/expected.hpp>

namespace trainyard {

struct RecordStrategy {
    Training training;
    Strategy strategy;
    std::vector<std::string> assumptions;
    bool recompute_to_fit = false;
    bool recompute_parts = false; // of a layer, about half of its work, rather than all of it
    int layers_per_device = 0;

    bool operator==(const RecordStrategy&) const = default;
};

// `model` is null for a list of layers. Or why no strategy can be made.
tl::expected<RecordStrategy, std::string>
strategy_of(const MeasuredRecord& record, const RecordSoftware& software, const Transformer* model);

// Transformer layers of each virtual stage, front to back, where `layers` do not divide evenly:
// embedding and head are counted as a layer each if that helps, or the head alone; else the first
// stages after the outer one take one more. Empty when they divide evenly.
std::vector<int> uneven_stage_layers(int layers, int stages);

} // namespace trainyard
