#pragma once

// The best layouts of a space, proven: points are simulated in the order of their bounds until no
// bound is below what was found. All times are compared per sequence, so that batches may differ.

#include "sim/study/outcome.h"
#include "sim/study/search/layout_front.h"
#include "sim/study/search/possible_layouts.h"

namespace trainyard {

class Session;

struct RankedLayout {
    LayoutChoice choice;
    Seconds step_time;
    Seconds bound;
};

// How far a search under way has come.
struct SearchNews {
    std::uint64_t points = 0;         // of the space
    std::uint64_t possible = 0;       // of those, with room for them by their bounds
    std::uint64_t simulated = 0;      // of those, so far
    std::optional<RankedLayout> best; // so far
};
using SearchListener = std::function<void(const SearchNews&)>;

struct SearchRequest {
    SearchSpace space;
    std::size_t top = 10;   // layouts that differ in their sizes (tp, cp, pp, ep, etp, zero, batch)
    double headroom = 0.05; // of a device's memory, that stays free
    bool front = false;     // also the layouts that none is both quicker and smaller than
    double tolerance = 0;   // a layout that saves no more than this share of a step may be missed
    int threads = 0;        // 0: as many as the machine runs at once
    WorkControl work = {};  // counts points; a cancelled search keeps what it found
    // Told by any thread, one call at a time, at most thirty times a second, and in the end of what
    // was found.
    SearchListener listener = {};
};

struct SearchResult {
    std::uint64_t points = 0;
    std::uint64_t bounded = 0; // of those; all unless it was cancelled early
    // Of each sizes the quickest, the least time per sequence first; of equals the first in the
    // space.
    std::vector<RankedLayout> best;
    ExclusionCounts excluded;           // with `best` and `open` all points
    std::uint64_t possible = 0;         // sizes fit, and memory by its bound
    std::uint64_t simulated = 0;        // of those, whose bound is below the best of their sizes
    std::uint64_t open = 0;             // of those, not simulated: the search was cancelled
    std::optional<Seconds> least_open;  // the least of their bounds, per sequence
    std::optional<LargeLayout> nearest; // to fitting
    Bytes capacity;                     // of a device
    std::optional<LayoutFront> front;   // where it was asked for

    // Could a point that is still open be quicker than the best, and by which share?
    double gap() const;
};

// Problems are those of the scenario's model, cluster and software, and of values that no layout
// changes.
Checked<SearchBase> search_base(const ScenarioFile& file);

// The same for any number of threads.
SearchResult search(const SearchBase& base, const SearchRequest& request, Session& session);

// Its parts, for a search whose points other processes look at, or looked at before. Of a part of
// the space the result is that of the part.
SearchResult best_of(PossibleLayouts possible, const SearchBase& base, const SearchRequest& request,
                     Points& points);
Bytes capacity_of(const SearchBase& base);                           // of a device; 0: not known
Bytes room_of(const SearchBase& base, const SearchRequest& request); // of a device, to be filled
int threads_of(const SearchRequest& request);                        // at least 1

// Each of the best, simulated as `trainyard simulate` does.
std::vector<Outcome> outcomes_of(const SearchResult& result, const SearchBase& base,
                                 Session& session);

// Likewise, of the front. Requires one.
std::vector<Outcome> outcomes_of(const LayoutFront& front, const SearchBase& base,
                                 Session& session);

// The scenario of a point, as the search simulates it.
ScenarioFile scenario_of(const LayoutChoice& choice, const SearchBase& base);

// The same for a user to keep: its fidelity is the scenario's own.
Scenario kept_scenario(const LayoutChoice& choice, const SearchBase& base);

} // namespace trainyard
