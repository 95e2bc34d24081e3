#include "sim/study/jobs/recipes/own_words.h"

#include "sim/base/words.h"
#include "sim/study/jobs/recipes/dialect.h"
#include "sim/study/problems.h"
#include "sim/workload/model_reader.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace trainyard {
namespace {

// MPT's configuration, in Hugging Face's words; older recipes call the ratio otherwise. One that
// states the width of its MLP has LLaMA's layers.
Json foundry_config(const Json& model, const Arguments& arguments)
{
    Json config = model;
    config["model_type"] = "mpt";
    if (const Json* const ratio = model.find("mlp_ratio"))
        config["expansion_ratio"] = *ratio;
    if (const Argument* const length = arguments.last("--max-seq-len"))
        config["max_seq_len"] = std::atoi(length->values.empty() ? "" : length->values[0].c_str());
    // Its own defaults are not those of Hugging Face's configuration: biases, learned positions.
    const auto on = [&](std::string_view name) {
        const Json* const value = setting_at(model, name);
        return value != nullptr && value->is_bool() && value->as_bool();
    };
    config["no_bias"] = on("no_bias");
    config["alibi"] = on("alibi") || on("attn_config.alibi") || on("attn_config.rope");
    const Json* const attention = model.find("attn_config");
    const Json* const groups = attention != nullptr ? attention->find("kv_n_heads") : nullptr;
    const Json* width = model.find("intermediate_size");
    if (const Json* const ffn = model.find("ffn_config"); width == nullptr && ffn != nullptr)
        width = ffn->find("ffn_hidden_size");
    if (width == nullptr)
        return config;
    config["model_type"] = "llama";
    config["intermediate_size"] = *width;
    for (const auto& [theirs, ours] :
         {std::pair{"d_model", "hidden_size"}, std::pair{"n_layers", "num_hidden_layers"},
          std::pair{"n_heads", "num_attention_heads"}})
        if (const Json* const size = model.find(theirs))
            config[ours] = *size;
    if (groups != nullptr)
        config["num_key_value_heads"] = *groups;
    return config;
}

} // namespace

void read_foundry(const Json& root, Arguments& arguments, JobDraft& draft)
{
    const Json* const parameters = root.find("parameters");
    const Json& recipe = parameters != nullptr ? *parameters : root;
    if (const Json* const gpus = setting_at(root, "compute.gpus"); gpus && gpus->is_integer()) {
        constexpr std::int64_t usual = 8; // of a node of that platform
        const std::int64_t count = std::clamp<std::int64_t>(gpus->as_integer(), 1, 1'000'000);
        const bool several = count > usual && count % usual == 0;
        draft.take(draft.size.nodes, several ? count / usual : 1, "nodes",
                   {gpus->line(), fmt::format("compute.gpus {}", count)});
        draft.size.gpus_per_node = static_cast<int>(several ? usual : count);
    }
    const Json* const model = recipe.find("model");
    if (model == nullptr || !model->is_object() || model->find("d_model") == nullptr ||
        draft.scenario.model.given() || draft.model)
        return;
    Checked<Model> read = read_model(foundry_config(*model, arguments), draft.file());
    if (!read) {
        append(draft.problems, read.error());
        return;
    }
    draft.model = std::move(*read);
    draft.understand({model->line(), "model"}, "the model");
    draft.scenario.software.loss = LossKernel::fused;
    draft.assume("cross entropy by flash-attn's kernel, as LLM Foundry calls it");
}

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
            zero[member.first]["device"] =
                lower_case(device && device->is_string() ? device->as_string() : "none");
            zero[member.first].set_lines(member.second.line());
        } else if (member.first == "overlap_comm" || member.first.ends_with("bucket_size"))
            zero[member.first] = member.second;
    return out;
}

} // namespace trainyard
