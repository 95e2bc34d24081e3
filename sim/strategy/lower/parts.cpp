#include "sim/strategy/lower/parts.h"

#include <algorithm>

namespace trainyard {

std::string_view part_of(const Kernel& kernel)
{
    switch (kernel.use) {
    case KernelUse::attention:
    case KernelUse::attention_square:
        return "attention";
    case KernelUse::recurrence:
    case KernelUse::recurrence_core:
        return "recurrent mixer";
    case KernelUse::mlp:
        return "mlp";
    case KernelUse::expert:
        return "experts";
    case KernelUse::embedding:
        return "embedding";
    case KernelUse::head:
        return "head";
    case KernelUse::router:
    case KernelUse::residual_stream:
    case KernelUse::states:
    case KernelUse::convolution:
        break;
    }
    return {};
}

bool is_norm_between(const Kernel& kernel)
{
    return kernel.norm && kernel.use == KernelUse::residual_stream;
}

bool is_heavy(const Kernel& kernel)
{
    return kernel.kind != KernelKind::memory_bound;
}

std::string transfer_name(GroupKind group, CollectiveKind kind)
{
    std::string name(to_name(kind));
    std::ranges::replace(name, '_', '-');
    return std::string(to_name(group)) + " " + name;
}

} // namespace trainyard
