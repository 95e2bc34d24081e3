// Which mixer each layer of a config has.

#include "sim/base/json.h"
#include "sim/base/words.h"
#include "sim/workload/huggingface/pattern.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

// Nemotron-H: a letter is a layer of one part.
void letters(LayerReading& reading)
{
    const std::string key = "hybrid_override_pattern";
    std::string word = reading.config.text(key);
    std::erase(word, '|');
    if (!reading.fits_list(key, word))
        return;
    const bool any = word.find('M') != std::string::npos;
    const RecurrentMixer mamba =
        any ? mamba_mixer(reading.config, reading.model) : RecurrentMixer{};
    for (std::size_t i = 0; i < word.size(); ++i) {
        LayerForm& form = reading.layers[i];
        form.channel = ChannelKind::none;
        if (word[i] == 'M') {
            LayerReading::make_recurrent(form, mamba);
        } else if (word[i] == '*') {
            form.mixer = MixerKind::attention;
        } else if (word[i] == '-' || word[i] == 'E') {
            form.mixer = MixerKind::none;
            form.channel = word[i] == 'E' ? ChannelKind::experts : ChannelKind::mlp;
        } else {
            return reading.config.error_at(key, fmt::format("unknown letter '{}'", word[i]),
                                           "M: Mamba-2, *: attention, -: MLP, E: experts");
        }
    }
}

// Mamba without anything else.
void all_mamba(LayerReading& reading)
{
    const RecurrentMixer mamba = mamba_mixer(reading.config, reading.model);
    for (LayerForm& form : reading.layers) {
        LayerReading::make_recurrent(form, mamba);
        form.channel = ChannelKind::none;
    }
}

// Layers are numbered from 1.
void kimi_linear(LayerReading& reading)
{
    const RecurrentMixer kda = kimi_delta(reading.config, reading.model);
    const std::vector<std::int64_t> numbers = reading.config.numbers("kda_layers");
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (numbers[i] < 1 || numbers[i] > reading.model.layers)
            reading.config.error_at("kda_layers", i,
                                    fmt::format("there is no layer {}", numbers[i]),
                                    fmt::format("from 1 to {}", reading.model.layers));
        else
            LayerReading::make_recurrent(reading.layers[static_cast<std::size_t>(numbers[i] - 1)],
                                         kda);
    reading.config.has("full_attn_layers");
}

// One number per layer: 0 means a recurrent mixer (MiniMax).
void by_number(LayerReading& reading)
{
    const std::string key = "attn_type_list";
    std::vector<std::int64_t> kinds = reading.config.numbers(key);
    if (!reading.fits_list(key, kinds))
        return;
    for (std::size_t i = 0; i < kinds.size(); ++i)
        if (kinds[i] == 0)
            LayerReading::make_recurrent(reading.layers[i],
                                         linear_mixer(reading.config, reading.model));
}

// Every n-th layer attends.
void every(LayerReading& reading, std::int64_t interval, const RecurrentMixer& mixer)
{
    for (std::size_t i = 0; i < reading.layers.size(); ++i)
        if ((static_cast<std::int64_t>(i) + 1) % interval != 0)
            LayerReading::make_recurrent(reading.layers[i], mixer);
}

// Ring: the last of each group attends, and the layers after the last whole group.
void groups(LayerReading& reading)
{
    const auto group = static_cast<std::size_t>(reading.config.required({"layer_group_size"}));
    const std::size_t grouped = reading.layers.size() / group * group;
    for (std::size_t i = 0; i < grouped; ++i)
        if ((i + 1) % group != 0)
            LayerReading::make_recurrent(reading.layers[i], lightning(reading.model));
}

void jamba(LayerReading& reading)
{
    const auto period = static_cast<std::size_t>(reading.config.required({"attn_layer_period"}));
    const auto offset = static_cast<std::size_t>(reading.config.count({"attn_layer_offset"}, 0));
    const RecurrentMixer mamba = mamba_mixer(reading.config, reading.model);
    for (std::size_t i = 0; i < reading.layers.size(); ++i)
        if (i % period != offset % period)
            LayerReading::make_recurrent(reading.layers[i], mamba);
}

// Of every `period` layers the first is Mamba's (Phi-4-mini-flash).
void first_of_period(LayerReading& reading)
{
    const auto period = static_cast<std::size_t>(reading.config.required({"mb_per_layer"}));
    const RecurrentMixer mamba = mamba_mixer(reading.config, reading.model);
    for (std::size_t i = 0; i < reading.layers.size(); i += period)
        LayerReading::make_recurrent(reading.layers[i], mamba);
    reading.config.assume("layers of the upper half that gate an earlier layer's memory, or attend "
                          "to its keys, have mixers of their own");
}

// The layers that attend are listed (Bamba, LFM2).
void listed_attention(LayerReading& reading, const std::string& key, const RecurrentMixer& mixer)
{
    const std::vector<std::int64_t> attending = reading.config.numbers(key);
    for (std::size_t i = 0; i < attending.size(); ++i)
        if (attending[i] >= reading.model.layers)
            return reading.config.error_at(key, i,
                                           fmt::format("there is no layer {}", attending[i]),
                                           fmt::format("from 0 to {}", reading.model.layers - 1));
    for (std::size_t i = 0; i < reading.layers.size(); ++i)
        if (std::ranges::find(attending, static_cast<std::int64_t>(i)) == attending.end())
            LayerReading::make_recurrent(reading.layers[i], mixer);
}

// Griffin: a period of words.
void block_period(LayerReading& reading)
{
    const std::vector<std::string> words = reading.config.texts("block_types");
    const RecurrentMixer unit = real_gated_unit(reading.config, reading.model);
    for (std::size_t i = 0; !words.empty() && i < reading.layers.size(); ++i) {
        const std::string& word = words[i % words.size()];
        if (word == "recurrent")
            LayerReading::make_recurrent(reading.layers[i], unit);
        else if (word == "attention" && reading.model.sliding_window > 0)
            reading.see_window(reading.layers[i]);
        else if (word != "attention")
            return reading.config.error_at("block_types", i % words.size(),
                                           fmt::format("unknown kind \"{}\"", word),
                                           "\"recurrent\" or \"attention\"");
    }
}

// Llama 4: layers without rotary positions see all keys, the others their chunk.
void chunks(LayerReading& reading)
{
    const std::int64_t chunk = reading.config.required({"attention_chunk_size"});
    std::vector<std::int64_t> rotary = reading.config.numbers("no_rope_layers");
    if (!rotary.empty() && !reading.fits_list("no_rope_layers", rotary))
        return;
    const auto interval =
        static_cast<std::size_t>(reading.config.number({"no_rope_layer_interval"}).value_or(4));
    for (std::size_t i = 0; i < reading.layers.size(); ++i) {
        const bool sees_all = rotary.empty() ? (i + 1) % interval == 0 : rotary[i] == 0;
        if (sees_all)
            reading.layers[i].position = PositionKind::none;
        else
            reading.layers[i].attention_chunk = chunk;
    }
}

void windows_by_number(LayerReading& reading)
{
    const std::string key = "hybrid_layer_pattern";
    std::vector<std::int64_t> kinds = reading.config.numbers(key);
    if (!reading.fits_list(key, kinds))
        return;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (kinds[i] == 0)
            reading.see_all(reading.layers[i]);
        else if (reading.has_window_size(key, i))
            reading.see_window(reading.layers[i]);
    }
}

// Tokens that are made one key, of each layer: by itself or by its type.
std::vector<std::int64_t> compress_ratios(HfConfig& config, const std::string& key)
{
    const Json* by_type = config.value("compress_rates");
    if (config.has(key) || by_type == nullptr)
        return config.numbers(key);
    std::vector<std::int64_t> ratios;
    for (const std::string& type : config.texts("layer_types")) {
        const Json* rate = by_type->is_object() ? by_type->find(type) : nullptr;
        const bool stated = rate != nullptr && rate->is_integer() && rate->as_integer() >= 0 &&
                            rate->as_integer() <= HfConfig::largest_size;
        ratios.push_back(stated ? rate->as_integer() : 0);
    }
    return ratios;
}

// DeepSeek-V4: keys of `ratio` tokens are made one; 0: a window alone. Small ratios choose among
// them.
void compressed(LayerReading& reading)
{
    HfConfig& config = reading.config;
    const std::string key = config.has("compress_ratios") ? "compress_ratios" : "layer_types";
    const std::vector<std::int64_t> ratios = compress_ratios(config, "compress_ratios");
    const std::size_t all =
        reading.layers.size() + static_cast<std::size_t>(reading.model.prediction_layers);
    if (ratios.size() != all && !reading.fits(key, ratios.size()))
        return;
    const bool picks = config.has("index_topk");
    for (std::size_t i = 0; i < reading.layers.size(); ++i) {
        LayerForm& form = reading.layers[i];
        if (!reading.has_window_size(key, i))
            return;
        form.sliding_window = reading.model.sliding_window;
        if (ratios[i] < 2)
            continue;
        form.key_compression = static_cast<int>(ratios[i]);
        // Only keys of few tokens are so many that some are picked.
        constexpr std::int64_t coarse = 32;
        if (picks && ratios[i] < coarse)
            form.indexer =
                SparseIndexer{static_cast<int>(config.required({"index_n_heads"})),
                              config.required({"index_head_dim"}), config.required({"index_topk"})};
    }
}

// MiniMax-M3: few heads score blocks of keys, in the layers that the list says.
void sparse_blocks(LayerReading& reading)
{
    HfConfig& config = reading.config;
    SparseIndexer indexer;
    indexer.heads = static_cast<int>(config.required({"sparse_num_index_heads"}));
    indexer.head_dim = config.required({"sparse_index_dim"});
    indexer.keys_per_query =
        config.required({"sparse_topk_blocks"}) * config.required({"sparse_block_size"});
    const std::string key = "sparse_attention_freq";
    std::vector<std::int64_t> sparse = config.numbers(key);
    if (!sparse.empty() && !reading.fits_list(key, sparse))
        return;
    for (std::size_t i = 0; i < reading.layers.size(); ++i)
        if (sparse.empty() || sparse[i] != 0)
            reading.layers[i].indexer = indexer;
    for (const char* also : {"use_sparse_attention", "sparse_disable_index_value",
                             "sparse_score_type", "sparse_init_block", "sparse_local_block"})
        config.has(also);
}

// "LLLG": local and global.
void window_letters(LayerReading& reading, const std::string& word)
{
    const std::string key = "sliding_window_pattern";
    for (std::size_t i = 0; i < word.size(); ++i)
        if (word[i] != 'L' && word[i] != 'G')
            return reading.config.error_at(key, fmt::format("unknown letter '{}'", word[i]),
                                           "L: a sliding window, G: all keys");
    for (std::size_t i = 0; !word.empty() && i < reading.layers.size(); ++i) {
        if (word[i % word.size()] == 'G')
            reading.see_all(reading.layers[i]);
        else if (reading.model.sliding_window > 0)
            reading.see_window(reading.layers[i]);
        else
            return reading.config.error_at(
                key, "layers with a sliding window, whose size is not given",
                "\"sliding_window\": keys that a query sees, at least 1");
    }
}

// GPT-Neo: [[["global", "local"], 12]], local layers see a window.
void attention_types(LayerReading& reading)
{
    const std::string key = "attention_types";
    const std::int64_t window = reading.config.number({"window_size"}).value_or(256);
    const Json* runs = reading.config.value(key);
    std::size_t layer = 0;
    const auto is_run = [](const Json& run) {
        return run.is_array() && run.items().size() == 2 && run.items()[0].is_array() &&
               run.items()[1].is_integer();
    };
    if (!runs->is_array() || !std::ranges::all_of(runs->items(), is_run))
        return reading.config.error_at(key, "expected a list of kinds and how often they repeat",
                                       "e.g. [[[\"global\", \"local\"], 12]]");
    for (const Json& run : runs->items())
        for (std::int64_t i = 0; i < run.items()[1].as_integer(); ++i)
            for (const Json& word : run.items()[0].items()) {
                if (layer < reading.layers.size() && word.is_string() &&
                    word.as_string() == "local")
                    reading.layers[layer].sliding_window = window;
                if (++layer > reading.layers.size()) {
                    reading.fits(key, layer);
                    return;
                }
            }
    reading.fits(key, layer);
}

// ModernBERT: every n-th layer from the first sees all tokens.
void local_attention(LayerReading& reading)
{
    const std::int64_t window = reading.config.required({"local_attention"});
    const auto interval =
        static_cast<std::size_t>(reading.config.required({"global_attn_every_n_layers"}));
    for (std::size_t i = 0; i < reading.layers.size(); ++i)
        if (i % interval != 0)
            reading.layers[i].sliding_window = window;
}

// Qwen: the first layers see all keys.
void upper_windows(LayerReading& reading)
{
    const std::int64_t first = reading.config.count({"max_window_layers"}, 0);
    for (std::size_t i = 0; i < reading.layers.size(); ++i)
        if (static_cast<std::int64_t>(i) < first)
            reading.see_all(reading.layers[i]);
        else
            reading.see_window(reading.layers[i]);
}

void window_pattern(LayerReading& reading)
{
    const Json* windows = reading.config.value("sliding_window_pattern");
    if (windows != nullptr && windows->is_string())
        window_letters(reading, windows->as_string());
    else if (windows != nullptr && reading.model.sliding_window > 0)
        reading.model.full_attention_every = static_cast<int>(
            reading.config.number({"sliding_window_pattern"}, reading.model.layers).value_or(0));
}

// "hybrid" is of Mamba where the config has such, else of attention.
bool is_mamba(HfConfig& config, const std::string& type)
{
    return type == "mamba" || (type == "hybrid" && states_mamba(config));
}

bool sees_window(const std::string& type)
{
    return type.find("sliding") != std::string::npos || type == "window_attention" ||
           type == "local_attention";
}

// Types of attention to all keys, or to those that an indexer picks.
bool sees_all_keys(std::string_view type)
{
    constexpr std::string_view names =
        "full_attention attention global_attention hybrid indexed_attention latent_attention "
        "sparse_attention deepseek_sparse_attention";
    return has_word(names, type);
}

bool read_type(LayerReading& reading, LayerForm& form, const std::string& type,
               const std::string& key, std::size_t entry)
{
    HfConfig& config = reading.config;
    const Transformer& t = reading.model;
    if (type == "linear_attention") {
        LayerReading::make_recurrent(form, linear_mixer(config, t));
    } else if (is_mamba(config, type)) {
        LayerReading::make_recurrent(form, mamba_mixer(config, t));
    } else if (type == "conv" || type == "short_conv") {
        LayerReading::make_recurrent(form, short_convolution(config, t));
    } else if (type == "recurrent") {
        LayerReading::make_recurrent(form, real_gated_unit(config, t));
    } else if (type == "moe" || type == "mlp") {
        form.mixer = MixerKind::none;
        form.channel = type == "moe" ? ChannelKind::experts : ChannelKind::mlp;
    } else if (sees_window(type)) {
        if (!reading.has_window_size(key, entry))
            return false;
        reading.see_window(form);
    } else if (type == "chunked_attention") {
        form.attention_chunk = config.required({"attention_chunk_size"});
    } else {
        const std::string sentence =
            fmt::format("layers of type \"{}\" are read as full attention", type);
        if (!sees_all_keys(type) && !config.assumes(sentence))
            config.assume(sentence);
        reading.see_all(form);
    }
    return true;
}

// Layers without an indexer of their own see the keys that the last one before them picked: a
// window of as many.
void share_choices(LayerReading& reading)
{
    const std::string key = "indexer_types";
    if (!reading.model.indexer || !reading.config.has(key))
        return;
    std::vector<std::string> types = reading.config.texts(key);
    if (!reading.fits_list(key, types) || std::ranges::find(types, "shared") == types.end())
        return;
    for (std::size_t i = 0; i < types.size(); ++i)
        if (types[i] == "shared")
            reading.layers[i].sliding_window = reading.model.indexer->keys_per_query;
        else
            reading.layers[i].indexer = reading.model.indexer;
    reading.model.indexer.reset();
    reading.config.assume(
        "layers that attend to what an earlier indexer picked are read as windows "
        "of as many keys");
}

// Zamba2 without the types of its layers: all are Mamba's.
void mamba_with_blocks(LayerReading& reading)
{
    const RecurrentMixer mamba = mamba_mixer(reading.config, reading.model);
    for (LayerForm& form : reading.layers) {
        LayerReading::make_recurrent(form, mamba);
        form.channel = ChannelKind::none;
    }
    if (!reading.config.has("hybrid_layer_ids"))
        reading.config.error_at("num_mem_blocks",
                                "which layers have a shared block before them is not said",
                                "give \"hybrid_layer_ids\", or \"layers_block_type\" with "
                                "\"mamba\" or \"hybrid\" for each layer");
}

} // namespace

std::vector<bool> hybrid_layers(const LayerReading& reading)
{
    std::vector<bool> hybrid(reading.layers.size(), false);
    if (reading.config.has("layers_block_type")) {
        std::vector<std::string> types = reading.config.texts("layers_block_type");
        for (std::size_t i = 0; i < types.size() && i < hybrid.size(); ++i)
            hybrid[i] = types[i] == "hybrid";
        return hybrid;
    }
    const std::string key = "hybrid_layer_ids";
    const std::vector<std::int64_t> listed = reading.config.numbers(key);
    for (std::size_t i = 0; i < listed.size(); ++i)
        if (listed[i] < reading.model.layers)
            hybrid[static_cast<std::size_t>(listed[i])] = true;
        else
            reading.config.error_at(key, i, fmt::format("there is no layer {}", listed[i]),
                                    fmt::format("from 0 to {}", reading.model.layers - 1));
    return hybrid;
}

void read_layer_types(LayerReading& reading, const std::string& key)
{
    std::vector<std::string> types = reading.config.texts(key);
    if (!reading.fits_list(key, types))
        return;
    // Where MLPs are layers of their own, or blocks between the layers, mixers are alone.
    const bool apart = std::ranges::any_of(types, [&](const std::string& type) {
        return type == "moe" || type == "mlp" ||
               (type == "hybrid" && is_mamba(reading.config, type));
    });
    for (std::size_t i = 0; i < types.size(); ++i) {
        if (!read_type(reading, reading.layers[i], types[i], key, i))
            return;
        if (apart && !reading.layers[i].channel)
            reading.layers[i].channel = ChannelKind::none;
    }
}

void read_layer_mixers(LayerReading& reading)
{
    HfConfig& config = reading.config;
    const Transformer& t = reading.model;
    if (config.has("hybrid_override_pattern"))
        return letters(reading);
    if (config.has("block_configs"))
        return read_layer_blocks(reading);
    if (is_all_recurrent(config))
        return all_mamba(reading);
    if (config.has("compress_ratios") || config.has("compress_rates"))
        return compressed(reading);
    if (config.has("sparse_topk_blocks"))
        return sparse_blocks(reading);
    if (config.has("mamba_d_ssm")) // beside attention in every layer
        return;
    for (const char* key : {"layer_types", "layers_block_type"})
        if (config.has(key)) {
            read_layer_types(reading, key);
            return share_choices(reading);
        }
    if (config.has("num_mem_blocks") && states_mamba(config))
        return mamba_with_blocks(reading);
    if (config.has("kda_layers"))
        return kimi_linear(reading);
    if (config.has("attn_type_list"))
        return by_number(reading);
    if (config.has("full_attention_interval"))
        return every(reading, config.required({"full_attention_interval"}),
                     gated_delta_net(config));
    if (config.has("layer_group_size"))
        return groups(reading);
    if (config.has("mb_per_layer") && states_mamba(config))
        return first_of_period(reading);
    if (config.has("attn_layer_period"))
        return jamba(reading);
    // Null: no layer attends.
    if (config.reader().node().find("attn_layer_indices") != nullptr && states_mamba(config))
        return listed_attention(reading, "attn_layer_indices", mamba_mixer(config, t));
    if (config.has("full_attn_idxs") && config.has("conv_L_cache"))
        return listed_attention(reading, "full_attn_idxs", short_convolution(config, t));
    if (config.has("block_types"))
        return block_period(reading);
    if (config.has("hybrid_layer_pattern"))
        return windows_by_number(reading);
    if (config.has("attention_chunk_size"))
        return chunks(reading);
    if (config.has("attention_types"))
        return attention_types(reading);
    if (config.has("global_attn_every_n_layers") && config.has("local_attention"))
        return local_attention(reading);
    if (t.sliding_window > 0 && config.flag("use_sliding_window", false) &&
        config.has("max_window_layers"))
        return upper_windows(reading);
    window_pattern(reading);
}

} // namespace trainyard
