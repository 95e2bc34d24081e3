#pragma once

// What makes single devices differ from their like: slow ones, jittery ones, late ones. Plain
// values; a scenario's perturbations become these.

#include "sim/base/field_names.h"
#include "sim/base/ids.h"
#include "sim/base/quantity.h"
#include "sim/program/binding.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace trainyard {

// Of the factor that a kernel's duration is multiplied with; `scale` is relative to the duration.
enum class JitterDistribution : std::uint8_t {
    normal,      // 1 + scale z, never below 0
    lognormal,   // exp(scale z): half of the kernels are faster, the slow ones by more
    exponential, // 1 + scale x, x exponential with mean 1: kernels get slower only
    uniform      // from 1 - scale to 1 + scale, never below 0
};

struct KernelJitter {
    JitterDistribution distribution = JitterDistribution::lognormal;
    double scale = 0.0;
    double chance = 1.0; // of a kernel to be disturbed at all

    bool operator==(const KernelJitter&) const = default;
};

struct SeededJitter {
    KernelJitter jitter;
    std::uint64_t seed = 0;
};

// Compute takes `slowdown` times as long between two times of the simulated clock.
struct SlowSpan {
    SimTime from{};
    SimTime until = longest_sim_time;
    double slowdown = 1.0; // >= 1
};

// A link has this share of its capacity left between two times of the simulated clock.
struct LinkSpan {
    SimTime from{};
    SimTime until = longest_sim_time;
    double share = 1.0; // 0: it carries nothing
};

enum class LatePart : std::uint8_t {
    step,  // the host begins the step late
    loader // the first batch of the step is late
};

// A step is late by `time` with this chance, drawn for each step and device.
struct Lateness {
    SimTime time{};
    double chance = 1.0;
    LatePart part = LatePart::step;
    std::uint64_t seed = 0;
};

struct Conditions {
    template <class T>
    using PerDevice = std::vector<std::pair<DeviceId, T>>;

    PerDevice<double> slowdown = {};     // 1.08: compute takes 1.08 times as long
    PerDevice<SlowSpan> spans = {};      // of one device none overlaps another
    PerDevice<SeededJitter> jitter = {}; // one per device at most
    PerDevice<Lateness> late = {};
    PerDevice<SimTime> start = {};                       // its first step may begin then
    PerDevice<Stop> stop = {};                           // one per device at most
    std::vector<std::pair<LinkId, LinkSpan>> links = {}; // of one link none overlaps another
    int steps = 2;                                       // that `late` is drawn for
};

template <>
std::vector<EnumName<JitterDistribution>> enum_names<JitterDistribution>();
template <>
std::vector<EnumName<LatePart>> enum_names<LatePart>();

} // namespace trainyard
