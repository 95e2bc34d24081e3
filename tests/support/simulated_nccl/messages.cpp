#include "tests/support/simulated_nccl/communicator.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace trainyard::simulated {

namespace {

std::optional<double> exchange(const ncclComm& comm, const std::vector<MessageEnd>& ends,
                               double start)
{
    double end = start;
    bool complete = true;
    std::uint64_t out = 0;
    std::uint64_t in = 0;
    for (const MessageEnd& one : ends) {
        const std::pair<int, int> way =
            one.sends ? std::pair(comm.rank, one.peer) : std::pair(one.peer, comm.rank);
        Message& message = comm.clique->messages[way][one.index];
        (one.sends ? out : in) += one.bytes;
        if (one.sends)
            message.send = one.data;
        else
            message.receive = one.data;
        message.time = std::max(message.time, start);
        if (!message.send || !message.receive) {
            complete = false;
            continue;
        }
        if (!message.moved) {
            std::memcpy(message.receive, message.send, one.bytes);
            if (comm.world->faults.at(way.second).corrupts)
                message.receive[0] ^= std::byte{1};
            message.moved = true;
        }
        end = std::max(end, message.time);
    }
    if (!complete)
        return std::nullopt;
    const Speeds& speeds = comm.world->speeds;
    return end + speeds.latency + static_cast<double>(std::max(out, in)) / speeds.rate;
}

thread_local int group_depth = 0;
thread_local std::vector<MessageEnd> group_ends;
thread_local NcclComm group_comm = nullptr;
thread_local CudaStream group_stream = nullptr;

} // namespace

NcclResult start_group()
{
    ++group_depth;
    return NcclResult::success;
}

NcclResult add_end(const MessageEnd& end, NcclComm comm, CudaStream stream)
{
    ++group_depth;
    group_comm = comm;
    group_stream = stream;
    group_ends.push_back(end);
    return end_group();
}

NcclResult end_group()
{
    if (--group_depth > 0 || group_ends.empty())
        return NcclResult::success;
    const NcclComm comm = group_comm;
    std::vector<MessageEnd> ends = std::exchange(group_ends, {});
    std::unique_lock lock(comm->world->mutex);
    if (const NcclResult result = enter(*comm, lock); result != NcclResult::success)
        return result;
    const bool hangs = comm->faults().hangs_on_device && comm->sick();
    for (MessageEnd& end : ends)
        end.index = comm->clique->ends[{comm->rank, end.peer, end.sends}]++;
    Item item;
    item.issued = of(group_stream).device->host += comm->world->speeds.host_issue;
    item.communicate = [=](double start) -> std::optional<double> {
        if (comm->aborted)
            return start;
        return hangs ? std::nullopt : exchange(*comm, ends, start);
    };
    queue(of(group_stream), std::move(item));
    return NcclResult::success;
}

} // namespace trainyard::simulated
