#pragma once

// Which tensors a program takes and gives back, and when.
//
// A tensor is named once, with its size; its scope says which instances of it are told apart, by
// the micro-batch and layer of the block use in which an op allocates or frees it. An instance
// exists at most once at a time, and a step gives back all that it took.

#include "sim/base/field_names.h"
#include "sim/base/ids.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

using TensorId = Id<struct TensorTag>;

enum class MemoryKind : std::uint8_t {
    parameters,
    gradients,     // summed over the step, held all the time
    optimizer,     // master copy, moments
    unsharded,     // whole parameters gathered from shards
    unreduced,     // whole gradients before they are reduced
    buckets,       // copies of gradients or parameters that are exchanged
    activations,   // kept from forward to backward
    logits,        // of the head: logits, softmax, their gradients
    workspace,     // live within a layer's pass or an op
    pipeline,      // on their way between stages
    communicators, // outside the framework's allocator
    context,       // likewise: CUDA context, libraries
    pinned_host    // of the host, not of the device
};
inline constexpr std::size_t memory_kind_count = 13;

constexpr bool on_device(MemoryKind kind)
{
    return kind != MemoryKind::pinned_host;
}

template <>
std::vector<EnumName<MemoryKind>> enum_names<MemoryKind>();

// One instance for each ...
enum class TensorScope : std::uint8_t {
    use,                  // use of a block, within which it comes and goes
    micro_batch,          // micro-batch
    layer,                // layer, FSDP unit or bucket
    layer_of_micro_batch, // layer and micro-batch
    step                  // step
};

struct Tensor {
    std::string name{}; // "norm_input", "gathered unit", ...
    MemoryKind kind = MemoryKind::workspace;
    std::int64_t bytes = 0;
    TensorScope scope = TensorScope::use;
    std::uint8_t length_power = 0; // bytes grow with the micro-batch's tokens to this power

    bool operator==(const Tensor&) const = default;
    auto operator<=>(const Tensor&) const = default;
};

enum class MemoryAction : std::uint8_t { allocate, free };

// When an op's events happen: when it starts (is issued), or when it has finished.
enum class Moment : std::uint8_t { start, end };

struct MemoryEvent {
    TensorId tensor{};
    MemoryAction action = MemoryAction::allocate;
    Moment moment = Moment::start;

    bool operator==(const MemoryEvent&) const = default;
};

// What an op does to device memory: bytes taken when it starts (negative: given back) and when it
// ends, and the tensors they are made of, in the order of the requests: Program::memory_events
// [event_first, +event_count). Without events the bytes are of no named tensor.
struct MemoryEffect {
    std::int64_t at_start = 0;
    std::int64_t at_end = 0;
    std::uint32_t event_first = 0;
    std::uint32_t event_count = 0;

    bool operator==(const MemoryEffect&) const = default;
};

// A memory event as builders write it.
struct TensorChange {
    Tensor tensor{};
    MemoryAction action = MemoryAction::allocate;
    Moment moment = Moment::start;

    bool operator==(const TensorChange&) const = default;
    auto operator<=>(const TensorChange&) const = default;
};
using TensorChanges = std::vector<TensorChange>;

TensorChange allocates(Tensor tensor, Moment moment = Moment::start);
TensorChange frees(Tensor tensor, Moment moment = Moment::end);

} // namespace trainyard
