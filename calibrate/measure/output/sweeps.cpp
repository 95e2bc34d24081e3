#include "calibrate/measure/output/sweeps.h"

#include "sim/cost/collective_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace trainyard {
namespace {

// Points of one sweep.
struct SweepKey {
    CollectiveKind collective;
    ElementType type;
    std::vector<int> members;
    std::string algorithm;
    std::string protocol;
    int launch;

    auto operator<=>(const SweepKey&) const = default;
};

SweepTiming timing_of(const MeasuredPoint& point, const CollectiveWork& work, int ranks)
{
    SweepTiming out;
    out.time = Seconds(point.estimate.median);
    if (point.estimate.median > 0)
        out.algorithm_bandwidth =
            Bandwidth(static_cast<double>(work.size.value()) / point.estimate.median);
    out.bus_bandwidth = out.algorithm_bandwidth * bus_factor(work.collective, ranks);
    out.wrong = point.wrong;
    return out;
}

std::int64_t count_of(const CollectiveWork& work, int ranks)
{
    const int shares = counts_one_share(work.collective) ? ranks : 1;
    return static_cast<std::int64_t>(work.size.value()) / (element_bytes(work.type) * shares);
}

class SweepMaker {
public:
    explicit SweepMaker(const MeasuredRun& run) : run_(run) {}

    std::vector<Sweep> all()
    {
        for (const MeasuredPoint& point : run_.points)
            if (const auto* work = std::get_if<CollectiveWork>(&point.point.work);
                work != nullptr && work->collective != CollectiveKind::barrier)
                add(point, *work);
        std::vector<Sweep> out;
        for (auto& [key, sweep] : sweeps_) {
            std::sort(sweep.rows.begin(), sweep.rows.end(),
                      [](const SweepRow& a, const SweepRow& b) { return a.size < b.size; });
            if (!sweep.rows.empty())
                out.push_back(std::move(sweep));
        }
        return out;
    }

private:
    void add(const MeasuredPoint& point, const CollectiveWork& work)
    {
        const GroupSpec& group = point.point.group;
        const SweepKey key{work.collective, work.type,      group.members,
                           group.algorithm, group.protocol, point.point.launch};
        const auto [found, is_new] = sweeps_.try_emplace(key);
        Sweep& sweep = found->second;
        if (is_new)
            sweep = start(point, work);
        if (point.wrong.value_or(0) > 0) {
            sweep.flags.push_back(
                fmt::format("{}: {} wrong elements; left out", describe(work), *point.wrong));
            return;
        }
        auto row = std::find_if(sweep.rows.begin(), sweep.rows.end(),
                                [&](const SweepRow& r) { return r.size == work.size; });
        if (row == sweep.rows.end())
            row = sweep.rows.insert(row, {work.size, count_of(work, sweep.ranks), {}, {}});
        (work.buffers == Buffers::in_place ? row->in_place : row->out_of_place) =
            timing_of(point, work, sweep.ranks);
        for (const std::string& flag : point.flags)
            sweep.flags.push_back(fmt::format("{}: {}", describe(work), flag));
    }

    Sweep start(const MeasuredPoint& point, const CollectiveWork& work) const
    {
        const GroupSpec& group = point.point.group;
        Sweep out;
        out.source = fmt::format("{}, {}, launch {}", run_.started, group.name, point.point.launch);
        out.collective = work.collective;
        out.backend = from_name<Backend>(run_.backend).value_or(Backend::nccl);
        out.ranks = static_cast<int>(group.members.size());
        out.nodes = hosts_of(group);
        out.data_type = sweep_word(work.type);
        out.reduction = reduces(work.collective) ? "sum" : "none";
        out.root = work.root;
        out.algorithm = group.algorithm;
        out.protocol = group.protocol;
        out.variables = run_.variables;
        if (!run_.ranks.empty()) {
            const BackendFacts& facts = run_.ranks.front().facts;
            out.hardware = facts.device;
            out.device = facts.device;
            if (facts.name == "nccl")
                out.nccl_version = facts.version;
        }
        return out;
    }

    int hosts_of(const GroupSpec& group) const
    {
        std::set<std::string> hosts;
        for (const int rank : group.members)
            if (static_cast<std::size_t>(rank) < run_.ranks.size())
                hosts.insert(run_.ranks[static_cast<std::size_t>(rank)].host);
        return std::max(1, static_cast<int>(hosts.size()));
    }

    const MeasuredRun& run_;
    std::map<SweepKey, Sweep> sweeps_;
};

std::string timing_cells(const std::optional<SweepTiming>& timing)
{
    if (!timing)
        return fmt::format("{:>10} {:>7} {:>7} {:>6}", "N/A", "N/A", "N/A", "N/A");
    const double micro = 1e6 * timing->time.value();
    return fmt::format("{:>10.{}f} {:>7.2f} {:>7.2f} {:>6}", micro, micro < 100 ? 2 : 1,
                       timing->algorithm_bandwidth.value() / 1e9,
                       timing->bus_bandwidth.value() / 1e9,
                       timing->wrong ? fmt::to_string(*timing->wrong) : "N/A");
}

} // namespace

std::vector<Sweep> collective_sweeps(const MeasuredRun& run)
{
    return SweepMaker(run).all();
}

std::string sweep_table(const Sweep& sweep)
{
    std::string out = fmt::format(
        "# {} {} of {} ranks on {} node{}{}\n"
        "#\n"
        "#                                                  out-of-place                       "
        "in-place\n"
        "#        size         count      type   redop       time   algbw   busbw #wrong       "
        "time   algbw   busbw #wrong\n"
        "#         (B)    (elements)                         (us)  (GB/s)  (GB/s)              "
        "(us)  (GB/s)  (GB/s)\n",
        to_name(sweep.backend), to_name(sweep.collective), sweep.ranks, sweep.nodes,
        sweep.nodes == 1 ? "" : "s",
        sweep.algorithm == "auto" ? "" : fmt::format(", {} {}", sweep.algorithm, sweep.protocol));
    double bus = 0;
    int timings = 0;
    for (const SweepRow& row : sweep.rows) {
        out += fmt::format("{:>13} {:>13} {:>9} {:>7} {}  {}\n", row.size.value(), row.count,
                           sweep.data_type, sweep.reduction, timing_cells(row.out_of_place),
                           timing_cells(row.in_place));
        for (const auto& timing : {row.out_of_place, row.in_place})
            if (timing) {
                bus += timing->bus_bandwidth.value() / 1e9;
                ++timings;
            }
    }
    if (timings > 0)
        out += fmt::format("# Avg bus bandwidth    : {:.5g}\n#\n", bus / timings);
    return out;
}

} // namespace trainyard
