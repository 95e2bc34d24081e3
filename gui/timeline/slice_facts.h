#pragma once

// What the timeline says about a slice: tooltip and details.

#include "gui/timeline/timeline_model.h"

namespace trainyard::gui {

struct Fact {
    std::string name;
    std::string value;
    std::uint32_t slice = nothing; // that the value speaks of: a link

    bool operator==(const Fact&) const = default;
};

struct SliceFacts {
    std::string title; // "mlp_down, forward"
    std::string place; // "rank 17, compute"
    std::vector<Fact> facts;

    bool operator==(const SliceFacts&) const = default;
};

SliceFacts facts_of(const TimelineModel& model, std::uint32_t slice);

// "rank 17, compute"; with the run's letter where there are two.
std::string place_text(const TimelineModel& model, const SliceRow& row);

} // namespace trainyard::gui
