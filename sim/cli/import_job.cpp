#include "sim/base/build_info.h"
#include "sim/base/field_values.h"
#include "sim/base/files.h"
#include "sim/cli/job_files.h"
#include "sim/cli/terminal.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace trainyard {
namespace {

// The scenario as it is written, with where it came from.
Json written(const ImportedJob& job, const JobFile& file)
{
    Json out = job.scenario.json;
    const std::string by = fmt::format("Imported by trainyard {} from {} (hash {:016x}).",
                                       version(), file.file, content_hash(file.text));
    Json described = Json::object();
    for (Json::Member& member : out.members()) {
        if (member.first == "description")
            continue;
        described[member.first] = std::move(member.second);
        if (member.first == "format")
            described["description"] = by;
    }
    return described;
}

} // namespace

namespace {

// A file that a scenario in `from` names, as one in `to` does.
std::string moved(const std::string& path, const std::filesystem::path& from,
                  const std::filesystem::path& to)
{
    const std::filesystem::path file = from / path;
    return !path.empty() && std::filesystem::exists(file)
               ? std::filesystem::relative(file, std::filesystem::absolute(to.empty() ? "." : to))
                     .string()
               : path;
}

void move(Source& source, const std::filesystem::path& from, const std::filesystem::path& to)
{
    source.path = moved(source.path, from, to);
    Json* const config = source.value.find("hf_config");
    if (config != nullptr && config->is_string())
        *config = moved(config->as_string(), from, to);
}

} // namespace

std::string scenario_text(Scenario scenario, const std::filesystem::path& folder,
                          const std::string& output)
{
    const std::filesystem::path to = folder_of(output);
    move(scenario.model, folder, to);
    move(scenario.topology, folder, to);
    scenario.profile = moved(scenario.profile, folder, to);
    return to_text(to_json(scenario)) + "\n";
}

std::string check_job_kind(const std::string& name)
{
    return from_name<JobKind>(name) ? ""
                                    : fmt::format("\"{}\" is no format of jobs: {}", name,
                                                  suggestion(name, FieldValue<JobKind>::names()));
}

std::filesystem::path folder_of(const std::string& output)
{
    return output.empty() ? std::filesystem::path() : std::filesystem::path(output).parent_path();
}

Checked<JobImportOptions> settled_job_options(const JobOptions& options, const std::string& output)
{
    Problems problems;
    JobImportOptions out;
    out.folder = folder_of(output);
    if (!options.model.empty())
        out.model = source_from(options.model, out.folder);
    if (!options.topology.empty())
        out.cluster.topology = source_from(options.topology, out.folder);
    out.cluster.gpu = options.gpu;
    if (options.gpus_per_node > 0)
        out.cluster.gpus_per_node = options.gpus_per_node;
    if (options.nodes > 0)
        out.cluster.nodes = options.nodes;
    for (const std::string& definition : options.definitions) {
        const std::size_t equals = definition.find('=');
        if (equals == std::string::npos || equals == 0)
            problems.push_back({fmt::format("--define {}", definition), 0, "", "no name and value",
                                "write NAME=VALUE", Severity::error});
        else
            out.defined[definition.substr(0, equals)] = definition.substr(equals + 1);
    }
    for (const std::string& change : options.changes) {
        Checked<Override> parsed = parse_override(change);
        if (parsed)
            out.changes.push_back(std::move(*parsed));
        else
            problems.insert(problems.end(), parsed.error().begin(), parsed.error().end());
    }
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    return out;
}

void add_job_options(CLI::App& app, JobOptions& options)
{
    app.add_option("--model", options.model,
                   "model of a job: a Hugging Face config.json, or a shipped one")
        ->type_name("MODEL");
    app.add_option("--topology", options.topology,
                   "cluster of a job, or on which a trace was recorded: a file, or a shipped one")
        ->type_name("TOPOLOGY");
    app.add_option("--gpu", options.gpu,
                   "or its GPU (h100, a100-40gb, gb200, ...) in the node usual for it")
        ->type_name("GPU");
    app.add_option("--gpus-per-node", options.gpus_per_node, "GPUs of a node; else as usual")
        ->check(CLI::Range(1, 1024));
}

int import_job_file(const JobFile& file, const JobOptions& options)
{
    const Checked<JobImportOptions> given = settled_job_options(options, file.output);
    if (!given)
        return refuse(given.error(), "nothing was imported.");
    if (!file.output.empty())
        require_writable(file.output);
    StageMemos memos;
    const Checked<ImportedJob> job = import_job(file.kind, file.text, file.file, *given, memos);
    if (!job)
        return refuse(job.error(), "nothing was imported.");
    print_problems(job->warnings, "");
    const Json scenario = written(*job, file);
    if (!file.output.empty())
        write_file(file.output, to_text(scenario) + "\n");
    if (!file.json) {
        print_data(describe(job->notes));
        if (file.output.empty())
            print_talk("-o FILE writes the scenario\n");
        return exit_ok;
    }
    Json out = Json::object();
    out["kind"] = to_name(file.kind);
    out["notes"] = to_json(job->notes);
    out["scenario"] = scenario;
    print_data(to_text(out) + "\n");
    return exit_ok;
}

} // namespace trainyard
