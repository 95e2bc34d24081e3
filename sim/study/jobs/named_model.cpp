#include "sim/study/jobs/named_model.h"

#include "sim/base/spelling.h"
#include "sim/study/inputs.h"
#include "sim/study/problems.h"
#include "sim/workload/model_reader.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

namespace trainyard {
namespace {

// Words of a name that say how a model was tuned or packed, not of what shape it is.
constexpr std::array<std::string_view, 35> tuning_words{
    "instruct", "chat",    "hf",          "base",     "it",    "sft",   "dpo",
    "pt",       "bf16",    "fp8",         "fp16",     "meta",  "coder", "math",
    "code",     "text",    "thinking",    "2507",     "2407",  "2410",  "0324",
    "0528",     "preview", "release",     "pretrain", "model", "new",   "vllm",
    "rl",       "nvidia",  "dequantized", "mcore",    "2509",  "2512",  "1025"};

// And those of weights in fewer bits.
constexpr std::array<std::string_view, 11> narrow_words{
    "awq", "gptq", "nvfp4", "bnb", "nf4", "4bit", "8bit", "linearized", "int4", "aqlm", "2bit"};

bool is_one_of(std::span<const std::string_view> words, std::string_view word)
{
    return std::ranges::find(words, word) != words.end();
}

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
    SameShape{"codellama70b", "llama-2-70b"},
    SameShape{"openllama7bv2", "llama-2-7b"},
    SameShape{"openllama3b", "open-llama-3b-v2"},
    SameShape{"tinyllama11bv10", "tinyllama-1.1b"},
    SameShape{"tinyllamav11", "tinyllama-1.1b"},
    SameShape{"deepseekv25", "deepseek-v2"},
    SameShape{"deepcoder14b", "qwen2.5-14b"},
    SameShape{"cogitov1qwen14b", "qwen2.5-14b"},
    SameShape{"cogitov1llama3b", "llama-3.2-3b"},
    SameShape{"gptosssafeguard20b", "gpt-oss-20b"},
    SameShape{"gptosssafeguard120b", "gpt-oss-120b"},
    SameShape{"mistral7b", "mistral-7b-v0.1"},
    SameShape{"zephyr7bbeta", "mistral-7b-v0.1"},
    SameShape{"mistral7bv02", "mistral-7b-v0.3"},
    SameShape{"devstralsmall", "mistral-small-24b"},
    SameShape{"magistralsmall2506", "mistral-small-24b"},
    SameShape{"magistralsmall", "mistral-small-24b"},
    SameShape{"phi35mini", "phi-3-mini"},
    SameShape{"phi414b", "phi-4"},
    SameShape{"phi4reasoning", "phi-4"},
    SameShape{"phi4reasoningplus", "phi-4"},
    SameShape{"qwq32b", "qwen2.5-32b"},
    SameShape{"granite7blab", "llama-2-7b"},
    SameShape{"mixtral8x7bv01", "mixtral-8x7b"},
    SameShape{"mixtral8x22bv01", "mixtral-8x22b"},
    SameShape{"mistralnemo", "mistral-nemo-12b"},
    SameShape{"phi3mini4k", "phi-3-mini"},
    SameShape{"phi3mini128k", "phi-3-mini"},
    SameShape{"phi3medium4k", "phi-3-medium"},
    // Models of texts and images of which the part for text is a shipped one.
    SameShape{"qwen2vl2b", "qwen2.5-1.5b"},
    SameShape{"qwen2vl7b", "qwen2.5-7b"},
    SameShape{"qwen2vl72b", "qwen2.5-72b"},
    SameShape{"qwen25vl3b", "qwen2.5-3b"},
    SameShape{"qwen25vl7b", "qwen2.5-7b"},
    SameShape{"qwen25vl32b", "qwen2.5-32b"},
    SameShape{"qwen25vl72b", "qwen2.5-72b"},
    SameShape{"qwen3vl2b", "qwen3-1.7b"},
    SameShape{"qwen3vl4b", "qwen3-4b"},
    SameShape{"qwen3vl8b", "qwen3-8b"},
    SameShape{"qwen3vl32b", "qwen3-32b"},
    SameShape{"qwen3vl30ba3b", "qwen3-30b-a3b"},
    SameShape{"qwen3vl235ba22b", "qwen3-235b-a22b"},
    SameShape{"llava157b", "llama-2-7b"},
    SameShape{"llavav157b", "llama-2-7b"},
    SameShape{"llava1513b", "llama-2-13b"},
    SameShape{"pixtral12b2409", "mistral-nemo-12b"},
    SameShape{"pixtral12b", "mistral-nemo-12b"},
    SameShape{"stablelm3b4e1t", "stablelm-3b"},
    SameShape{"qwen3627b", "qwen3.5-27b"},
    SameShape{"qwen3635ba3b", "qwen3.5-35b-a3b"},
    SameShape{"jambav01", "jamba-v0.1-52b"},
    SameShape{"llama4scout17b16e", "llama-4-scout-17b-16e"},
    SameShape{"llama4maverick17b128e", "llama-4-maverick-17b-128e"},
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
        if (!is_one_of(tuning_words, word) && !is_one_of(narrow_words, word))
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
    constexpr std::array<std::string_view, 17> other_layers{
        "pro", "moe",  "draft", "eagle",  "medusa", "tiny",  "mini",     "pruned", "upscaled",
        "vl",  "omni", "audio", "vision", "width",  "depth", "minitron", "mamba"};
    const std::vector<std::string> words = words_of(part);
    std::string begin;
    std::string out;
    bool sized = false;
    for (const std::string& word : words) {
        const bool active = word.starts_with('a') && is_a_size(word); // "a3b"
        if (is_one_of(other_layers, word) || word.ends_with("layers") || active)
            return {};
        sized = sized || is_a_size(word);
        if (!is_one_of(tuning_words, word) && !is_one_of(narrow_words, word))
            begin += word;
        if (!sized)
            continue;
        for (const std::string& one : shipped)
            if (shape_name(one) == begin)
                out = one;
        for (const SameShape& one : same_shapes)
            if (one.name == begin)
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
    const auto* const same = std::find_if(same_shapes.begin(), same_shapes.end(),
                                          [&](const SameShape& one) { return one.name == shape; });
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
                            [](const std::string& word) { return is_one_of(narrow_words, word); }))
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
