#pragma once

// Which layouts a search looks at: a list of values for each size, every combination of them.

#include "sim/study/search/layout_choice.h"
#include "sim/study/sweep_grid.h"

#include <algorithm>

namespace trainyard {

struct SearchSpace {
    std::vector<int> tp, cp, pp, vpp, ep, etp, zero;
    std::vector<const PipelineSchedule*> schedules;
    std::vector<std::int64_t> global_batches;
    std::vector<std::int64_t> micro_batches;
    std::vector<RecomputeChoice> recompute;
    // The highest stage of ZeRO of layouts with several stages, and of those with experts over
    // ranks.
    int zero_with_stages = 3;
    int zero_with_experts = 3;

    int most_zero(const LayoutChoice& choice) const
    {
        return std::min(choice.pp > 1 ? zero_with_stages : 3,
                        choice.ep > 1 ? zero_with_experts : 3);
    }

    // Combinations, those that cannot be included.
    std::uint64_t points() const;
};

// The one layout that a scenario has.
SearchSpace own_space(const Scenario& scenario);

// Every TP within an NVLink domain that divides the heads, every number of stages up to the
// layers', CP for long sequences, every EP that divides the experts, the schedules whose steps are
// short for what they keep, micro-batches that divide the batch, and every way to recompute, as
// far as the scenario's framework runs them (`framework_limits`); and what the scenario itself has.
SearchSpace usual_space(const Scenario& scenario, const SpaceFacts& facts);

// Takes the values of one field as a user gives them ("strategy.tp=1,2,4"; training.recompute also
// "full:4", of so many layers of a device); "auto" alone leaves them as they are. Stages of ZeRO
// that are asked for are looked at with everything. Problems: a field that is none of the space's,
// values that it does not take.
Problems restrict(SearchSpace& space, const SweepAxis& axis);

// Gives one field the values that it has in another space.
void take_values(SearchSpace& space, const SearchSpace& from, std::string_view field);

// What a layout has for one of the fields, as --set takes it; of what it recomputes only the kind.
std::string value_of(const LayoutChoice& choice, std::string_view field);

// The fields that `restrict` knows.
std::vector<std::string> searched_fields();

} // namespace trainyard
