#include "sim/report/timeline/kineto_names.h"

#include "sim/base/json.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

std::string_view kineto_collective_name(CollectiveKind kind)
{
    switch (kind) {
    case CollectiveKind::all_reduce:
        return "allreduce";
    case CollectiveKind::all_gather:
        return "_allgather_base";
    case CollectiveKind::reduce_scatter:
        return "_reduce_scatter_base";
    case CollectiveKind::all_to_all:
        return "all_to_all";
    case CollectiveKind::broadcast:
        return "broadcast";
    case CollectiveKind::reduce:
        return "reduce";
    case CollectiveKind::barrier:
        return "barrier";
    case CollectiveKind::send_receive:
        break;
    }
    return "coalesced";
}

std::string_view nccl_kernel_name(CollectiveKind kind)
{
    switch (kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::barrier:
        return "ncclDevKernel_AllReduce";
    case CollectiveKind::all_gather:
        return "ncclDevKernel_AllGather";
    case CollectiveKind::reduce_scatter:
        return "ncclDevKernel_ReduceScatter";
    case CollectiveKind::broadcast:
        return "ncclDevKernel_Broadcast";
    case CollectiveKind::reduce:
        return "ncclDevKernel_Reduce";
    case CollectiveKind::all_to_all:
    case CollectiveKind::send_receive:
        break;
    }
    return "ncclDevKernel_SendRecv";
}

std::string_view kineto_dtype(const Job& job, CollectiveKind kind, GroupKind group)
{
    const bool gradients =
        (group == GroupKind::dp || group == GroupKind::edp) && kind != CollectiveKind::all_gather;
    if (gradients && job.training.fp32_gradients.value_or(false))
        return "Float";
    switch (job.training.precision) {
    case Precision::fp32:
    case Precision::tf32:
        return "Float";
    case Precision::fp16:
        return "Half";
    case Precision::bf16:
    case Precision::fp8:
    case Precision::fp8_block:
    case Precision::mxfp8:
    case Precision::nvfp4:
        break;
    }
    return "BFloat16";
}

int bytes_of_dtype(std::string_view dtype)
{
    return dtype == "Float" ? 4 : 2;
}

MessageElements message_elements(CollectiveKind kind, Bytes bytes, int ranks, int element_bytes)
{
    const std::uint64_t whole = bytes.value() / static_cast<std::uint64_t>(element_bytes);
    const std::uint64_t part = whole / static_cast<std::uint64_t>(ranks);
    switch (kind) {
    case CollectiveKind::all_gather:
        return {part, whole};
    case CollectiveKind::reduce_scatter:
        return {whole, part};
    default:
        return {whole, whole};
    }
}

std::string json_text(std::string_view text)
{
    return to_text(Json(text), JsonStyle::compact);
}

SimTime to_nanosecond(SimTime time)
{
    return SimTime((time.value() + 500) / 1000 * 1000);
}

std::string microseconds(SimTime time)
{
    const std::int64_t ns = std::max<std::int64_t>(to_nanosecond(time).value(), 0) / 1000;
    return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

std::string kineto_group_name(GroupKind kind, const std::vector<RankId>& members)
{
    return fmt::format("{}_{}", to_name(kind), members.front().value);
}

std::string kineto_rank_list(const std::vector<RankId>& ranks)
{
    constexpr std::size_t most = 30;
    const bool cut = ranks.size() > most;
    std::string text = "[";
    for (std::size_t i = 0; i < (cut ? most - 1 : ranks.size()); ++i)
        text += fmt::format("{}{}", i > 0 ? ", " : "", ranks[i].value);
    if (cut)
        text += fmt::format(", ..., {}", ranks.back().value);
    return text + "]";
}

} // namespace trainyard
