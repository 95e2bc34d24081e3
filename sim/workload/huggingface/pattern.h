#pragma once

// Which layers of a Hugging Face config are of which kind: by a list of the layers, by a period, or
// by a word of letters.

#include "sim/workload/huggingface/config.h"
#include "sim/workload/huggingface/recurrent.h"

namespace trainyard {

// Sets the model's forms and pattern.
void read_pattern(HfConfig& config, Transformer& model);

// Each layer of a config while it is read: what differs from the model.
struct LayerReading {
    HfConfig& config;
    Transformer& model;
    std::vector<LayerForm> layers;
    bool dense_further = false; // layers that predict further have MLPs where others have experts

    // Reports a list that has not as many entries as there are layers.
    bool fits(const std::string& key, std::size_t entries) const;
    // The same of a list, which may go on with the layers that predict further: these are cut off.
    template <class List>
    bool fits_list(const std::string& key, List& list) const
    {
        if (list.size() == layers.size() + static_cast<std::size_t>(model.prediction_layers))
            list.resize(layers.size());
        return fits(key, list.size());
    }
    static void make_recurrent(LayerForm& form, const RecurrentMixer& mixer);
    void see_all(LayerForm& form) const;    // no window, no chunk
    void see_window(LayerForm& form) const; // the model's window
    bool has_window_size(const std::string& key, std::size_t entry) const;
};

void read_layer_mixers(LayerReading& reading);
void read_layer_types(LayerReading& reading, const std::string& key);
void read_layer_blocks(LayerReading& reading); // "block_configs"
// Zamba2: which Mamba layers have a shared block before them.
std::vector<bool> hybrid_layers(const LayerReading& reading);
void read_layer_sizes(LayerReading& reading); // heads and feed-forward sizes that differ
void read_layer_channels(LayerReading& reading);
// Layers that are two of ours: a mixer beside attention, two attentions, shared blocks.
void split_layers(LayerReading& reading);

} // namespace trainyard
