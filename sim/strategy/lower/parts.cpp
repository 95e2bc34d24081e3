#include "sim/strategy/lower/parts.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

bool contains(std::string_view text, std::string_view word)
{
    return text.find(word) != std::string_view::npos;
}

bool names_attention(std::string_view name)
{
    static constexpr std::array<std::string_view, 6> words = {"attention", "qkv",    "qk_norm",
                                                              "rotary",    "scores", "softmax"};
    return std::ranges::any_of(words, [&](std::string_view word) { return contains(name, word); });
}

} // namespace

std::string_view part_of(const Kernel& kernel)
{
    switch (kernel.use) {
    case KernelUse::expert:
        return "experts";
    case KernelUse::head:
        return "head";
    case KernelUse::convolution:
        return "convolution";
    case KernelUse::attention_square:
        return "attention";
    case KernelUse::layer:
    case KernelUse::states:
        break;
    }
    if (kernel.kind == KernelKind::attention || names_attention(kernel.name))
        return "attention";
    if (contains(kernel.name, "mlp"))
        return "mlp";
    if (contains(kernel.name, "embedding"))
        return "embedding";
    return {};
}

bool is_norm(const Kernel& kernel)
{
    return contains(kernel.name, "norm") && part_of(kernel).empty();
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
