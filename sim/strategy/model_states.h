#pragma once

// Bytes of parameters, gradients and optimizer state on a device.

#include "sim/strategy/held_layer.h"

namespace trainyard {

// Bytes per parameter before sharding (Rajbhandari 2020, section 3.1).
struct StateBytes {
    int parameters = 2;
    int gradients = 2;  // 4 when accumulated in fp32
    int optimizer = 12; // fp32 master copy and two moments; SGD: copy and momentum
};
StateBytes state_bytes(const Training& training);

struct ModelStates {
    Bytes parameters;
    Bytes gradients;
    Bytes optimizer;
    Bytes unsharded; // FSDP: parameters of whole units gathered at once
    Bytes unreduced; // FSDP: whole gradients that wait for their reduction
    Bytes buckets;   // DDP's copies of gradients
    Bytes host;      // of the host's memory: what is offloaded to it
};

// States of one device that holds these layers. ZeRO-1 divides the optimizer's bytes by the ranks
// with the same parameters (DP x CP; expert-DP for experts), FSDP all of them.
//
// FSDP gathers units (Zhao 2023, section 3.2): the root (embedding and head) stays whole; besides
// it the layer at work and those fetched ahead, or every layer when they are kept until backward.
// Gradients of the root and of one layer wait for their reduction, the layer's also as the copy
// that is reduced.
ModelStates model_states(const Job& job, const std::vector<HeldLayer>& layers);

} // namespace trainyard
