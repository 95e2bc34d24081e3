#pragma once

// How much compute and communication beside it slow each other, where that was measured.

#include "sim/cost/provenance.h"

#include <optional>

namespace trainyard {

// Of one library; what is absent follows from SMs and links (CostModel::collective).
struct BackendInterference {
    // Share of compute's rate lost from the time a member arrives, while it waits for others too.
    std::optional<double> compute_waiting;
    // Share lost besides while data moves.
    std::optional<double> compute_moving;
    // Time of a transfer beside compute / alone.
    std::optional<double> transfer_slowdown;

    bool measured() const { return compute_waiting || compute_moving || transfer_slowdown; }
    // Share of compute lost per time of a transfer that goes on as if alone. While compute runs at
    // 1 - c and the transfer at 1/s, the transfer's work of one second costs compute c s seconds:
    // the same work of both is done in the same time when the transfer keeps its rate and compute
    // loses c s. Two threads that share a core (c = 1/2, s = 2) lose nothing and win nothing.
    double lost_to_full_rate() const;

    bool operator==(const BackendInterference&) const = default;
};

struct InterferenceTable {
    BackendInterference nccl;
    BackendInterference gloo;
    BackendInterference ucx;
    BackendInterference nvshmem;
    BackendInterference mpi;

    ProvenanceMap provenance;

    const BackendInterference& of(Backend backend) const;
    bool operator==(const InterferenceTable&) const = default;
};

inline constexpr std::string_view interference_format = "trainyard.interference/1";

template <>
const FieldTable<BackendInterference>& fields_of<BackendInterference>();
template <>
const FieldTable<InterferenceTable>& fields_of<InterferenceTable>();

} // namespace trainyard
