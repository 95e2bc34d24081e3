#include "calibrate/backends/host/host_facts.h"

#include "calibrate/measure/backend/host_name.h"
#include "calibrate/measure/host_kernels/gemm.h"

#include <fmt/core.h>

namespace trainyard {

BackendFacts host_facts(const CpuFacts& cpu, const LaunchPlace& place)
{
    BackendFacts facts;
    facts.device = cpu.model;
    facts.device_id = fmt::format("cpu of {}", host_name());
    facts.memory = cpu.memory;
    facts.properties = {{"cores", std::to_string(cpu.cores)},
                        {"bound_cores", std::to_string(cpu.own_cores)},
                        {"packages", std::to_string(cpu.packages)},
                        {"vector_instructions", std::string(vector_instructions())}};
    if (cpu.last_cache > Bytes())
        facts.properties["last_cache_bytes"] = std::to_string(cpu.last_cache.value());
    if (!cpu.governor.empty())
        facts.properties["frequency_governor"] = cpu.governor;
    if (cpu.cores_granted > 0)
        facts.properties["cores_granted"] = fmt::format("{:.3g}", cpu.cores_granted);
    facts.warnings = doubts(cpu, place.local_ranks);
    return facts;
}

} // namespace trainyard
