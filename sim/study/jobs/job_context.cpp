#include "sim/study/jobs/job_context.h"

#include "sim/base/files.h"
#include "sim/base/input_limits.h"
#include "sim/study/inputs.h"
#include "sim/study/problems.h"
#include "sim/topology/read_topology.h"

#include <charconv>

namespace trainyard {
namespace {

// "strategy.tp" as the overrides change it.
int with_changes(int value, std::string_view field, const std::vector<Override>& changes)
{
    for (const Override& change : changes)
        if (change.field == field) {
            int changed = 0;
            const char* const last = change.value.data() + change.value.size();
            if (const auto [end, error] = std::from_chars(change.value.data(), last, changed);
                error == std::errc() && end == last)
                value = changed;
        }
    return value;
}

} // namespace

void JobContext::settle_gpus()
{
    gpus_ = 0;
    choose_cluster(draft, options.cluster);
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
    const Strategy& s = draft.scenario.strategy;
    const auto size = [&](int value, std::string_view field) {
        return std::int64_t{with_changes(value, field, options.changes)};
    };
    constexpr std::int64_t most = 1'000'000;
    std::int64_t ranks = 1;
    for (const std::int64_t part :
         {size(s.tp, "strategy.tp"), size(s.pp, "strategy.pp"), size(s.cp, "strategy.cp")})
    {
        if (part < 1 || part > most / ranks)
            return 0;
        ranks *= part;
    }
    if (const int dp = with_changes(s.dp.value_or(0), "strategy.dp", options.changes); dp > 0)
        return dp;
    return gpus() % ranks == 0 ? static_cast<int>(gpus() / ranks) : 0;
}

std::optional<std::string> JobContext::beside(const std::string& path)
{
    const std::filesystem::path folder = std::filesystem::path(draft.file()).parent_path();
    try {
        if (auto text = read_file_up_to(folder / path, input_limits.max_bytes))
            return text;
        draft.flag(fmt::format("{} is too long to be read", path));
    } catch (const WorldError& error) {
        draft.flag(error.message);
    }
    return std::nullopt;
}

} // namespace trainyard
