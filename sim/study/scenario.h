#pragma once

// A scenario: everything that is asked in one file. Reading checks the form; `Session` builds what
// it names.

#include "sim/engine/engine.h"
#include "sim/strategy/data/data_loading.h"
#include "sim/strategy/training.h"
#include "sim/study/perturbation.h"

#include <filesystem>
#include <map>
#include <memory>

namespace trainyard {

// A part given as the path of a file, or written out in place.
struct Source {
    std::string path; // as the user wrote it, relative to the scenario's folder
    Json value;       // when path is empty; null when the part was not given at all

    bool given() const { return !path.empty() || !value.is_null(); }
    bool operator==(const Source&) const = default;
};

template <>
struct FieldValue<Source> {
    static std::string type_name();
    static bool read(const Reader& reader, Source& out);
    static Json write(const Source& value);
    static Json schema();
};

enum class CommunicatorLife : std::uint8_t { once, every_iteration };

// Which framework runs the job; its class of constants is chosen by name and version.
struct SoftwareChoice {
    std::string framework = "megatron-core";
    std::string version;
    std::optional<AttentionKernel> attention; // else the framework's habit
    bool cuda_graphs = false;
    std::vector<GraphedPart> graphed_parts; // of each layer; empty, with cuda_graphs: all of it
    bool fused_experts = false;             // their products, activation and casts are one kernel
    std::optional<bool> fused_elementwise;  // bias and activation, rotary; else its habit
    std::optional<LossKernel> loss;         // else its habit
    std::optional<bool> fused_loss;         // true: loss in_place, where `loss` does not say
    CommunicatorLife communicators = CommunicatorLife::once;
    std::optional<Seconds> timeout; // of process groups; else PyTorch's default for the library

    bool operator==(const SoftwareChoice&) const = default;
};

struct RunOptions {
    int steps = 2;
    std::uint64_t seed = 1;
    std::optional<Fidelity> fidelity; // else as the job asks for (fidelity_choice.h)
    Tier engine = Tier::automatic;
    bool fold = true; // simulate one rank per class of identical ones where that is exact

    bool operator==(const RunOptions&) const = default;
};

struct Scenario {
    std::string description;
    Source model;
    Training training;
    Strategy strategy;
    Source topology;
    std::string profile; // name or path; empty: chosen from the topology and the software
    SoftwareChoice software;
    std::optional<DataLoading> data; // else a step never waits for its input
    std::map<std::string, std::string> environment;
    std::vector<Perturbation> perturbations;
    RunOptions run;

    bool operator==(const Scenario&) const = default;
};

template <>
std::vector<EnumName<CommunicatorLife>> enum_names<CommunicatorLife>();
template <>
const FieldTable<SoftwareChoice>& fields_of<SoftwareChoice>();
template <>
const FieldTable<RunOptions>& fields_of<RunOptions>();
template <>
const FieldTable<Scenario>& fields_of<Scenario>();

inline constexpr std::string_view scenario_format = "trainyard.scenario/1";

// "strategy.tp=8": sets one field before checking. The value is JSON where it parses as such, else
// text. "topology.nodes=4" of a topology that a file holds changes a copy of its content.
struct Override {
    std::string field;
    std::string value;
    std::string said = {}; // "--fidelity flow": the option, where it is not --set

    bool operator==(const Override&) const = default;
};

// "--set strategy.tp=8": what problems of the value are said of; a long one is cut.
std::string cited(const Override& change);

// A scenario and what is needed to say where something stood in its file.
struct Profile;

struct ScenarioFile {
    Scenario scenario;
    Json json;                     // as read, changes applied
    std::string file;              // as the user named it
    std::filesystem::path base;    // folder that paths inside are relative to
    std::vector<Override> changes; // of what the file says, in order
    // Of trials: a profile that no file holds, in place of the one that the scenario names.
    std::shared_ptr<const Profile> constants;
    Problems warnings;
};

Checked<Override> parse_override(std::string_view text);

// Sets the field in a scenario's JSON, making the objects on the way; null takes it out. Form and
// names are not checked. What keeps it from being set; the JSON is of no use then.
std::optional<Diagnostic> apply_override(Json& scenario, const Override& change);

// Throws WorldError when the file cannot be read.
Checked<ScenarioFile> read_scenario_file(const std::string& path,
                                         std::span<const Override> overrides = {});

// The same scenario with more changes. What an earlier one says of the same field is forgotten.
Checked<ScenarioFile> changed_scenario(const ScenarioFile& file, std::span<const Override> changes);

// A scenario made in memory, e.g. by the GUI or the validator.
ScenarioFile scenario_in_memory(Scenario scenario, std::filesystem::path base, std::string name);

Json to_json(const Scenario& scenario);

// Checks the "format" member; a missing one is allowed, another kind or a newer version is not.
bool check_format(const Reader& reader, std::string_view expected);

// Adds to each problem of a field of no file the change that gives the field, else the line at
// which the scenario does (or its nearest parent). Problems of the file that a change gives become
// the change's.
void locate(Problems& problems, const ScenarioFile& file);

} // namespace trainyard
