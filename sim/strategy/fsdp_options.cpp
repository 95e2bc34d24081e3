#include "sim/strategy/fsdp_options.h"

#include "sim/base/fields.h"

namespace trainyard {

template <>
const FieldTable<FsdpOptions>& fields_of<FsdpOptions>()
{
    using F = FsdpOptions;
    static const auto table =
        FieldTable<F>("fsdp", "Options of FSDP / ZeRO-3 (zero 3).")
            .field("unit_layers", &F::unit_layers,
                   {.help = "layers gathered together; 0: all of a (virtual) stage",
                    .min = 0,
                    .max = 1e4})
            .field("forward_prefetch", &F::forward_prefetch,
                   {.help = "units gathered ahead in forward; else strategy.prefetch",
                    .min = 0,
                    .max = 64})
            .field("backward_prefetch", &F::backward_prefetch,
                   {.help = "units gathered ahead in backward; else strategy.prefetch",
                    .min = 0,
                    .max = 64})
            .field("limit_all_gathers", &F::limit_all_gathers,
                   {.help = "gathers wait until units before them are computed; false: they run as "
                            "far ahead as the host"})
            .field("root_unit", &F::root_unit,
                   {.help = "embedding and head stay gathered from forward to backward; false: "
                            "they are units like others"})
            .field("reshard_ranks", &F::reshard_ranks,
                   {.help = "after forward parameters stay in shards over so many ranks (a node): "
                            "backward gathers over these only",
                    .min = 1,
                    .max = 1e6})
            .field("reshard_after_backward", &F::reshard_after_backward,
                   {.help = "free units after backward; false: gathered once per step; absent: "
                            "freed unless pp > 1"})
            .field("no_sync", &F::no_sync,
                   {.help = "sum whole gradients over micro-batches and reduce them once; absent: "
                            "only with pp > 1"})
            .field("param_dtype", &F::param_dtype,
                   {.help = "width of gathered parameters; absent: that of training.precision"})
            .field("reduce_dtype", &F::reduce_dtype,
                   {.help = "width of gradients as they are reduced; absent: as accumulated"});
    return table;
}

} // namespace trainyard
