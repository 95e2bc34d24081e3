#include "sim/strategy/ddp_options.h"

#include "sim/base/fields.h"

namespace trainyard {

template <>
std::vector<EnumName<GradientCompression>> enum_names<GradientCompression>()
{
    return {{GradientCompression::none, "none"},
            {GradientCompression::fp16, "fp16"},
            {GradientCompression::bf16, "bf16"}};
}

template <>
const FieldTable<DdpOptions>& fields_of<DdpOptions>()
{
    using D = DdpOptions;
    static const auto table =
        FieldTable<D>("ddp", "Options of DDP (zero 0).")
            .field("gradient_as_bucket_view", &D::gradient_as_bucket_view,
                   {.help = "gradients live in the buckets; else they are copied in and out, and "
                            "held twice; absent: as the framework does"})
            .field("find_unused_parameters", &D::find_unused_parameters,
                   {.help = "walk the graph after every forward, agree on who used what"})
            .field("static_graph", &D::static_graph,
                   {.help = "the graph never changes: one walk, in the first step"})
            .field("no_sync", &D::no_sync,
                   {.help = "accumulate without exchange; false: all-reduce every micro-batch"})
            .field("compression", &D::compression,
                   {.help = "gradients cast for their all-reduce (communication hooks)"});
    return table;
}

} // namespace trainyard
