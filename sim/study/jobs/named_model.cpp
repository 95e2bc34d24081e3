#include "sim/study/jobs/named_model.h"

#include "sim/base/spelling.h"
#include "sim/study/inputs.h"
#include "sim/workload/model_reader.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace trainyard {
namespace {

// Words of a name that say how a model was tuned or packed, not of what shape it is.
constexpr std::array<std::string_view, 27> tuning_words{
    "instruct", "chat", "hf",   "base",    "it",      "sft",      "dpo",   "pt",       "bf16",
    "fp8",      "fp16", "meta", "coder",   "math",    "code",     "text",  "thinking", "2507",
    "2407",     "0324", "0528", "preview", "release", "pretrain", "model", "new",      "vllm"};

// Other releases of the same sizes, by plain names without those words.
struct SameShape {
    std::string_view name;
    std::string_view shipped;
};
constexpr std::array same_shapes{
    SameShape{"llama7b", "llama-2-7b"},
    SameShape{"llama13b", "llama-2-13b"},
    SameShape{"vicuna7b", "llama-2-7b"},
    SameShape{"vicuna7bv15", "llama-2-7b"},
    SameShape{"vicuna13bv15", "llama-2-13b"},
    SameShape{"codellama7b", "llama-2-7b"},
    SameShape{"codellama13b", "llama-2-13b"},
    SameShape{"llama38b", "llama-3.1-8b"},
    SameShape{"llama370b", "llama-3.1-70b"},
    SameShape{"llama3370b", "llama-3.1-70b"},
    SameShape{"deepseekr1", "deepseek-v3"},
    SameShape{"deepseekv31", "deepseek-v3"},
    SameShape{"deepseekr1distillllama8b", "llama-3.1-8b"},
    SameShape{"deepseekr1distillllama70b", "llama-3.1-70b"},
    SameShape{"deepseekr1distillqwen7b", "qwen2.5-7b"},
    SameShape{"deepseekr1distillqwen14b", "qwen2.5-14b"},
    SameShape{"deepseekr1distillqwen32b", "qwen2.5-32b"},
    SameShape{"qwen205b", "qwen2.5-0.5b"},
    SameShape{"qwen215b", "qwen2.5-1.5b"},
    SameShape{"qwen27b", "qwen2.5-7b"},
    SameShape{"qwen272b", "qwen2.5-72b"},
    SameShape{"mixtral8x7bv01", "mixtral-8x7b"},
    SameShape{"mixtral8x22bv01", "mixtral-8x22b"},
    SameShape{"mistralnemo", "mistral-nemo-12b"},
    SameShape{"phi3mini4k", "phi-3-mini"},
    SameShape{"phi3mini128k", "phi-3-mini"},
    SameShape{"phi3medium4k", "phi-3-medium"},
    SameShape{"llama4scout17b16e", "llama-4-scout-17b-16e"},
    SameShape{"llama4maverick17b128e", "llama-4-maverick-17b-128e"},
};

// What stands behind the last slash, or the last "--" of a cache folder: models--org--name.
std::string_view last_part(std::string_view name)
{
    while (name.ends_with('/'))
        name.remove_suffix(1);
    name = name.substr(name.find_last_of('/') + 1);
    if (name.starts_with("models--"))
        name = name.substr(name.rfind("--") + 2);
    for (const std::string_view ending : {".yaml", ".yml", ".json"})
        if (name.ends_with(ending))
            name.remove_suffix(ending.size());
    return name;
}

// The plain name without words of tuning.
std::string shape_name(std::string_view name)
{
    std::string out;
    std::string word;
    const auto close = [&] {
        if (std::find(tuning_words.begin(), tuning_words.end(), word) == tuning_words.end())
            out += word;
        word.clear();
    };
    for (const char c : name) {
        if (c == '-' || c == '_' || c == ' ')
            close();
        else if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    close();
    return out;
}

} // namespace

std::string shipped_model_named(std::string_view name)
{
    constexpr std::size_t longest = 500;
    const std::string_view part = last_part(name);
    if (part.empty() || name.size() > longest)
        return {};
    const std::string plain = plain_name(part);
    const std::string shape = shape_name(part);
    const std::vector<std::string> shipped = shipped_inputs(InputKind::model);
    for (const std::string& one : shipped)
        if (plain_name(one) == plain)
            return one;
    for (const std::string& one : shipped)
        if (shape_name(one) == shape)
            return one;
    const auto* const same = std::find_if(same_shapes.begin(), same_shapes.end(),
                                          [&](const SameShape& one) { return one.name == shape; });
    return same == same_shapes.end() ? std::string() : std::string(same->shipped);
}

std::optional<Model> shipped_model(const std::string& name)
{
    const Checked<Input> input = find_input({name, {}}, InputKind::model, {});
    if (!input)
        return std::nullopt;
    Checked<Model> model = read_model(input->json, input->file);
    return model ? std::optional(std::move(*model)) : std::nullopt;
}

void take_named_model(const std::string& name, const Origin& origin, JobContext& context)
{
    JobDraft& draft = context.draft;
    if (draft.scenario.model.given() || draft.model) {
        draft.understand(origin, "the model, which is known already");
        return;
    }
    const std::string shipped = shipped_model_named(name);
    std::optional<Model> model = shipped.empty() ? std::nullopt : shipped_model(shipped);
    if (!model) {
        draft.unknown_model = name;
        draft.unknown_model_origin = origin;
        return;
    }
    draft.take(draft.scenario.model, Source{shipped, {}}, "model", origin);
    draft.model = std::move(*model);
    if (plain_name(last_part(name)) != plain_name(shipped))
        draft.assume(origin, fmt::format("of the shape of the shipped {} (--model FILE says "
                                         "another)",
                                         shipped));
}

void require_model(JobContext& context, std::string_view what)
{
    JobDraft& draft = context.draft;
    if (draft.model || draft.scenario.model.given())
        return;
    const std::string hint = "give it beside: --model llama-2-7b (trainyard model list prints the "
                             "shipped ones), or any Hugging Face config.json";
    if (draft.unknown_model.empty())
        draft.refuse({}, fmt::format("{} name no model", what), hint);
    else
        draft.refuse(draft.unknown_model_origin, "is none of the shipped models", hint);
}

} // namespace trainyard
