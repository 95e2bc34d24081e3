// Scenarios, and the lists of what comes along.

#include "python/src/parts.h"
#include "python/src/raising.h"
#include "python/src/waiting.h"
#include "sim/api/file_kinds.h"
#include "sim/base/field_values.h"
#include "sim/base/files.h"
#include "sim/study/inputs.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace trainyard::python {
namespace {

namespace nb = nanobind;

// A field, its value as JSON, and what was said in Python.
using FieldChange = std::pair<std::string, std::pair<std::string, std::string>>;

std::vector<Override> overrides_of(const std::vector<FieldChange>& changes)
{
    std::vector<Override> out;
    for (const auto& [field, value] : changes)
        out.push_back({field, value.first, value.second});
    return out;
}

ScenarioCore changed(const ScenarioCore& core, const std::vector<FieldChange>& changes)
{
    return core_of(value_or_raise(changed_scenario(*core.file, overrides_of(changes))));
}

std::filesystem::path whole_path(const std::filesystem::path& folder)
{
    return (std::filesystem::current_path() / folder).lexically_normal() / "";
}

nb::str scenario_json(const ScenarioCore& core)
{
    return python_text(to_text(to_json(core.file->scenario)));
}

nb::list checked(const ScenarioCore& core, const nb::object& progress)
{
    const auto shared = session();
    return problem_tuples(
        result_of(progress, [&](const WorkControl&) { return shared->check(*core.file); }));
}

void save(const ScenarioCore& core, const std::string& path)
{
    write_file(path, scenario_text(core.file->scenario, core.file->base, path));
}

template <class Enum>
Enum named(const std::string& name, const char* what)
{
    if (const std::optional<Enum> value = from_name<Enum>(name))
        return *value;
    throw InputError{{{"", 0, "", "\"" + name + "\" is no " + what,
                       suggestion(name, FieldValue<Enum>::names()), Severity::error}}};
}

// What a file is, and every problem of it.
std::pair<std::string, nb::list> checked_file(const std::string& path)
{
    const CheckedFile file =
        result_of(nb::none(), [&](const WorkControl&) { return check_file(path); });
    return {file.kind, problem_tuples(file.problems)};
}

nb::str schema_text(const std::string& name)
{
    if (const FileKind* const kind = kind_with_schema(name))
        return python_text(to_text(schema_document(*kind)) + "\n");
    throw InputError{{{"", 0, "", "there is no schema \"" + name + "\"",
                       suggestion(name, schema_names()), Severity::error}}};
}

ShippedKind shipped_kind(const std::string& name)
{
    if (name == "models")
        return ShippedKind::models;
    if (name == "topologies")
        return ShippedKind::topologies;
    if (name == "profiles")
        return ShippedKind::profiles;
    return name == "devices" ? ShippedKind::devices : ShippedKind::software;
}

} // namespace

void add_scenarios(nb::module_& module)
{
    nb::class_<ScenarioCore>(module, "Scenario")
        .def("changed", &changed, nb::arg("changes"))
        .def("json", &scenario_json)
        .def("save", &save, nb::arg("path"))
        .def("check", &checked, nb::arg("progress").none())
        .def("warnings",
             [](const ScenarioCore& core) { return problem_tuples(core.file->warnings); })
        .def("file", [](const ScenarioCore& core) { return python_text(core.file->file); })
        .def("folder",
             [](const ScenarioCore& core) { return python_text(core.file->base.string()); })
        .def("equals", [](const ScenarioCore& one, const ScenarioCore& other) {
            return one.file->scenario == other.file->scenario &&
                   whole_path(one.file->base) == whole_path(other.file->base);
        });
    module.def(
        "write_file",
        [](const std::string& path, const std::string& text) { write_file(path, text); },
        nb::arg("path"), nb::arg("text"));
    module.def(
        "load",
        [](const std::string& path) { return core_of(value_or_raise(load_scenario(path))); },
        nb::arg("path"));
    module.def(
        "parse",
        [](const std::string& text, const std::string& path) {
            return core_of(value_or_raise(scenario_of_text(text, path)));
        },
        nb::arg("text"), nb::arg("path"));
    module.def(
        "restored",
        [](const std::string& text, const std::string& file, const std::string& folder) {
            ScenarioFile scenario = value_or_raise(scenario_of_text(text, file));
            scenario.base = folder;
            return core_of(std::move(scenario));
        },
        nb::arg("text"), nb::arg("file"), nb::arg("folder"));
    module.def("check_file", &checked_file, nb::arg("path"));
    module.def("schema", &schema_text, nb::arg("name"));
    module.def(
        "shipped", [](const std::string& kind) { return shipped_names(shipped_kind(kind)); },
        nb::arg("kind"));
    module.def(
        "model_facts",
        [](const std::string& model, std::int64_t sequence_length) {
            return python_text(to_text(value_or_raise(model_facts(model, sequence_length))));
        },
        nb::arg("model"), nb::arg("sequence_length"));
    module.def(
        "topology_facts",
        [](const std::string& topology) {
            const TopologyFacts facts = value_or_raise(topology_facts(topology));
            return std::pair(to_text(facts.json), facts.text);
        },
        nb::arg("topology"));
    module.def(
        "profile_constants",
        [](const std::string& profile) {
            return python_text(to_text(value_or_raise(profile_constants(profile))));
        },
        nb::arg("profile"));
    module.def(
        "job_kind",
        [](const std::string& name) { return std::string(to_name(named<JobKind>(name, "job"))); },
        nb::arg("name"));
}

} // namespace trainyard::python
