#pragma once

// Up to which size one communication library is faster than another, for the groups in which
// compared runs use different ones.

#include "sim/report/compare/compare.h"

namespace trainyard {

// The faster of two libraries from a size on, up to the next stretch.
struct FasterFrom {
    Bytes size;
    Backend backend = Backend::nccl;

    bool operator==(const FasterFrom&) const = default;
};

struct Crossover {
    GroupKind group = GroupKind::dp;
    CollectiveKind kind = CollectiveKind::all_reduce;
    int ranks = 1;
    Backend first = Backend::nccl; // of the first run
    Backend other = Backend::nccl;
    std::vector<FasterFrom> faster; // by size from one byte on; one entry: never changes
    Bytes largest;                  // of these transfers in the first run
};

// The sizes from 1 B to 16 GiB at which the faster of two changes, to the byte. Times that are
// equal count for the one that was faster before.
std::vector<FasterFrom> faster_by_size(const CostModel& cost, CollectiveKind kind,
                                       const GroupShape& shape, Backend a, Backend b);

// One for each kind of group whose library differs between the first run and another.
std::vector<Crossover> crossovers(std::span<const ComparedRun> runs);

// "tp all-reduce over 8 ranks: nvshmem up to 181 KiB, nccl above; up to 64 MiB here"
std::string crossover_text(const Crossover& crossover);
Json crossover_json(const Crossover& crossover);

} // namespace trainyard
