#include "sim/topology/explicit_description.h"

#include "sim/base/fields.h"

namespace trainyard {

template <>
std::vector<EnumName<SwitchKind>> enum_names<SwitchKind>()
{
    return {{SwitchKind::nvswitch, "nvswitch"},
            {SwitchKind::pcie, "pcie"},
            {SwitchKind::network, "network"}};
}

template <>
const FieldTable<ExplicitDevice>& fields_of<ExplicitDevice>()
{
    static const auto table =
        FieldTable<ExplicitDevice>("device", "One GPU.")
            .field("name", &ExplicitDevice::name, {.help = "unique", .required = true})
            .field("node", &ExplicitDevice::node,
                   {.help = "server or tray; its devices are listed together", .required = true})
            .field("model", &ExplicitDevice::model,
                   {.help = "key of the device constants, such as h100_sxm5_80", .required = true});
    return table;
}

template <>
const FieldTable<ExplicitSwitch>& fields_of<ExplicitSwitch>()
{
    static const auto table =
        FieldTable<ExplicitSwitch>("switch", "One switch.")
            .field("name", &ExplicitSwitch::name, {.help = "unique", .required = true})
            .field("kind", &ExplicitSwitch::kind, {.help = "what it switches"})
            .field("node", &ExplicitSwitch::node, {.help = "for PCIe switches: their server"})
            .field("reduction", &ExplicitSwitch::reduction, {.help = "sums in the switch (NVLS)"});
    return table;
}

template <>
const FieldTable<ExplicitNic>& fields_of<ExplicitNic>()
{
    static const auto table =
        FieldTable<ExplicitNic>("nic", "One network interface.")
            .field("name", &ExplicitNic::name, {.help = "unique", .required = true})
            .field("node", &ExplicitNic::node, {.help = "its server", .required = true});
    return table;
}

template <>
const FieldTable<ExplicitLink>& fields_of<ExplicitLink>()
{
    static const auto table =
        FieldTable<ExplicitLink>("link", "A link between two of them.")
            .field("from", &ExplicitLink::from,
                   {.help = "name of a device, switch or NIC", .required = true})
            .field("to", &ExplicitLink::to,
                   {.help = "name of a device, switch or NIC", .required = true})
            .field("bandwidth", &ExplicitLink::bandwidth,
                   {.help = "line rate of one direction", .min = 1e6, .required = true})
            .field("latency", &ExplicitLink::latency,
                   {.help = "of one traversal, with half of the switch on each side",
                    .required = true})
            .field("kind", &ExplicitLink::kind, {.help = "absent: follows from what it joins"})
            .field("one_way", &ExplicitLink::one_way,
                   {.help = "no equal link back; give it separately"})
            .field("name", &ExplicitLink::name, {.help = "for people"});
    return table;
}

template <>
const FieldTable<ExplicitDescription>& fields_of<ExplicitDescription>()
{
    static const auto table =
        FieldTable<ExplicitDescription>("topology", "A cluster given piece by piece.")
            .field("name", &ExplicitDescription::name, {.help = "for people"})
            .field("description", &ExplicitDescription::description, {.help = "what it stands for"})
            .field("source", &ExplicitDescription::source, {.help = "where its figures come from"})
            .field("network", &ExplicitDescription::network,
                   {.help = "what the NICs speak: a preset's name, or its figures"})
            .field("ecmp_seed", &ExplicitDescription::ecmp_seed,
                   {.help = "of the switches' hash that spreads flows over equal paths"})
            .field("devices", &ExplicitDescription::devices,
                   {.help = "GPUs, node by node", .required = true})
            .field("switches", &ExplicitDescription::switches, {.help = "switches of all kinds"})
            .field("nics", &ExplicitDescription::nics, {.help = "network interfaces"})
            .field("links", &ExplicitDescription::links, {.help = "what joins them"});
    return table;
}

} // namespace trainyard
