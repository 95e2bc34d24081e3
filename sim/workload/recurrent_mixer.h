#pragma once

// Mixers that read a sequence as a recurrence: Mamba (Gu & Dao 2023), Mamba-2 (Dao & Gu 2024), the
// gated delta net (Yang 2024), Kimi delta attention (Kimi 2025), lightning attention (Qin 2024),
// the real-gated linear recurrent unit (De 2024), and gated short convolutions alone (LFM2). All
// have projections from the layer's input, a short convolution, a core, a gate and a projection
// back; kinds differ in which projections there are and what the core is: products over chunks of
// the sequence, an elementwise scan, or none.
//
// Heads are cut over TP, with at least one key head (Mamba: group) on each rank. Context
// parallelism exchanges heads for tokens around the core, whatever attention layers do: the state
// runs through the whole sequence. A convolution alone needs its neighbour's last tokens only,
// which are left out.

#include "sim/workload/parameters.h"
#include "sim/workload/saved_tensors.h"
#include "sim/workload/work_builder.h"

namespace trainyard {

std::vector<ParameterTensor> recurrent_parameters(const Transformer& model);

// Forward operations of a token between activations, over all heads: its key and value enter the
// state and its query reads it, 2 K V each; a delta rule reads the state once more before. This is
// the recurrence itself; chunks take more (`recurrent_core`).
double recurrent_flops_per_token(const Transformer& model);

// Numbers of a sequence's state: what generation keeps in place of keys and values.
double recurrent_state_numbers(const Transformer& model);

void add_recurrent_mixer(WorkBuilder& builder);

// What is kept for backward besides the norm's input.
std::vector<SavedTensor> recurrent_saved(const LayerShape& shape);

} // namespace trainyard
