// Which channel part each layer of a config has, and layers that are two of ours.

#include "sim/base/json.h"
#include "sim/workload/huggingface/pattern.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

// Jamba: of every `period` layers the one at `offset` has experts.
void by_period(LayerReading& reading, std::int64_t period, std::int64_t offset)
{
    for (std::size_t i = 0; period > 1 && i < reading.layers.size(); ++i)
        reading.layers[i].channel = static_cast<std::int64_t>(i) % period == offset % period
                                        ? ChannelKind::experts
                                        : ChannelKind::mlp;
}

void by_flags(LayerReading& reading, const std::string& key)
{
    std::vector<std::int64_t> flags = reading.config.numbers(key);
    if (!reading.fits_list(key, flags))
        return;
    for (std::size_t i = 0; i < flags.size(); ++i)
        reading.layers[i].channel = flags[i] != 0 ? ChannelKind::experts : ChannelKind::mlp;
}

void by_words(LayerReading& reading, const std::string& key)
{
    std::vector<std::string> words = reading.config.texts(key);
    if (!reading.fits_list(key, words))
        return;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool dense = words[i] == "dense" || words[i] == "mlp";
        if (!dense && words[i] != "sparse" && words[i].find("moe") == std::string::npos)
            reading.config.error_at(key, i, fmt::format("unknown kind \"{}\"", words[i]),
                                    "\"sparse\": experts, \"dense\": an MLP");
        reading.layers[i].channel = dense ? ChannelKind::mlp : ChannelKind::experts;
    }
}

// The layers that have what `listed` says; all others have `otherwise`.
void by_list(LayerReading& reading, const std::string& key, ChannelKind listed,
             ChannelKind otherwise)
{
    const std::vector<std::int64_t> numbers = reading.config.numbers(key);
    const std::int64_t all = reading.model.layers + reading.model.prediction_layers;
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (numbers[i] >= all)
            reading.config.error_at(key, i, fmt::format("there is no layer {}", numbers[i]),
                                    fmt::format("from 0 to {}", all - 1));
    // The numbers of those that predict further follow the last layer's.
    reading.dense_further = std::ranges::all_of(
        numbers, [&](std::int64_t number) { return number < reading.model.layers; });
    for (std::size_t i = 0; i < reading.layers.size(); ++i) {
        const bool there =
            std::ranges::find(numbers, static_cast<std::int64_t>(i)) != numbers.end();
        reading.layers[i].channel = there ? listed : otherwise;
    }
}

// Dense layers before all others are a rule of the model's; others are marked.
void dense_list(LayerReading& reading)
{
    const std::vector<std::int64_t> dense = reading.config.numbers("mlp_only_layers");
    bool leading = true;
    for (std::size_t i = 0; i < dense.size(); ++i)
        leading = leading && dense[i] == static_cast<std::int64_t>(i);
    if (leading) {
        if (!dense.empty())
            reading.model.moe->leading_dense_layers = static_cast<int>(dense.size());
        return;
    }
    for (std::size_t i = 0; i < reading.layers.size(); ++i)
        if (std::ranges::find(dense, static_cast<std::int64_t>(i)) != dense.end())
            reading.layers[i].channel = ChannelKind::mlp;
}

// ERNIE: layers after the last with experts.
void dense_end(LayerReading& reading)
{
    const std::string key = "moe_layer_end_index";
    if (const Json* value = reading.config.value(key); value != nullptr && *value == Json(-1))
        return; // the last layer
    const auto last = reading.config.number({key});
    for (std::size_t i = 0; last && i < reading.layers.size(); ++i)
        if (static_cast<std::int64_t>(i) > *last)
            reading.layers[i].channel = ChannelKind::mlp;
}

// Every layer followed by another, as `second` makes it.
template <class Second>
std::vector<LayerForm> doubled(const std::vector<LayerForm>& layers, Second second)
{
    std::vector<LayerForm> all;
    for (const LayerForm& form : layers)
        for (const LayerForm& one : second(form))
            all.push_back(one);
    return all;
}

// Falcon-H1: Mamba and attention read one input and are added. One after the other they take the
// same kernels.
void split_beside(LayerReading& reading)
{
    const RecurrentMixer mamba = mamba_mixer(reading.config, reading.model);
    reading.layers = doubled(reading.layers, [&](const LayerForm& form) {
        LayerForm first;
        LayerReading::make_recurrent(first, mamba);
        first.channel = ChannelKind::none;
        return std::vector<LayerForm>{first, form};
    });
    reading.config.assume("Mamba beside attention in each layer: computed one after the other, as "
                          "two layers, with a norm each");
}

// LongCat: two attentions, each with a dense MLP, and experts beside both.
void split_shortcut(LayerReading& reading)
{
    reading.model.moe->shared_expert_ffn = reading.model.ffn;
    reading.layers = doubled(reading.layers, [](const LayerForm& form) {
        LayerForm first = form;
        first.channel = ChannelKind::experts;
        LayerForm second = form;
        second.channel = ChannelKind::mlp;
        return std::vector<LayerForm>{first, second};
    });
    reading.config.assume("two attentions and dense MLPs with experts beside them in each layer: "
                          "read as two layers, the first with the experts");
}

// Zamba2: before some Mamba layers one of few blocks of attention and MLP, in turn.
void split_shared_blocks(LayerReading& reading)
{
    const std::vector<bool> hybrid = hybrid_layers(reading);
    const std::int64_t blocks = reading.config.number({"num_mem_blocks"}).value_or(1);
    std::vector<LayerForm> all;
    std::int64_t used = 0;
    for (std::size_t i = 0; i < reading.layers.size(); ++i) {
        if (hybrid[i]) {
            LayerForm block;
            block.name = fmt::format("block-{}", 1 + used++ % blocks);
            block.mixer = MixerKind::attention;
            block.channel = ChannelKind::mlp;
            block.shared = true;
            all.push_back(block);
        }
        all.push_back(reading.layers[i]);
    }
    reading.layers = std::move(all);
    reading.config.assume("shared blocks read the embedding beside the state, through adapters and "
                          "a projection of each place: these are not modelled");
}

} // namespace

void read_layer_channels(LayerReading& reading)
{
    HfConfig& config = reading.config;
    if (!reading.model.moe)
        return;
    if (const Json* freq = config.value("moe_layer_freq"); freq != nullptr && freq->is_array())
        return by_flags(reading, "moe_layer_freq");
    if (config.has("mlp_layer_types"))
        return by_words(reading, "mlp_layer_types");
    for (const char* key : {"moe_layers_enum", "moe_layers"})
        if (config.has(key))
            return by_list(reading, key, ChannelKind::experts, ChannelKind::mlp);
    if (const auto period = config.number({"expert_layer_period"}))
        return by_period(reading, *period, config.count({"expert_layer_offset"}, 0));
    dense_list(reading);
    dense_end(reading);
}

void split_layers(LayerReading& reading)
{
    HfConfig& config = reading.config;
    const bool recurrent = std::ranges::any_of(
        reading.layers, [](const LayerForm& form) { return form.recurrence.has_value(); });
    if (config.has("mamba_d_ssm") && !recurrent)
        split_beside(reading);
    else if (config.has("expert_ffn_hidden_size") && config.has("ffn_hidden_size") &&
             reading.model.latent && reading.model.moe)
        split_shortcut(reading);
    else if (recurrent && (config.has("num_mem_blocks") || config.has("attention_hidden_size")))
        split_shared_blocks(reading);
}

} // namespace trainyard
