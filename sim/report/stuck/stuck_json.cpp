#include "sim/report/stuck/stuck_summary.h"

namespace trainyard {

namespace {

Json ranks_json(const SomeRanks& ranks)
{
    Json out = Json::object();
    out["count"] = ranks.count;
    out["first"] = ranks.numbers;
    return out;
}

Json place_json(const StuckPlace& place)
{
    Json out = Json::object();
    out["op"] = place.op;
    if (!place.collective.empty())
        out["collective"] = place.collective;
    out["stream"] = place.stream;
    out["phase"] = to_name(place.phase);
    if (place.micro_batch)
        out["micro_batch"] = *place.micro_batch;
    if (place.layer)
        out["layer"] = *place.layer;
    out["step"] = place.step;
    return out;
}

Json culprit_json(const StuckCulprit& culprit)
{
    Json out = Json::object();
    out["rank"] = culprit.rank;
    out["ranks"] = culprit.ranks;
    out["node"] = culprit.node;
    out["stage"] = culprit.stage;
    out["how"] = culprit.kind == StopKind::hangs ? "hangs" : "dies";
    out["at_s"] = culprit.at.value();
    out["place"] = place_json(culprit.place);
    return out;
}

Json wait_json(const StuckWait& row)
{
    Json out = Json::object();
    out["distance"] = row.distance;
    out["place"] = place_json(row.place);
    out["group"] = to_name(row.group);
    out["group_ranks"] = row.group_ranks;
    out["transfers"] = row.transfers;
    out["cause"] = row.cause == WaitCause::absence ? "absence"
                   : row.cause == WaitCause::death ? "death"
                                                   : "dead_link";
    out["since_s"] = row.since.value();
    out["waiting"] = ranks_json(row.waiting);
    out["missing"] = ranks_json(row.missing);
    return out;
}

Json notice_json(const StuckNotice& notice)
{
    Json out = Json::object();
    out["rank"] = notice.rank;
    out["at_s"] = (notice.issued + notice.time_out).value();
    out["issued_s"] = notice.issued.value();
    out["timeout_s"] = notice.time_out.value();
    out["backend"] = to_name(notice.backend);
    out["default"] = notice.is_default;
    out["place"] = place_json(notice.place);
    return out;
}

} // namespace

Json stuck_json(const StuckSummary& summary)
{
    Json stuck = Json::object();
    stuck["ranks"] = summary.ranks;
    stuck["waiting"] = summary.waiting;
    Json culprits = json_list(summary.culprits, culprit_json);
    stuck["culprits"] = std::move(culprits);
    Json waits = json_list(summary.waits, wait_json);
    stuck["waits"] = std::move(waits);
    if (summary.notice)
        stuck["noticed"] = notice_json(*summary.notice);
    Json out = Json::object();
    out["stuck"] = std::move(stuck);
    return out;
}

} // namespace trainyard
