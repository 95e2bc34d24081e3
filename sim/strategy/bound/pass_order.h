#pragma once

// What the order of a schedule's passes decides, whatever they take: which of them are split or
// take turns, and how many micro-batches each chunk keeps at once.

#include "sim/strategy/schedule.h"

#include <array>

namespace trainyard {

// So many forward passes of a chunk beside a whole backward pass of another (or the same).
struct PassPairs {
    int forward = 0; // chunks
    int backward = 0;
    int count = 0;
};

// By kind of pass: those of a chunk that run by themselves.
using LonePasses = std::array<int, 4>;

struct DeviceOrder {
    // By chunk: micro-batches between their forward and their backward pass, at the moment when the
    // device has most of them.
    std::vector<int> kept;
    std::vector<LonePasses> alone; // by chunk
    std::vector<PassPairs> pairs;
};

struct PassOrder {
    std::string refusal; // why the schedule cannot run this shape; the rest is empty then
    bool splits = false; // gradients of weights are put off
    bool in_turns = false;
    std::vector<DeviceOrder> devices;
    // Of so many micro-batches; all that a longer schedule has more runs as most of these do.
    int micro_batches = 0;
};

PassOrder pass_order(const PipelineSchedule& schedule, const PipelineShape& shape);

} // namespace trainyard
