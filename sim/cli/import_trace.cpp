#include "sim/cli/import_trace.h"

#include "sim/base/build_info.h"
#include "sim/base/files.h"
#include "sim/cli/terminal.h"
#include "sim/cli/traced_scenario.h"
#include "sim/report/traces/recorded_events.h"
#include "sim/report/traces/recorded_html.h"
#include "sim/report/traces/recorded_run.h"
#include "sim/report/traces/side_by_side_text.h"
#include "sim/study/cost_part.h"
#include "sim/study/inputs.h"
#include "sim/study/jobs/job_context.h"
#include "sim/study/traced/expected_rates.h"
#include "sim/study/traced/recorded_path.h"
#include "sim/topology/read_topology.h"
#include "sim/traces/scaled_step.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

constexpr std::string_view nothing_imported = "nothing was imported.";

// A cluster with the constants that transfers on it are timed with.
struct TimedCluster {
    Topology topology;
    std::shared_ptr<const CostPart> costs;
};

Checked<TimedCluster> timed(const ScenarioFile& file, const Json& json, const std::string& from,
                            std::uint64_t hash)
{
    const Checked<Topology> topology = read_topology(json, from);
    if (!topology)
        return tl::unexpected(topology.error());
    CostMemos memos;
    Problems problems;
    TimedCluster out{*topology, build_cost(file, *topology, hash, memos, problems)};
    if (out.costs == nullptr)
        return tl::unexpected(std::move(problems));
    return out;
}

Checked<TimedCluster> named_cluster(const std::string& cluster)
{
    ScenarioFile file; // of nothing but a cluster
    file.scenario.topology = source_from(cluster, std::filesystem::path());
    const Checked<Input> input = find_input(file.scenario.topology, InputKind::topology, file);
    if (!input)
        return tl::unexpected(input.error());
    return timed(file, input->json, input->file, input->hash);
}

// Nodes usual for a GPU, of as many devices as `ranks` at least.
Checked<TimedCluster> usual_cluster(const std::string& gpu, int ranks, int gpus_per_node,
                                    const std::string& trace)
{
    const auto refused = [&](std::string message, std::string hint) {
        return tl::unexpected(
            Problems{{trace, 0, "", std::move(message), std::move(hint), Severity::error}});
    };
    const int usual = usual_gpus_per_node(gpu);
    if (usual == 0)
        return refused(gpu.empty() ? std::string("names no device")
                                   : fmt::format("no cluster of \"{}\" is known", gpu),
                       fmt::format("--topology FILE, or --gpu; {}", known_gpus()));
    const int each = std::min(gpus_per_node > 0 ? gpus_per_node : usual, ranks);
    const auto machine = usual_machine(gpu, (ranks + each - 1) / each, each);
    if (!machine)
        return refused(machine.error(), "--topology FILE");
    return timed(ScenarioFile(), machine->topology, trace,
                 content_hash(to_text(machine->topology)));
}

// The cluster of the options; without one, what the recorded device usually stands in.
Checked<TimedCluster> cluster_of(const TraceFiles& traces, const JobTrace& job)
{
    if (!traces.topology.empty())
        return named_cluster(traces.topology);
    const int ranks = std::max({traces.scale_to, job.world.value_or(0), 1});
    return usual_cluster(traces.gpu.empty() ? job.device : traces.gpu, ranks, traces.gpus_per_node,
                         traces.files.front());
}

// With the times of half of the ranks; of a single one with its own.
void add_rebuilt_step(RunSummary& run, const JobTrace& job, const WorkControl& work)
{
    RebuildQuestion question;
    for (std::size_t r = 0; r < std::max<std::size_t>(1, job.ranks.size() / 2); ++r)
        question.known.push_back(r);
    Checked<RebuiltStep> rebuilt = rebuild_step(job, question, work);
    if (rebuilt)
        run.rebuilt = std::move(*rebuilt);
    else
        run.assumed.push_back(fmt::format("the step cannot be rebuilt from its ops: {}",
                                          rebuilt.error().front().message));
}

} // namespace

int import_trace_files(const TraceFiles& traces)
{
    std::vector<std::string> read = traces.files;
    read.insert(read.end(), {traces.against, traces.topology});
    if (const Problems problems = lost_files({traces.output, traces.trace, traces.html}, read);
        !problems.empty())
        return refuse(problems, nothing_imported);
    for (const std::string& file : {traces.output, traces.trace, traces.html})
        if (!file.empty())
            require_writable(file);
    const Checked<JobTrace> job = read_job_trace(traces.files);
    if (!job)
        return refuse(job.error(), nothing_imported);
    RunSummary run = run_summary(*job);
    WorkControl work;
    work.cancel = &interrupt_flag();
    if (run.times == TimesStated::timeline) {
        add_rebuilt_step(run, *job, work);
        add_critical_path(run, *job, work);
    }
    if (traces.scale_to > 0 || !traces.html.empty())
        if (const Problems problems = without_timeline(run, traces.files.front());
            !problems.empty())
            return refuse(problems, nothing_imported);
    if (!traces.topology.empty() || !traces.gpu.empty() || traces.scale_to > 0) {
        const Checked<TimedCluster> cluster = cluster_of(traces, *job);
        if (!cluster)
            return refuse(cluster.error(), nothing_imported);
        if (traces.scale_to > 0) {
            Checked<ScaledStep> scaled =
                scale_step(*job, traces.scale_to, cluster->topology, *cluster->costs->cost, work);
            if (!scaled)
                return refuse(scaled.error(), nothing_imported);
            run.scaled = std::move(*scaled);
        }
        add_expected_rates(run, cluster->topology, *cluster->costs->cost);
    }
    std::optional<SideBySide> sides;
    std::string html;
    if (!traces.against.empty()) {
        Session session;
        const Checked<TracedScenario> scenario =
            simulate_beside(traces.against, traces.changes, run, traces.files.front(), session);
        if (!scenario)
            return refuse(scenario.error(), nothing_imported);
        sides = side_by_side(run, scenario->outcome);
        sides->stages = layer_sides(*job, scenario->outcome);
        if (!traces.trace.empty())
            write_both_steps(traces.trace, *job, scenario->outcome);
        const SimulatedBeside beside{scenario->outcome, *sides};
        if (!traces.html.empty())
            html = recorded_html(run, *job, &beside);
    } else if (!traces.html.empty()) {
        html = recorded_html(run, *job, nullptr);
    }
    if (!traces.html.empty())
        write_file(traces.html, html);
    Json json = recorded_run_json(run);
    json["beside"] = sides ? to_json(*sides) : Json();
    json["source"] = fmt::format("imported by trainyard {}", version());
    if (!traces.output.empty())
        write_file(traces.output, to_text(json) + "\n");
    std::string text = recorded_run_text(run, width_of_stdout());
    if (sides)
        text += "\n" + side_by_side_text(*sides, width_of_stdout());
    print_data(traces.json ? to_text(json) + "\n" : text);
    return exit_ok;
}

} // namespace trainyard
