#pragma once

// Options of single kinds of groups: how tensor parallelism runs, which library serves whom.

#include "sim/base/field_names.h"
#include "sim/base/vocabulary.h"

namespace trainyard {

struct TensorParallel {
    // Embedding and logits are cut over the TP group (Shoeybi 2019, section 3); else every rank
    // holds them whole and, without sequence parallelism, does the same work on them.
    bool vocabulary = true;
    // The reduction of an input's gradient runs beside the product that makes the weight's
    // gradient (Megatron's asynchronous all-reduce); else as the framework does.
    std::optional<bool> beside_weight_gradient;

    bool operator==(const TensorParallel&) const = default;
};

// Libraries by parallel dimension; those left out use the strategy's.
struct GroupBackends {
    std::optional<Backend> tp;
    std::optional<Backend> cp;
    std::optional<Backend> ep; // dispatch and combination
    std::optional<Backend> dp; // gradients and parameters
    std::optional<Backend> pp;

    bool operator==(const GroupBackends&) const = default;
};

struct Strategy;

// What serves groups of this kind. ETP and EP are apart: expert tensor parallelism is tensor
// parallelism.
Backend backend_of(const Strategy& strategy, GroupKind kind);

template <>
const FieldTable<TensorParallel>& fields_of<TensorParallel>();
template <>
const FieldTable<GroupBackends>& fields_of<GroupBackends>();

} // namespace trainyard
