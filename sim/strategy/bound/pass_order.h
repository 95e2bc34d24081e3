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

struct PassCounts {
    std::vector<LonePasses> alone; // by chunk
    std::vector<PassPairs> pairs;
};

struct DeviceOrder {
    // By chunk: micro-batches between their forward and their backward pass, at the moment when the
    // device has most of them.
    std::vector<int> kept;
    PassCounts passes; // of the last micro-batches, and
    PassCounts period; // of one of the periods before them
};

struct PassOrder {
    std::string refusal; // why the schedule cannot run this shape; the rest is empty then
    bool splits = false; // gradients of weights are put off
    bool in_turns = false;
    std::vector<DeviceOrder> devices;
    int periods = 0; // a long schedule repeats what it does with as many micro-batches as stages
};

PassOrder pass_order(const PipelineSchedule& schedule, const PipelineShape& shape);

} // namespace trainyard
