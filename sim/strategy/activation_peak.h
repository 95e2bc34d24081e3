#pragma once

// The moment at which a device holds most activations.

#include "sim/strategy/held_layer.h"
#include "sim/strategy/schedule.h"

namespace trainyard {

struct ActivationPeak {
    Bytes activations; // kept for backward by layers
    Bytes logits;      // kept by the head and live inside it: logits, softmax, their gradients
    Bytes workspace;   // live inside the layer whose backward runs, recomputed tensors included

    Bytes total() const { return activations + logits + workspace; }
    bool operator==(const ActivationPeak&) const = default;
};

// Walks a device's passes in order. A forward pass keeps what its chunk's layers keep; a backward
// pass frees it layer by layer from the back, each layer needing its transient tensors and what it
// recomputes. Where the gradients of weights are put off, all of it stays until they are made.
// `chunks` are the device's chunks of layers.
ActivationPeak activation_peak(const std::vector<Pass>& passes,
                               const std::vector<std::vector<HeldLayer>>& chunks);

} // namespace trainyard
