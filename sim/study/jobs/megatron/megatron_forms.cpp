// Models of Megatron-LM beside the plain decoder: layers of several kinds, an encoder in front.

#include "sim/study/jobs/megatron/megatron_forms.h"

#include "sim/study/jobs/megatron/megatron_layout.h"
#include "sim/study/jobs/megatron/megatron_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {
namespace {

constexpr std::array hybrid_patterns{"--hybrid-layer-pattern", "--hybrid-override-pattern"};

bool program_has_word(const MegatronReader& reader, std::string_view word)
{
    return file_name_has_word(reader.program, word);
}

// Megatron-Core's own placement (ssm/mamba_hybrid_layer_allocation.py): attention evenly, Mamba at
// both ends; then MLPs evenly among the Mamba layers.
std::string spread_layers(int layers, double attention_ratio, double mlp_ratio)
{
    std::string out(static_cast<std::size_t>(layers), 'M');
    const auto place = [&out](char letter, double between) {
        double left = between;
        for (char& layer : out) {
            if (layer != 'M')
                continue;
            if (left < 0.5) {
                layer = letter;
                left += between;
            } else
                left -= 1;
        }
    };
    const double attention = std::round(layers * attention_ratio);
    const double mlps = std::round(layers * mlp_ratio);
    if (attention > 0)
        place('*', (layers - attention) / (attention + 1));
    if (mlps > 0)
        place('-', (layers - attention - mlps) / mlps);
    return out;
}

Recurrence mamba_sizes(MegatronReader& reader, const Transformer& model)
{
    ArgumentValues& values = reader.values;
    Recurrence out;
    out.key_dim = values.whole("--mamba-state-dim").value_or(128);
    out.value_dim = std::max<std::int64_t>(1, values.whole("--mamba-head-dim").value_or(64));
    out.key_heads = static_cast<int>(
        std::clamp<std::int64_t>(values.whole("--mamba-num-groups").value_or(8), 1, 1 << 20));
    constexpr std::int64_t expansion = 2;
    out.heads = static_cast<int>(std::clamp<std::int64_t>(
        values.whole("--mamba-num-heads").value_or(expansion * model.hidden / out.value_dim), 1,
        1 << 20));
    out.chunk = 128;
    reader.draft.assume(fmt::format("Mamba-2 with {} heads of {}, {} groups and states of {}",
                                    out.heads, out.value_dim, out.key_heads, out.key_dim));
    return out;
}

std::vector<LayerForm> hybrid_forms()
{
    const auto form = [](std::string name, MixerKind mixer, ChannelKind channel) {
        LayerForm out;
        out.name = std::move(name);
        out.mixer = mixer;
        out.channel = channel;
        return out;
    };
    return {form("mamba", MixerKind::mamba2, ChannelKind::none),
            form("attention", MixerKind::attention, ChannelKind::none),
            form("mlp", MixerKind::none, ChannelKind::mlp),
            form("experts", MixerKind::none, ChannelKind::experts)};
}

} // namespace

std::optional<std::string> hybrid_pattern(MegatronReader& reader)
{
    for (const char* const name : hybrid_patterns)
        if (const std::string text = reader.values.text(name); !text.empty()) {
            if (text.find('/') != std::string::npos &&
                !reader.arguments.contains("--mtp-num-layers"))
                reader.draft.flag(fmt::format("{}: layers that predict further tokens (after /) "
                                              "are left out",
                                              name));
            return text.substr(0, text.find('/'));
        }
    const auto attention = reader.values.number("--hybrid-attention-ratio");
    const auto mlps = reader.values.number("--hybrid-mlp-ratio");
    if (!attention && !mlps && !program_has_word(reader, "mamba") &&
        !program_has_word(reader, "hybrid"))
        return std::nullopt;
    const auto layers = reader.values.whole("--num-layers");
    constexpr std::int64_t most = 10'000;
    if (!layers || *layers < 1 || *layers > most)
        return std::nullopt;
    const std::string out =
        spread_layers(static_cast<int>(*layers), attention.value_or(0), mlps.value_or(0));
    reader.draft.assume(fmt::format("layers {}: Megatron-Core's placement of the ratios", out));
    return out;
}

void take_hybrid_layers(MegatronReader& reader, const std::string& pattern, Transformer& model)
{
    const Origin origin =
        reader.values.origin(reader.values.either(hybrid_patterns.front(), hybrid_patterns.back()));
    int in_stage = 0;
    bool known = pattern.size() <= 20'000;
    for (const char letter : pattern) {
        const std::string_view name = letter == 'M'   ? "mamba"
                                      : letter == '*' ? "attention"
                                      : letter == '-' ? "mlp"
                                      : letter == 'E' ? "experts"
                                                      : "";
        if (letter == '|') {
            reader.stage_layers.push_back(in_stage);
            in_stage = 0;
        } else if (!name.empty()) {
            model.pattern.emplace_back(name);
            ++in_stage;
        } else
            known = false;
    }
    if (!reader.stage_layers.empty())
        reader.stage_layers.push_back(in_stage);
    if (!known || model.pattern.empty()) {
        reader.draft.refuse(origin, "holds layers that are not modelled",
                            "M (Mamba-2), * (attention), - (MLP) and E (experts), stages apart "
                            "by |");
        return;
    }
    if (model.pattern.size() != static_cast<std::size_t>(model.layers))
        reader.draft.assume(fmt::format("{} layers, as in the pattern", model.pattern.size()));
    model.layers = static_cast<int>(model.pattern.size());
    model.recurrence = mamba_sizes(reader, model);
    // Only kinds that occur: a form needs what it is made of.
    for (LayerForm& form : hybrid_forms())
        if (std::find(model.pattern.begin(), model.pattern.end(), form.name) != model.pattern.end())
            model.layer_forms.push_back(std::move(form));
}

// A number is every how many layers one sees all keys, the last of them; a list has 1 for a layer
// with the window.
void take_windowless_layers(MegatronReader& reader, Transformer& model)
{
    constexpr std::string_view name = "--window-attn-skip-freq";
    JobDraft& draft = reader.draft;
    const std::string text = reader.values.text(name);
    if (text.empty())
        return;
    const Origin origin = reader.values.origin(name);
    if (text.find('[') == std::string::npos) {
        const auto every = reader.values.whole(name);
        if (every && (*every < 1 || *every > 1'000'000))
            draft.refuse(origin, "is no number of layers", "1 or more, or a list");
        else if (every)
            draft.take(model.full_attention_every, *every, "model.full_attention_every", origin);
        return;
    }
    const auto pattern = number_pattern(text);
    if (!pattern || static_cast<int>(pattern->size()) != model.layers)
        return draft.refuse(origin, "is no list with a number for each layer",
                            fmt::format("{} numbers in all", model.layers));
    LayerForm windowed;
    LayerForm full;
    windowed.name = "windowed";
    full.name = "full";
    full.sliding_window = 0;
    model.layer_forms = {windowed, full};
    for (const int one : *pattern)
        model.pattern.push_back(one == 0 ? full.name : windowed.name);
    draft.understand(origin, "model.pattern");
}

// A number is every how many layers one attends, the last of them; a list has 1 for a layer with
// linear attention.
std::optional<std::vector<int>> linear_layers(MegatronReader& reader, int layers)
{
    constexpr std::string_view name = "--linear-attention-freq";
    const std::string text = reader.values.text(name);
    if (text.find('[') != std::string::npos) {
        auto pattern = number_pattern(text);
        if (pattern && static_cast<int>(pattern->size()) == layers)
            return pattern;
        reader.draft.refuse(reader.values.origin(name), "is no list with a number for each layer",
                            fmt::format("{} numbers in all", layers));
        return std::nullopt;
    }
    const auto every = reader.values.whole(name);
    constexpr std::int64_t most = 10'000;
    if (every && *every >= 1 && *every <= most) {
        std::vector<int> out(static_cast<std::size_t>(*every), 1);
        out.back() = 0;
        return out;
    }
    if (every || text.empty())
        reader.draft.refuse(reader.values.origin(name), "says which layers have linear attention",
                            "every how many layers one attends, e.g. 4, or a list");
    return std::nullopt;
}

// Defaults of Megatron-Core's TransformerConfig.
Recurrence delta_net_sizes(MegatronReader& reader)
{
    Recurrence out{.key_heads = 16, .heads = 32, .key_dim = 128, .value_dim = 128};
    const auto take = [&](std::string_view name, auto& field, std::string_view place) {
        reader.values.take(name, field, fmt::format("model.recurrence.{}", place));
    };
    take("--linear-num-key-heads", out.key_heads, "key_heads");
    take("--linear-num-value-heads", out.heads, "heads");
    take("--linear-key-head-dim", out.key_dim, "key_dim");
    take("--linear-value-head-dim", out.value_dim, "value_dim");
    take("--linear-conv-kernel-dim", out.convolution, "convolution");
    return out;
}

void take_linear_attention(MegatronReader& reader, Transformer& model)
{
    constexpr std::string_view name = "--experimental-attention-variant";
    const std::string variant = reader.values.text(name);
    if (variant.empty())
        return;
    if (variant != "gated_delta_net" && variant != "gdn")
        return reader.draft.flag(reader.values.origin(name),
                                 "not modelled: layers attend as without it");
    const auto pattern = linear_layers(reader, model.layers);
    if (!pattern)
        return;
    LayerForm linear;
    LayerForm full;
    linear.name = "linear";
    linear.mixer = MixerKind::gated_delta_net;
    linear.recurrence = delta_net_sizes(reader);
    full.name = "full";
    for (const int one : *pattern)
        model.pattern.push_back(one == 0 ? full.name : linear.name);
    // Only kinds that occur.
    for (LayerForm* const form : {&linear, &full})
        if (std::ranges::find(model.pattern, form->name) != model.pattern.end())
            model.layer_forms.push_back(std::move(*form));
    reader.draft.understand(reader.values.origin(name), "model.pattern");
    reader.draft.understand(reader.values.origin("--linear-attention-freq"), "model.pattern");
}

bool is_t5(const MegatronReader& reader)
{
    return program_has_word(reader, "t5") || reader.arguments.contains("--decoder-seq-length") ||
           reader.arguments.contains("--decoder-num-layers");
}

// Arguments without a program tell BERT by its data alone.
bool is_bert(MegatronReader& reader)
{
    if (!reader.program.empty() || is_t5(reader))
        return program_has_word(reader, "bert");
    const auto of_bert = [&](std::string_view name) {
        const Argument* const argument =
            reader.arguments.contains(name) ? reader.arguments.find(name) : nullptr;
        return argument != nullptr &&
               std::ranges::any_of(argument->values, [](const std::string& path) {
                   return file_name_has_word(path, "bert");
               });
    };
    return reader.arguments.contains("--encoder-num-layers") ||
           reader.arguments.contains("--bert-no-binary-head") || of_bert("--data-path") ||
           of_bert("--vocab-file");
}

void take_text_encoder(MegatronReader& reader, Transformer& model)
{
    ArgumentValues& values = reader.values;
    Encoder encoder;
    encoder.name = "encoder";
    encoder.hidden = model.hidden;
    encoder.layers = model.layers;
    encoder.heads = model.heads;
    encoder.head_dim = model.head_dim;
    encoder.ffn = model.ffn;
    encoder.gated_mlp = model.gated_mlp;
    encoder.linear_bias = model.linear_bias;
    encoder.norm = model.norm;
    encoder.activation = model.activation;
    encoder.tokens =
        values.whole("--encoder-seq-length").value_or(values.whole("--seq-length").value_or(512));
    if (model.position == PositionKind::learned)
        encoder.positions = model.max_positions;
    if (const auto layers = values.whole("--decoder-num-layers");
        layers && *layers >= 1 && *layers <= 10'000)
        reader.draft.take(model.layers, *layers, "model.layers",
                          values.origin("--decoder-num-layers"));
    model.cross_attention = true;
    reader.draft.assume(fmt::format("T5: an encoder of {} layers reads {} tokens beside each "
                                    "sequence of the decoder",
                                    encoder.layers, encoder.tokens));
    model.encoders.push_back(std::move(encoder));
}

} // namespace trainyard
