#pragma once

// What PyTorch and NCCL call things in a profile (PyTorch torch/csrc/profiler/util.h, libkineto
// output_json.cpp, as of 2.6).

#include "sim/base/ids.h"
#include "sim/strategy/job.h"

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// "allreduce", "_allgather_base", ...: argument `Collective name`.
std::string_view kineto_collective_name(CollectiveKind kind);

// "ncclDevKernel_AllReduce", ...: the beginning of a kernel's name.
std::string_view nccl_kernel_name(CollectiveKind kind);

// c10::ScalarType of what a group's collective carries: "BFloat16", "Float", "Half".
std::string_view kineto_dtype(const Job& job, CollectiveKind kind, GroupKind group);
int bytes_of_dtype(std::string_view dtype);

// Elements that go into and come out of one rank.
struct MessageElements {
    std::uint64_t in = 0;
    std::uint64_t out = 0;

    bool operator==(const MessageElements&) const = default;
};
MessageElements message_elements(CollectiveKind kind, Bytes bytes, int ranks, int element_bytes);

// Text as a JSON string, quotes included.
std::string json_text(std::string_view text);

// The nearest whole nanosecond, which is Kineto's resolution.
SimTime to_nanosecond(SimTime time);

// Microseconds to the nanosecond: 1234567 ps is "1.235".
std::string microseconds(SimTime time);

// "dp_16": argument `Process Group Name`, the same on all members.
std::string kineto_group_name(GroupKind kind, const std::vector<RankId>& members);

// "[0, 1, 2]"; beyond 30 ranks the middle is left out, as PyTorch does.
std::string kineto_rank_list(const std::vector<RankId>& ranks);

} // namespace trainyard
