#include "sim/study/jobs/adapter_arguments.h"

#include "sim/base/fields.h"
#include "sim/strategy/misfits.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace trainyard {
namespace {

// Words for matrices beside their own names: those of Megatron's parallel layers, and all of them.
std::vector<AdapterTarget> targets_named(std::string_view word)
{
    using enum AdapterTarget;
    if (word == "all-linear" || word == "all")
        return {q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj};
    struct Other {
        std::string_view word;
        std::vector<AdapterTarget> targets;
    };
    static const std::array<Other, 28> others{{
        {"linear_proj", {o_proj}},
        {"output_proj", {o_proj}},
        {"out_proj", {o_proj}},
        {"dense", {o_proj}},
        {"linear_fc2", {down_proj}},
        {"query_key_value", {linear_qkv}},
        {"qkv_proj", {linear_qkv}},
        {"Wqkv", {linear_qkv}},
        {"c_attn", {linear_qkv}},
        {"W_pack", {linear_qkv}},
        {"gate_up_proj", {linear_fc1}},
        {"dense_h_to_4h", {up_proj}},
        {"dense_4h_to_h", {down_proj}},
        {"mlp_up", {up_proj}},
        {"mlp_down", {down_proj}},
        {"fc1", {up_proj}},
        {"fc2", {down_proj}},
        {"c_fc", {up_proj}},
        {"c_proj", {o_proj, down_proj}}, // of attention and of the MLP
        {"wq", {q_proj}},
        {"wk", {k_proj}},
        {"wv", {v_proj}},
        {"wkv", {k_proj, v_proj}},
        {"wqkv", {linear_qkv}},
        {"wo", {o_proj}},
        {"w1", {gate_proj}},
        {"w2", {down_proj}},
        {"w3", {up_proj}},
    }};
    const auto* const other = std::ranges::find(others, word, &Other::word);
    if (other != others.end())
        return other->targets;
    if (const auto target = from_name<AdapterTarget>(word))
        return {*target};
    return {};
}

// "q_proj,v_proj" is two of them, "[q_proj, 'v_proj']" too.
std::vector<std::string> words_of(const Argument& modules)
{
    std::string all = fmt::format("{}", fmt::join(modules.values, ","));
    if (all.starts_with('[') && all.ends_with(']'))
        all = all.substr(1, all.size() - 2);
    std::erase_if(all, [](char c) { return c == '"' || c == '\'' || c == ' '; });
    std::vector<std::string> out;
    for (std::size_t from = 0; from <= all.size();) {
        const std::size_t end = std::min(all.find(',', from), all.size());
        if (end > from)
            out.push_back(all.substr(from, end - from));
        from = end + 1;
    }
    return out;
}

// What a pattern of module names ends in: "layers.*(q|k|v)_proj" is q_proj, k_proj, v_proj.
std::vector<std::string> names_in_pattern(std::string_view pattern)
{
    constexpr std::string_view ending = "_proj";
    std::vector<std::string> out;
    for (std::size_t at = pattern.find(ending); at != std::string_view::npos;
         at = pattern.find(ending, at + 1))
    {
        const bool group = at > 0 && pattern[at - 1] == ')';
        const std::size_t open = group ? pattern.rfind('(', at) : std::string_view::npos;
        if (group && open != std::string_view::npos) {
            for (std::size_t from = open + 1; from < at;) {
                const std::size_t end = std::min(pattern.find('|', from), at - 1);
                out.push_back(fmt::format("{}{}", pattern.substr(from, end - from), ending));
                from = end + 1;
            }
            continue;
        }
        std::size_t begin = at;
        while (begin > 0 && std::isalnum(static_cast<unsigned char>(pattern[begin - 1])) != 0)
            --begin;
        out.push_back(fmt::format("{}{}", pattern.substr(begin, at - begin), ending));
    }
    return out;
}

// Modules are named by how their names end. Matrices that are not modelled are left out, where
// others are left.
std::vector<AdapterTarget> targets_of(const Argument& modules, JobDraft& draft)
{
    const Origin origin{modules.line, modules.text()};
    std::vector<std::string> names;
    for (const std::string& module : words_of(modules))
        if (module.find_first_of("(*[|\\") != std::string::npos)
            for (std::string& name : names_in_pattern(module))
                names.push_back(std::move(name));
        else if (module.ends_with('.')) // how the names of all of them begin: "decoder.layers."
            names.emplace_back("all-linear");
        else
            names.push_back(module.substr(module.rfind('.') + 1));
    std::vector<AdapterTarget> out;
    std::vector<std::string> unknown;
    for (const std::string& name : names) {
        const std::vector<AdapterTarget> targets = targets_named(name);
        if (targets.empty())
            unknown.push_back(name);
        for (const AdapterTarget target : targets)
            if (std::find(out.begin(), out.end(), target) == out.end())
                out.push_back(target);
    }
    if (out.empty())
        draft.refuse(origin, "names no matrix known here", FieldValue<AdapterTarget>::type_name());
    else if (!unknown.empty())
        draft.flag(fmt::format("line {}: adapters on {} are not modelled, left out", modules.line,
                               fmt::join(unknown, ", ")));
    return out;
}

// The first of the names that is there; the first when none is.
std::string_view one_of(const Arguments& arguments, std::initializer_list<std::string_view> names)
{
    const auto* const found = std::find_if(
        names.begin(), names.end(), [&](std::string_view one) { return arguments.contains(one); });
    return found == names.end() ? *names.begin() : *found;
}

// What takes no adapter in this model is left out, where others are left. A matrix that it does not
// have goes without saying.
void leave_out_misfits(Lora& lora, JobDraft& draft)
{
    const auto* const model =
        draft.model ? std::get_if<Transformer>(&draft.model->architecture) : nullptr;
    if (model == nullptr)
        return;
    std::vector<AdapterTarget> kept;
    std::vector<std::string_view> names;
    std::string reason;
    for (const AdapterTarget target : lora.targets)
        if (std::string why = adapter_misfit(*model, target); why.empty())
            kept.push_back(target);
        else if (target != AdapterTarget::gate_proj || model->moe || model->gated_mlp) {
            names.push_back(to_name(target));
            reason = std::move(why);
        }
    if (kept.empty())
        return; // told where the job is checked
    lora.targets = std::move(kept);
    if (!names.empty())
        draft.flag(fmt::format("adapters on {} are left out: {}", fmt::join(names, ", "), reason));
}

// What else holds back weights or shrinks them, which is flagged.
void flag_frozen(Arguments& arguments, ArgumentValues& values, JobDraft& draft)
{
    for (const std::string_view name :
         {"--use-4bit-quantization", "--use-8bit-quantization", "--load-in-4bit", "--load-in-8bit",
          "--q-lora", "--quantization-bit", "--quantization", "--quant-bits", "--bits"})
    {
        const Argument* const argument = arguments.find(name);
        if (argument == nullptr)
            continue;
        const std::string value = argument->values.empty() ? "true" : argument->values.front();
        if (value == "true" || value == "True" || value.starts_with('4') || value.starts_with('8'))
            draft.flag(fmt::format("{}: frozen weights in fewer bits are not modelled, taken in "
                                   "the format of training",
                                   argument->text()));
    }
    for (const std::string_view name :
         {"--modules-to-save", "--lora-modules-to-save", "--additional-target"})
        if (const Argument* const argument = arguments.find(name);
            argument != nullptr && !argument->values.empty())
            draft.flag(fmt::format("{}: matrices trained whole beside adapters are not modelled, "
                                   "taken as frozen",
                                   argument->text()));
    if (const auto tokens = values.whole("--pre-seq-len"))
        draft.flag(fmt::format("--pre-seq-len {}: a trained prefix is not modelled, all parameters "
                               "are trained",
                               *tokens));
}

} // namespace

void read_adapters(Arguments& arguments, JobDraft& draft, const AdapterDefaults& defaults)
{
    ArgumentValues values(arguments, draft);
    flag_frozen(arguments, values, draft);
    const std::string_view name =
        one_of(arguments, {"--lora-r", "--lora-rank", "--lora-dim", "--lora-dimension"});
    auto rank = values.whole(name);
    const std::string tuned =
        values.text(one_of(arguments, {"--finetuning-type", "--train-type", "--sft-type",
                                       "--tuner-type", "--adapter", "--peft-scheme", "--peft"}));
    const bool adapts = values.on("--use-lora") || values.on("--use-peft") ||
                        values.on("--use-peft-lora") || values.on("--lora") ||
                        values.on("--lora-enable") || tuned == "lora" || tuned == "qlora";
    if (arguments.contains("--lora-enable") && !adapts)
        return; // whatever rank stands there
    const Argument* const modules = arguments.find(one_of(
        arguments, {"--lora-target-modules", "--lora-target", "--target-modules", "--lora-modules",
                    "--lora-module-name", "--lora-trainable", "--trainable"}));
    if (!tuned.empty() && !adapts) { // a rank that stands there anyway is of no effect
        if (tuned != "full")
            draft.flag(fmt::format("{}: not modelled, all parameters are trained", tuned));
        return;
    }
    if (adapts && !rank) {
        rank = defaults.rank;
        draft.assume(fmt::format("adapters of rank {}, {} default", defaults.rank, defaults.whose));
    }
    if (!rank || (*rank == 0 && !adapts)) // DeepSpeed-Chat's and verl's word for none
        return;
    Lora lora;
    lora.rank = static_cast<int>(std::clamp<std::int64_t>(*rank, 0, 1 << 20));
    if (modules != nullptr)
        lora.targets = targets_of(*modules, draft);
    else {
        lora.targets = defaults.targets;
        std::string places;
        for (const AdapterTarget target : defaults.targets)
            places += fmt::format("{}{}", places.empty() ? "" : ", ", to_name(target));
        draft.assume(fmt::format("adapters on {}, {} default", places, defaults.whose));
    }
    leave_out_misfits(lora, draft);
    std::optional<Lora>& field = draft.scenario.training.lora;
    if (arguments.contains(name))
        draft.take(field, lora, "training.lora", values.origin(name));
    else
        field = lora;
}

} // namespace trainyard
