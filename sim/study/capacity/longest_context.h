#pragma once

// The longest sequences that a cluster can train on: of each length the search for its best layout,
// memory first.

#include "sim/study/search/search.h"
#include "sim/study/training/whole_training.h"

namespace trainyard {

class Session;

struct ContextRequest {
    ScenarioFile file;
    std::vector<SweepAxis> axes; // in place of the usual values, as `restrict` takes them
    SearchRequest search;        // of each length; its space is made here
    // With tokens and a deadline a length also has to be trained in time, failures included.
    WholeTrainingRequest training;
};

// One length that was looked at.
struct ContextLength {
    std::int64_t tokens = 0;              // of a sequence
    std::uint64_t possible = 0;           // layouts whose bound of memory fits
    std::optional<LargeLayout> nearest;   // to fitting, by its bound
    bool searched = false;                // else the bound alone decided
    bool fits = false;                    // of a searched one
    std::optional<MemoryFit> fit;         // of its best layout: how surely
    std::optional<Seconds> step_time;     // of its best layout
    std::optional<Seconds> training_time; // of the whole training, where a deadline counts
    bool meets = false;                   // fits, and is trained in time

    // Whether it is known to meet or not.
    bool is_decided() const { return searched || possible == 0; }
};

// A length with its search.
struct ContextAnswer {
    SearchBase base; // of the scenario with that length
    SearchRequest request;
    SearchResult result;
};

struct LongestContext {
    std::vector<ContextLength> lengths;  // all that were looked at, the shortest first
    std::int64_t step = 0;               // lengths are multiples of this
    std::int64_t most = 0;               // that is looked at, for the model's positions or as such
    std::optional<ContextAnswer> answer; // nothing where no length meets
    Bytes capacity;                      // of a device
    bool interrupted = false;

    // The next longer length that is known not to do; null: none is longer.
    const ContextLength* first_beyond() const;
    std::int64_t longest() const; // 0: none
};

// A step keeps about the scenario's tokens: batches are the nearest numbers of sequences that the
// replicas divide, within a factor of two where any is. Lengths are doubled, then those between
// looked at by halving in steps of about a sixteenth (a power of two, at least 1,024 tokens), until
// the bound of memory, which grows with the length of each layout, leaves none longer. From there
// every length is searched, in those steps, down to one that fits: the allocator's need does not
// always grow. Between that and the next that does not, lengths are halved down to 1,024 tokens.
// With a deadline the days decide, which do grow. Problems: those of the scenario, of the axes, and
// of a model without sequences.
Checked<LongestContext> longest_context(const ContextRequest& request, Session& session);

} // namespace trainyard
