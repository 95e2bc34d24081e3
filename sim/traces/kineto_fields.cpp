#include "sim/traces/kineto_fields.h"

#include <array>
#include <utility>

namespace trainyard {
namespace {

using enum KinetoField;

constexpr std::array<std::pair<std::string_view, KinetoField>, 44> fields_by_key{{
    {"ph", phase_of_event},
    {"cat", category},
    {"name", name},
    {"pid", pid},
    {"tid", tid},
    {"ts", ts},
    {"dur", dur},
    {"args", args},
    {"External id", external},
    {"external id", external},
    {"correlation", correlation},
    {"device", device},
    {"stream", stream},
    {"bytes", bytes},
    {"Input Dims", shapes},
    {"Input dims", shapes},
    {"Input type", types},
    {"Collective name", collective},
    {"In msg nelems", in_elements},
    {"Out msg nelems", out_elements},
    {"Group size", message_size},
    {"dtype", dtype},
    {"Process Group Name", message_group},
    {"Process Group Description", message_purpose},
    {"Process Group Ranks", message_ranks},
    {"Dst Rank", to_rank},
    {"Src Rank", from_rank},
    {"transfer_start_us", moving_from},
    {"phase", phase},
    {"traceEvents", trace_events},
    {"baseTimeNanoseconds", base_time},
    {"distributedInfo", distributed},
    {"deviceProperties", devices},
    {"trainyard", simulated_by},
    {"rank", rank},
    {"world_size", world_size},
    {"backend", backend},
    {"pg_config", groups},
    {"pg_name", group_name},
    {"pg_desc", group_purpose},
    {"pg_size", group_size},
    {"ranks", group_ranks},
    {"Copy bytes", bytes},
    {"Bytes", bytes},
}};

// libkineto's ActivityType.cpp, names before 2021 and ROCm's; "ac2g" and the like are arrows.
constexpr std::array<std::pair<std::string_view, KinetoCategory>, 31> categories{{
    {"kernel", KinetoCategory::kernel},
    {"cpu_op", KinetoCategory::op},
    {"python_function", KinetoCategory::not_kept},
    {"ac2g", KinetoCategory::not_kept},
    {"cuda_runtime", KinetoCategory::call},
    {"cuda_driver", KinetoCategory::call},
    {"hip_runtime", KinetoCategory::call},
    {"user_annotation", KinetoCategory::annotation},
    {"gpu_memcpy", KinetoCategory::copy},
    {"gpu_memset", KinetoCategory::set},
    {"gpu_user_annotation", KinetoCategory::not_kept},
    {"fwdbwd", KinetoCategory::not_kept},
    {"cpu_instant_event", KinetoCategory::not_kept},
    {"cuda_sync", KinetoCategory::not_kept},
    {"overhead", KinetoCategory::not_kept},
    {"external_correlation", KinetoCategory::not_kept},
    {"cuda_profiler_range", KinetoCategory::not_kept},
    {"collective_comm", KinetoCategory::not_kept},
    {"Trace", KinetoCategory::not_kept},
    {"async_cpu_to_gpu", KinetoCategory::not_kept},
    {"mtia_runtime", KinetoCategory::not_kept},
    {"mtia_ccp_events", KinetoCategory::not_kept},
    {"glow_runtime", KinetoCategory::not_kept},
    {"xpu_runtime", KinetoCategory::not_kept},
    {"hpu_op", KinetoCategory::not_kept},
    {"privateuse1_runtime", KinetoCategory::not_kept},
    {"Kernel", KinetoCategory::kernel},
    {"Memcpy", KinetoCategory::copy},
    {"Memset", KinetoCategory::set},
    {"Operator", KinetoCategory::op},
    {"Runtime", KinetoCategory::call},
}};

template <class Table>
auto find_in(const Table& table, std::string_view key, decltype(table.front().second) none)
{
    for (const auto& [known, value] : table)
        if (known == key)
            return value;
    return none;
}

} // namespace

KinetoField kineto_field(std::string_view key)
{
    return find_in(fields_by_key, key, other);
}

KinetoCategory kineto_category(std::string_view key)
{
    return find_in(categories, key, KinetoCategory::unknown);
}

} // namespace trainyard
