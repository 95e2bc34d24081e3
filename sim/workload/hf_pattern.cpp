// Which layers of a Hugging Face config are of which kind.

#include "sim/base/json.h"
#include "sim/workload/huggingface.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

// Sizes of the config's recurrent mixer, told by its keys.
struct RecurrentMixer {
    MixerKind kind = MixerKind::lightning_attention;
    Recurrence sizes;
};

RecurrentMixer gated_delta_net(HfConfig& config)
{
    RecurrentMixer mixer{MixerKind::gated_delta_net, {}};
    mixer.sizes.key_heads = static_cast<int>(config.required({"linear_num_key_heads"}));
    mixer.sizes.heads = static_cast<int>(config.required({"linear_num_value_heads"}));
    mixer.sizes.key_dim = config.required({"linear_key_head_dim"});
    mixer.sizes.value_dim = config.required({"linear_value_head_dim"});
    mixer.sizes.convolution = static_cast<int>(config.count({"linear_conv_kernel_dim"}, 4));
    return mixer;
}

RecurrentMixer mamba2(HfConfig& config, const Transformer& t)
{
    RecurrentMixer mixer{MixerKind::mamba2, {}};
    Recurrence& r = mixer.sizes;
    r.key_dim = config.required({"ssm_state_size", "mamba_d_state", "state_size"});
    r.value_dim =
        config.number({"mamba_head_dim", "mamba_d_head", "mamba_headdim", "head_dim"}).value_or(64);
    const std::int64_t expand = config.number({"expand", "mamba_expand"}).value_or(2);
    r.heads =
        static_cast<int>(config.number({"mamba_num_heads", "mamba_n_heads", "num_heads"})
                             .value_or(std::max<std::int64_t>(1, expand * t.hidden / r.value_dim)));
    r.key_heads = static_cast<int>(
        config.number({"n_groups", "mamba_n_groups", "mamba_ngroups"}).value_or(1));
    r.convolution = static_cast<int>(config.count({"conv_kernel", "mamba_d_conv"}, 4));
    r.chunk = static_cast<int>(config.number({"chunk_size", "mamba_chunk_size"}).value_or(256));
    return mixer;
}

RecurrentMixer kimi_delta(HfConfig& config)
{
    RecurrentMixer mixer{MixerKind::kimi_delta_attention, {}};
    mixer.sizes.heads = static_cast<int>(config.required({"num_heads", "num_attention_heads"}));
    mixer.sizes.key_heads = mixer.sizes.heads;
    mixer.sizes.convolution = static_cast<int>(config.count({"short_conv_kernel_size"}, 4));
    return mixer;
}

RecurrentMixer lightning(const Transformer& t)
{
    const std::int64_t head = t.head_dim > 0 ? t.head_dim : t.hidden / std::max(1, t.heads);
    return {MixerKind::lightning_attention,
            {.key_heads = t.heads,
             .heads = t.heads,
             .key_dim = head,
             .value_dim = head,
             .convolution = 0,
             .chunk = 256}};
}

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

class PatternReader {
public:
    PatternReader(HfConfig& config, Transformer& model)
        : config_(config), t_(model), layers_(static_cast<std::size_t>(model.layers))
    {}

    void read()
    {
        mixers();
        channels();
        store();
    }

private:
    void mixers()
    {
        if (config_.has("hybrid_override_pattern"))
            return letters();
        if (config_.has("block_configs"))
            return blocks();
        if (config_.has("state_size"))
            return all_mamba();
        if (config_.has("layer_types") || config_.has("layers_block_type"))
            return types();
        if (config_.has("kda_layers"))
            return kimi_linear();
        if (config_.has("attn_type_list"))
            return by_number("attn_type_list", 0);
        if (config_.has("full_attention_interval"))
            return every(config_.required({"full_attention_interval"}), gated_delta_net(config_));
        if (config_.has("attn_layer_period"))
            return jamba();
        if (config_.has("attention_chunk_size"))
            return chunks();
        if (config_.has("hybrid_layer_pattern"))
            return windows_by_number();
        if (config_.has("compress_ratios"))
            return compressed();
        const Json* windows = config_.value("sliding_window_pattern");
        if (windows != nullptr && windows->is_string())
            window_letters(windows->as_string());
        else if (windows != nullptr && t_.sliding_window > 0)
            t_.full_attention_every =
                static_cast<int>(config_.number({"sliding_window_pattern"}, t_.layers).value_or(0));
    }

    void recurrent(LayerForm& form, const RecurrentMixer& mixer)
    {
        form.mixer = mixer.kind;
        form.recurrence = mixer.sizes;
    }

    RecurrentMixer linear_mixer()
    {
        if (config_.has("linear_num_value_heads"))
            return gated_delta_net(config_);
        if (config_.has("mamba_num_heads") || config_.has("mamba_n_heads") ||
            config_.has("mamba_d_state") || config_.has("ssm_state_size"))
            return mamba2(config_, t_);
        return lightning(t_);
    }

    bool fits(const std::string& key, std::size_t entries)
    {
        if (entries == layers_.size())
            return true;
        config_.error_at(key, fmt::format("{} entries for {} layers", entries, layers_.size()),
                         "one entry per layer");
        return false;
    }

    // Nemotron-H: a letter is a layer of one part.
    void letters()
    {
        const std::string key = "hybrid_override_pattern";
        std::string word = config_.text(key);
        std::erase(word, '|');
        if (!fits(key, word.size()))
            return;
        const bool any = word.find('M') != std::string::npos;
        const RecurrentMixer mamba = any ? mamba2(config_, t_) : RecurrentMixer{};
        for (std::size_t i = 0; i < word.size(); ++i) {
            LayerForm& form = layers_[i];
            form.channel = ChannelKind::none;
            if (word[i] == 'M') {
                recurrent(form, mamba);
            } else if (word[i] == '*') {
                form.mixer = MixerKind::attention;
            } else if (word[i] == '-' || word[i] == 'E') {
                form.mixer = MixerKind::none;
                form.channel = word[i] == 'E' ? ChannelKind::experts : ChannelKind::mlp;
            } else {
                return config_.error_at(key, fmt::format("unknown letter '{}'", word[i]),
                                        "M: Mamba-2, *: attention, -: MLP, E: experts");
            }
        }
    }

    // Mamba-2 without anything else.
    void all_mamba()
    {
        const RecurrentMixer mamba = mamba2(config_, t_);
        for (LayerForm& form : layers_) {
            recurrent(form, mamba);
            form.channel = ChannelKind::none;
        }
    }

    // Nemotron-NAS: each layer has key heads and a feed-forward size of its own, or lacks a part.
    void blocks()
    {
        const Json* list = config_.value("block_configs");
        if (!list->is_array() || !fits("block_configs", list->items().size()))
            return;
        for (std::size_t i = 0; i < list->items().size(); ++i) {
            const Json& block = list->items()[i];
            const auto part = [&](const char* name) {
                return block.is_object() ? block.find(name) : nullptr;
            };
            read_block_attention(layers_[i], part("attention"), i);
            read_block_channel(layers_[i], part("ffn"));
        }
    }

    static bool lacks(const Json* part)
    {
        const Json* none = part != nullptr && part->is_object() ? part->find("no_op") : nullptr;
        return none != nullptr && none->is_bool() && none->as_bool();
    }

    void read_block_attention(LayerForm& form, const Json* attention, std::size_t layer)
    {
        if (lacks(attention)) {
            form.mixer = MixerKind::none;
            return;
        }
        const Json* group = attention == nullptr ? nullptr : attention->find("n_heads_in_group");
        if (group == nullptr || !group->is_integer())
            return;
        const std::int64_t heads = group->as_integer();
        if (heads < 1 || heads > t_.heads || t_.heads % heads != 0)
            return config_.error_at(
                "block_configs", layer,
                fmt::format("groups of {} heads do not divide the {} query heads", heads, t_.heads),
                "\"n_heads_in_group\": a divisor of them");
        form.kv_heads = t_.heads / static_cast<int>(heads);
    }

    // "ffn_mult" times the hidden size, of which gated MLPs take two thirds, rounded up to 256.
    void read_block_channel(LayerForm& form, const Json* ffn)
    {
        if (lacks(ffn)) {
            form.channel = ChannelKind::none;
            return;
        }
        const Json* times = ffn == nullptr ? nullptr : ffn->find("ffn_mult");
        if (times == nullptr || !times->is_number() || !(times->as_double() > 0) ||
            !(times->as_double() < 1000))
            return;
        constexpr std::int64_t multiple = 256;
        const auto size = static_cast<std::int64_t>(2.0 * times->as_double() *
                                                    static_cast<double>(t_.hidden) / 3);
        form.ffn = (size + multiple - 1) / multiple * multiple;
    }

    void full(LayerForm& form)
    {
        if (t_.sliding_window > 0)
            form.sliding_window = 0;
        if (t_.attention_chunk > 0)
            form.attention_chunk = 0;
        if (const auto heads = config_.number({"num_global_key_value_heads"}))
            form.kv_heads = static_cast<int>(*heads);
        if (const auto size = config_.number({"global_head_dim"}))
            form.head_dim = *size;
        if (config_.flag("attention_k_eq_v", false))
            form.shared_key_value = true;
    }

    void windowed(LayerForm& form)
    {
        form.sliding_window = t_.sliding_window;
        if (t_.attention_chunk > 0)
            form.attention_chunk = 0;
        if (const auto heads = config_.number({"swa_num_key_value_heads"}))
            form.kv_heads = static_cast<int>(*heads);
    }

    // Whether layers with a window have one.
    bool has_window_size(const std::string& key, std::size_t entry)
    {
        if (t_.sliding_window > 0)
            return true;
        config_.error_at(key, entry, "a layer with a sliding window, whose size is not given",
                         "\"sliding_window\": keys that a query sees, at least 1");
        return false;
    }

    void types()
    {
        const std::string key = config_.has("layer_types") ? "layer_types" : "layers_block_type";
        const std::vector<std::string> types = config_.texts(key);
        if (!fits(key, types.size()))
            return;
        std::vector<std::string> unknown;
        for (std::size_t i = 0; i < types.size(); ++i)
            if (!read_type(layers_[i], types[i], key, i))
                return;
            else if (!known(types[i]) && std::ranges::find(unknown, types[i]) == unknown.end())
                unknown.push_back(types[i]);
        for (const std::string& type : unknown)
            config_.assume(fmt::format("layers of type \"{}\" are read as full attention", type));
    }

    static bool known(std::string_view type)
    {
        static constexpr std::array names{"full_attention",
                                          "attention",
                                          "sliding_attention",
                                          "chunked_attention",
                                          "mamba",
                                          "linear_attention",
                                          "moe",
                                          "mlp"};
        return std::ranges::find(names, type) != names.end();
    }

    bool read_type(LayerForm& form, const std::string& type, const std::string& key,
                   std::size_t entry)
    {
        if (type == "linear_attention") {
            recurrent(form, linear_mixer());
        } else if (type == "mamba") {
            recurrent(form, mamba2(config_, t_));
        } else if (type == "moe" || type == "mlp") {
            form.mixer = MixerKind::none;
            form.channel = type == "moe" ? ChannelKind::experts : ChannelKind::mlp;
        } else if (type == "sliding_attention") {
            if (!has_window_size(key, entry))
                return false;
            windowed(form);
        } else if (type == "chunked_attention") {
            form.attention_chunk = config_.required({"attention_chunk_size"});
        } else {
            full(form);
        }
        return true;
    }

    // Layers are numbered from 1.
    void kimi_linear()
    {
        RecurrentMixer kda = kimi_delta(config_);
        const Json* sizes = config_.reader().node().find("linear_attn_config");
        const Json* head = sizes == nullptr ? nullptr : sizes->find("head_dim");
        const std::int64_t size = head != nullptr && head->is_integer() && head->as_integer() > 0 &&
                                          head->as_integer() <= HfConfig::largest_size
                                      ? head->as_integer()
                                      : t_.head_dim;
        kda.sizes.key_dim = kda.sizes.value_dim = size;
        for (const std::int64_t layer : config_.numbers("kda_layers"))
            if (layer >= 1 && layer <= t_.layers)
                recurrent(layers_[static_cast<std::size_t>(layer - 1)], kda);
        config_.has("full_attn_layers");
    }

    // One number per layer: `linear` means a recurrent mixer.
    void by_number(const std::string& key, std::int64_t linear)
    {
        const std::vector<std::int64_t> kinds = config_.numbers(key);
        if (!fits(key, kinds.size()))
            return;
        for (std::size_t i = 0; i < kinds.size(); ++i)
            if (kinds[i] == linear)
                recurrent(layers_[i], linear_mixer());
    }

    void every(std::int64_t interval, const RecurrentMixer& mixer)
    {
        for (std::size_t i = 0; i < layers_.size(); ++i)
            if ((static_cast<std::int64_t>(i) + 1) % interval != 0)
                recurrent(layers_[i], mixer);
    }

    void jamba()
    {
        const auto period = static_cast<std::size_t>(config_.required({"attn_layer_period"}));
        const auto offset = static_cast<std::size_t>(config_.count({"attn_layer_offset"}, 0));
        const RecurrentMixer mamba = mamba2(config_, t_);
        for (std::size_t i = 0; i < layers_.size(); ++i)
            if (i % period != offset % period)
                recurrent(layers_[i], mamba);
        if (config_.has("mamba_dt_rank"))
            config_.assume("Mamba layers are computed as Mamba-2 has them");
    }

    // Llama 4: layers without rotary positions see all keys, the others their chunk.
    void chunks()
    {
        const std::int64_t chunk = config_.required({"attention_chunk_size"});
        const std::vector<std::int64_t> rotary = config_.numbers("no_rope_layers");
        const auto interval =
            static_cast<std::size_t>(config_.number({"no_rope_layer_interval"}).value_or(4));
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            const bool sees_all = i < rotary.size() ? rotary[i] == 0 : (i + 1) % interval == 0;
            if (sees_all)
                layers_[i].position = PositionKind::none;
            else
                layers_[i].attention_chunk = chunk;
        }
    }

    void windows_by_number()
    {
        const std::vector<std::int64_t> kinds = config_.numbers("hybrid_layer_pattern");
        if (!fits("hybrid_layer_pattern", kinds.size()))
            return;
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            if (kinds[i] == 0)
                full(layers_[i]);
            else if (has_window_size("hybrid_layer_pattern", i))
                windowed(layers_[i]);
        }
    }

    // DeepSeek-V4: keys of `ratio` tokens are made one; 0: a window alone. Small ratios choose
    // among them.
    void compressed()
    {
        const std::vector<std::int64_t> ratios = config_.numbers("compress_ratios");
        if (ratios.size() < layers_.size()) {
            fits("compress_ratios", ratios.size());
            return;
        }
        const bool picks = config_.has("index_topk");
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            LayerForm& form = layers_[i];
            form.sliding_window = t_.sliding_window;
            if (ratios[i] < 2)
                continue;
            form.key_compression = static_cast<int>(ratios[i]);
            // Only keys of few tokens are so many that some are picked.
            constexpr std::int64_t coarse = 32;
            if (picks && ratios[i] < coarse)
                form.indexer = SparseIndexer{static_cast<int>(config_.required({"index_n_heads"})),
                                             config_.required({"index_head_dim"}),
                                             config_.required({"index_topk"})};
        }
    }

    // "LLLG": local and global.
    void window_letters(const std::string& word)
    {
        if (word.empty())
            return;
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            if (word[i % word.size()] == 'G')
                full(layers_[i]);
            else if (t_.sliding_window > 0)
                windowed(layers_[i]);
            else
                return config_.error_at("sliding_window_pattern",
                                        "layers with a sliding window, whose size is not given",
                                        "\"sliding_window\": keys that a query sees, at least 1");
        }
    }

    // Dense layers among those with experts, where their places are no rule.
    void channels()
    {
        if (!t_.moe)
            return;
        if (const Json* freq = config_.value("moe_layer_freq"); freq != nullptr && freq->is_array())
            return by_flags("moe_layer_freq");
        if (config_.has("mlp_layer_types"))
            return by_words();
        if (const auto period = config_.number({"expert_layer_period"}))
            return by_period(*period, config_.count({"expert_layer_offset"}, 0));
        const std::vector<std::int64_t> dense = config_.numbers("mlp_only_layers");
        bool leading = true;
        for (std::size_t i = 0; i < dense.size(); ++i)
            leading = leading && dense[i] == static_cast<std::int64_t>(i);
        if (leading) {
            if (!dense.empty())
                t_.moe->leading_dense_layers = static_cast<int>(dense.size());
            return;
        }
        for (std::size_t i = 0; i < layers_.size(); ++i)
            if (std::ranges::find(dense, static_cast<std::int64_t>(i)) != dense.end())
                layers_[i].channel = ChannelKind::mlp;
    }

    // Jamba: of every `period` layers the one at `offset` has experts.
    void by_period(std::int64_t period, std::int64_t offset)
    {
        for (std::size_t i = 0; period > 1 && i < layers_.size(); ++i)
            layers_[i].channel = static_cast<std::int64_t>(i) % period == offset % period
                                     ? ChannelKind::experts
                                     : ChannelKind::mlp;
    }

    void by_flags(const std::string& key)
    {
        const std::vector<std::int64_t> flags = config_.numbers(key);
        if (!fits(key, flags.size()))
            return;
        for (std::size_t i = 0; i < flags.size(); ++i)
            layers_[i].channel = flags[i] != 0 ? ChannelKind::experts : ChannelKind::mlp;
    }

    void by_words()
    {
        const std::vector<std::string> words = config_.texts("mlp_layer_types");
        if (!fits("mlp_layer_types", words.size()))
            return;
        for (std::size_t i = 0; i < words.size(); ++i)
            layers_[i].channel = words[i] == "sparse" ? ChannelKind::experts : ChannelKind::mlp;
    }

    std::string name_of(const LayerForm& form) const
    {
        std::string name;
        const auto add = [&](std::string_view word) {
            name += name.empty() ? std::string(word) : "-" + std::string(word);
        };
        const MixerKind mixer = form.mixer.value_or(t_.mixer);
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

    void store()
    {
        const LayerForm plain;
        if (std::ranges::all_of(layers_, [&](const LayerForm& form) { return form == plain; }))
            return;
        const std::size_t period = period_of(layers_);
        for (std::size_t i = 0; i < period; ++i) {
            LayerForm form = layers_[i];
            const auto alike = std::ranges::find_if(t_.layer_forms, [&](LayerForm other) {
                other.name.clear();
                return other == form;
            });
            if (alike != t_.layer_forms.end()) {
                t_.pattern.push_back(alike->name);
                continue;
            }
            const std::string name = name_of(form);
            form.name = name;
            for (int number = 2; std::ranges::find(t_.layer_forms, form.name, &LayerForm::name) !=
                                 t_.layer_forms.end();
                 ++number)
                form.name = fmt::format("{}-{}", name, number);
            t_.pattern.push_back(form.name);
            t_.layer_forms.push_back(std::move(form));
        }
        // One kind of window for all layers is the model's own.
        if (t_.layer_forms.size() > 1 || !t_.layer_forms.front().sliding_window)
            t_.sliding_window = 0;
    }

    HfConfig& config_;
    Transformer& t_;
    std::vector<LayerForm> layers_;
};

} // namespace

void read_pattern(HfConfig& config, Transformer& model)
{
    PatternReader(config, model).read();
}

} // namespace trainyard
