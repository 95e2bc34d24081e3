#pragma once

// Everything that turns a program into times, in three layers that never mix: hardware (a device
// and what joins it), software (a framework class), installation (this machine against others of
// its kind).
//
// A value. Files are read by profile_library.h.

#include "sim/cost/device.h"
#include "sim/cost/fingerprint.h"
#include "sim/cost/interference.h"
#include "sim/cost/knots.h"
#include "sim/cost/libraries.h"
#include "sim/cost/measured_kernels.h"
#include "sim/cost/network.h"
#include "sim/cost/own_steps_mark.h"
#include "sim/cost/software.h"

namespace trainyard {

struct Hardware {
    Device device;
    FabricClass fabric;
    NetworkClass network;
    CollectiveForm collectives;
    GlooClass gloo;
    UcxClass ucx;
    NvshmemClass nvshmem;
    MpiClass mpi;
    InterferenceTable interference;
    MeasuredKernels kernels;
    std::vector<KnotTable> knots;

    bool operator==(const Hardware&) const = default;
};

// This installation against others of its kind.
struct Installation {
    double factor = 1.0; // of GEMM and attention rates: clocks, power, cooling
    Environment environment;
    ProvenanceMap provenance;

    bool operator==(const Installation&) const = default;
};

struct Profile {
    std::string name;
    std::string description;
    Hardware hardware;
    SoftwareClass software;
    Installation installation;
    std::optional<OwnStepsMark> own_steps; // where own steps solved its rates

    bool operator==(const Profile&) const = default;
};

inline constexpr std::string_view profile_format = "trainyard.profile/1";

template <>
const FieldTable<Installation>& fields_of<Installation>();

// The whole profile with all layers in place; reading it gives the same value.
Json to_json(const Profile& profile);

// Every constant of the profile that came with a provenance, by dotted path
// ("hardware.device.peak.bf16").
ProvenanceMap provenance_of(const Profile& profile);

// A copy in which the constant at `path` is `value`: bare, or with its provenance, in the form of
// files. For fits and --set.
Checked<Profile> with_override(Profile profile, const std::string& path, const Json& value);

} // namespace trainyard
