#include "sim/study/scenario.h"

#include "sim/base/fields.h"
#include "sim/base/file_format.h"
#include "sim/base/input_limits.h"
#include "sim/study/inputs.h"
#include "sim/study/problems.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

// Seconds: a hundred years. Scripts say one or a few where they mean that nobody ever gives up.
constexpr double longest_timeout = 36'500 * 86'400.0;

} // namespace

std::string FieldValue<Source>::type_name()
{
    return "path of a file, or the object itself";
}

bool FieldValue<Source>::read(const Reader& reader, Source& out)
{
    const Json& node = reader.node();
    const auto take_path = [&](const Reader& at) {
        if (!at.node().is_string() || at.node().as_string().empty()) {
            at.error("expected the path of a file");
            return false;
        }
        out = Source{at.node().as_string(), {}};
        return true;
    };
    if (node.is_string())
        return take_path(reader);
    if (!node.is_object()) {
        reader.error(
            fmt::format("expected the path of a file or an object, found {}", node.kind_name()));
        return false;
    }
    for (const char* key : {"hf_config", "file"})
        if (node.find(key) != nullptr) {
            if (node.members().size() > 1)
                reader.warn(fmt::format("other keys beside \"{}\" are not read", key));
            return take_path(reader.member(key));
        }
    out = Source{{}, node};
    return true;
}

Json FieldValue<Source>::write(const Source& value)
{
    return value.path.empty() ? value.value : Json(value.path);
}

Json FieldValue<Source>::schema()
{
    Json out = Json::object();
    Json text = Json::object();
    text["type"] = "string";
    Json object = Json::object();
    object["type"] = "object";
    out["anyOf"].push_back(std::move(text));
    out["anyOf"].push_back(std::move(object));
    return out;
}

template <>
std::vector<EnumName<CommunicatorLife>> enum_names<CommunicatorLife>()
{
    return {{CommunicatorLife::once, "once"},
            {CommunicatorLife::every_iteration, "every_iteration"}};
}

template <>
const FieldTable<SoftwareChoice>& fields_of<SoftwareChoice>()
{
    static const auto table =
        FieldTable<SoftwareChoice>("software", "The framework that runs the job.")
            .field(
                "framework", &SoftwareChoice::framework,
                {.help = "name of the framework, e.g. megatron-core, nemo, torchtitan, torch-ddp"})
            .field("version", &SoftwareChoice::version, {.help = "its release, e.g. 0.12"})
            .field("attention", &SoftwareChoice::attention,
                   {.help = "attention implementation; else the framework's habit"})
            .field("cuda_graphs", &SoftwareChoice::cuda_graphs,
                   {.help = "steps are captured in CUDA graphs, or the parts that graphed_parts "
                            "names"})
            .field("graphed_parts", &SoftwareChoice::graphed_parts,
                   {.help = "what CUDA graphs capture of each layer; none: all of the step"})
            .field("fused_experts", &SoftwareChoice::fused_experts,
                   {.help = "products of experts, their activation and casts are one kernel each "
                            "way"})
            .field("fused_elementwise", &SoftwareChoice::fused_elementwise,
                   {.help = "bias and activation are one kernel; else the framework's habit"})
            .field("loss", &SoftwareChoice::loss,
                   {.help = "what the loss keeps of the logits: fp32 log-probabilities as "
                            "PyTorch's, an fp32 softmax as Megatron's, or the logits with their "
                            "gradient beside or in place of them; else the framework's habit"})
            .field("fused_loss", &SoftwareChoice::fused_loss,
                   {.help = "the same as loss in_place, unless that is given"})
            .field("communicators", &SoftwareChoice::communicators,
                   {.help = "made once, before the first step, or in every one"})
            .field("timeout", &SoftwareChoice::timeout,
                   {.help = "how long a process waits for an op of a process group before it ends "
                            "the job; else PyTorch's default for the library",
                    .min = 0,
                    .max = longest_timeout});
    return table;
}

template <>
const FieldTable<RunOptions>& fields_of<RunOptions>()
{
    static const auto table =
        FieldTable<RunOptions>("run", "How the step is simulated.")
            .field("steps", &RunOptions::steps,
                   {.help =
                        "steps unrolled; the last one is measured; at least 5 with a data loader, "
                        "whose first steps differ",
                    .min = 1,
                    .max = 1000})
            .field("seed", &RunOptions::seed, {.help = "of everything random"})
            .field("fidelity", &RunOptions::fidelity,
                   {.help = "how the network is modelled; else alpha-beta, or bundle where links "
                            "between switches are shared and the job is small"})
            .field("engine", &RunOptions::engine,
                   {.help = "which engine runs the step; all that can give the same result"})
            .field("fold", &RunOptions::fold,
                   {.help = "simulate one rank per class of identical ones, where that is exact"});
    return table;
}

template <>
const FieldTable<Scenario>& fields_of<Scenario>()
{
    static const auto table =
        FieldTable<Scenario>("scenario", "A job on a cluster.")
            .field("description", &Scenario::description, {.help = "for people"})
            .field("model", &Scenario::model,
                   {.help = "a model file: Hugging Face config.json or the native form",
                    .required = true})
            .field("training", &Scenario::training,
                   {.help = "what is trained per step", .required = true})
            .field("strategy", &Scenario::strategy, {.help = "how it is spread over ranks"})
            .field("topology", &Scenario::topology, {.help = "the cluster", .required = true})
            .field(
                "profile", &Scenario::profile,
                {.help =
                     "constants of the hardware; else chosen from the topology and the software"})
            .field("software", &Scenario::software, {.help = "the framework"})
            .field("data", &Scenario::data,
                   {.help = "how samples come to the devices; else a step never waits for them"})
            .field("environment", &Scenario::environment,
                   {.help = "launch variables, e.g. NCCL_ALGO"})
            .field("perturbations", &Scenario::perturbations,
                   {.help = "what is wrong with single devices"})
            .field("run", &Scenario::run, {.help = "how the step is simulated"});
    return table;
}

bool check_format(const Reader& reader, std::string_view expected)
{
    return !reader.node().is_object() || expect_format(reader, expected);
}

Checked<ScenarioFile> read_scenario_file(const std::string& path,
                                         std::span<const Override> overrides)
{
    Checked<Json> json = read_json_file(path, input_limits);
    if (!json)
        return tl::unexpected(json.error());
    return scenario_from(std::move(*json), path, overrides);
}

namespace {

// Whether `field` is `of`, or a part of it.
bool is_part(std::string_view field, std::string_view of)
{
    return field.starts_with(of) && (field.size() == of.size() || field[of.size()] == '.');
}

// Applies the changes to the JSON of `out` and reads it.
Checked<ScenarioFile> read_changed(ScenarioFile out, std::span<const Override> changes)
{
    Problems problems;
    for (const Override& change : changes) {
        append(problems, write_out_part(out.json, change.field, out));
        if (std::optional<Diagnostic> problem = apply_override(out.json, change))
            problems.push_back(std::move(*problem));
        std::erase_if(out.changes,
                      [&](const Override& other) { return is_part(other.field, change.field); });
        out.changes.push_back(change);
    }
    out.scenario = {};
    const Reader reader(out.json, out.file, problems);
    if (check_format(reader, scenario_format))
        fields_of<Scenario>().read(reader, out.scenario);
    locate(problems, out);
    if (has_errors(problems))
        return tl::unexpected(std::move(problems));
    out.warnings = std::move(problems);
    return out;
}

} // namespace

Checked<ScenarioFile> scenario_from(Json json, const std::string& path,
                                    std::span<const Override> overrides)
{
    ScenarioFile out;
    out.file = path;
    out.base = std::filesystem::path(path).parent_path();
    out.json = std::move(json);
    return read_changed(std::move(out), overrides);
}

Checked<ScenarioFile> changed_scenario(const ScenarioFile& file, std::span<const Override> changes)
{
    return read_changed(file, changes);
}

ScenarioFile scenario_in_memory(Scenario scenario, std::filesystem::path base, std::string name)
{
    ScenarioFile out;
    out.json = to_json(scenario);
    out.scenario = std::move(scenario);
    out.base = std::move(base);
    out.file = std::move(name);
    return out;
}

Json to_json(const Scenario& scenario)
{
    Json out = Json::object();
    out["format"] = scenario_format;
    Json body = fields_of<Scenario>().write(scenario);
    for (Json::Member& member : body.members())
        out[member.first] = std::move(member.second);
    return out;
}

namespace {

// Where `change` puts its value.
std::string pointer_of(const Override& change)
{
    std::string pointer;
    for (std::string_view rest = change.field; !rest.empty();) {
        const std::size_t dot = rest.find('.');
        pointer += "/" + pointer_token(rest.substr(0, dot));
        rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
    }
    return pointer;
}

// Whether it is there, and of no line of the file.
bool is_in_no_line(const Json& json, std::string_view pointer)
{
    const Json* at = &json;
    for (std::string_view rest = pointer.substr(1); at != nullptr && !rest.empty();) {
        const auto slash = rest.find('/');
        at = at->find(rest.substr(0, slash));
        rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
    }
    return at != nullptr && at->line() == 0;
}

// The last change that gives what `pointer` names, or that it was made for: "/x" of x.y=1; null
// where none does.
const Override* giver(const ScenarioFile& file, const std::string& pointer)
{
    const Override* last = nullptr;
    for (const Override& change : file.changes)
        if (const std::string given = pointer_of(change);
            pointer == given || pointer.starts_with(given + "/") ||
            (given.starts_with(pointer + "/") && is_in_no_line(file.json, pointer)))
            last = &change;
    return last;
}

// The line of what `pointer` names, else of its nearest parent; 0 where none has one.
int line_of(const Json& json, std::string_view pointer)
{
    int line = json.line();
    const Json* at = &json;
    for (std::string_view rest = pointer.substr(1); !rest.empty();) {
        const auto slash = rest.find('/');
        at = at->find(rest.substr(0, slash));
        if (at == nullptr)
            break;
        if (at->line() > 0)
            line = at->line();
        rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
    }
    return line;
}

} // namespace

void locate(Problems& problems, const ScenarioFile& file)
{
    for (Diagnostic& problem : problems) {
        if (problem.pointer.empty() || !(problem.file.empty() || problem.file == file.file))
            continue;
        if (const Override* const change = giver(file, problem.pointer)) {
            problem.file = cited(*change);
            problem.line = 0;
        } else if (problem.file.empty()) {
            problem.file = file.file;
            problem.line = line_of(file.json, problem.pointer);
        }
    }
}

} // namespace trainyard
