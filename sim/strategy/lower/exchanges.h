#pragma once

// Which messages a pipeline stage sends and receives between its passes.
//
// Works for any schedule and placement: only the passes matter. A gap lies before each pass (gap 0
// before the first) and one after the last. Passes that take turns are one to messages: nothing
// lies in the gap between them.

#include "sim/strategy/schedule.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace trainyard {

// The output of a pass on its way to another device: activations forward, gradients backward.
struct Message {
    PassKind kind = PassKind::forward; // or backward
    int micro_batch = 0;
    int boundary = 0; // between virtual stage `boundary` of a pipe and the next one
    int from = 0;     // devices
    int to = 0;
    std::size_t number =
        0; // on its channel: one kind from one device to another, in sender's order

    bool operator==(const Message&) const = default;
};

struct Gap {
    std::vector<Message> sends; // outputs of the pass (or two) before
    std::vector<Message> receives;
    bool between = false; // two passes that take turns: nothing lies here
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

// Exchanges of every device. A send is posted right after its pass. Receives of a channel are
// posted in the order of its sends, earlier than `posting` says where that order asks for it, so
// that the streams of both sides match and no schedule that can run at all deadlocks.
std::vector<StageExchanges> place_exchanges(const StagePlacement& placement,
                                            const std::vector<std::vector<Pass>>& passes,
                                            Posting posting);

} // namespace trainyard
