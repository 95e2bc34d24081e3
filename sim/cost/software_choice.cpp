#include "sim/cost/software_choice.h"

#include "sim/base/words.h"

#include <array>
#include <cctype>
#include <cstdlib>
#include <initializer_list>

namespace trainyard {
namespace {

bool has_any(const std::string& text, std::initializer_list<const char*> words)
{
    for (const char* word : words)
        if (text.find(word) != std::string::npos)
            return true;
    return false;
}

// The first number of the text: 0.12 of "v0.12.1", 2021 of "2021", 23.04 of "23.04-py3".
double leading_number(std::string_view version)
{
    std::size_t at = 0;
    while (at < version.size() && std::isdigit(static_cast<unsigned char>(version[at])) == 0)
        ++at;
    return std::strtod(std::string(version.substr(at)).c_str(), nullptr);
}

// The minor of "0.12" is twelve, not a tenth and a bit.
int minor_of(std::string_view version)
{
    const std::size_t dot = version.find('.');
    return dot == std::string_view::npos ? 0
                                         : std::atoi(std::string(version.substr(dot + 1)).c_str());
}

// The year a version speaks of (2021, 23.04 -> 2023); nothing when it is no date.
std::optional<int> year_of(std::string_view version)
{
    const double number = leading_number(version);
    if (number >= 2015 && number < 2100)
        return static_cast<int>(number);
    if (number >= 20 && number < 40)
        return 2000 + static_cast<int>(number);
    return std::nullopt;
}

ClassChoice megatron(const std::string& framework, std::string_view version)
{
    if (has_any(framework, {"bridge", "transformer engine"}))
        return {.name = "mcore-2025"};
    const auto year = year_of(version);
    if (has_any(framework, {"core"})) {
        const bool new_release = !year && leading_number(version) < 1 && minor_of(version) >= 14;
        return {.name = new_release || (year && *year >= 2026) ? "mcore-2025" : "mcore-2024"};
    }
    if (has_any(framework, {"nemo"}))
        return {.name = "mcore-2024"};
    if (!year)
        return {.name = "mcore-2024", .note = "no year in the version: taken for a stack of 2024"};
    return {.name = *year <= 2022 ? "megatron-2021" : *year < 2025 ? "mcore-2024" : "mcore-2025"};
}

// PyTorch 2.5 (late 2024) or later.
bool is_torch_of_2025(std::string_view version)
{
    const auto year = year_of(version);
    const bool torch_release = !year && leading_number(version) >= 2 && leading_number(version) < 3;
    return (year && *year >= 2025) || (torch_release && minor_of(version) >= 5);
}

// PyTorch's attention hands over to cuDNN on Hopper since then, and torchtitan compiles its loss
// (torchtitan/components/loss.py; train.py of 2024 leaves it out).
ClassChoice compiled_fsdp(std::string_view version)
{
    ClassChoice choice{.name = "torch-compile-fsdp"};
    if (is_torch_of_2025(version)) {
        choice.attention = AttentionKernel::sdpa_cudnn;
        choice.loss = LossKernel::fused;
    }
    return choice;
}

ClassChoice eager_fsdp(std::string_view version)
{
    ClassChoice choice{.name = "fsdp-eager"};
    if (is_torch_of_2025(version))
        choice.attention = AttentionKernel::sdpa_cudnn;
    return choice;
}

constexpr std::array classes{"megatron-2021", "mcore-2024",         "mcore-2025", "jax-xla",
                             "ddp-eager",     "torch-compile-fsdp", "fsdp-eager", "host-loop"};

} // namespace

ClassChoice software_class_for(std::string_view framework, std::string_view version)
{
    const std::string name = lower_case(framework);
    for (const char* known : classes)
        if (name == known)
            return {.name = known};
    if (has_any(name, {"megatron", "nemo", "bridge", "transformer engine", "colossal", "alpa",
                       "nanotron", "primus"}))
        return megatron(name, version);
    if (has_any(name, {"maxtext", "pax", "jax", "xla"}))
        return {.name = "jax-xla"};
    if (has_any(name, {"ddp", "horovod", "dataparallel"}) && !has_any(name, {"fsdp"}))
        return {.name = "ddp-eager"};
    if (has_any(name, {"titan", "compile"}))
        return compiled_fsdp(version);
    ClassChoice choice = eager_fsdp(version);
    // llm-foundry takes flash-attn's cross entropy (llmfoundry/models/mpt, loss_fn).
    if (has_any(name, {"llm-foundry", "composer", "mosaic"}))
        choice.loss = LossKernel::fused;
    else if (!has_any(name, {"fsdp", "kempner", "deepspeed"}))
        choice.note = "framework \"" + std::string(framework) +
                      "\" is not known: taken for eager PyTorch FSDP";
    return choice;
}

} // namespace trainyard
