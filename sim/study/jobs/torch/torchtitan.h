#pragma once

// torchtitan's configuration, both ways: the TOML of its releases to 2025, Python and JSON dumps of
// its dataclasses since. Names and defaults: torchtitan/config/job_config.py and configs.py.

#include "sim/study/jobs/job_export.h"
#include "sim/study/jobs/setting_tree.h"

namespace trainyard {

std::string write_torchtitan(const ExportedJob& job); // TOML

// Whether a text is a configuration in Python: a file of one, or a registry of several.
bool is_titan_python(std::string_view text);

// A model of torchtitan's registry: "llama3", "8B".
struct TitanFlavor {
    std::string_view family;
    std::string_view flavor;
    Transformer model;
};

const std::vector<TitanFlavor>& titan_flavors();
// "llama3_ft" is llama3 as far as its layers go; flavors in any case.
const TitanFlavor* find_titan_flavor(std::string_view family, std::string_view flavor);
// The flavor whose words are all among those of another, which adds words without a number:
// "8B_flex" is 8B.
const TitanFlavor* nearest_titan_flavor(std::string_view family, std::string_view flavor);
std::string titan_flavor_names();

// torchtitan's own division of layers: the embedding and the head count as `first_less` and
// `last_less` layers; stages in front take what does not divide.
std::vector<int> titan_stage_layers(int layers, int stages, int first_less, int last_less);

// What the registry of models is told beside the flavor: exchange of tokens, attention, further
// predictions, adapters and the layers that keep a wide format.
void read_titan_registry(SettingTree& settings, JobDraft& draft);

// Schedule, virtual stages and their layers; strategy.pp and the model must be known.
void read_titan_pipeline(SettingTree& settings, JobDraft& draft);

} // namespace trainyard
