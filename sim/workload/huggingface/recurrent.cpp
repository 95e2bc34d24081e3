#include "sim/workload/huggingface/recurrent.h"

#include "sim/base/json.h"

#include <algorithm>

namespace trainyard {
namespace {

// Mamba-2 has heads; Mamba-1 makes the steps of all its values through a latent.
bool is_second_mamba(HfConfig& config)
{
    if (config.has("mamba_dt_rank"))
        return false;
    for (const char* key : {"mamba_num_heads", "mamba_n_heads", "n_mamba_heads", "mamba_head_dim",
                            "mamba_d_head", "mamba_headdim", "n_groups"})
        if (config.has(key))
            return true;
    if (const Json* of_layers = config.value("ssm_cfg");
        of_layers != nullptr && of_layers->is_object())
        if (const Json* layer = of_layers->find("layer"); layer != nullptr && layer->is_string())
            return layer->as_string() == "Mamba2";
    return !config.has("time_step_rank") && !config.has("mamba_dt_rank") && !config.has("ssm_cfg");
}

RecurrentMixer second_mamba(HfConfig& config, const Transformer& t)
{
    RecurrentMixer mixer{MixerKind::mamba2, {}};
    Recurrence& r = mixer.sizes;
    constexpr std::int64_t usual_state = 128;
    r.key_dim = config.has("ssm_cfg")
                    ? usual_state
                    : config.required({"ssm_state_size", "mamba_d_state", "state_size"});
    r.value_dim =
        config.number({"mamba_head_dim", "mamba_d_head", "mamba_headdim", "head_dim"}).value_or(64);
    const std::int64_t expand = config.number({"expand", "mamba_expand"}).value_or(2);
    const std::int64_t width = config.number({"mamba_d_ssm"}).value_or(expand * t.hidden);
    r.heads = static_cast<int>(
        config.number({"mamba_num_heads", "mamba_n_heads", "n_mamba_heads", "num_heads"})
            .value_or(std::max<std::int64_t>(1, width / r.value_dim)));
    r.key_heads = static_cast<int>(
        config.number({"n_groups", "mamba_n_groups", "mamba_ngroups"}).value_or(1));
    r.convolution = static_cast<int>(config.count({"conv_kernel", "mamba_d_conv"}, 4));
    r.chunk = static_cast<int>(config.number({"chunk_size", "mamba_chunk_size"}).value_or(256));
    return mixer;
}

RecurrentMixer first_mamba(HfConfig& config, const Transformer& t)
{
    RecurrentMixer mixer{MixerKind::mamba, {}};
    Recurrence& r = mixer.sizes;
    constexpr std::int64_t usual_state = 16;
    r.key_heads = 1;
    r.key_dim =
        config.has("ssm_cfg") ? usual_state : config.required({"mamba_d_state", "state_size"});
    const std::int64_t expand = config.number({"expand", "mamba_expand"}).value_or(2);
    // Without MLPs the size of these is that of the mixer.
    const auto stated = is_all_recurrent(config) ? config.number({"intermediate_size"})
                                                 : std::optional<std::int64_t>();
    r.heads = static_cast<int>(stated.value_or(expand * t.hidden));
    r.value_dim = 1;
    r.convolution = static_cast<int>(config.count({"conv_kernel", "mamba_d_conv"}, 4));
    constexpr std::int64_t usual_ratio = 16; // "auto"
    const std::int64_t automatic = (t.hidden + usual_ratio - 1) / usual_ratio;
    const char* rank = config.has("mamba_dt_rank") ? "mamba_dt_rank" : "time_step_rank";
    const Json* stated_rank = config.value(rank);
    r.step_rank = stated_rank != nullptr && !stated_rank->is_string()
                      ? config.number({rank}).value_or(automatic)
                      : automatic;
    return mixer;
}

} // namespace

bool is_all_recurrent(HfConfig& config)
{
    return config.has("state_size") || config.has("ssm_cfg");
}

bool states_mamba(HfConfig& config)
{
    for (const char* key : {"mamba_num_heads", "mamba_n_heads", "mamba_d_state", "ssm_state_size"})
        if (config.has(key))
            return true;
    return false;
}

RecurrentMixer mamba_mixer(HfConfig& config, const Transformer& t)
{
    return is_second_mamba(config) ? second_mamba(config, t) : first_mamba(config, t);
}

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

// Its heads' size is that of its own part of the config, where the model's is another.
RecurrentMixer kimi_delta(HfConfig& config, const Transformer& t)
{
    RecurrentMixer mixer{MixerKind::kimi_delta_attention, {}};
    Recurrence& r = mixer.sizes;
    r.heads =
        static_cast<int>(config.required({"linear_num_heads", "num_heads", "num_attention_heads"}));
    r.key_heads = r.heads;
    r.convolution =
        static_cast<int>(config.count({"linear_conv_kernel_dim", "short_conv_kernel_size"}, 4));
    r.key_dim = r.value_dim =
        config.number({"linear_head_dim"})
            .value_or(t.head_dim > 0 ? t.head_dim : t.hidden / std::max(1, t.heads));
    r.whole_gate = config.flag("use_full_rank_gate", config.has("kda_lower_bound"));
    if (const Json* own = config.reader().node().find("linear_attn_config");
        own != nullptr && own->is_object() && own->find("head_dim") != nullptr)
    {
        HfConfig part(config.reader().member("linear_attn_config"));
        r.key_dim = r.value_dim = part.required({"head_dim"});
    }
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

RecurrentMixer real_gated_unit(HfConfig& config, const Transformer& t)
{
    RecurrentMixer mixer{MixerKind::rg_lru, {}};
    const std::int64_t width = config.number({"lru_width"}).value_or(t.hidden);
    mixer.sizes.key_heads = 1;
    mixer.sizes.heads = t.heads;
    mixer.sizes.key_dim = 1;
    mixer.sizes.value_dim = std::max<std::int64_t>(1, width / std::max(1, t.heads));
    mixer.sizes.convolution = static_cast<int>(config.count({"conv1d_width"}, 4));
    return mixer;
}

RecurrentMixer short_convolution(HfConfig& config, const Transformer& t)
{
    return {MixerKind::short_convolution,
            {.key_heads = 1,
             .heads = static_cast<int>(t.hidden),
             .key_dim = 1,
             .value_dim = 1,
             .convolution = static_cast<int>(config.number({"conv_L_cache"}).value_or(3))}};
}

RecurrentMixer linear_mixer(HfConfig& config, const Transformer& t)
{
    if (config.has("linear_num_value_heads"))
        return gated_delta_net(config);
    if (config.has("linear_num_heads"))
        return kimi_delta(config, t);
    if (states_mamba(config))
        return mamba_mixer(config, t);
    return lightning(t);
}

} // namespace trainyard
