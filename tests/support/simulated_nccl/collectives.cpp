#include "tests/support/simulated_nccl/communicator.h"

#include <algorithm>
#include <cstring>

namespace trainyard::simulated {

namespace {

// What rank `to` receives, from copies of what all sent.
std::vector<std::byte> received(const CollectiveCall& call, int to,
                                const std::vector<std::vector<std::byte>>& sent)
{
    const std::uint64_t part = call.part();
    const auto place = static_cast<std::uint64_t>(to);
    std::vector<std::byte> out;
    const auto append = [&](const std::vector<std::byte>& from, std::uint64_t at) {
        out.insert(out.end(), from.begin() + static_cast<std::ptrdiff_t>(at),
                   from.begin() + static_cast<std::ptrdiff_t>(at + part));
    };
    switch (call.kind) {
    case CallKind::broadcast:
        append(sent[static_cast<std::size_t>(call.root)], 0);
        return out;
    case CallKind::all_gather:
        for (const auto& one : sent)
            append(one, 0);
        return out;
    case CallKind::all_to_all:
        for (const auto& one : sent)
            append(one, part * place);
        return out;
    case CallKind::reduce:
        if (to != call.root)
            return out;
        [[fallthrough]];
    case CallKind::all_reduce:
    case CallKind::reduce_scatter:
        break;
    }
    out.resize(part);
    const std::uint64_t first = call.kind == CallKind::reduce_scatter ? call.count * place : 0;
    for (std::uint64_t i = 0; i < call.count; ++i) {
        float sum = 0;
        for (const auto& one : sent)
            sum += element(one.data(), call.type, first + i);
        set_element(out.data(), call.type, i, sum);
    }
    return out;
}

std::uint64_t sent_bytes(const CollectiveCall& call, int ranks)
{
    return call.kind == CallKind::reduce_scatter || call.kind == CallKind::all_to_all
               ? call.part() * static_cast<std::uint64_t>(ranks)
               : call.part();
}

// The size by which nccl-tests divides.
std::uint64_t whole_size(const CollectiveCall& call, int ranks)
{
    const bool parts = call.kind == CallKind::all_gather || call.kind == CallKind::reduce_scatter ||
                       call.kind == CallKind::all_to_all;
    return call.part() * static_cast<std::uint64_t>(parts ? ranks : 1);
}

void finish(const ncclComm& comm, const CollectiveCall& call, Collective& collective)
{
    std::vector<std::vector<std::byte>> sent;
    double start = 0;
    for (const auto& [rank, party] : collective.parties) {
        start = std::max(start, party.time);
        sent.emplace_back(party.send, party.send + sent_bytes(call, comm.ranks));
    }
    for (const auto& [rank, party] : collective.parties) {
        const std::vector<std::byte> result = received(call, rank, sent);
        if (result.empty())
            continue;
        std::memcpy(party.receive, result.data(), result.size());
        if (comm.world->faults.at(rank).corrupts)
            set_element(party.receive, call.type, call.count - 1,
                        element(party.receive, call.type, call.count - 1) + 1);
    }
    const Speeds& speeds = comm.world->speeds;
    collective.end =
        start + speeds.latency + static_cast<double>(whole_size(call, comm.ranks)) / speeds.rate;
}

} // namespace

NcclResult queue_collective(const CollectiveCall& call, const void* send, void* receive,
                            NcclComm comm, CudaStream stream)
{
    std::unique_lock lock(comm->world->mutex);
    if (const NcclResult result = enter(*comm, lock); result != NcclResult::success)
        return result;
    const std::uint64_t number = comm->clique->made[comm->rank]++;
    const bool hangs = comm->faults().hangs_on_device && comm->sick();
    const Collective::Party party{static_cast<const std::byte*>(send),
                                  static_cast<std::byte*>(receive), 0};
    Item item;
    item.issued = of(stream).device->host += comm->world->speeds.host_issue;
    item.communicate = [=](double start) -> std::optional<double> {
        if (comm->aborted)
            return start;
        if (hangs)
            return std::nullopt;
        Collective& whole = comm->clique->collectives[number];
        Collective::Party own = party;
        own.time = start;
        whole.parties.emplace(comm->rank, own);
        if (!whole.end && static_cast<int>(whole.parties.size()) == comm->ranks)
            finish(*comm, call, whole);
        return whole.end;
    };
    queue(of(stream), std::move(item));
    return NcclResult::success;
}

} // namespace trainyard::simulated
