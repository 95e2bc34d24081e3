#pragma once

// The layers of a device as its memory sees them.

#include "sim/strategy/stages.h"

namespace trainyard {

struct HeldLayer {
    LayerKind::Role role = LayerKind::Role::dense;
    LayerParameters parameters;
    LayerParameters trained;         // with gradients
    LayerParameters optimizer_state; // bytes, before ZeRO shards them
    double summed_over_tp = 0;       // of the trained, those whose gradients TP adds up
    Bytes output;                    // handed to the next layer
    bool wide = false;               // its products stay in 16 bit
    bool splits = false;             // gradients of weights can be put off (split_backward.h)

    bool is_head() const { return role == LayerKind::Role::head; }
    // FSDP wraps transformer layers as units of their own, embedding and head together.
    bool in_root_unit() const { return is_head() || role == LayerKind::Role::embedding; }
};

// Do head and look-up share a matrix from different devices?
bool ties_across_devices(const Job& job);

} // namespace trainyard
