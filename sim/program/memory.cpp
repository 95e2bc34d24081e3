#include "sim/program/memory.h"

#include <utility>

namespace trainyard {

template <>
std::vector<EnumName<MemoryKind>> enum_names<MemoryKind>()
{
    using enum MemoryKind;
    return {{parameters, "parameters"},       {gradients, "gradients"},
            {optimizer, "optimizer"},         {unsharded, "unsharded"},
            {unreduced, "unreduced"},         {buckets, "buckets"},
            {activations, "activations"},     {logits, "logits"},
            {workspace, "workspace"},         {pipeline, "pipeline"},
            {communicators, "communicators"}, {context, "context"},
            {pinned_host, "pinned_host"}};
}

TensorChange allocates(Tensor tensor, Moment moment)
{
    return {std::move(tensor), MemoryAction::allocate, moment};
}

TensorChange frees(Tensor tensor, Moment moment)
{
    return {std::move(tensor), MemoryAction::free, moment};
}

} // namespace trainyard
