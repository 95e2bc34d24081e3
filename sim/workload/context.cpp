#include "sim/workload/context.h"

#include "sim/base/fields.h"
#include "sim/workload/layer_work.h"

namespace trainyard {

int head_ranks(const Partition& p)
{
    switch (p.context.kind) {
    case ContextKind::ulysses:
        return p.cp;
    case ContextKind::hybrid:
        return p.context.a2a;
    default:
        return 1;
    }
}

int ring_ranks(const Partition& p)
{
    switch (p.context.kind) {
    case ContextKind::ring:
        return p.cp;
    case ContextKind::hybrid:
        return p.cp / p.context.a2a;
    default:
        return 1;
    }
}

template <>
std::vector<EnumName<ContextKind>> enum_names<ContextKind>()
{
    using enum ContextKind;
    return {{all_gather, "all_gather"}, {ring, "ring"}, {ulysses, "ulysses"}, {hybrid, "hybrid"}};
}

template <>
std::vector<EnumName<ContextBalance>> enum_names<ContextBalance>()
{
    return {{ContextBalance::zig_zag, "zig_zag"}, {ContextBalance::contiguous, "contiguous"}};
}

template <>
const FieldTable<ContextParallel>& fields_of<ContextParallel>()
{
    using C = ContextParallel;
    static const auto table =
        FieldTable<C>("context", "How context-parallel ranks bring queries and keys together.")
            .field("kind", &C::kind,
                   {.help = "keys and values gathered, sent round a ring, exchanged for heads "
                            "(ulysses), or heads inside and a ring across (hybrid)"})
            .field("a2a", &C::a2a,
                   {.help = "ranks of hybrid's all-to-all; the ring has cp / a2a",
                    .min = 1,
                    .max = 1e6})
            .field("balance", &C::balance,
                   {.help = "parts of a causal sequence on the ranks of a ring: one from each end "
                            "(zig_zag), or one after the other (contiguous)"});
    return table;
}

} // namespace trainyard
