#pragma once

// Megatron-Core's names of what CUDA graphs capture (--cuda-graph-scope).

#include "sim/study/scenario.h"

#include <span>

namespace trainyard {

bool is_graph_scope(std::string_view scope);

// Captures what the scopes name; none: all of the step. What a scope holds that is no part of ours
// (the preparation of a dispatch) is a few kernels, and left out.
void capture_scopes(SoftwareChoice& software, std::span<const std::string> scopes);

// The same parts in Megatron-Core's words.
std::vector<std::string> scopes_of(const std::vector<GraphedPart>& parts);

} // namespace trainyard
