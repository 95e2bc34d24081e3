#include "calibrate/measure/output/machine_study.h"

#include "calibrate/measure/discover/graph_check.h"
#include "calibrate/measure/output/measured_values.h"
#include "sim/topology/read_topology.h"

#include <fmt/format.h>

#include <algorithm>

namespace trainyard {
namespace {

bool on_gpus(const MeasuredRun& run)
{
    return run.backend == "nccl";
}

std::vector<std::string> hosts_of(const MeasuredRun& run)
{
    std::vector<std::string> out;
    for (const RankFacts& rank : run.ranks)
        if (std::find(out.begin(), out.end(), rank.host) == out.end())
            out.push_back(rank.host);
    return out;
}

std::vector<std::string> names_of(const MeasuredRun& run)
{
    const bool several = hosts_of(run).size() > 1;
    std::vector<std::string> out;
    for (const RankFacts& rank : run.ranks) {
        const std::string device =
            on_gpus(run)
                ? fmt::format("GPU {}", rank.place.local_rank)
                : fmt::format("rank {}", several ? rank.place.local_rank : rank.place.rank);
        out.push_back(several ? rank.host + " " + device : device);
    }
    return out;
}

Words pair_classes(const MeasuredRun& run, const std::optional<DiscoveredNode>& node)
{
    const std::vector<std::string> hosts = hosts_of(run);
    int most = 0;
    std::vector<Seat> seats;
    for (const RankFacts& rank : run.ranks) {
        const auto host = std::find(hosts.begin(), hosts.end(), rank.host) - hosts.begin();
        seats.push_back({static_cast<int>(host), rank.place.local_rank});
        most = std::max(most, rank.place.local_rank + 1);
    }
    const auto devices = static_cast<std::size_t>(most);
    const bool known = node && node->classes.size() >= devices;
    const Words alike(devices, std::vector<std::string>(devices, on_gpus(run) ? "GPU" : "CPU"));
    return classes_of(seats, std::vector<Words>(hosts.size(), known ? node->classes : alike));
}

// What each device reached at the largest product that all computed at once.
std::vector<DeviceRate> gemm_rates(const MeasuredRun& run)
{
    const MeasuredPoint* largest = nullptr;
    double most = 0;
    for (const MeasuredPoint& point : run.points) {
        const auto* const local = std::get_if<LocalWork>(&point.point.work);
        if (local == nullptr || local->kind != LocalKind::gemm || point.by_rank.empty())
            continue;
        const double flops = 2.0 * static_cast<double>(local->m) * static_cast<double>(local->n) *
                             static_cast<double>(local->k);
        if (flops > most) {
            most = flops;
            largest = &point;
        }
    }
    std::vector<DeviceRate> out;
    if (largest == nullptr)
        return out;
    const std::vector<std::string> names = names_of(run);
    for (std::size_t i = 0; i < largest->by_rank.size(); ++i) {
        const auto rank = static_cast<std::size_t>(largest->point.group.members[i]);
        const double seconds = largest->by_rank[i];
        out.push_back(
            {names[rank], run.ranks[rank].facts.device, seconds > 0 ? most / seconds : 0});
    }
    return out;
}

} // namespace

PairStudy pair_study(const MeasuredRun& run, const std::optional<DiscoveredNode>& node)
{
    PairStudy out;
    const std::size_t n = run.ranks.size();
    out.names = names_of(run);
    out.classes = pair_classes(run, node);
    out.rates.assign(n, std::vector<std::optional<double>>(n));
    for (const MeasuredPoint& point : run.points) {
        const auto* const exchange = std::get_if<ExchangeWork>(&point.point.work);
        if (exchange == nullptr || exchange->messages.size() != 1 || !(point.estimate.median > 0))
            continue;
        const std::vector<int>& members = point.point.group.members;
        const OrderedPair pair{members[static_cast<std::size_t>(exchange->messages[0].from)],
                               members[static_cast<std::size_t>(exchange->messages[0].to)]};
        const double rate = static_cast<double>(exchange->size.value()) / point.estimate.median;
        auto& first =
            out.rates[static_cast<std::size_t>(pair.from)][static_cast<std::size_t>(pair.to)];
        if (!first) {
            first = rate;
            continue;
        }
        const auto known = std::find_if(out.again.begin(), out.again.end(),
                                        [&](const MeasuredAgain& a) { return a.pair == pair; });
        if (known == out.again.end())
            out.again.push_back({pair, {rate}});
        else
            known->values.push_back(rate);
    }
    if (node && hosts_of(run).size() == 1 && node->classes.size() == n)
        out.parts = shared_parts(node->description);
    return out;
}

MachineStudy study_of(const MeasuredRun& run, const std::optional<DiscoveredNode>& node)
{
    MachineStudy out;
    out.pairs = pair_matrices(run);
    const PairStudy pairs = pair_study(run, node);
    // Ranks on CPUs share cores, and on one host memory, with whatever else runs there.
    if (on_gpus(run) || hosts_of(run).size() > 1)
        out.slow_pairs = verdicts(pairs);
    if (on_gpus(run))
        out.slow_devices = slow_devices(gemm_rates(run));
    out.stragglers = stragglers(run.points);
    out.doubts = run.doubts;
    for (const RankFacts& rank : run.ranks)
        for (const std::string& warning : rank.facts.warnings)
            if (std::find(out.doubts.begin(), out.doubts.end(), warning) == out.doubts.end())
                out.doubts.push_back(warning);
    if (!node)
        return out;
    const auto add = [&](const std::vector<std::string>& more) {
        out.doubts.insert(out.doubts.end(), more.begin(), more.end());
    };
    add(node->believed);
    // What processes reach through memory is far below what memory carries: only links of GPUs
    // tell.
    if (on_gpus(run) && hosts_of(run).size() == 1)
        if (const Checked<Topology> topology = read_topology(node->topology, "topology"))
            add(graph_doubts(pairs, *topology));
    return out;
}

std::string describe(const MachineStudy& study)
{
    std::string out;
    const auto blame = [&](const std::vector<SlowVerdict>& verdicts) {
        for (const SlowVerdict& verdict : verdicts)
            out += fmt::format("slow: {}: {}\n", verdict.what, verdict.evidence);
    };
    blame(study.slow_pairs.slow);
    blame(study.slow_devices);
    for (const std::string& text : study.stragglers)
        out += fmt::format("late: {}\n", text);
    for (const std::string& text : study.slow_pairs.recovered)
        out += fmt::format("noise: {}\n", text);
    for (const std::string& text : study.doubts)
        out += fmt::format("doubtful: {}\n", text);
    return out;
}

} // namespace trainyard
