#pragma once

// Links made slower, cut and mended: as entries of the scenario's perturbations
// (sim/study/PERTURBATIONS.md), one for each link.

#include "sim/base/diagnostic.h"
#include "sim/base/json.h"

#include <optional>
#include <string>
#include <vector>

namespace trainyard::gui {

struct LinkChange {
    enum class Kind : std::uint8_t {
        scale, // what it has now times `share`
        share, // of its line rate
        cut,
        mend
    } kind = Kind::cut;
    double share = 1.0;
};

// The scenario with those links changed; names without a direction mean both. What keeps it from
// being done: a pattern that names other links too, which only a look at the scenario can undo.
Checked<Json> with_links(Json scenario, const std::vector<std::string>& links,
                         const LinkChange& change);

// "node0/nic3 out" -> "node0/nic3"
std::string both_ways(const std::string& link);

} // namespace trainyard::gui
