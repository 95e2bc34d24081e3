#pragma once

// What a model is, in numbers that do not depend on how it is trained.

#include "sim/workload/layer_work.h"
#include "sim/workload/model_reader.h"

namespace trainyard {

// Layers of one kind.
struct LayerGroup {
    std::string name; // "gated delta net + experts"
    int layers = 0;
    bool ends = false;      // what lies before or behind the layers
    double parameters = 0;  // of one
    double active = 0;      // of them, those that a token uses
    Flops forward_of_token; // of one, in a sequence of ModelSummary::sequence_length
};

struct ModelSummary {
    std::string name;
    std::int64_t sequence_length = 0;
    std::vector<LayerGroup>
        groups;     // front to back by first appearance; embedding and head included
    int layers = 0; // without embedding and head
    ParameterCount parameters;
    // Of layers that predict further, which sizes in models' names leave out.
    double predicting = 0;
    double predicting_active = 0;
    Flops trained_token; // forward and backward
    // Of one sequence in generation, 16 bits a number: keys and values (or latents) of attention,
    // as far back as it looks, those of what the encoders made, and states of recurrent mixers.
    Bytes keys_and_values;
    Bytes states;
    // Parameters and gradients in bf16, fp32 copies and Adam's two moments: 16 bytes a parameter
    // (Rajbhandari 2020, section 3.1).
    Bytes adam_states;
};

// "attention + mlp", "window of 128 + experts", "mamba2".
std::string layer_words(const Transformer& model, const LayerKind& kind);

// 4096 tokens, or as many as a model with learned positions has.
std::int64_t usual_sequence_length(const Model& model);

ModelSummary summarize(const Model& model, std::int64_t sequence_length);

} // namespace trainyard
