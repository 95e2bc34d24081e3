#include "sim/strategy/offload_options.h"

#include "sim/base/fields.h"

namespace trainyard {

template <>
std::vector<EnumName<OffloadTarget>> enum_names<OffloadTarget>()
{
    return {{OffloadTarget::none, "none"},
            {OffloadTarget::cpu, "cpu"},
            {OffloadTarget::grace, "grace"},
            {OffloadTarget::peer, "peer"}};
}

template <>
const FieldTable<OffloadOptions>& fields_of<OffloadOptions>()
{
    using O = OffloadOptions;
    static const auto table =
        FieldTable<O>("offload", "What lives outside the device's memory between its uses.")
            .field("optimizer", &O::optimizer,
                   {.help = "optimizer states: on cpu and grace they are updated there, in peer "
                            "they are fetched to be updated"})
            .field("parameters", &O::parameters,
                   {.help = "parameter shards of FSDP, fetched before each gather"})
            .field("activation_layers", &O::activation_layers,
                   {.help = "layers of a device whose activations wait on the host", .min = 0})
            .field("overlap", &O::overlap, {.help = "copies run beside compute"});
    return table;
}

} // namespace trainyard
