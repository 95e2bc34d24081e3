#include "sim/study/jobs/megatron/megatron_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace trainyard {
namespace {

constexpr std::string_view as_switch = "-";

// An argument as another one; a name may have several rows, all of which say something.
struct OtherWord {
    std::string_view name;
    std::string_view when;        // how its value begins; empty: any
    std::string_view argument;    // empty: what Megatron-LM does anyway
    std::string_view value = {};  // empty: its own; "-": the argument is a switch
    std::string_view unless = {}; // an argument in whose presence it is not so
};

constexpr std::array other_words{
    // Megatron-LM's first releases.
    OtherWord{"--model-parallel-size", "", "--tensor-model-parallel-size"},
    OtherWord{"--batch-size", "", "--micro-batch-size"},
    OtherWord{"--activations-checkpoint-method", "", "--recompute-granularity", "full"},
    OtherWord{"--activations-checkpoint-method", "", "--recompute-method"},
    OtherWord{"--activations-checkpoint-num-layers", "", "--recompute-num-layers"},
    // BigCode's and IBM's.
    OtherWord{"--attention-head-type", "multiquery", "--num-key-value-heads", "1"},
    OtherWord{"--attention-head-type", "multihead", ""},
    // EPFL's, BigScience's and Habana's.
    OtherWord{"--num-attention-heads-kv", "", "--num-key-value-heads"},
    OtherWord{"--use-rms-norm", "", "--normalization", "RMSNorm"},
    OtherWord{"--layernorm-type", "rmsnorm", "--normalization", "RMSNorm"},
    OtherWord{"--layernorm-type", "layernorm", "--normalization", "LayerNorm"},
    OtherWord{"--no-tie-embed-logits", "", "--untie-embeddings-and-output-weights", as_switch},
    // EPFL's fork has biases where it is told so alone.
    OtherWord{"--no-tie-embed-logits", "", "--disable-bias-linear", as_switch, "--use-bias"},
    OtherWord{"--no-bias", "", "--disable-bias-linear", as_switch},
    OtherWord{"--pad-vocab-size-to", "", "--padded-vocab-size"},
    OtherWord{"--pp-partition-method", "type:transformer|embedding",
              "--account-for-embedding-in-pipeline-split", as_switch},
    OtherWord{"--pp-partition-method", "type:transformer|embedding",
              "--account-for-loss-in-pipeline-split", as_switch},
    OtherWord{"--pp-partition-method", "type:transformer", ""},
    // Megatron-DeepSpeed's.
    OtherWord{"--ds-sequence-parallel-size", "", "--context-parallel-size"},
    OtherWord{"--ds-sequence-parallel-size", "", "--cp-comm-type", "a2a"},
    OtherWord{"--moe-expert-parallel-size", "", "--expert-model-parallel-size"},
    OtherWord{"--topk", "", "--moe-router-topk"},
    // Holmes' and Megatron-LLaMA's.
    OtherWord{"--overlapped-distributed-optimizer", "", "--use-distributed-optimizer", as_switch},
    OtherWord{"--overlapped-distributed-optimizer", "", "--overlap-grad-reduce", as_switch},
    // MindSpeed's.
    OtherWord{"--moe-intermediate-size", "", "--moe-ffn-hidden-size"},
    OtherWord{"--context-parallel-algo", "ulysses_cp_algo", "--cp-comm-type", "a2a"},
    OtherWord{"--context-parallel-algo", "megatron_cp_algo", "--cp-comm-type", "p2p"},
    OtherWord{"--context-parallel-algo", "hybrid_cp_algo", "--cp-comm-type", "a2a+p2p"},
    OtherWord{"--ulysses-degree-in-cp", "", "--hierarchical-context-parallel-sizes"},
    // Megatron-Core's and ms-swift's.
    OtherWord{"--virtual-pipeline-model-parallel-size", "",
              "--num-virtual-stages-per-pipeline-rank"},
    OtherWord{"--microbatch-group-size-per-vp-stage", "",
              "--microbatch-group-size-per-virtual-pipeline-stage"},
    OtherWord{"--torch-dtype", "bfloat16", "--bf16", as_switch},
    OtherWord{"--torch-dtype", "float16", "--fp16", as_switch},
};

// LLaMA's layers in Megatron-LM's words.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> form_of_llama{{
    {"--swiglu", as_switch},
    {"--normalization", "RMSNorm"},
    {"--position-embedding-type", "rope"},
    {"--untie-embeddings-and-output-weights", as_switch},
    {"--disable-bias-linear", as_switch},
}};

bool says(const Argument& argument, const OtherWord& word)
{
    const std::string_view value =
        argument.values.empty() ? std::string_view() : argument.values.front();
    return argument.name == word.name && value.starts_with(word.when);
}

Argument in_own_word(const Argument& argument, const OtherWord& word)
{
    Argument out = argument;
    out.name = word.argument;
    out.written = argument.text();
    if (word.value == as_switch) // a switch, and whether it is switched off
        out.values = word.when.empty() ? argument.values : std::vector<std::string>{};
    else if (!word.value.empty())
        out.values = {std::string(word.value)};
    return out;
}

} // namespace

void put_in_own_words(Arguments& arguments, JobDraft& draft)
{
    std::vector<Argument> out;
    for (const Argument& one : arguments.all()) {
        bool known = false;
        std::string_view beside; // what says the same, by Megatron-LM's name
        const std::size_t before = out.size();
        for (const OtherWord& word : other_words) {
            if (!says(one, word) || arguments.contains(word.unless))
                continue;
            known = true;
            if (arguments.contains(word.argument))
                beside = word.argument;
            else if (!word.argument.empty())
                out.push_back(in_own_word(one, word));
        }
        if (!known)
            out.push_back(one);
        else if (out.size() == before && !beside.empty())
            draft.ignore({one.line, one.text()}, fmt::format("{} says so", beside));
        else if (out.size() == before)
            draft.understand({one.line, one.text()}, "as Megatron-LM has it anyway");
    }
    arguments.replace_all(std::move(out));
}

void add_form_of_program(const std::string& program, Arguments& arguments, JobDraft& draft)
{
    const bool described = std::ranges::any_of(
        form_of_llama, [&](const auto& one) { return arguments.contains(one.first); });
    if (described || arguments.contains("--use-rotary-position-embeddings") ||
        !arguments.contains("--hidden-size") || !file_name_has_word(program, "llama"))
        return;
    for (const auto& [name, value] : form_of_llama) {
        Argument argument{std::string(name), {}};
        if (value != as_switch)
            argument.values.emplace_back(value);
        argument.written = program;
        arguments.add(std::move(argument));
    }
    draft.assume(fmt::format("{}: LLaMA's norms, gates and positions, no biases, embeddings apart "
                             "from the logits: no argument says otherwise",
                             program));
}

bool file_name_has_word(std::string_view path, std::string_view word)
{
    const std::string_view name = path.substr(path.find_last_of('/') + 1);
    const auto is_letter = [&](std::size_t at) {
        return at < name.size() && std::isalpha(static_cast<unsigned char>(name[at])) != 0;
    };
    const auto is_digit = [&](std::size_t at) {
        return at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])) != 0;
    };
    for (std::size_t at = name.find(word); at != std::string_view::npos;
         at = name.find(word, at + 1)) {
        std::size_t end = at + word.size();
        while (is_digit(end))
            ++end;
        if (!is_letter(end) && (at == 0 || (!is_letter(at - 1) && !is_digit(at - 1))))
            return true;
    }
    return false;
}

} // namespace trainyard
