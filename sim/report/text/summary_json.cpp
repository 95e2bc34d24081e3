#include "sim/report/text/summary_json.h"

#include "sim/base/build_info.h"
#include "sim/report/text/advice_text.h"
#include "sim/report/text/describe.h"
#include "sim/report/text/json_member.h"
#include "sim/report/text/memory_text.h"
#include "sim/report/text/pace_text.h"
#include "sim/strategy/communicators.h"

#include <cmath>

namespace trainyard {

namespace {

Json by_kind(const TimeShares& shares)
{
    Json out = Json::object();
    for (const TimeKind kind : time_kinds())
        out[to_name(kind)] = shares[index_of(kind)].value();
    return out;
}

Json breakdown(const Summary& summary)
{
    return Json::Object{member("critical_rank", summary.critical_rank),
                        member("critical", by_kind(summary.critical)),
                        member("mean", by_kind(summary.mean))};
}

Json collective(const CollectiveRow& row)
{
    return Json::Object{member("collective", to_name(row.collective)),
                        member("group", to_name(row.group)),
                        member("ranks", row.ranks),
                        member("count_per_rank", row.count_per_rank),
                        member("mean_bytes", row.mean_size.value()),
                        member("mean_time_s", row.mean_time.value()),
                        member("algorithm_bandwidth_bytes_per_s", row.algorithm_bandwidth.value()),
                        member("bus_bandwidth_bytes_per_s", row.bus_bandwidth.value()),
                        member("total_s_per_rank", row.total_per_rank.value()),
                        member("exposed_s_per_rank", row.exposed_per_rank.value()),
                        member("waiting_s_per_rank", row.waiting_per_rank.value())};
}

Json cluster_collective(const ClusterCollectiveRow& row)
{
    return Json::Object{
        member("collective", to_name(row.collective)),
        member("ranks", row.ranks),
        member("bytes", row.size.value()),
        member("time_s", row.time.value()),
        member("algorithm_bandwidth_bytes_per_s", row.algorithm_bandwidth.value()),
        member("bus_bandwidth_bytes_per_s", row.bus_bandwidth.value()),
        member("in_step_time_s", row.in_step_time.value()),
        member("in_step_bus_bandwidth_bytes_per_s", row.in_step_bus_bandwidth.value())};
}

Json link(const LinkClassRow& row)
{
    return Json::Object{
        member("name", row.name), member("links", static_cast<std::uint64_t>(row.links)),
        member("capacity_bytes_per_s", row.capacity.value()), member("bytes_per_step", row.bytes),
        member("utilization", row.utilization)};
}

Json network_utilization(const Summary& summary)
{
    Json out = Json::object();
    for (const LinkClassRow& row : summary.links)
        out[row.name] = row.utilization;
    return out;
}

// What comes before the first step, or at the start of every one.
Json start_up(const Outcome& outcome)
{
    const CommunicatorStart start =
        communicator_start(outcome.job, outcome.cost->profile().hardware.collectives);
    return Json::Object{member("communicators", start.count),
                        member("communicators_s", start.time.value()),
                        member("every_iteration", outcome.job.communicator_creation.value() > 0)};
}

Json whole_collectives(const StepTotals& steps)
{
    Json::Array whole;
    for (const WholeCollectives& each : steps.whole)
        whole.push_back(Json::Object{member("collective", to_name(each.collective)),
                                     member("group", to_name(each.group)),
                                     member("reason", to_name(each.reason))});
    return whole;
}

Json shared_links(const FabricDemand& demand)
{
    Json::Array asks;
    for (const TrunkAsk& ask : demand.asks)
        asks.push_back(Json::Object{member("collective", to_name(ask.collective)),
                                    member("group", to_name(ask.group)),
                                    member("share_of_capacity", ask.share)});
    return Json::Object{member("layer", demand.layer), member("share_of_capacity", demand.share),
                        member("asked_by", std::move(asks))};
}

Json engine_used(const Outcome& outcome)
{
    const EngineReport& engine = outcome.engine;
    Json out = Json::Object{member("tier", to_name(engine.use.tier)),
                            member("reason", engine.use.reason),
                            member("fidelity", to_name(engine.network.fidelity)),
                            member("ranks", engine.ranks),
                            member("lanes", engine.lanes),
                            member("ops", engine.ops),
                            member("events", engine.events),
                            member("wall_ms", engine.wall_ms)};
    out["fidelity_reason"] = to_name(engine.network.reason);
    if (engine.network.shared)
        out["shared_links"] = shared_links(*engine.network.shared);
    if (shares_links(engine.network.fidelity))
        out["slowed_transfers"] = outcome.result->slowed;
    if (knows_steps(engine.network.fidelity)) {
        out["disturbed_collectives"] = outcome.result->steps.disturbed;
        out["whole_collectives"] = whole_collectives(outcome.result->steps);
    }
    return out;
}

Json bottleneck(const Bottleneck& bottleneck)
{
    return Json::Object{member("class", to_name(bottleneck.kind)),
                        member("evidence", bottleneck.evidence),
                        member("advice", bottleneck.advice)};
}

Json node_to_node(const Summary& summary)
{
    if (summary.node_latency.value() <= 0)
        return {};
    return Json::Object{member("latency_s", summary.node_latency.value()),
                        member("bandwidth_bytes_per_s", summary.node_bandwidth.value())};
}

Json warning(const Diagnostic& problem)
{
    Json out = Json::Object{member("message", problem.message)};
    if (!problem.file.empty())
        out["file"] = problem.file;
    if (problem.line > 0)
        out["line"] = problem.line;
    if (!problem.pointer.empty())
        out["pointer"] = problem.pointer;
    if (!problem.hint.empty())
        out["hint"] = problem.hint;
    return out;
}

// Rates that nothing limits are null.
Json loading(const Loading& loading)
{
    const auto rate = [](double samples) {
        return std::isfinite(samples) ? Json(samples) : Json();
    };
    return Json::Object{
        member("storage_samples_per_s_per_rank", rate(loading.rates.storage)),
        member("workers_samples_per_s_per_rank", rate(loading.rates.workers)),
        member("copy_samples_per_s_per_rank", rate(loading.rates.copy)),
        member("needed_samples_per_s_per_rank", loading.needed),
        member("slowest", to_name(loading.slowest)),
        member("page_cache_hit_share", loading.rates.hit_share),
        member("enough_workers_per_rank",
               loading.enough_workers ? Json(*loading.enough_workers) : Json()),
        member("enough_storage_bytes_per_s_per_node", loading.enough_storage.value())};
}

template <class Wanted>
void add_figures(Json& out, const Summary& summary, Wanted wanted)
{
    for (const Figure* figure : figures_in(in_json))
        if (wanted(*figure))
            out[figure->key] = figure->value(summary);
}

} // namespace

Json to_json(const Outcome& outcome, const Summary& summary)
{
    Json out = Json::object();
    out["format"] = result_format;
    out["trainyard"] = version();
    out["inputs"] = Json::Object{member("hash", hash_text(outcome.input_hash)),
                                 member("seed", outcome.scenario.run.seed)};
    out["title"] = job_title(outcome);
    const auto of_step = [](const Figure& figure) { return figure.group == FigureGroup::step; };
    add_figures(out, summary, of_step);
    out["memory_bytes"] = memory_json(outcome.memory, MemoryDetail::kinds);
    out["breakdown_s"] = breakdown(summary);
    add_figures(out, summary, std::not_fn(of_step));
    out["network_utilization"] = network_utilization(summary);
    out["collectives"] = json_list(summary.collectives, collective);
    out["cluster_collectives"] = json_list(summary.cluster_collectives, cluster_collective);
    if (summary.loading)
        out["data_loading"] = loading(*summary.loading);
    out["bottleneck"] = bottleneck(summary.bottleneck);
    if (summary.pace)
        out["pace"] = to_json(*summary.pace, summary.step_time.value);
    if (summary.advice != AdviceReport{})
        out["advice"] = to_json(summary.advice);
    if (!summary.what_if.empty())
        out["what_if"] = to_json(summary.what_if);
    out["links"] = json_list(summary.links, link);
    out["node_to_node"] = node_to_node(summary);
    out["start_up"] = start_up(outcome);
    out["engine"] = engine_used(outcome);
    out["scenario"] = to_json(outcome.scenario);
    out["warnings"] = json_list(outcome.warnings, warning);
    return out;
}

} // namespace trainyard
