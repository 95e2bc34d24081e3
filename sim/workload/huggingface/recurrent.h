#pragma once

// Sizes of the recurrent mixers that a Hugging Face config states, told by their keys.

#include "sim/workload/huggingface/config.h"
#include "sim/workload/model.h"

namespace trainyard {

struct RecurrentMixer {
    MixerKind kind = MixerKind::lightning_attention;
    Recurrence sizes;
};

// Whether the keys are those of a model of Mamba layers alone.
bool is_all_recurrent(HfConfig& config);

// Mamba or Mamba-2.
RecurrentMixer mamba_mixer(HfConfig& config, const Transformer& model);
bool states_mamba(HfConfig& config);
RecurrentMixer gated_delta_net(HfConfig& config);
RecurrentMixer kimi_delta(HfConfig& config, const Transformer& model);
RecurrentMixer lightning(const Transformer& model);
RecurrentMixer real_gated_unit(HfConfig& config, const Transformer& model);
RecurrentMixer short_convolution(HfConfig& config, const Transformer& model);
// The one that layers of "linear attention" have.
RecurrentMixer linear_mixer(HfConfig& config, const Transformer& model);

} // namespace trainyard
