#include "sim/base/field_values.h"
#include "sim/base/files.h"
#include "sim/cli/job_files.h"
#include "sim/cli/terminal.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace trainyard {

std::string check_job_kind(const std::string& name)
{
    return from_name<JobKind>(name) ? ""
                                    : fmt::format("\"{}\" is no format of jobs: {}", name,
                                                  suggestion(name, FieldValue<JobKind>::names()));
}

void add_job_options(CLI::App& app, JobQuestion& options)
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

int import_job_file(const JobFile& file, const JobQuestion& options)
{
    const Checked<JobImportOptions> given = settled_job_options(options, folder_of(file.output));
    if (!given)
        return refuse(given.error(), "nothing was imported.");
    if (!file.output.empty())
        require_writable(file.output);
    StageMemos memos;
    const Checked<ImportedJob> job = import_job(file.kind, file.text, file.file, *given, memos);
    if (!job)
        return refuse(job.error(), "nothing was imported.");
    print_problems(job->warnings, "");
    const Json scenario = described_scenario(*job, file.file, file.text);
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
