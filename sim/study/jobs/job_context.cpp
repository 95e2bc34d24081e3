#include "sim/study/jobs/job_context.h"

#include "sim/base/files.h"
#include "sim/base/input_limits.h"
#include "sim/study/inputs.h"
#include "sim/study/jobs/job_degrees.h"
#include "sim/study/problems.h"
#include "sim/topology/read_topology.h"

namespace trainyard {
namespace {

// A path without the folder in which a script runs.
std::string_view from_here(std::string_view path)
{
    for (const std::string_view here : {"./", "${PWD}/", "$(pwd)/", "oumi://"})
        if (path.starts_with(here))
            return path.substr(here.size());
    return path;
}

} // namespace

void JobContext::settle_gpus()
{
    gpus_ = 0;
    choose_cluster(draft, options.cluster, options.changes);
    if (!draft.scenario.topology.given())
        return;
    ScenarioFile place;
    place.base = options.folder;
    const Checked<Input> input = find_input(draft.scenario.topology, InputKind::topology, place);
    if (!input) {
        append(draft.problems, input.error());
        return;
    }
    const auto read = [&]() -> std::optional<TopologyFile> {
        Checked<TopologyFile> topology = inspect_topology(input->json, input->file);
        if (topology)
            return std::move(*topology);
        append(draft.problems, topology.error());
        return std::nullopt;
    };
    const auto file = memos_.topologies.find_or_make(input->hash, read);
    if (!file)
        return;
    const int devices = file->topology.device_count();
    const bool counted = draft.size.nodes && draft.size.gpus_per_node;
    const double asked = counted ? 1.0 * *draft.size.nodes * *draft.size.gpus_per_node : devices;
    gpus_ = devices;
    devices_ = devices;
    if (asked > devices)
        draft.flag(fmt::format("the job is launched on {} GPUs, the topology has {}: all of these",
                               asked, devices));
    else if (asked < devices && options.cluster.topology.given()) {
        gpus_ = static_cast<int>(asked);
        draft.assume(
            fmt::format("the {} GPUs of the launch, of the {} of the topology", *gpus_, devices));
    }
}

int JobContext::gpus()
{
    if (!gpus_)
        settle_gpus();
    return *gpus_;
}

int JobContext::replicas()
{
    const Strategy& strategy = draft.scenario.strategy;
    const std::optional<ModelRanks> ranks = model_ranks(strategy, options.changes);
    if (!ranks)
        return 0;
    const int dp = with_changes(strategy.dp.value_or(0), "strategy.dp", options.changes);
    if (dp > 0)
        return dp;
    return gpus() % ranks->replica == 0 ? static_cast<int>(gpus() / ranks->replica) : 0;
}

std::optional<std::string> JobContext::beside(const std::string& path)
{
    const std::size_t before = draft.notes.flagged.size();
    std::optional<std::string> text = find_beside(path);
    if (!text && draft.notes.flagged.size() == before)
        draft.flag(fmt::format("{} is not there", path));
    return text;
}

std::optional<std::string> JobContext::find_beside(const std::string& path)
{
    for (const auto& [name, text] : written)
        if (from_here(name) == from_here(path))
            return text;
    // Scripts name files from the root of their repository, some folders up.
    constexpr int most_folders_up = 8;
    std::filesystem::path folder = std::filesystem::path(draft.file()).parent_path();
    for (int up = 0; up < most_folders_up; ++up, folder /= "..") {
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(folder / from_here(path), ignored))
            continue;
        try {
            if (auto text = read_file_up_to(folder / from_here(path), input_limits.max_bytes))
                return text;
            draft.flag(fmt::format("{} is too long to be read", path));
        } catch (const WorldError& error) {
            draft.flag(error.message);
        }
        break;
    }
    return std::nullopt;
}

} // namespace trainyard
