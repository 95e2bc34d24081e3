#pragma once

// What a GPU's kernel does, told by its name.

#include "sim/base/field_names.h"
#include "sim/base/vocabulary.h"

#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

enum class DeviceWork : std::uint8_t {
    gemm,
    convolution,
    attention,
    norm,
    loss, // softmax and losses
    embedding,
    moe, // routing and permutation of tokens
    optimizer,
    quantise, // casts to and from narrow formats, with their scales
    elementwise,
    reduction,
    index, // sorting, gathering, scattering
    copy,  // also changes of layout, concatenation, fills
    communication,
    other
};
inline constexpr std::size_t device_work_count = 15;

template <>
std::vector<EnumName<DeviceWork>> enum_names<DeviceWork>();

// "GEMM", "softmax and loss": for people.
std::string_view title_of(DeviceWork work);

// Rules are one table, the first that matches counts (kernel_rules.cpp).
DeviceWork work_of_kernel(std::string_view name);

// What a kernel of communication does, where its name tells. NCCL's name for what it built
// generically ("Generic") and for messages ("SendRecv", also all-to-alls) tells too little.
std::optional<CollectiveKind> collective_of_kernel(std::string_view name);

// Of a library for mixtures of experts (DeepEP): dispatch and combine among the ranks of EP.
bool exchanges_tokens(std::string_view name);

} // namespace trainyard
