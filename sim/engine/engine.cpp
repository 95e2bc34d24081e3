#include "sim/engine/engine.h"

namespace trainyard {

template <>
std::vector<EnumName<TimeKind>> enum_names<TimeKind>()
{
    using enum TimeKind;
    return {{forward, "forward"},
            {backward, "backward"},
            {recompute, "recompute"},
            {optimizer, "optimizer"},
            {other_compute, "other_compute"},
            {slowdown, "slowdown"},
            {exposed_tp, "exposed_tp"},
            {exposed_cp, "exposed_cp"},
            {exposed_ep, "exposed_ep"},
            {exposed_dp, "exposed_dp"},
            {exposed_pp, "exposed_pp"},
            {waiting, "waiting"},
            {bubble, "bubble"},
            {host, "host"},
            {data, "data"}};
}

template <>
std::vector<EnumName<Fidelity>> enum_names<Fidelity>()
{
    return {{Fidelity::alpha_beta, "alpha-beta"},
            {Fidelity::bundle, "bundle"},
            {Fidelity::flow, "flow"},
            {Fidelity::chunk, "chunk"}};
}

template <>
std::vector<EnumName<Tier>> enum_names<Tier>()
{
    return {{Tier::automatic, "auto"},
            {Tier::replay, "replay"},
            {Tier::ahead, "ahead"},
            {Tier::event, "event"},
            {Tier::reference, "reference"}};
}

template <>
std::vector<EnumName<Mechanism>> enum_names<Mechanism>()
{
    using enum Mechanism;
    return {{ahead, "ahead"},
            {passages, "passages"},
            {seams, "seams"},
            {replay, "replay"},
            {stretches, "stretches"},
            {slices, "slices"},
            {vector_code, "vector code"},
            {ripple, "ripple"},
            {sweeps, "sweeps"},
            {late_steps, "late steps"}};
}

template <>
std::vector<EnumName<WholeReason>> enum_names<WholeReason>()
{
    return {{WholeReason::pattern, "pattern"},
            {WholeReason::lockstep, "lockstep"},
            {WholeReason::rings, "rings"}};
}

} // namespace trainyard
