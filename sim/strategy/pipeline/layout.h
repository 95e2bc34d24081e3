#pragma once

// Explicit layouts: what each virtual stage holds, as Megatron-Core's
// --pipeline-model-parallel-layout says it.
//
//   E embedding   t transformer layer   m prediction layer   L loss (and head)   | next stage
//   x*3 repeats a letter, (tt|)*4 a group; commas and blanks mean nothing
//
// "Ett|(ttt|)*6tL" are eight virtual stages: front to back, stage k on the device where the
// schedule places it.

#include "sim/strategy/misfits.h"

#include <string_view>

namespace trainyard {

struct StageLetters {
    bool embedding = false;
    int layers = 0;
    int prediction_layers = 0;
    bool loss = false;

    bool empty() const { return !embedding && layers == 0 && prediction_layers == 0 && !loss; }
    bool operator==(const StageLetters&) const = default;
};

// By virtual stage; or why the text is none.
tl::expected<std::vector<StageLetters>, std::string> parse_layout(std::string_view text);

// The layers of each stage where the strategy does not give them one by one: from an explicit
// layout, or even ones in which embedding and loss count as a layer. Fills in
// `strategy.stage_layers`.
Problems lay_out(Job& job);

} // namespace trainyard
