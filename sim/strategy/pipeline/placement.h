#pragma once

// Where the virtual stages of a pipeline lie: on which device, and which of its chunks they are.

#include <cstddef>
#include <vector>

namespace trainyard {

struct StagePosition {
    int device = 0; // of the pipeline
    int chunk = 0;  // of the device

    bool operator==(const StagePosition&) const = default;
};

// Virtual stage of a pipe.
struct VirtualStage {
    int pipe = 0;
    int number = 0; // front to back

    bool operator==(const VirtualStage&) const = default;
};

// A pipe is the way of a micro-batch through the whole model, front to back. With two pipes the
// model exists twice, each copy with micro-batches of its own.
struct StagePlacement {
    int devices = 1;
    std::vector<std::vector<StagePosition>> pipes; // by virtual stage

    int virtual_stages() const { return static_cast<int>(pipes.front().size()); }
    StagePosition at(VirtualStage stage) const
    {
        return pipes[static_cast<std::size_t>(stage.pipe)][static_cast<std::size_t>(stage.number)];
    }

    bool operator==(const StagePlacement&) const = default;
};

// Virtual stage k is chunk k / p of device k % p (Narayanan 2021, section 2.2.2).
StagePlacement looped_placement(int devices, int chunks);
// 0 .. p-1, then p-1 .. 0: the first device ends the pipe, too; the turn needs no message (Qi
// 2024).
StagePlacement folded_placement(int devices);
// One pipe each way, so that devices i and p-1-i hold the same layers (DeepSeek-V3, section 3.2.1).
StagePlacement opposed_placement(int devices);

// By chunk of a device.
std::vector<VirtualStage> chunks_of(const StagePlacement& placement, int device);

// By device and peer slot: whom it exchanges messages with. The previous and the next device of the
// ring come first; every device has as many.
std::vector<std::vector<int>> neighbours(const StagePlacement& placement);

// The devices with the first and the last layer of a pipe, where no device has both: they must
// agree on an embedding that head and look-up share. Else empty.
std::vector<int> apart_ends(const StagePlacement& placement);

// By device: those that hold the same layers, itself included, ascending.
std::vector<std::vector<int>> twins(const StagePlacement& placement);

} // namespace trainyard
