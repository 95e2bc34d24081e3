#pragma once

// Model files: the native form ("format": "trainyard.model/1") and Hugging Face's config.json as it
// is, told apart by their keys.

#include "sim/base/diagnostic.h"
#include "sim/workload/model.h"

namespace trainyard {

struct ImportedModel {
    Model model;
    std::vector<std::string> assumed; // sentences: what the file leaves open and was filled in
    std::vector<std::string>
        ignored; // keys that have no bearing on the work or were not understood
};

// Problems go to the reader, with pointers from the document's root; nullopt after an error. The
// model is named by its file's folder when the file does not name it.
std::optional<ImportedModel> import_model(const Reader& reader);
Checked<ImportedModel> import_model(const Json& json, const std::string& file);

Checked<Model> read_model(const Json& json, const std::string& file);

// The native form.
Json write_model(const Model& model);
Json model_schema();

} // namespace trainyard
