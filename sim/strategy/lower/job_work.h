#pragma once

// What a job's stages compute: the layers of each virtual stage and the work of each kind of layer.

#include "sim/strategy/held_layer.h"

namespace trainyard {

// Layers of one kind have identical work and memory.
struct KindOfLayer {
    StageLayer layer;
    LayerWork work;
    HeldLayer held;
};

struct JobWork {
    std::vector<KindOfLayer> kinds;
    std::vector<std::vector<std::size_t>> stages; // by virtual stage: the kind of each layer
};

JobWork job_work(const Job& job);

// The layers of all chunks of a device.
std::vector<HeldLayer> held_layers(const JobWork& work, const StagePlacement& placement,
                                   int device);

// By number: what reports call them.
std::vector<std::string> layer_names(const JobWork& work);

// A layer of a device.
struct PlacedLayer {
    int chunk = 0;
    std::size_t kind = 0;     // into JobWork::kinds
    std::uint16_t number = 0; // in the model, embedding 0
};

// Layers of all chunks of a device, chunk by chunk, front to back.
std::vector<PlacedLayer> layers_of_stage(const JobWork& work, const StagePlacement& placement,
                                         int device);

} // namespace trainyard
