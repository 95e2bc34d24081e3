#include "sim/report/traces/recorded_run.h"

namespace trainyard {
namespace {

template <class Name>
Json named_or_null(const std::optional<Name>& value)
{
    return value ? Json(to_name(*value)) : Json();
}

std::string_view name_of(StepSource source)
{
    switch (source) {
    case StepSource::annotations:
        return "annotations";
    case StepSource::periodicity:
        return "periodicity";
    case StepSource::whole:
        break;
    }
    return "whole_trace";
}

std::string_view name_of(MovingFrom source)
{
    switch (source) {
    case MovingFrom::stated:
        return "stated";
    case MovingFrom::arrivals:
        return "arrivals";
    case MovingFrom::quickest:
        return "quickest_alike";
    case MovingFrom::own_start:
        break;
    }
    return "kernel";
}

std::string_view name_of(const RecordedPathShare& share)
{
    switch (share.thing) {
    case PathThing::op:
        return to_name(share.work);
    case PathThing::host:
        return "host";
    case PathThing::waiting:
        return "waiting";
    case PathThing::queued:
        return "queued";
    case PathThing::untold:
        break;
    }
    return "idle_launches_unknown";
}

std::string_view name_of(TimesStated times)
{
    switch (times) {
    case TimesStated::timeline:
        return "timeline";
    case TimesStated::durations:
        return "durations";
    case TimesStated::none:
        break;
    }
    return "none";
}

// Null where the trace states no times, and of what no time is known.
Json seconds_or_null(Seconds time, bool stated)
{
    return stated ? Json(time.value()) : Json();
}

Json json_of_graph(const GraphFacts& graph, bool durations)
{
    return Json::Object{{"nodes", Json(graph.nodes)},
                        {"waits", Json(graph.waits)},
                        {"waits_for_unknown", Json(graph.waits_for_unknown)},
                        {"depth", Json(graph.depth)},
                        {"critical_path_seconds", seconds_or_null(graph.critical_path, durations)},
                        {"tensors", Json(graph.tensors)},
                        {"tensor_bytes", graph.tensor_bytes},
                        {"on_host", graph.on_host}};
}

Json json_of_graph_rank(const RankSummary& rank, bool durations)
{
    Json work = Json::object();
    for (std::size_t w = 0; w < device_work_count; ++w)
        work[to_name(static_cast<DeviceWork>(w))] =
            Json::Object{{"seconds", seconds_or_null(rank.work[w], durations)},
                         {"ops", rank.ops[w]},
                         {"flops", rank.flops[w]}};
    Json phases = Json::object();
    for (std::size_t p = 0; p < phase_count; ++p)
        if (const PhaseWork& phase = rank.phases[p]; phase.ops > 0)
            phases[to_name(static_cast<Phase>(p))] =
                Json::Object{{"seconds", seconds_or_null(phase.time, durations)},
                             {"ops", phase.ops},
                             {"transfers", phase.transfers},
                             {"flops", phase.flops}};
    return Json::Object{{"rank", rank.rank},
                        {"file", rank.file},
                        {"steps", static_cast<std::int64_t>(rank.steps)},
                        {"device_work", std::move(work)},
                        {"phases", std::move(phases)},
                        {"graph", json_of_graph(*rank.graph, durations)}};
}

Json json_of_rank(const RankSummary& rank)
{
    Json time = Json::object();
    for (std::size_t kind = 0; kind < time_kind_count; ++kind)
        time[to_name(static_cast<TimeKind>(kind))] = rank.time[kind].value();
    time["queued_gaps"] = rank.gaps.value();
    time["idle_launches_unknown"] = rank.untold.value();
    Json work = Json::object();
    for (std::size_t w = 0; w < device_work_count; ++w)
        work[to_name(static_cast<DeviceWork>(w))] =
            Json::Object{{"seconds", rank.work[w].value()}, {"ops", rank.ops[w]}};
    return Json::Object{{"rank", rank.rank},
                        {"file", rank.file},
                        {"steps", static_cast<std::int64_t>(rank.steps)},
                        {"step_seconds", rank.step.value()},
                        {"time", std::move(time)},
                        {"compute_busy", rank.compute_busy.value()},
                        {"communication_busy", rank.communication_busy.value()},
                        {"device_work", std::move(work)},
                        {"streams", static_cast<std::int64_t>(rank.streams)},
                        {"launches", rank.launches},
                        {"launched_before_recording", Json(rank.left_over)},
                        {"host_waiting", rank.host_waiting.value()},
                        {"clock_offset", rank.clock_offset.value()},
                        {"clock_offset_spread", rank.offset_spread.value()}};
}

Json json_of_group(const JobTraceGroup& group)
{
    return Json::Object{{"name", group.name},
                        {"description", group.purpose},
                        {"ranks", group.ranks},
                        {"members", group.members},
                        {"kind", named_or_null(group.role)},
                        {"kind_from", group.role_stated ? "description" : "use"}};
}

Json json_of_transfer(const TransferRow& row, TimesStated times)
{
    const bool durations = times != TimesStated::none;
    const bool timeline = times == TimesStated::timeline;
    return Json::Object{{"collective", named_or_null(row.kind)},
                        {"group", row.group},
                        {"kind", named_or_null(row.role)},
                        {"ranks", row.ranks},
                        {"bytes", Json(row.bytes)},
                        {"dtype", row.dtype},
                        {"per_rank_and_step", row.count},
                        {"kernel_seconds", seconds_or_null(row.kernel, durations)},
                        {"moving_seconds", seconds_or_null(row.moving, timeline)},
                        {"quickest_seconds", seconds_or_null(row.quickest, timeline)},
                        {"moving_from", timeline ? Json(name_of(row.source)) : Json()},
                        {"algorithm_bandwidth", row.algorithm_bandwidth.value()},
                        {"bus_bandwidth", row.bus_bandwidth.value()},
                        {"expected_seconds", row.expected ? Json(row.expected->value()) : Json()}};
}

Json json_of_rebuilt(const RebuiltStep& step)
{
    Json work = Json::object();
    for (std::size_t w = 0; w < device_work_count; ++w)
        work[to_name(static_cast<DeviceWork>(w))] =
            Json::Object{{"recorded_seconds", step.recorded_work[w].value()},
                         {"rebuilt_seconds", step.rebuilt_work[w].value()}};
    return Json::Object{{"steps", Json(step.steps)},
                        {"recorded_seconds", step.recorded().value()},
                        {"rebuilt_seconds", step.rebuilt().value()},
                        {"ranks", json_list(step.ranks,
                                            [](const RebuiltRank& rank) {
                                                return Json(Json::Object{
                                                    {"rank", rank.rank},
                                                    {"times_taken", rank.known},
                                                    {"recorded_seconds", rank.recorded.value()},
                                                    {"rebuilt_seconds", rank.rebuilt.value()}});
                                            })},
                        {"device_work", std::move(work)},
                        {"ops", Json(step.ops)},
                        {"ops_unlike_those_taken", Json(step.unknown)},
                        {"collectives_joined", Json(step.joined)},
                        {"transfers_alone", Json(step.lone)},
                        {"slowdown_beside_transfers", step.slowdown}};
}

Json json_of_scaled(const ScaledStep& step)
{
    return Json::Object{
        {"world", step.world},
        {"ranks", step.scaled},
        {"step_seconds", step.predicted().value()},
        {"recorded_seconds", step.recorded.value()},
        {"rebuilt_seconds", step.rebuilt.value()},
        {"rebuilt_scaled_seconds", step.scaled_step.value()},
        {"transfers", json_list(step.transfers,
                                [](const ScaledTransfer& row) {
                                    return Json(
                                        Json::Object{{"collective", to_name(row.kind)},
                                                     {"kind", to_name(row.role)},
                                                     {"bytes", Json(row.bytes)},
                                                     {"ranks", row.ranks},
                                                     {"scaled_ranks", row.scaled_ranks},
                                                     {"moving_seconds", row.recorded.value()},
                                                     {"scaled_moving_seconds", row.scaled.value()},
                                                     {"expected_seconds", row.expected.value()},
                                                     {"may_hold_waiting", row.may_wait}});
                                })},
        {"transfers_unchanged", Json(step.unchanged)}};
}

} // namespace

Json recorded_run_json(const RunSummary& run)
{
    const bool timeline = run.times == TimesStated::timeline;
    const bool durations = run.times != TimesStated::none;
    Json sizes = Json::object();
    for (std::size_t kind = 0; kind < group_kind_count; ++kind)
        if (run.sizes[kind])
            sizes[to_name(static_cast<GroupKind>(kind))] = *run.sizes[kind];
    return Json::Object{
        {"format", recorded_run_format},
        {"world", run.world ? Json(*run.world) : Json()},
        {"backend", run.backend},
        {"device", run.device},
        {"steps_from", name_of(run.step_source)},
        {"steps", run.step_numbers},
        {"times", name_of(run.times)},
        {"on_host", run.on_host},
        {"step_seconds", seconds_or_null(run.step, timeline)},
        {"not_recognised", seconds_or_null(Seconds(run.not_recognised), timeline)},
        {"sizes", std::move(sizes)},
        {"groups", json_list(run.groups, json_of_group)},
        {"ranks", json_list(run.ranks,
                            [&](const RankSummary& rank) {
                                return rank.graph ? json_of_graph_rank(rank, durations)
                                                  : json_of_rank(rank);
                            })},
        {"transfers",
         json_list(run.transfers,
                   [&](const TransferRow& row) { return json_of_transfer(row, run.times); })},
        {"stragglers", json_list(run.stragglers,
                                 [](const StragglerRow& row) {
                                     return Json(Json::Object{{"rank", row.rank},
                                                              {"last", row.last},
                                                              {"kept_waiting", row.kept.value()},
                                                              {"waited", row.waited.value()}});
                                 })},
        {"kernels", json_list(run.kernels,
                              [&](const RecordedKernel& use) {
                                  Json out = Json::Object{
                                      {"class", to_name(use.work)},
                                      {"name", use.name},
                                      {"shapes", use.shapes},
                                      {"per_rank_and_step", use.count},
                                      {"seconds", seconds_or_null(use.time, durations)}};
                                  if (!timeline)
                                      out["flops"] = use.flops;
                                  return out;
                              })},
        {"rebuilt", run.rebuilt ? json_of_rebuilt(*run.rebuilt) : Json()},
        {"critical_path",
         json_list(
             run.path,
             [](const RecordedPathShare& share) {
                 return Json(Json::Object{{"of", name_of(share)}, {"seconds", share.time.value()}});
             })},
        {"scaled", run.scaled ? json_of_scaled(*run.scaled) : Json()},
        {"doubts", run.doubts},
        {"assumed", run.assumed}};
}

} // namespace trainyard
