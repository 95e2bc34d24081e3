#pragma once

// What the calls of the simulated NCCL work on: a rank's communicator, and what is queued for it.

#include "tests/support/simulated_nccl/world.h"

// The communicator of one rank.
struct ncclComm {
    trainyard::simulated::World* world = nullptr; // lives longer
    trainyard::simulated::Clique* clique = nullptr;
    int rank = 0;
    int ranks = 1;
    int calls = 0;
    bool aborted = false;

    const trainyard::simulated::Faults& faults() const { return world->faults.at(rank); }
    bool sick() const { return calls > faults().healthy_ops; }
};

namespace trainyard::simulated {

enum class CallKind { all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all };

struct CollectiveCall {
    CallKind kind;
    std::size_t count;
    ElementType type;
    int root = 0;

    std::uint64_t part() const { return count * static_cast<std::uint64_t>(element_bytes(type)); }
};

// Before an operation is queued: what makes it fail or hang. `lock` holds world.mutex.
NcclResult enter(ncclComm& comm, std::unique_lock<std::mutex>& lock);

// Takes world.mutex, as do those below.
NcclResult queue_collective(const CollectiveCall& call, const void* send, void* receive,
                            NcclComm comm, CudaStream stream);

// One end of a message that is queued.
struct MessageEnd {
    bool sends;
    std::byte* data;
    std::size_t bytes;
    int peer;
    int index;
};

// Ends are queued when the outermost group of the calling thread ends; alone, each is a group.
NcclResult start_group();
NcclResult add_end(const MessageEnd& end, NcclComm comm, CudaStream stream);
NcclResult end_group();

} // namespace trainyard::simulated
