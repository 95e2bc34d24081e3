#pragma once

// Pipeline schedules: for each device the order of its passes. A schedule is one file in pipeline/
// that implements `PipelineSchedule` and one line in `schedules()`.

#include "sim/base/diagnostic.h"
#include "sim/strategy/pipeline/placement.h"

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

struct PipelineShape {
    int stages = 1;        // p: devices of the pipeline
    int chunks = 1;        // v: virtual stages per device
    int micro_batches = 1; // m
    int group = 0;         // micro-batches that go through a chunk at once when interleaved; 0: p
    bool in_turns = false; // forward passes run beside backward passes where both are due

    bool operator==(const PipelineShape&) const = default;
};

enum class PassKind : std::uint8_t {
    forward,
    backward,        // gradients of inputs and weights
    backward_input,  // what the stage before waits for
    backward_weight, // the rest: after backward_input of the same micro-batch, at any time
};

// Does it hand a gradient to the stage before?
constexpr bool hands_back(PassKind kind)
{
    return kind == PassKind::backward || kind == PassKind::backward_input;
}

// Are the chunk's gradients complete, of this micro-batch, once it has run?
constexpr bool completes_gradients(PassKind kind)
{
    return kind == PassKind::backward || kind == PassKind::backward_weight;
}

// One pass of one micro-batch through one chunk of a device.
struct Pass {
    PassKind kind = PassKind::forward;
    int micro_batch = 0;
    int chunk = 0;
    // A forward pass beside the backward pass that comes next: their ops take turns, so that
    // communication of one runs beside compute of the other.
    bool with_next = false;

    bool operator==(const Pass&) const = default;
};

class PipelineSchedule {
public:
    virtual ~PipelineSchedule() = default;

    virtual std::string_view name() const = 0;
    virtual std::string_view help() const = 0;

    // Why this shape cannot run, and what would; empty when it can.
    virtual std::string refusal(const PipelineShape& shape) const = 0;

    virtual StagePlacement placement(const PipelineShape& shape) const
    {
        return looped_placement(shape.stages, shape.chunks);
    }

    // Do stages end one after the other? Then none may wait for all others before its optimizer
    // runs: they hand the norm of gradients on instead (Qi 2023, section 4).
    virtual bool ends_in_turn() const { return false; }

    // Can forward passes run beside backward passes?
    virtual bool takes_turns(const PipelineShape&) const { return false; }

    // Every micro-batch of a pipe once forward and once backward, whole or in its two parts,
    // through each of the pipe's chunks. Requires an empty refusal.
    virtual std::vector<Pass> passes(const PipelineShape& shape, int stage) const = 0;
};

const std::vector<const PipelineSchedule*>& schedules();
const PipelineSchedule* find_schedule(std::string_view name); // null when unknown
std::vector<std::string> schedule_names();

} // namespace trainyard
