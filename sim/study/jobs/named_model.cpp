#include "sim/study/jobs/named_model.h"

#include "sim/base/spelling.h"
#include "sim/base/words.h"
#include "sim/study/inputs.h"
#include "sim/study/problems.h"
#include "sim/workload/model_reader.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace trainyard {
namespace {

// Words of a name that say how a model was tuned or packed, not of what shape it is.
constexpr std::string_view tuning_words =
    "instruct chat hf base it sft dpo pt bf16 fp8 fp16 meta coder math code text thinking 2507 "
    "2407 2410 0324 0528 preview release pretrain model new vllm rl nvidia dequantized mcore 2509 "
    "2512 1025";

// And those of weights in fewer bits.
constexpr std::string_view narrow_words =
    "awq gptq nvfp4 bnb nf4 4bit 8bit linearized int4 aqlm 2bit";

// Other releases of the same sizes, by plain names without those words.
struct SameShape {
    std::string_view shipped;
    std::string_view names;
};
constexpr std::array same_shapes{
    SameShape{"llama-2-7b", "llama7b vicuna7b vicuna7bv15 codellama7b openllama7bv2 granite7blab"},
    SameShape{"llama-2-13b", "llama13b vicuna13bv15 codellama13b"},
    SameShape{"llama-3.1-8b", "llama38b deepseekr1distillllama8b"},
    SameShape{"llama-3.1-70b", "llama370b llama3370b deepseekr1distillllama70b"},
    SameShape{"deepseek-v3", "deepseekr1 deepseekv31"},
    SameShape{"qwen2.5-7b", "deepseekr1distillqwen7b qwen27b"},
    SameShape{"qwen2.5-14b", "deepseekr1distillqwen14b deepcoder14b cogitov1qwen14b"},
    SameShape{"qwen2.5-32b", "deepseekr1distillqwen32b qwq32b"},
    SameShape{"qwen2.5-0.5b", "qwen205b"},
    SameShape{"qwen2.5-1.5b", "qwen215b"},
    SameShape{"qwen2.5-72b", "qwen272b"},
    SameShape{"llama-2-70b", "codellama70b"},
    SameShape{"open-llama-3b-v2", "openllama3b"},
    SameShape{"tinyllama-1.1b", "tinyllama11bv10 tinyllamav11"},
    SameShape{"deepseek-v2", "deepseekv25"},
    SameShape{"llama-3.2-3b", "cogitov1llama3b"},
    SameShape{"gpt-oss-20b", "gptosssafeguard20b"},
    SameShape{"gpt-oss-120b", "gptosssafeguard120b"},
    SameShape{"mistral-7b-v0.1", "mistral7b zephyr7bbeta"},
    SameShape{"mistral-7b-v0.3", "mistral7bv02"},
    SameShape{"mistral-small-24b", "devstralsmall magistralsmall2506 magistralsmall"},
    SameShape{"phi-3-mini", "phi35mini phi3mini4k phi3mini128k"},
    SameShape{"phi-4", "phi414b phi4reasoning phi4reasoningplus"},
    SameShape{"mixtral-8x7b", "mixtral8x7bv01"},
    SameShape{"mixtral-8x22b", "mixtral8x22bv01"},
    SameShape{"mistral-nemo-12b", "mistralnemo"},
    SameShape{"phi-3-medium", "phi3medium4k"},
    // Models of texts and images of which the part for text is a shipped one.
    SameShape{"qwen2.5-1.5b", "qwen2vl2b"},
    SameShape{"qwen2.5-7b", "qwen2vl7b qwen25vl7b"},
    SameShape{"qwen2.5-72b", "qwen2vl72b qwen25vl72b"},
    SameShape{"qwen2.5-3b", "qwen25vl3b"},
    SameShape{"qwen2.5-32b", "qwen25vl32b"},
    SameShape{"qwen3-1.7b", "qwen3vl2b"},
    SameShape{"qwen3-4b", "qwen3vl4b"},
    SameShape{"qwen3-8b", "qwen3vl8b"},
    SameShape{"qwen3-32b", "qwen3vl32b"},
    SameShape{"qwen3-30b-a3b", "qwen3vl30ba3b"},
    SameShape{"qwen3-235b-a22b", "qwen3vl235ba22b"},
    SameShape{"llama-2-7b", "llava157b llavav157b"},
    SameShape{"llama-2-13b", "llava1513b"},
    SameShape{"mistral-nemo-12b", "pixtral12b2409 pixtral12b"},
    SameShape{"stablelm-3b", "stablelm3b4e1t"},
    SameShape{"qwen3.5-27b", "qwen3627b"},
    SameShape{"qwen3.5-35b-a3b", "qwen3635ba3b"},
    SameShape{"jamba-v0.1-52b", "jambav01"},
    SameShape{"llama-4-scout-17b-16e", "llama4scout17b16e"},
    SameShape{"llama-4-maverick-17b-128e", "llama4maverick17b128e"},
};

// What stands behind the last slash, or the last "--" of a cache folder: models--org--name.
std::string_view last_part(std::string_view name)
{
    name = name.substr(name.find_last_of('/') + 1);
    if (name.starts_with("models--"))
        name = name.substr(name.rfind("--") + 2);
    for (const std::string_view ending : {".yaml", ".yml", ".json"})
        if (name.ends_with(ending))
            name.remove_suffix(ending.size());
    return name;
}

// Its words in lower case, without what is neither a letter nor a digit.
std::vector<std::string> words_of(std::string_view name)
{
    std::vector<std::string> out(1);
    for (const char c : name) {
        if (c == '-' || c == '_' || c == ' ')
            out.emplace_back();
        else if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            out.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return out;
}

// The plain name without words of tuning.
std::string shape_name(std::string_view name)
{
    std::string out;
    for (const std::string& word : words_of(name))
        if (!has_word(tuning_words, word) && !has_word(narrow_words, word))
            out += word;
    return out;
}

// "2.7b", "350m"
bool is_a_size(const std::string& word)
{
    return word.size() > 1 && std::isdigit(static_cast<unsigned char>(word[word.size() - 2])) &&
           (word.back() == 'b' || word.back() == 'm');
}

// A model with a size in its name, of which more words tell what it was trained on:
// "tinyllama-1.1b-step-240k". Not where they tell of other layers.
std::string shipped_at_the_begin(std::string_view part, const std::vector<std::string>& shipped)
{
    constexpr std::string_view other_layers =
        "pro moe draft eagle medusa tiny mini pruned upscaled vl omni audio vision width depth "
        "minitron mamba";
    const std::vector<std::string> words = words_of(part);
    std::string begin;
    std::string out;
    bool sized = false;
    for (const std::string& word : words) {
        const bool active = word.starts_with('a') && is_a_size(word); // "a3b"
        if (has_word(other_layers, word) || word.ends_with("layers") || active)
            return {};
        sized = sized || is_a_size(word);
        if (!has_word(tuning_words, word) && !has_word(narrow_words, word))
            begin += word;
        if (!sized)
            continue;
        for (const std::string& one : shipped)
            if (shape_name(one) == begin)
                out = one;
        for (const SameShape& one : same_shapes)
            if (has_word(one.names, begin))
                out = one.shipped;
    }
    return out;
}

// By the last part of a path alone.
std::string shipped_by_part(std::string_view name)
{
    const std::string_view part = last_part(name);
    if (part.empty())
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
    const auto* const same =
        std::find_if(same_shapes.begin(), same_shapes.end(),
                     [&](const SameShape& one) { return has_word(one.names, shape); });
    return same == same_shapes.end() ? shipped_at_the_begin(part, shipped)
                                     : std::string(same->shipped);
}

} // namespace

std::string shipped_model_named(std::string_view name)
{
    constexpr std::size_t longest = 500;
    if (name.size() > longest)
        return {};
    // A path may go on behind the model's folder: "saves/qwen3-4b/full/sft".
    while (!name.empty()) {
        if (std::string shipped = shipped_by_part(name); !shipped.empty())
            return shipped;
        const std::size_t slash = name.find_last_of('/');
        name = name.substr(0, slash == std::string_view::npos ? 0 : slash);
    }
    return {};
}

std::optional<Model> shipped_model(const std::string& name)
{
    const Checked<Input> input = find_input({name, {}}, InputKind::model, {});
    if (!input)
        return std::nullopt;
    Checked<Model> model = read_model(input->json, input->file);
    return model ? std::optional(std::move(*model)) : std::nullopt;
}

namespace {

// Hugging Face's configuration where it lies beside: "configs/tiny.json", or that of a folder.
bool take_configured_model(const std::string& name, const Origin& origin, JobContext& context)
{
    const std::string file = name.ends_with(".json") ? name : name + "/config.json";
    const std::optional<std::string> text = context.find_beside(file);
    const Checked<Json> json = text ? parse_json(*text, file) : Checked<Json>(Json());
    if (!text)
        return false;
    Checked<Model> model =
        json ? read_model(*json, file) : Checked<Model>(tl::unexpect, json.error());
    if (model) {
        context.draft.model = std::move(*model);
        context.draft.understand(origin, "the model");
    } else
        append(context.draft.problems, model.error());
    context.draft.model_refused = !context.draft.model;
    return true;
}

} // namespace

void take_named_model(const std::string& name, const Origin& origin, JobContext& context)
{
    JobDraft& draft = context.draft;
    if (draft.scenario.model.given() || draft.model) {
        draft.understand(origin, "the model, which is known already");
        return;
    }
    const std::string shipped = shipped_model_named(name);
    if (shipped.empty() && take_configured_model(name, origin, context))
        return;
    std::optional<Model> model = shipped.empty() ? std::nullopt : shipped_model(shipped);
    if (!model && name.ends_with(".json")) {
        draft.unread_settings = {origin, name, "holds the model, and is not there"};
        return;
    }
    if (!model) {
        draft.unknown_model = name;
        draft.unknown_model_origin = origin;
        return;
    }
    draft.take(draft.scenario.model, Source{shipped, {}}, "model", origin);
    draft.model = std::move(*model);
    if (std::ranges::any_of(words_of(name),
                            [](const std::string& word) { return has_word(narrow_words, word); }))
        draft.flag(fmt::format("{}: weights in fewer bits are not modelled, taken in the format "
                               "of training",
                               origin.setting));
    if (plain_name(last_part(name)) != plain_name(shipped))
        draft.assume(origin, fmt::format("of the shape of the shipped {} (--model FILE says "
                                         "another)",
                                         shipped));
}

void require_model(JobContext& context, std::string_view what)
{
    JobDraft& draft = context.draft;
    if (draft.model || draft.scenario.model.given() || draft.model_refused)
        return;
    const UnreadSettings& unread = draft.unread_settings;
    if (!unread.why.empty() && draft.unknown_model.empty())
        return draft.refuse(unread.origin, std::string(unread.why),
                            "import it by itself; or --model FILE: all else is then as the "
                            "arguments say, or as Hugging Face's Trainer has it");
    const std::string hint = "give it beside: --model llama-2-7b (trainyard model list prints the "
                             "shipped ones), or any Hugging Face config.json";
    if (draft.unknown_model.empty())
        draft.refuse({}, fmt::format("{} name no model", what), hint);
    else
        draft.refuse(draft.unknown_model_origin, "is none of the shipped models", hint);
}

} // namespace trainyard
