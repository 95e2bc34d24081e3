#include "sim/base/fields.h"
#include "sim/strategy/training.h"

namespace trainyard {

Backend backend_of(const Strategy& strategy, GroupKind kind)
{
    const GroupBackends& by = strategy.backends;
    const auto chosen = [&](const std::optional<Backend>& backend) {
        return backend.value_or(strategy.backend);
    };
    switch (kind) {
    case GroupKind::tp:
    case GroupKind::etp:
        return chosen(by.tp);
    case GroupKind::cp:
    case GroupKind::cp_a2a:
    case GroupKind::cp_ring:
        return chosen(by.cp);
    case GroupKind::ep:
        return chosen(by.ep);
    case GroupKind::pp:
        return chosen(by.pp);
    default: // gradients, parameters and what the whole job agrees on
        return chosen(by.dp);
    }
}

template <>
const FieldTable<TensorParallel>& fields_of<TensorParallel>()
{
    using T = TensorParallel;
    static const auto table =
        FieldTable<T>("tensor_parallel", "How tensor parallelism runs.")
            .field("vocabulary", &T::vocabulary,
                   {.help = "embedding and logits are cut over the TP group"})
            .field("beside_weight_gradient", &T::beside_weight_gradient,
                   {.help = "an input's gradient is reduced beside the product that makes the "
                            "weight's; else as the framework does"});
    return table;
}

template <>
const FieldTable<GroupBackends>& fields_of<GroupBackends>()
{
    using G = GroupBackends;
    static const auto table =
        FieldTable<G>("backends", "Communication library by parallel dimension; else `backend`.")
            .field("tp", &G::tp, {.help = "tensor parallelism, of experts too"})
            .field("cp", &G::cp, {.help = "context parallelism"})
            .field("ep", &G::ep, {.help = "dispatch and combination of experts"})
            .field("dp", &G::dp, {.help = "gradients and parameters"})
            .field("pp", &G::pp, {.help = "messages between pipeline stages"});
    return table;
}

} // namespace trainyard
