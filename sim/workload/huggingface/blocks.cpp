// Sizes that a config states for each layer by itself.

#include "sim/base/json.h"
#include "sim/base/words.h"
#include "sim/workload/huggingface/pattern.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

constexpr const char* block_list = "block_configs";

bool says(const Json* part, const char* key)
{
    const Json* word = part != nullptr && part->is_object() ? part->find(key) : nullptr;
    return word != nullptr && word->is_bool() && word->as_bool();
}

// A number of a block's part that must be whole and above 0; null or absent: nothing.
const Json* member_of(const Json* part, const char* key)
{
    const Json* value = part != nullptr && part->is_object() ? part->find(key) : nullptr;
    return value != nullptr && !value->is_null() ? value : nullptr;
}

void read_attention(LayerReading& reading, const Json* attention, std::size_t layer)
{
    LayerForm& form = reading.layers[layer];
    const int heads = reading.model.heads;
    if (says(attention, "no_op") || says(attention, "replace_with_linear")) {
        form.mixer = MixerKind::none;
        if (says(attention, "replace_with_linear"))
            reading.config.assume(
                fmt::format("layer {}: a matrix in place of attention is left out", layer));
        return;
    }
    if (const Json* keys = member_of(attention, "num_key_value_heads");
        keys != nullptr && keys->is_integer() && keys->as_integer() >= 1 &&
        keys->as_integer() <= heads)
        form.kv_heads = static_cast<int>(keys->as_integer());
    const Json* group = member_of(attention, "n_heads_in_group");
    if (group == nullptr)
        return;
    const std::int64_t size = group->is_integer() ? group->as_integer() : 0;
    if (size < 1 || size > heads || heads % size != 0)
        return reading.config.error_at(
            block_list, layer,
            group->is_integer()
                ? fmt::format("groups of {} heads do not divide the {} query heads", size, heads)
                : fmt::format("expected a whole number of heads, found {}", group->kind_name()),
            "\"n_heads_in_group\": a divisor of the query heads");
    form.kv_heads = heads / static_cast<int>(size);
}

// "ffn_mult" times the hidden size, of which gated MLPs take two thirds, rounded up to 256.
void read_channel(LayerReading& reading, const Json* ffn, std::size_t layer)
{
    LayerForm& form = reading.layers[layer];
    if (says(ffn, "no_op")) {
        form.channel = ChannelKind::none;
        return;
    }
    if (const Json* width = member_of(ffn, "intermediate_size");
        width != nullptr && width->is_integer() && width->as_integer() >= 1 &&
        width->as_integer() <= HfConfig::largest_size)
    {
        form.ffn = width->as_integer();
        return;
    }
    const Json* times = member_of(ffn, "ffn_mult");
    if (times == nullptr)
        return;
    if (!times->is_number() || !(times->as_double() > 0) || !(times->as_double() < 1000))
        return reading.config.error_at(block_list, layer,
                                       "a feed-forward size that is no multiple of the hidden one",
                                       "\"ffn_mult\": a number above 0, below 1000");
    constexpr std::int64_t multiple = 256;
    const auto size = static_cast<std::int64_t>(2.0 * times->as_double() *
                                                static_cast<double>(reading.model.hidden) / 3);
    form.ffn = (size + multiple - 1) / multiple * multiple;
}

// OpenELM: multiples of the hidden size, to the nearest of a divisor, never far below.
std::vector<std::int64_t> multiplied(LayerReading& reading)
{
    std::vector<std::int64_t> sizes;
    const Json* list = reading.config.value("ffn_multipliers");
    if (list == nullptr || !list->is_array())
        return sizes;
    const std::int64_t divisor = reading.config.number({"ffn_dim_divisor"}).value_or(256);
    for (std::size_t i = 0; i < list->items().size(); ++i) {
        const Json& times = list->items()[i];
        if (!times.is_number() || !(times.as_double() > 0) || !(times.as_double() < 1000)) {
            reading.config.error_at("ffn_multipliers", i, "expected a number above 0",
                                    "times the hidden size");
            return {};
        }
        const double exact = times.as_double() * static_cast<double>(reading.model.hidden);
        std::int64_t size =
            std::max(divisor, static_cast<std::int64_t>(exact + static_cast<double>(divisor) / 2) /
                                  divisor * divisor);
        constexpr double least = 0.9;
        if (static_cast<double>(size) < least * exact)
            size += divisor;
        sizes.push_back(size);
    }
    return sizes;
}

// The last layers attend to keys of earlier ones (Gemma 4), and have MLPs twice as wide.
void read_earlier_keys(LayerReading& reading)
{
    HfConfig& config = reading.config;
    const std::int64_t sharing = config.count({"num_kv_shared_layers"}, 0);
    // Gemma 3n has the matrices in all layers and uses them in training.
    if (sharing == 0 || config.has("altup_num_inputs"))
        return;
    const std::int64_t first = reading.model.layers - sharing;
    const bool wide = config.flag("use_double_wide_mlp", false);
    for (std::size_t i = 0; i < reading.layers.size(); ++i)
        if (first > 0 && static_cast<std::int64_t>(i) >= first) {
            reading.layers[i].earlier_keys = true;
            if (wide)
                reading.layers[i].ffn = 2 * reading.model.ffn;
        }
}

// A window for each layer, null where it sees all keys (Phi-4-mini-flash).
void read_windows(LayerReading& reading)
{
    std::vector<std::int64_t> windows = reading.config.sizes({"sliding_window"});
    if (windows.empty() || !reading.fits_list("sliding_window", windows))
        return;
    for (std::size_t i = 0; i < windows.size(); ++i)
        reading.layers[i].sliding_window = windows[i];
}

// "per_layer_config": what differs, by the layer's number (transformers 5).
void read_own_config(LayerReading& reading, std::size_t layer, const std::string& key,
                     const Json& value)
{
    LayerForm& form = reading.layers[layer];
    const std::int64_t size =
        value.is_integer() ? std::clamp<std::int64_t>(value.as_integer(), 0, HfConfig::largest_size)
                           : 0;
    const auto of_latent = [&](std::int64_t LatentAttention::*part) {
        LatentAttention latent = form.latent.value_or(*reading.model.latent);
        latent.*part = size;
        form.latent = latent;
    };
    if (key == "sliding_window")
        form.sliding_window = size;
    else if (size == 0)
        reading.config.assume(fmt::format("layer {}: \"{}\" is not read", layer, key));
    else if (key == "head_dim")
        form.head_dim = size;
    else if (key == "intermediate_size")
        form.ffn = size;
    else if (key == "num_attention_heads")
        form.heads = static_cast<int>(size);
    else if (key == "num_key_value_heads")
        form.kv_heads = static_cast<int>(size);
    else if (key == "kv_lora_rank" && reading.model.latent)
        of_latent(&LatentAttention::kv_lora_rank);
    else if (key == "q_lora_rank" && reading.model.latent)
        of_latent(&LatentAttention::q_lora_rank);
    else if (key == "qk_nope_head_dim" && reading.model.latent)
        of_latent(&LatentAttention::qk_nope_head_dim);
    else if (key == "v_head_dim" && reading.model.latent)
        of_latent(&LatentAttention::v_head_dim);
    else
        reading.config.assume(fmt::format("layer {}: \"{}\" is not read", layer, key));
}

void read_own_configs(LayerReading& reading)
{
    const std::string list = "per_layer_config";
    const Json* layers = reading.config.value(list);
    if (layers == nullptr || !layers->is_object())
        return;
    for (const Json::Member& member : layers->members()) {
        const auto layer = to_number<std::size_t>(member.first);
        if (!layer || *layer >= reading.layers.size() || !member.second.is_object())
            return reading.config.error_at(
                list, fmt::format("\"{}\" is no layer of this model", member.first),
                fmt::format("from 0 to {}, with what differs", reading.layers.size() - 1));
        for (const Json::Member& own : member.second.members())
            read_own_config(reading, *layer, own.first, own.second);
    }
}

} // namespace

void read_layer_blocks(LayerReading& reading)
{
    const Json* list = reading.config.value(block_list);
    if (!list->is_array())
        return reading.config.error_at(
            block_list, fmt::format("expected a list of the layers, found {}", list->kind_name()),
            "an object with \"attention\" and \"ffn\" per layer");
    if (!reading.fits(block_list, list->items().size()))
        return;
    for (std::size_t i = 0; i < list->items().size(); ++i) {
        const Json& block = list->items()[i];
        if (!block.is_object()) {
            reading.config.error_at(block_list, i,
                                    fmt::format("expected an object, found {}", block.kind_name()),
                                    "with \"attention\" and \"ffn\"");
            continue;
        }
        read_attention(reading, block.find("attention"), i);
        read_channel(reading, block.find("ffn"), i);
    }
}

void read_layer_sizes(LayerReading& reading)
{
    HfConfig& config = reading.config;
    const auto each = [&](const HfConfig::Aliases& aliases, auto set) {
        std::vector<std::int64_t> sizes = config.sizes(aliases);
        if (sizes.empty() ||
            std::ranges::all_of(sizes, [&](std::int64_t size) { return size == sizes.front(); }))
            return;
        if (!reading.fits_list(aliases.front(), sizes))
            return;
        for (std::size_t i = 0; i < sizes.size(); ++i)
            if (sizes[i] < 1)
                config.error_at(aliases.front(), i, "a layer of size 0", "at least 1");
            else
                set(reading.layers[i], sizes[i]);
    };
    const auto heads = [](LayerForm& form, std::int64_t size) {
        form.heads = static_cast<int>(size);
    };
    const auto key_heads = [](LayerForm& form, std::int64_t size) {
        form.kv_heads = static_cast<int>(size);
    };
    const auto width = [](LayerForm& form, std::int64_t size) { form.ffn = size; };
    for (const char* key :
         {"num_attention_heads", "num_query_heads", "num_attention_heads_per_layer"})
        each({key}, heads);
    for (const char* key : {"num_key_value_heads", "num_kv_heads", "num_key_value_heads_per_layer"})
        each({key}, key_heads);
    for (const char* key : {"intermediate_size", "ffn_dim"})
        each({key}, width);
    std::vector<std::int64_t> widths = multiplied(reading);
    if (!widths.empty() && reading.fits_list("ffn_multipliers", widths))
        for (std::size_t i = 0; i < widths.size(); ++i)
            reading.layers[i].ffn = widths[i];
    read_windows(reading);
    read_earlier_keys(reading);
    read_own_configs(reading);
}

} // namespace trainyard
