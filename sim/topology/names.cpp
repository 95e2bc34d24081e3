#include "sim/topology/names.h"

namespace trainyard {

template <>
std::vector<EnumName<LinkKind>> enum_names<LinkKind>()
{
    return {{LinkKind::nvlink, "nvlink"},     {LinkKind::c2c, "c2c"},
            {LinkKind::pcie, "pcie"},         {LinkKind::nic, "nic"},
            {LinkKind::leaf_up, "leaf-up"},   {LinkKind::leaf_down, "leaf-down"},
            {LinkKind::spine_up, "spine-up"}, {LinkKind::spine_down, "spine-down"},
            {LinkKind::other, "other"}};
}

template <>
std::vector<EnumName<Transport>> enum_names<Transport>()
{
    return {{Transport::none, "none"},
            {Transport::infiniband, "infiniband"},
            {Transport::roce, "roce"},
            {Transport::efa, "efa"},
            {Transport::tcp, "tcp"}};
}

} // namespace trainyard
