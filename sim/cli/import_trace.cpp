#include "sim/cli/import_trace.h"

#include "sim/base/build_info.h"
#include "sim/base/files.h"
#include "sim/cli/terminal.h"
#include "sim/report/traces/expected_rates.h"
#include "sim/report/traces/recorded_run.h"
#include "sim/study/cost_part.h"
#include "sim/study/inputs.h"
#include "sim/study/jobs/job_import.h"
#include "sim/topology/read_topology.h"
#include "sim/traces/trace_file.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

constexpr std::string_view nothing_imported = "nothing was imported.";

// All ranks of all files, or every file's problem.
Checked<TraceFile> read_traces(const std::vector<std::string>& files)
{
    WorkControl work;
    work.cancel = &interrupt_flag();
    TraceFile all;
    Problems problems;
    for (const std::string& file : files) {
        Checked<TraceFile> read = read_trace_file(file, work);
        if (!read) {
            problems.insert(problems.end(), read.error().begin(), read.error().end());
            continue;
        }
        std::move(read->ranks.begin(), read->ranks.end(), std::back_inserter(all.ranks));
        std::move(read->groups.begin(), read->groups.end(), std::back_inserter(all.groups));
    }
    if (problems.empty() && all.ranks.empty())
        problems.push_back({files.front(), 0, "", "lists communicators: no trace of a rank",
                            "give the traces beside it", Severity::error});
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    return all;
}

// What the cluster's constants expect of the transfers.
Problems expect_rates(RunSummary& run, const std::string& cluster)
{
    Problems problems;
    ScenarioFile file; // of nothing but a cluster
    file.scenario.topology = source_from(cluster, std::filesystem::path());
    const Checked<Input> input = find_input(file.scenario.topology, InputKind::topology, file);
    if (!input)
        return input.error();
    const Checked<Topology> topology = read_topology(input->json, input->file);
    if (!topology)
        return topology.error();
    CostMemos memos;
    const std::shared_ptr<const CostPart> costs =
        build_cost(file, *topology, input->hash, memos, problems);
    if (costs != nullptr)
        add_expected_rates(run, *topology, *costs->cost);
    return problems;
}

} // namespace

int import_trace_files(const TraceFiles& traces)
{
    if (!traces.output.empty())
        require_writable(traces.output);
    Checked<TraceFile> read = read_traces(traces.files);
    if (!read)
        return refuse(read.error(), nothing_imported);
    const Checked<JobTrace> job = join_ranks(std::move(read->ranks), read->groups);
    if (!job)
        return refuse(job.error(), nothing_imported);
    RunSummary run = run_summary(*job);
    if (!traces.topology.empty())
        if (const Problems problems = expect_rates(run, traces.topology); has_errors(problems))
            return refuse(problems, nothing_imported);
    Json json = recorded_run_json(run);
    json["source"] = fmt::format("imported by trainyard {}", version());
    if (!traces.output.empty())
        write_file(traces.output, to_text(json) + "\n");
    print_data(traces.json ? to_text(json) + "\n" : recorded_run_text(run, width_of_stdout()));
    return exit_ok;
}

} // namespace trainyard
