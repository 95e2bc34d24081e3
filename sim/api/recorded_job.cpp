#include "sim/api/recorded_job.h"

#include "sim/api/traced_scenario.h"
#include "sim/base/build_info.h"
#include "sim/base/files.h"
#include "sim/report/traces/recorded_html.h"
#include "sim/report/traces/recorded_run.h"
#include "sim/report/traces/side_by_side_text.h"
#include "sim/study/cost_part.h"
#include "sim/study/inputs.h"
#include "sim/study/jobs/job_context.h"
#include "sim/study/jobs/job_import.h"
#include "sim/study/problems.h"
#include "sim/study/traced/expected_rates.h"
#include "sim/study/traced/recorded_path.h"
#include "sim/topology/read_topology.h"
#include "sim/traces/scaled_step.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

// A cluster with the constants that transfers on it are timed with.
struct TimedCluster {
    Topology topology;
    std::shared_ptr<const CostPart> costs;
    std::vector<std::string> assumed; // of a cluster that nobody described
};

Checked<TimedCluster> timed(const ScenarioFile& file, const Json& json, const std::string& from,
                            std::uint64_t hash)
{
    const Checked<Topology> topology = read_topology(json, from);
    if (!topology)
        return tl::unexpected(topology.error());
    CostMemos memos;
    Problems problems;
    TimedCluster out{*topology, build_cost(file, *topology, hash, memos, problems), {}};
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
        return rejected(trace, std::move(message), std::move(hint));
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
    Checked<TimedCluster> out =
        timed(ScenarioFile(), machine->topology, trace, content_hash(to_text(machine->topology)));
    if (out) {
        out->assumed = machine->assumptions;
        out->assumed.insert(out->assumed.begin(),
                            fmt::format("a cluster of {} GPUs of {} (--topology gives another)",
                                        out->topology.device_count(), gpu));
    }
    return out;
}

// The cluster of the options; without one, what the recorded device usually stands in.
Checked<TimedCluster> cluster_of(const TraceQuestion& question, const JobTrace& job)
{
    if (!question.topology.empty())
        return named_cluster(question.topology);
    const int ranks = std::max({question.scale_to, job.world.value_or(0), 1});
    return usual_cluster(question.gpu.empty() ? job.device : question.gpu, ranks,
                         question.gpus_per_node, question.files.front());
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

// What the cluster's constants expect of transfers and, where it was asked for, of more ranks.
Problems add_cluster(RunSummary& run, const TraceQuestion& question, const JobTrace& job,
                     const WorkControl& work)
{
    if (question.topology.empty() && question.gpu.empty() && question.scale_to == 0)
        return {};
    const Checked<TimedCluster> cluster = cluster_of(question, job);
    if (!cluster)
        return cluster.error();
    run.assumed.insert(run.assumed.end(), cluster->assumed.begin(), cluster->assumed.end());
    if (run.on_host && !run.transfers.empty())
        run.doubts.push_back("transfers ran between the host's cores, and the cluster's constants "
                             "are of its devices");
    if (question.scale_to > 0) {
        Checked<ScaledStep> scaled =
            scale_step(job, question.scale_to, cluster->topology, *cluster->costs->cost, work);
        if (!scaled)
            return scaled.error();
        run.scaled = std::move(*scaled);
    }
    add_expected_rates(run, cluster->topology, *cluster->costs->cost);
    return {};
}

} // namespace

Checked<TraceAnswer> read_recorded_job(const TraceQuestion& question, Session& session,
                                       const WorkControl& work)
{
    Checked<JobTrace> job = read_job_trace(question.files, work);
    if (!job)
        return tl::unexpected(std::move(job.error()));
    RunSummary run = run_summary(*job);
    if (run.times == TimesStated::timeline) {
        add_rebuilt_step(run, *job, work);
        add_critical_path(run, *job, work);
    }
    if (question.scale_to > 0 || question.page)
        if (Problems problems = without_timeline(run, question.files.front()); !problems.empty())
            return tl::unexpected(std::move(problems));
    if (Problems problems = add_cluster(run, question, *job, work); !problems.empty())
        return tl::unexpected(std::move(problems));
    TraceAnswer out{std::move(*job), std::move(run), {}, {}};
    if (!question.against.empty()) {
        Checked<TracedScenario> scenario = simulate_beside(
            question.against, question.changes, out.run, question.files.front(), session, work);
        if (!scenario)
            return tl::unexpected(std::move(scenario.error()));
        out.sides = side_by_side(out.run, scenario->outcome);
        out.sides->stages = layer_sides(out.job, scenario->outcome);
        out.simulated = std::move(scenario->outcome);
    }
    return out;
}

Json run_document(const RunSummary& run, const SideBySide* beside)
{
    Json json = recorded_run_json(run);
    json["beside"] = beside != nullptr ? to_json(*beside) : Json();
    json["source"] = fmt::format("imported by trainyard {}", version());
    return json;
}

Json to_json(const TraceAnswer& answer)
{
    return run_document(answer.run, answer.sides ? &*answer.sides : nullptr);
}

std::string report_text(const TraceAnswer& answer, std::size_t width)
{
    std::string text = recorded_run_text(answer.run, width);
    if (answer.sides)
        text += "\n" + side_by_side_text(*answer.sides, width);
    return text;
}

std::string html_report(const TraceAnswer& answer)
{
    if (!answer.simulated)
        return recorded_html(answer.run, answer.job, nullptr);
    const SimulatedBeside beside{*answer.simulated, *answer.sides};
    return recorded_html(answer.run, answer.job, &beside);
}

} // namespace trainyard
