#pragma once

// Sizes of a Hugging Face config that all families state alike, under any of their keys.

#include "sim/workload/huggingface/config.h"
#include "sim/workload/model.h"

namespace trainyard {

// Width, depth, vocabulary, attention, feed-forward sizes, experts, prediction layers: all that
// does not depend on which layer it is.
void read_sizes(HfConfig& config, Transformer& model);

// Whether any key gives the feed-forward size.
bool states_feed_forward(HfConfig& config);

} // namespace trainyard
