#pragma once

// The files of a scenario: itself when it was read already, and those it names.

#include "sim/study/scenario.h"

namespace trainyard {

enum class InputKind : std::uint8_t { model, topology };

// A part of a scenario as JSON, and the name diagnostics give it.
struct Input {
    Json json;
    std::string file;
    std::uint64_t hash = 0; // of its text
    std::string inside; // "/model": the field of the scenario that holds it; empty: its own file
};

// Problems of an input, with pointers from where its file begins.
Problems in_its_file(Problems problems, const Input& input);

// The scenario in `json`, which came from `path` (a pipe, say, that cannot be read twice).
Checked<ScenarioFile> scenario_from(Json json, const std::string& path,
                                    std::span<const Override> overrides = {});

// A model's file. Configurations are written by Python, with numbers that JSON has not
// ("Infinity").
Checked<Json> read_model_file(const std::string& path);

// Finds `source`: as a path relative to the scenario's folder, else among the shipped data (by
// path, by name without ".json", or by Hugging Face's name of a model, as in
// "meta-llama/Llama-3.1-70B" or without what stands before the slash); a folder means the
// config.json or model.json in it. A missing file, or a pipe, is a problem located at `pointer` of
// the scenario.
Checked<Input> find_input(const Source& source, InputKind kind, const ScenarioFile& scenario);

// Before `field` of a model or a topology is set: puts the file in place of its name, where
// `scenario` names one, and an object in place of a preset's name that holds the field. `file` says
// where paths of the scenario begin.
Problems write_out_part(Json& scenario, std::string_view field, const ScenarioFile& file);

// Shipped models or clusters, in the words in which a scenario may name them; sorted.
std::vector<std::string> shipped_inputs(InputKind kind);

} // namespace trainyard
