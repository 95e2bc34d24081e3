#pragma once

// Shipped parts and hand-made group shapes for tests of the cost models.

#include "sim/cost/cost_model.h"
#include "sim/cost/profile_library.h"
#include "tests/catch.h"

namespace trainyard {

inline Profile assembled(const std::string& device, const std::string& network = "ndr400",
                         const std::string& software = "mcore-2024")
{
    ProfileRequest request;
    request.device = device;
    request.network.name = network;
    request.software = software;
    const Checked<Profile> profile = assemble(request);
    if (!profile)
        FAIL(render(profile.error(), ""));
    return *profile;
}

// The closed form alone, as nccl-tests would measure it: no knots, no in-situ factors.
inline Profile bare_form(Profile profile)
{
    profile.hardware.knots.clear();
    profile.hardware.fabric.in_situ = profile.hardware.fabric.in_situ_all_to_all = 1;
    profile.hardware.network.in_situ = profile.hardware.network.in_situ_all_to_all = 1;
    return profile;
}

// Measured where it was measured, as nccl-tests counts.
inline Profile standing_alone(Profile profile)
{
    profile.hardware.fabric.in_situ = profile.hardware.fabric.in_situ_all_to_all = 1;
    profile.hardware.network.in_situ = profile.hardware.network.in_situ_all_to_all = 1;
    return profile;
}

// `domains` whole domains of `per_domain` ranks, `nics` NICs of `nic_rate` in each.
inline GroupShape whole_domains(const Profile& profile, int per_domain, int domains, int nics,
                                Bandwidth nic_rate)
{
    GroupShape shape;
    shape.ranks = per_domain * domains;
    shape.domains = domains;
    shape.nodes = domains;
    shape.ranks_per_domain = per_domain;
    shape.ranks_per_node = per_domain;
    shape.nvlink = profile.hardware.fabric.line_rate;
    shape.nvswitch = true;
    shape.in_switch_reduction = true;
    shape.network.transport = domains > 1 ? Transport::infiniband : Transport::none;
    shape.network.nics = nics;
    shape.network.nic_rate = nic_rate;
    shape.gpus_per_node = per_domain;
    return shape;
}

inline Seconds time_of(const CostModel& model, CollectiveKind kind, Bytes size,
                       const GroupShape& shape)
{
    return model.collective(kind, size, shape, Backend::nccl).total;
}

inline double bus_bandwidth_GBps(const CostModel& model, CollectiveKind kind, Bytes size,
                                 const GroupShape& shape)
{
    return static_cast<double>(size.value()) * bus_factor(kind, shape.ranks) /
           time_of(model, kind, size, shape).value() * 1e-9;
}

} // namespace trainyard
