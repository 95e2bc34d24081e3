// Scenarios from elsewhere, and traces of jobs that ran.

#include "python/src/parts.h"
#include "python/src/raising.h"
#include "python/src/waiting.h"
#include "sim/base/field_values.h"
#include "sim/base/input_limits.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace trainyard::python {
namespace {

namespace nb = nanobind;

std::optional<JobKind> kind_named(const std::string& name)
{
    if (name.empty())
        return std::nullopt;
    if (const std::optional<JobKind> kind = from_name<JobKind>(name))
        return kind;
    throw InputError{{{"", 0, "", "\"" + name + "\" is no format of jobs",
                       suggestion(name, FieldValue<JobKind>::names()), Severity::error}}};
}

Answer imported_job(const std::string& file, const std::string& kind, const JobQuestion& question,
                    const nb::object& progress)
{
    const std::optional<JobKind> wanted = kind_named(kind);
    ImportedJob job = value_or_raise(result_of(
        progress, [&](const WorkControl&) { return read_job_file(file, wanted, question, {}); }));
    Answer out;
    out.scenarios.push_back(core_of(std::move(job.scenario)));
    out.warnings = std::move(job.warnings);
    const auto notes = std::make_shared<const ImportNotes>(std::move(job.notes));
    out.json = [notes] { return to_text(to_json(*notes)) + "\n"; };
    out.text = [notes](std::size_t) { return describe(*notes); };
    return out;
}

Answer first_answer(const FirstQuestion& question, const nb::object& progress)
{
    const auto shared = session();
    auto start = result_of(progress, [&](const WorkControl& work) {
        return first_scenario(question, {}, *shared, work);
    });
    if (!start)
        throw InputError{std::move(start.error().problems)};
    Answer out;
    out.scenarios.push_back(core_of(scenario_in_memory(start->scenario, {}, "scenario.json")));
    const auto reasons =
        std::make_shared<const std::vector<std::string>>(std::move(start->reasons));
    out.json = [reasons] {
        Json list = Json::array();
        for (const std::string& reason : *reasons)
            list.push_back(reason);
        return to_text(list) + "\n";
    };
    out.text = [reasons](std::size_t) {
        std::string text;
        for (const std::string& reason : *reasons)
            text += reason + "\n";
        return text;
    };
    return out;
}

Answer trace_import(const TraceQuestion& question, const nb::object& progress)
{
    const auto shared = session();
    const auto answer = std::make_shared<const TraceAnswer>(
        value_or_raise(result_of(progress, [&](const WorkControl& work) {
            return read_recorded_job(question, *shared, work);
        })));
    Answer out;
    out.json = [answer] { return to_text(to_json(*answer)) + "\n"; };
    out.text = [answer](std::size_t width) { return report_text(*answer, width); };
    return out;
}

} // namespace

void add_imports(nb::module_& module)
{
    module.def(
        "import_job",
        [](const std::string& file, const std::string& kind, const std::string& model,
           const std::string& topology, const std::string& gpu, int gpus_per_node, int nodes,
           const std::vector<std::string>& define, const std::vector<std::string>& changes,
           const nb::object& progress) {
            return imported_job(file, kind,
                                {model, topology, gpu, gpus_per_node, nodes, define, changes},
                                progress);
        },
        nb::arg("file"), nb::arg("kind"), nb::arg("model"), nb::arg("topology"), nb::arg("gpu"),
        nb::arg("gpus_per_node"), nb::arg("nodes"), nb::arg("define"), nb::arg("changes"),
        nb::arg("progress").none());
    module.def(
        "first_scenario",
        [](const std::string& model, const std::string& config, const std::string& topology,
           const std::string& gpu, int gpus, int nodes, int gpus_per_node,
           std::int64_t sequence_length, std::int64_t global_batch, const nb::object& progress) {
            FirstQuestion question;
            question.job = {model, topology, gpu, gpus_per_node, nodes, {}, {}};
            if (!config.empty())
                question.config = value_or_raise(parse_json(config, "config", input_limits));
            question.gpus = gpus;
            question.sequence_length = sequence_length;
            question.global_batch = global_batch;
            return first_answer(question, progress);
        },
        nb::arg("model"), nb::arg("config"), nb::arg("topology"), nb::arg("gpu"), nb::arg("gpus"),
        nb::arg("nodes"), nb::arg("gpus_per_node"), nb::arg("sequence_length"),
        nb::arg("global_batch"), nb::arg("progress").none());
    module.def(
        "import_trace",
        [](const std::vector<std::string>& files, const std::string& topology,
           const std::string& gpu, int gpus_per_node, int scale_to, const std::string& against,
           const std::vector<std::string>& changes, const nb::object& progress) {
            return trace_import({files, topology, gpu, gpus_per_node, scale_to, against, changes},
                                progress);
        },
        nb::arg("files"), nb::arg("topology"), nb::arg("gpu"), nb::arg("gpus_per_node"),
        nb::arg("scale_to"), nb::arg("against"), nb::arg("changes"), nb::arg("progress").none());
}

} // namespace trainyard::python
