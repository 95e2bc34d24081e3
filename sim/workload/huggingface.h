#pragma once

// Hugging Face config.json, as it is.

#include "sim/base/reader.h"
#include "sim/workload/model_reader.h"

namespace trainyard {

bool is_huggingface_config(const Json& node);
std::optional<ImportedModel> read_huggingface(const Reader& reader);

// Laws that hold for any transformer, native or not.
void check_head_size(const Reader& reader, const Transformer& model);
void check_transformer(const Reader& reader, const Transformer& model);

} // namespace trainyard
