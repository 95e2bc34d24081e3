#pragma once

// Which messages a pipeline stage sends and receives between its passes.
//
// Works for any schedule: only the passes matter. A gap lies before each pass (gap 0 before the
// first) and one after the last.

#include "sim/strategy/schedule.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace trainyard {

// The output of a pass on its way to another stage: activations forward, gradients backward.
struct Message {
    PassKind kind = PassKind::forward;
    int micro_batch = 0;
    int boundary = 0;       // between virtual stage `boundary` and the next one
    std::size_t number = 0; // on its channel: one kind from one stage to another, in sender's order

    bool operator==(const Message&) const = default;
};

struct Gap {
    std::optional<Message> send; // the output of the pass before
    std::vector<Message> receives;
};

struct StageExchanges {
    std::vector<Gap> gaps; // passes + 1
    // By pass: the message it needs; none where the input was made on the same device.
    std::vector<std::optional<Message>> input_of;
};

enum class Posting {
    when_needed, // in the gap before the pass: the message's time is exposed
    ahead        // one gap earlier: beside a pass of compute
};

// Exchanges of every stage. A send is posted right after its pass. Receives of a channel are posted
// in the order of its sends, earlier than `posting` says where that order asks for it, so that the
// streams of both sides match and no schedule that can run at all deadlocks.
std::vector<StageExchanges> place_exchanges(const PipelineShape& shape,
                                            const std::vector<std::vector<Pass>>& passes,
                                            Posting posting);

} // namespace trainyard
