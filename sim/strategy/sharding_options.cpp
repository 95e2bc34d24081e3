#include "sim/strategy/sharding_options.h"

#include "sim/base/fields.h"

namespace trainyard {

template <>
std::vector<EnumName<ShardingStyle>> enum_names<ShardingStyle>()
{
    return {{ShardingStyle::megatron, "megatron"}, {ShardingStyle::deepspeed, "deepspeed"}};
}

template <>
const FieldTable<ShardingOptions>& fields_of<ShardingOptions>()
{
    using S = ShardingOptions;
    static const auto table =
        FieldTable<S>("sharding", "Options of ZeRO-1 and ZeRO-2.")
            .field("style", &S::style,
                   {.help = "megatron (ZeRO-1 only): its distributed optimizer; deepspeed: buckets "
                            "of its own, parameters gathered after the optimizer; absent: "
                            "megatron with zero 1, deepspeed with zero 2"})
            .field("overlap_param_gather", &S::overlap_param_gather,
                   {.help = "megatron: parameters gathered beside the next forward pass; else "
                            "before the step ends; absent: as overlap.dp"})
            .field(
                "reduce_bucket", &S::reduce_bucket,
                {.help = "deepspeed: gradients (elements) reduced together", .min = 1, .max = 1e13})
            .field("gather_bucket", &S::gather_bucket,
                   {.help = "deepspeed: parameters (elements) gathered together",
                    .min = 1,
                    .max = 1e13})
            .field("reduce_scatter", &S::reduce_scatter,
                   {.help = "deepspeed: reduce into shards; false: all-reduce, then keep a shard"});
    return table;
}

} // namespace trainyard
