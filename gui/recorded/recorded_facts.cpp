#include "gui/recorded/recorded_facts.h"

#include "gui/recorded/recorded_rows.h"
#include "gui/timeline/time_text.h"
#include "sim/base/units.h"
#include "sim/report/collectives.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard::gui {

namespace {

std::string time_of(TraceTime time)
{
    return time_text(SimTime(time.value() * 1000));
}

class OpFactsOf {
public:
    OpFactsOf(SliceFacts& out, const JobTrace& job, const RankActivity& rank, const TraceOp& op)
        : out_(out), job_(job), rank_(rank), op_(op)
    {}

    void collect()
    {
        if (op_.transfer != TraceOp::no_transfer)
            add_transfer(rank_.transfers[op_.transfer]);
        else
            add("does", std::string(title_of(op_.work)));
        add("launched by", rank_.text(op_.host_op));
        add("shapes", rank_.text(op_.shapes));
        std::string phase(to_name(op_.phase));
        std::replace(phase.begin(), phase.end(), '_', ' ');
        add("part", phase);
        if (op_.issued && *op_.issued < op_.span.start)
            add("issued", time_of(op_.span.start - *op_.issued) + " before it started");
    }

private:
    void add(std::string name, std::string value)
    {
        if (!value.empty())
            out_.facts.push_back({std::move(name), std::move(value), nothing});
    }

    void add_transfer(const TraceTransfer& transfer)
    {
        const std::string kind = transfer.kind ? title_of(*transfer.kind) : "not named";
        add("transfer", transfer.bytes > 0
                            ? fmt::format("{} of {}", kind, to_display(Bytes(transfer.bytes)))
                            : kind);
        const std::optional<GroupKind> role = job_.role_of(transfer);
        std::string group = role ? title_of(*role) : "not known what for";
        if (transfer.ranks > 0)
            group += fmt::format(", {} ranks", transfer.ranks);
        if (!transfer.group.empty())
            group += fmt::format(" ({})", transfer.group);
        add("group", group);
        add("whole kernel", time_of(op_.span.length()));
    }

    SliceFacts& out_;
    const JobTrace& job_;
    const RankActivity& rank_;
    const TraceOp& op_;
};

} // namespace

SliceFacts recorded_facts(const TimelineModel& model, std::uint32_t slice, const JobTrace& job)
{
    SliceFacts out = facts_of(model, slice);
    const Track& track = model.data.tracks[model.row_at(slice).track];
    const RecordIndex op = model.data.slices.record[slice];
    if (track.run != recorded_run || track.kind != TrackKind::stream || op == no_record)
        return out;
    const RankActivity& rank = job.ranks[track.lane.value];
    OpFactsOf(out, job, rank, rank.ops[op]).collect();
    return out;
}

} // namespace trainyard::gui
