#pragma once

// Communication libraries beside NCCL: Gloo, UCX (with UCC's collectives), symmetric memory
// (NVSHMEM, MSCCL++, PyTorch's symmetric memory) and MPI between host memories: their constants and
// closed forms.
//
// r ranks in each of d domains, n = r d, S bytes as nccl-tests counts, B inside a domain and N per
// rank out of it. Latencies add over domains, bandwidth terms take the maximum, as in
// collective_form.h: out(f) = max(f S / B, share of f S that leaves the domain / N).

#include "sim/base/vocabulary.h"
#include "sim/cost/provenance.h"
#include "sim/topology/group_shape.h"

namespace trainyard {

// Gloo: rings over TCP between host memories, on CPU threads.
struct GlooClass {
    Seconds latency;                // of one step
    Bandwidth max_per_communicator; // copies and one socket thread
    double network_efficiency = 1;  // of the NIC's line rate

    ProvenanceMap provenance;

    bool operator==(const GlooClass&) const = default;
};

// UCX: messages by copy engines (CUDA IPC) and GPUDirect RDMA; sums by kernels between them.
struct UcxClass {
    Seconds latency_inside;       // of a message between devices of a domain
    Seconds latency_across;       // and over the network
    Seconds sum;                  // added to each step of a sum: the kernel that adds
    double efficiency_inside = 0; // of the line rate
    double efficiency_across = 0;
    double sum_bandwidth = 0; // of HBM's, while adding

    ProvenanceMap provenance;

    bool operator==(const UcxClass&) const = default;
};

// Symmetric memory: a kernel on each device reads and writes the others' buffers directly.
struct NvshmemClass {
    Seconds collective; // smallest collective inside a domain: launch and two barriers
    Seconds barrier;    // one more
    Seconds put_inside; // of a message from a kernel that runs already
    Seconds put_across;
    double efficiency_inside = 0; // of the line rate
    double efficiency_across = 0;
    int sms_held = 0; // by a collective that moves much

    ProvenanceMap provenance;

    bool operator==(const NvshmemClass&) const = default;
};

// MPI between host memories: messages by the CPU's copies in a host, sums by one core of each rank.
struct MpiClass {
    Seconds latency_inside;       // of a message between ranks of a host
    Seconds latency_across;       // and over the network
    Bandwidth rate_inside;        // of a message between two ranks of a host
    double efficiency_across = 0; // of the NIC's line rate
    Bandwidth sum_rate;           // bytes of two inputs and a result per second of one core

    ProvenanceMap provenance;

    bool operator==(const MpiClass&) const = default;
};

inline constexpr std::string_view gloo_format = "trainyard.gloo/1";
inline constexpr std::string_view ucx_format = "trainyard.ucx/1";
inline constexpr std::string_view nvshmem_format = "trainyard.nvshmem/1";
inline constexpr std::string_view mpi_format = "trainyard.mpi/1";

struct LibraryTime {
    Seconds latency; // at the smallest size
    Seconds total;
};

// Where a library's bytes go: line rates inside the domain, out of it per rank, of device memory.
struct LibraryLinks {
    Bandwidth inside;
    Bandwidth across;
    Bandwidth memory;
};

// Gloo: f steps' latency and f S / min(limit of a communicator, share of the NIC), also in a node.
LibraryTime gloo_time(CollectiveKind kind, Bytes size, const GroupShape& shape,
                      const GlooClass& gloo);

// Messages of UCC over UCX: L = log2(r) steps inside + log2(d) across, each with its latency.
// All-reduce: the lesser of recursive doubling, L + log2(n) S/B, and Rabenseifner's scatter-reduce
// and all-gather, 2 L + out(2 (n-1)/n). All-gather, reduce-scatter: L + out((n-1)/n). All-to-all:
// one latency + out. Sums read two parts and write one at the memory's rate.
LibraryTime ucx_time(CollectiveKind kind, Bytes size, const GroupShape& shape, const UcxClass& ucx,
                     const LibraryLinks& links);

// The same messages (Thakur, Rabenseifner, Gropp 2005) at MPI's rates. Hosts count as domains.
LibraryTime mpi_time(CollectiveKind kind, Bytes size, const GroupShape& shape, const MpiClass& mpi,
                     Bandwidth across);

// All-reduce in a domain: the lesser of one-shot (everybody reads everything, (n-1) S) and two-shot
// (2 (n-1)/n S and a barrier more). Over several: two-shot, the sums of a domain's ranks crossing,
// 2 (d-1)/d S/r each. Others: one kernel, out(f). Messages: one put.
LibraryTime nvshmem_time(CollectiveKind kind, Bytes size, const GroupShape& shape,
                         const NvshmemClass& nvshmem, const LibraryLinks& links);

template <>
const FieldTable<GlooClass>& fields_of<GlooClass>();
template <>
const FieldTable<UcxClass>& fields_of<UcxClass>();
template <>
const FieldTable<NvshmemClass>& fields_of<NvshmemClass>();
template <>
const FieldTable<MpiClass>& fields_of<MpiClass>();

// What is missing (errors).
void check(const Reader& reader, const GlooClass& gloo);
void check(const Reader& reader, const UcxClass& ucx);
void check(const Reader& reader, const NvshmemClass& nvshmem);
void check(const Reader& reader, const MpiClass& mpi);

} // namespace trainyard
