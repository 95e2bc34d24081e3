#pragma once

// The tensors of a layer's passes and how long each lives: those kept for backward, those that come
// and go within forward, and the gradients within backward.
//
// A life begins and ends at items of the layer's lists (LayerWork::forward, ::backward), found by
// name. Several names, separated by '|', mean the one of them that comes last; none, or none that
// is there, the begin or the end of the pass.

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

enum class TensorUse : std::uint8_t {
    forward,  // comes and goes within forward
    kept,     // from forward to backward; recomputed with the whole layer
    again,    // likewise, and with selective recompute
    input,    // kept even when the whole layer is recomputed
    gradient, // comes and goes within backward
};

struct LayerTensor {
    std::string name = {};
    std::int64_t bytes = 0;
    TensorUse use = TensorUse::kept;
    std::string_view made_by = {};    // of forward; of a gradient: of backward
    std::string_view until = {};      // the last to read it in that pass
    std::string_view kept_until = {}; // the last to read it in backward
    // Of a gradient: the weights' gradients that read it, and how much of it they keep where they
    // are put off until after the pass: `operand` bytes, the cast of it where products are narrow.
    std::string_view put_off = {};
    std::int64_t operand = 0;
    bool logits = false;  // of the head
    int length_power = 1; // bytes grow with the tokens of a micro-batch to this power
};

// The head's LayerTensor for the logits as their product writes them.
inline constexpr std::string_view logits_tensor = "logits";

} // namespace trainyard
