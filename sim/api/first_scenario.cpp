#include "sim/api/first_scenario.h"

#include "sim/study/capacity/smallest_cluster.h"
#include "sim/study/jobs/job_context.h"
#include "sim/study/problems.h"
#include "sim/study/session.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

struct FirstCluster {
    Source topology;
    std::vector<std::string> reasons; // for what is unusual about it
};

// So many GPUs of a kind.
Checked<FirstCluster> first_cluster(const FirstQuestion& question,
                                    const std::filesystem::path& folder)
{
    const JobQuestion& job = question.job;
    if (!question.topology.is_null())
        return FirstCluster{{{}, question.topology}, {}};
    if (!job.topology.empty())
        return FirstCluster{source_from(job.topology, folder), {}};
    const int usual = usual_gpus_per_node(job.gpu);
    if (usual == 0)
        return tl::unexpected(one_problem(
            fmt::format("GPU \"{}\" is not among the known devices", job.gpu), known_gpus()));
    int per_node = job.gpus_per_node > 0 ? job.gpus_per_node : usual;
    if (question.gpus > 0 && job.gpus_per_node == 0 && job.nodes == 0)
        per_node = std::min(per_node, question.gpus);
    int nodes = job.nodes > 0 ? job.nodes : 1;
    if (question.gpus > 0) {
        if (job.nodes > 0 && question.gpus != job.nodes * per_node)
            return tl::unexpected(one_problem(
                fmt::format("{} GPUs are not {} nodes of {}", question.gpus, job.nodes, per_node),
                fmt::format("--gpus {}, or another --nodes or --gpus-per-node",
                            static_cast<std::int64_t>(job.nodes) * per_node)));
        if (question.gpus % per_node != 0)
            return tl::unexpected(one_problem(
                fmt::format("{} GPUs are no whole number of nodes of {}", question.gpus, per_node),
                fmt::format("{} or {}", std::max(per_node, question.gpus / per_node * per_node),
                            (question.gpus / per_node + 1) * per_node)));
        nodes = question.gpus / per_node;
    }
    const auto machine = usual_machine(job.gpu, nodes, per_node);
    if (!machine)
        return tl::unexpected(one_problem(machine.error(), "give --topology FILE"));
    FirstCluster out{{{}, machine->topology}, {}};
    if (!machine->widened.empty())
        out.reasons.push_back("topology." + machine->widened);
    return out;
}

Source model_source(const FirstQuestion& question, const std::filesystem::path& folder)
{
    return question.config.is_null() ? source_from(question.job.model, folder)
                                     : Source{{}, question.config};
}

} // namespace

tl::expected<StartingPoint, StartRefusal> first_scenario(const FirstQuestion& question,
                                                         const std::filesystem::path& folder,
                                                         Session& session, const WorkControl& work)
{
    StartRequest request;
    request.folder = folder;
    request.model = model_source(question, folder);
    const Checked<FirstCluster> chosen = first_cluster(question, folder);
    if (!chosen)
        return tl::unexpected(StartRefusal{chosen.error(), false, {}});
    request.topology = chosen->topology;
    if (question.sequence_length > 0)
        request.sequence_length = question.sequence_length;
    if (question.global_batch > 0)
        request.global_batch = question.global_batch;
    request.work = work;
    auto start = starting_point(request, session);
    if (start)
        start->reasons.insert(start->reasons.begin(), chosen->reasons.begin(),
                              chosen->reasons.end());
    return start;
}

std::optional<SmallestCluster> smallest_cluster_for(const FirstQuestion& question,
                                                    const StartRefusal& refusal,
                                                    const std::filesystem::path& folder,
                                                    Session& session, const WorkControl& work)
{
    const Checked<FirstCluster> chosen = first_cluster(question, folder);
    if (!chosen || !refusal.too_large)
        return std::nullopt;
    Scenario scenario;
    scenario.topology = chosen->topology;
    Checked<ClusterKind> kind =
        cluster_kind(scenario_in_memory(std::move(scenario), folder, "the new scenario"));
    if (!kind)
        return std::nullopt;
    kind->nodes = static_cast<int>(kind->topology.find("nodes")->as_double()); // that it asks for
    CapacityRequest request;
    request.model = model_source(question, folder);
    request.folder = folder;
    if (question.sequence_length > 0)
        request.sequence_length = question.sequence_length;
    if (question.sequence_length > 0 && question.global_batch > 0) {
        const double tokens = static_cast<double>(question.sequence_length) *
                              static_cast<double>(question.global_batch);
        request.batch = TokenRange{tokens, tokens};
    }
    request.headroom = 0; // as the last resort of a first scenario
    request.work = work;
    std::optional<Bytes> least;
    if (refusal.least_memory > Bytes(0))
        least = refusal.least_memory;
    const std::optional<SizedCluster> sized =
        smallest_cluster(request, std::move(*kind), least, session);
    return sized ? std::optional(SmallestCluster{sized->nodes, sized->gpus}) : std::nullopt;
}

} // namespace trainyard
