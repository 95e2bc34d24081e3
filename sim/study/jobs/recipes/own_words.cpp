#include "sim/study/jobs/recipes/own_words.h"

#include "sim/study/jobs/recipes/dialect.h"

#include <algorithm>
#include <cctype>

namespace trainyard {

void read_torchtune(const Json& root, Arguments& arguments, JobDraft& draft)
{
    const Json* const component = setting_at(root, "model._component_");
    const Json* const optimizer = setting_at(root, "optimizer._component_");
    if (component == nullptr || !component->is_string())
        return;
    std::string name = component->as_string();
    name = name.substr(name.rfind('.') + 1);
    for (const std::string_view quantised : {"q", ""}) {
        const std::string prefix = fmt::format("{}lora_", quantised);
        if (!name.starts_with(prefix))
            continue;
        name = name.substr(prefix.size());
        arguments.add({"--adapter", {"lora"}, component->line()});
        if (!quantised.empty())
            arguments.add({"--load-in-4bit", {}, component->line()});
    }
    arguments.add({"--model", {name}, component->line()});
    if (optimizer != nullptr && optimizer->is_string()) {
        const std::string kind = optimizer->as_string();
        arguments.add({"--optim", {kind.substr(kind.rfind('.') + 1)}, optimizer->line()});
    }
    const Json* const mlp = setting_at(root, "model.apply_lora_to_mlp");
    if (const Argument* const modules = arguments.last("--lora-target-modules");
        modules != nullptr && mlp != nullptr && mlp->is_bool() && mlp->as_bool())
    {
        Argument with_mlp = *modules;
        for (const char* const matrix : {"gate_proj", "up_proj", "down_proj"})
            with_mlp.values.emplace_back(matrix);
        arguments.add(std::move(with_mlp));
    }
    if (const Json* const loss = setting_at(root, "loss._component_");
        loss != nullptr && loss->is_string() &&
        loss->as_string().find(".rlhf.") != std::string::npos)
        arguments.add({"--rl", {loss->as_string()}, loss->line()});
    if (const Json* const teacher = setting_at(root, "teacher_model"))
        draft.flag(
            fmt::format("line {}: teacher_model: its passes are not modelled", teacher->line()));
    draft.scenario.software.attention = AttentionKernel::sdpa;
    draft.assume("attention by scaled_dot_product_attention (sdpa), as torchtune's layers call it");
    if (draft.file().find("single_device") != std::string::npos) {
        draft.size.nodes = 1;
        draft.size.gpus_per_node = 1;
        draft.assume("one GPU, as the recipe's name says");
        return;
    }
    arguments.add({"--fsdp", {"full_shard"}, 0});
    draft.assume("parameters are sharded over all GPUs (FSDP2), as torchtune's distributed recipes "
                 "do");
}

std::optional<Json> deepspeed_of_oumi(const Json& section)
{
    const Json* const used = section.find("enable_deepspeed");
    if (used == nullptr || !used->is_bool() || !used->as_bool())
        return std::nullopt;
    Json out = Json::object();
    out["bf16"]["enabled"] = "auto";
    Json& zero = out["zero_optimization"];
    zero["stage"] = 0;
    for (const Json::Member& member : section.members())
        if (member.first == "zero_stage" && member.second.is_string()) {
            const std::string stage = member.second.as_string(); // "ZERO_2"
            zero["stage"] = stage.empty() ? 0 : stage.back() - '0';
            zero["stage"].set_line(member.second.line());
        } else if (member.first.starts_with("offload_") && member.second.is_object()) {
            const Json* const device = member.second.find("device");
            std::string name = device && device->is_string() ? device->as_string() : "none";
            std::ranges::transform(name, name.begin(), [](unsigned char c) {
                return static_cast<char>(std::tolower(c));
            });
            zero[member.first]["device"] = name;
            zero[member.first].set_lines(member.second.line());
        } else if (member.first == "overlap_comm" || member.first.ends_with("bucket_size"))
            zero[member.first] = member.second;
    return out;
}

} // namespace trainyard
