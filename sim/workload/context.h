#pragma once

// Context parallelism: how the ranks that share a sequence bring queries and keys together.

#include "sim/base/field_names.h"

#include <cstdint>

namespace trainyard {

struct Partition;

enum class ContextKind : std::uint8_t {
    all_gather, // keys and values of the whole sequence on every rank (Grattafiori 2024)
    ring,       // keys and values go round, one block per step (Liu 2023)
    ulysses,    // all-to-all: the whole sequence for a part of the heads (Jacobs 2023)
    hybrid      // ulysses over `a2a` ranks side by side, a ring across these
};

// Which tokens of a causal sequence a rank of a ring holds.
enum class ContextBalance : std::uint8_t {
    zig_zag,   // the i-th part from the front and the i-th from the back: equal work
    contiguous // the i-th part: the last rank sees every key, the first only its own
};

struct ContextParallel {
    ContextKind kind = ContextKind::all_gather;
    int a2a = 1; // ranks of hybrid's all-to-all
    ContextBalance balance = ContextBalance::zig_zag;

    bool operator==(const ContextParallel&) const = default;
};

// Ranks over which CP divides the heads of a layer: 1 with all_gather and ring.
int head_ranks(const Partition& partition);
// Ranks round which keys and values go: 1 with all_gather and ulysses.
int ring_ranks(const Partition& partition);

template <>
std::vector<EnumName<ContextKind>> enum_names<ContextKind>();
template <>
std::vector<EnumName<ContextBalance>> enum_names<ContextBalance>();
template <>
const FieldTable<ContextParallel>& fields_of<ContextParallel>();

} // namespace trainyard
