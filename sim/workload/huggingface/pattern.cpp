#include "sim/workload/huggingface/pattern.h"

#include "sim/base/json.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace trainyard {
namespace {

// The shortest run of layers that, repeated, makes all of them.
std::size_t period_of(const std::vector<LayerForm>& layers)
{
    for (std::size_t period = 1; period < layers.size(); ++period)
        if (layers.size() % period == 0 &&
            std::equal(layers.begin() + static_cast<std::ptrdiff_t>(period), layers.end(),
                       layers.begin()))
            return period;
    return layers.size();
}

std::string name_of(const LayerForm& form, const Transformer& t)
{
    std::string name = form.name;
    const auto add = [&](std::string_view word) {
        name += name.empty() ? std::string(word) : "-" + std::string(word);
    };
    const MixerKind mixer = form.mixer.value_or(t.mixer);
    if (mixer != MixerKind::none && mixer != MixerKind::attention)
        add(to_name(mixer));
    else if (form.key_compression)
        add(fmt::format("compressed-{}", *form.key_compression));
    else if (form.sliding_window.value_or(0) > 0)
        add("window");
    else if (form.attention_chunk.value_or(0) > 0)
        add("chunk");
    else if (mixer == MixerKind::attention)
        add("attention");
    if (form.channel == ChannelKind::experts)
        add("experts");
    else if (form.channel == ChannelKind::mlp || form.ffn)
        add(form.ffn ? fmt::format("mlp-{}", *form.ffn) : "mlp");
    return name.empty() ? "nothing" : name;
}

// The kinds of layer, each named once, and the pattern that they make.
void store(const std::vector<LayerForm>& layers, Transformer& t)
{
    const LayerForm plain;
    if (std::ranges::all_of(layers, [&](const LayerForm& form) { return form == plain; }))
        return;
    std::vector<LayerForm> kinds; // as read, in the order of `layer_forms`
    const std::size_t period = period_of(layers);
    for (std::size_t i = 0; i < period; ++i) {
        const auto alike = std::ranges::find(kinds, layers[i]);
        if (alike != kinds.end()) {
            t.pattern.push_back(
                t.layer_forms[static_cast<std::size_t>(alike - kinds.begin())].name);
            continue;
        }
        kinds.push_back(layers[i]);
        LayerForm form = layers[i];
        const std::string name = name_of(form, t);
        form.name = name;
        for (int number = 2;
             std::ranges::find(t.layer_forms, form.name, &LayerForm::name) != t.layer_forms.end();
             ++number)
            form.name = fmt::format("{}-{}", name, number);
        t.pattern.push_back(form.name);
        t.layer_forms.push_back(std::move(form));
    }
    // One kind of window for all layers is the model's own.
    if (t.layer_forms.size() > 1 || !t.layer_forms.front().sliding_window)
        t.sliding_window = 0;
}

// Layers that predict further are as the last of these layers with an MLP.
void extend_with_dense(const LayerReading& reading)
{
    Transformer& t = reading.model;
    const auto last =
        std::find_if(reading.layers.rbegin(), reading.layers.rend(), [&](const LayerForm& form) {
            return form.channel == ChannelKind::mlp &&
                   form.mixer.value_or(t.mixer) == MixerKind::attention;
        });
    if (!reading.dense_further || t.prediction_layers == 0 || last == reading.layers.rend())
        return;
    const std::vector<std::string> period = t.pattern;
    const auto name = [&](std::ptrdiff_t layer) {
        return period[static_cast<std::size_t>(layer) % period.size()];
    };
    for (int layer = static_cast<int>(period.size()); layer < t.layers; ++layer)
        t.pattern.push_back(name(layer));
    t.pattern.insert(t.pattern.end(), static_cast<std::size_t>(t.prediction_layers),
                     name(reading.layers.rend() - last - 1));
}

// Keys that speak of mixers, where no layer was read as having one.
void say_what_is_not_read(const LayerReading& reading)
{
    const bool any = std::ranges::any_of(
        reading.layers, [](const LayerForm& form) { return form.recurrence.has_value(); });
    if (any)
        return;
    std::vector<std::string> keys;
    for (const char* part : {"mamba", "ssm_", "lru_", "conv_L", "short_conv", "block_types",
                             "linear_attn", "linear_num", "recurrent"})
        for (const std::string& key : reading.config.keys_with_part(part))
            if (reading.config.has(key) && std::ranges::find(keys, key) == keys.end())
                keys.push_back(key);
    if (!keys.empty())
        reading.config.assume(fmt::format(
            "layers that \"{}\" may speak of are not told apart: all are read as attention",
            fmt::join(keys, "\", \"")));
}

} // namespace

bool LayerReading::fits(const std::string& key, std::size_t entries) const
{
    if (entries == layers.size())
        return true;
    config.error_at(key, fmt::format("{} entries for {} layers", entries, layers.size()),
                    "one entry per layer");
    return false;
}

void LayerReading::make_recurrent(LayerForm& form, const RecurrentMixer& mixer)
{
    form.mixer = mixer.kind;
    form.recurrence = mixer.sizes;
}

void LayerReading::see_all(LayerForm& form) const
{
    if (model.sliding_window > 0)
        form.sliding_window = 0;
    if (model.attention_chunk > 0)
        form.attention_chunk = 0;
    if (const auto heads = config.number({"num_global_key_value_heads"}))
        form.kv_heads = static_cast<int>(*heads);
    if (const auto size = config.number({"global_head_dim"}))
        form.head_dim = *size;
    if (config.flag("attention_k_eq_v", false))
        form.shared_key_value = true;
}

void LayerReading::see_window(LayerForm& form) const
{
    form.sliding_window = model.sliding_window;
    if (model.attention_chunk > 0)
        form.attention_chunk = 0;
    if (const Json* own = config.value("attention_other_setting");
        own != nullptr && own->is_object()) {
        HfConfig other(config.reader().member("attention_other_setting"));
        if (const auto heads = other.number({"num_attention_heads"}))
            form.heads = static_cast<int>(*heads);
        if (const auto heads = other.number({"num_attention_groups"}))
            form.kv_heads = static_cast<int>(*heads);
        if (const auto size = other.number({"head_dim"}))
            form.head_dim = *size;
    }
    const auto differs = [&](const char* key, std::int64_t usual) {
        const auto size = config.number({key});
        return size && *size != usual ? size : std::nullopt;
    };
    if (const auto heads = differs("swa_num_attention_heads", model.heads))
        form.heads = static_cast<int>(*heads);
    if (const auto heads = config.number({"swa_num_key_value_heads"}))
        form.kv_heads = static_cast<int>(*heads);
    if (const auto size = differs("swa_head_dim", model.head_dim))
        form.head_dim = *size;
    if (differs("swa_v_head_dim", model.value_dim()))
        config.assume("values of layers with a window are as wide as those of the others");
}

bool LayerReading::has_window_size(const std::string& key, std::size_t entry) const
{
    if (model.sliding_window > 0)
        return true;
    config.error_at(key, entry, "a layer with a sliding window, whose size is not given",
                    "\"sliding_window\": keys that a query sees, at least 1");
    return false;
}

void read_pattern(HfConfig& config, Transformer& model)
{
    LayerReading reading{config, model,
                         std::vector<LayerForm>(static_cast<std::size_t>(model.layers))};
    const std::size_t before = config.reader().error_count();
    read_layer_mixers(reading);
    read_layer_channels(reading);
    read_layer_sizes(reading);
    if (config.reader().error_count() != before)
        return;
    split_layers(reading);
    say_what_is_not_read(reading);
    model.layers = static_cast<int>(reading.layers.size());
    store(reading.layers, model);
    extend_with_dense(reading);
}

} // namespace trainyard
