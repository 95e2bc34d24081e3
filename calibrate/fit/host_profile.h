#pragma once

// A profile of ranks on the CPUs of a host, from what was measured there.

#include "calibrate/fit/fit_profile.h"
#include "sim/cost/gemm_surface.h"

namespace trainyard {

// In SI units, with its 95 % interval.
struct MeasuredValue {
    double value = 0;
    double low = 0;
    double high = 0;
};

// One library between the ranks of the host.
struct HostLibrary {
    Backend backend = Backend::gloo;
    std::optional<MeasuredValue> latency; // s, of a small message between two ranks
    std::optional<MeasuredValue> rate;    // B/s, of a large one
    // As BackendInterference has them.
    std::optional<MeasuredValue> compute_waiting;
    std::optional<MeasuredValue> compute_moving;
    std::optional<MeasuredValue> transfer_slowdown;
};

// All at once on all ranks, as a job would: what they share is then shared out already.
struct HostMeasured {
    std::string name;   // of the profile
    std::string cpu;    // "AMD EPYC 7B13"
    int ranks = 1;      // that share the host
    Bytes memory;       // of the host
    std::string source; // "trainyard-measure on HOST, 2026-08-22"

    std::vector<GemmPoint> products;               // fp32, of one rank; an empty grid is refused
    std::optional<MeasuredValue> memory_bandwidth; // B/s that one rank reads and writes; needed
    std::optional<MeasuredValue> issue;            // s of host time per kernel besides its work
    std::vector<Sweep> sweeps;                     // over Gloo and MPI, several launches of each
    std::vector<HostLibrary> libraries;
    Environment environment;
};

// A profile whose device is the part of the host that one rank has, for topologies whose devices
// are named "cpu": GEMM times as a surface, collectives as tables (group sizes between the measured
// ones estimated, graded `extrapolated`), the libraries' closed forms for the others. The rest is
// as shipped. Problems: no products, no memory bandwidth, sweeps of libraries for devices.
Checked<FittedProfile> host_profile(const HostMeasured& measured);

} // namespace trainyard
