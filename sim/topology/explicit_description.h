#pragma once

// A cluster given piece by piece: devices, switches, NICs and links. For clusters that no generator
// describes, up to a few thousand devices.

#include "sim/topology/fabric_template.h"

namespace trainyard {

struct ExplicitDevice {
    std::string name;
    std::string node;  // the server or tray it sits in
    std::string model; // key of the device constants

    bool operator==(const ExplicitDevice&) const = default;
};

enum class SwitchKind : std::uint8_t {
    nvswitch,
    pcie,   // a PCIe switch or a CPU
    network // any layer of the fabric; the layer follows from the links
};

struct ExplicitSwitch {
    std::string name;
    SwitchKind kind = SwitchKind::network;
    std::string node;       // for PCIe switches
    bool reduction = false; // sums in the switch (NVLS)

    bool operator==(const ExplicitSwitch&) const = default;
};

struct ExplicitNic {
    std::string name;
    std::string node;

    bool operator==(const ExplicitNic&) const = default;
};

struct ExplicitLink {
    std::string from;
    std::string to;
    Bandwidth bandwidth; // of one direction
    Seconds latency;
    std::optional<LinkKind> kind; // absent: follows from what it joins
    bool one_way = false;         // else there is an equal link back
    std::string name;             // for people; empty: "from -> to"

    bool operator==(const ExplicitLink&) const = default;
};

struct ExplicitDescription {
    std::string name;
    std::string description;
    std::string source;
    std::optional<NetworkTemplate> network; // what the NICs speak
    std::uint64_t ecmp_seed = 0;
    std::vector<ExplicitDevice> devices;
    std::vector<ExplicitSwitch> switches;
    std::vector<ExplicitNic> nics;
    std::vector<ExplicitLink> links;

    bool operator==(const ExplicitDescription&) const = default;
};

template <>
std::vector<EnumName<SwitchKind>> enum_names<SwitchKind>();
template <>
const FieldTable<ExplicitDevice>& fields_of<ExplicitDevice>();
template <>
const FieldTable<ExplicitSwitch>& fields_of<ExplicitSwitch>();
template <>
const FieldTable<ExplicitNic>& fields_of<ExplicitNic>();
template <>
const FieldTable<ExplicitLink>& fields_of<ExplicitLink>();
template <>
const FieldTable<ExplicitDescription>& fields_of<ExplicitDescription>();

} // namespace trainyard
