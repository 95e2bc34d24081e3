#include "tests/unit/import/logs.h"

#include "sim/cost/collective_form.h"

#include <fmt/core.h>

namespace trainyard::testing {
namespace {

std::string program_of(CollectiveKind kind)
{
    return kind == CollectiveKind::all_to_all ? "alltoall" : std::string(to_name(kind));
}

Json side(const SweepTiming& timing)
{
    Json out = Json::object();
    out["time"] = timing.time.value() * 1e6;
    out["alg_bw"] = timing.algorithm_bandwidth.value() / 1e9;
    out["bus_bw"] = timing.bus_bandwidth.value() / 1e9;
    out["nwrong"] = timing.wrong ? Json(static_cast<double>(*timing.wrong)) : Json(nullptr);
    return out;
}

} // namespace

std::string rows_of(const RunOfTests& run)
{
    std::string out;
    const double factor = bus_factor(run.collective, run.ranks);
    const bool rooted =
        run.collective == CollectiveKind::broadcast || run.collective == CollectiveKind::reduce;
    const auto share = static_cast<std::uint64_t>(counts_one_share(run.collective) ? run.ranks : 1);
    for (std::uint64_t size = run.smallest; size <= run.largest; size *= 2) {
        const double microseconds = 10 + static_cast<double>(size) * factor / run.bus.value() * 1e6;
        const double rate = static_cast<double>(size) / microseconds * 1e-3;
        const std::string values =
            fmt::format("  {:7.2f}  {:6.2f}  {:6.2f}      0", microseconds, rate, rate * factor);
        out +=
            fmt::format("{:12}  {:12}     float  {:>6}  {:6}{}{}\n", size, size / 4 / share,
                        reduces(run.collective) ? "sum" : "none", rooted ? 0 : -1, values, values);
    }
    return out;
}

std::string log_of(const RunOfTests& run)
{
    std::string out = fmt::format(
        "# nccl-tests version 2.17.9 nccl-headers=22903 nccl-library=22903\n"
        "# Collective test starting: {}_perf\n"
        "# nThread 1 nGpus {} minBytes {} maxBytes {} step: 2(factor) warmup iters: 5 iters: 20\n"
        "#\n# Using devices\n",
        program_of(run.collective), run.ranks, run.smallest, run.largest);
    for (int rank = 0; rank < run.ranks; ++rank)
        out +=
            fmt::format("#  Rank {:2} Group  0 Pid  31706 on node-a device {:2} [0000:{:02x}:00] "
                        "NVIDIA H100 80GB HBM3\n",
                        rank, rank, rank + 16);
    return out + "#\n" + heading + rows_of(run) + "# Out of bounds values : 0 OK\n";
}

Json nccl_tests_json(const Sweep& sweep)
{
    Json out = Json::object();
    out["version"] = 3;
    out["args"] = Json(Json::Array{Json(program_of(sweep.collective) + "_perf"), Json("-b")});
    out["env"] = Json(Json::Array{Json("SECRET_TOKEN=hunter2")});
    for (const auto& [name, value] : sweep.variables)
        out["env"].push_back(name + "=" + value);
    out["nccl_version"] = 22903;
    out["config"]["nthreads"] = 1;
    out["config"]["ngpus"] = sweep.ranks;
    Json device = Json::object(); // of the first rank of each process only
    device["rank"] = 0;
    device["hostname"] = "node-a";
    device["device_info"] = sweep.device;
    out["config"]["devices"].push_back(device);
    for (const SweepRow& row : sweep.rows) {
        Json entry = Json::object();
        entry["size"] = row.size.value();
        entry["count"] = row.count;
        entry["type"] = sweep.data_type;
        entry["redop"] = sweep.reduction.empty() ? "none" : sweep.reduction;
        entry["root"] = fmt::format("{:6}", sweep.root);
        entry["out_of_place"] = row.out_of_place ? side(*row.out_of_place) : Json(nullptr);
        entry["in_place"] = row.in_place ? side(*row.in_place) : Json(nullptr);
        out["results"].push_back(std::move(entry));
    }
    return out;
}

} // namespace trainyard::testing
