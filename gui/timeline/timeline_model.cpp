#include "gui/timeline/timeline_model.h"

namespace trainyard::gui {

namespace {

constexpr std::size_t overview_columns = 1024;

// The parts of making one, of about the same length.
void begin_part(const WorkControl& work, std::string_view name, int number)
{
    constexpr int parts = 4;
    work.check();
    work.report(name, number, parts);
}

std::vector<std::unique_ptr<const RecordedRun>>
recorded(const std::vector<std::shared_ptr<const Outcome>>& outcomes, const WorkControl& work)
{
    begin_part(work, "linking operations", 0);
    std::vector<std::unique_ptr<const RecordedRun>> runs;
    for (const auto& outcome : outcomes) {
        work.check();
        runs.push_back(std::make_unique<const RecordedRun>(outcome));
    }
    return runs;
}

TimelineData data_of(const std::vector<std::unique_ptr<const RecordedRun>>& runs,
                     const WorkControl& work, LaneOrder order)
{
    begin_part(work, "laying out operations", 1);
    std::vector<const RecordedRun*> all;
    for (const auto& run : runs)
        all.push_back(run.get());
    return make_timeline_data(all, work, order);
}

std::vector<RowPyramid> pyramids_of(const TimelineData& data, const WorkControl& work)
{
    begin_part(work, "summarising operations", 2);
    return make_pyramids(data, work);
}

std::vector<PathPiece> path_of(const RecordedRun& run, const WorkControl& work)
{
    begin_part(work, "finding the critical path", 3);
    return run.graph.critical_path();
}

void add_messages(const TimelineModel& model, std::uint8_t run, RecordIndex record,
                  std::vector<Arrow>& arrows)
{
    const std::uint32_t own = model.slice_of(run, record);
    for (const RecordGraph::Partner& partner : model.runs[run]->graph.partners(record)) {
        const std::uint32_t other = model.slice_of(run, partner.record);
        if (own == nothing || other == nothing)
            continue;
        arrows.push_back(partner.direction == Direction::send ? Arrow{own, other}
                                                              : Arrow{other, own});
    }
}

} // namespace

TimelineModel::TimelineModel(const std::vector<std::shared_ptr<const Outcome>>& outcomes,
                             const WorkControl& work, LaneOrder order)
    : runs(recorded(outcomes, work)),
      data(data_of(runs, work, order)),
      pyramids(pyramids_of(data, work)),
      overview(make_overview(data, pyramids, overview_columns, work)),
      path(path_of(*runs.front(), work))
{
    find_kinds();
}

TimelineModel::TimelineModel(TimelineData laid_out,
                             std::vector<std::unique_ptr<const RecordedRun>> of)
    : runs(std::move(of)),
      data(std::move(laid_out)),
      pyramids(make_pyramids(data)),
      overview(make_overview(data, pyramids, overview_columns))
{
    if (!runs.empty())
        path = runs.front()->graph.critical_path();
    find_kinds();
}

void TimelineModel::find_kinds()
{
    for (const TimeKind kind : data.slices.kind)
        occurs[static_cast<std::size_t>(kind)] = true;
    for (const Track& track : data.tracks)
        if (track.kind == TrackKind::rank && track.row != nothing) {
            const SliceRow& row = data.rows[track.row];
            for (std::uint32_t i = row.first + 1; i < row.end() && !blank; ++i)
                blank = data.slices.start[i] > data.slices.end[i - 1];
        }
}

const RecordedRun* TimelineModel::run_of(const SliceRow& row) const
{
    const std::uint8_t number = run_number(row);
    return number < runs.size() ? runs[number].get() : nullptr;
}

std::uint32_t TimelineModel::slice_of(std::uint8_t run, RecordIndex record) const
{
    return record == no_record ? nothing : data.slice_of(run, runs[run]->graph.records()[record]);
}

Relations relations_of(const TimelineModel& model, std::uint32_t slice)
{
    Relations relations;
    const SliceRow& row = model.row_at(slice);
    const std::uint8_t run = model.run_number(row);
    const RecordIndex record = model.data.slices.record[slice];
    if (record == no_record || model.run_of(row) == nullptr ||
        model.data.tracks[row.track].kind != TrackKind::stream)
        return relations;
    const RecordGraph& graph = model.runs[run]->graph;
    const StartReason reason = graph.why_started(record);
    relations.cause = reason.cause;
    relations.caused_by = model.slice_of(run, reason.record);
    relations.last_to_come = model.slice_of(run, graph.last_to_come(record));
    const auto add = [&](std::vector<std::uint32_t>& slices, RecordIndex other) {
        if (const std::uint32_t found = model.slice_of(run, other); found != nothing)
            slices.push_back(found);
    };
    for (const RecordIndex other : graph.started_by(record))
        add(relations.effects, other);
    for (const RecordIndex other : graph.peers(record))
        add(relations.peers, other);
    add_messages(model, run, record, relations.messages);
    return relations;
}

std::vector<Arrow> arrows_of(const TimelineModel& model, const SliceRow& row, std::uint32_t first,
                             std::uint32_t end)
{
    std::vector<Arrow> arrows;
    if (model.run_of(row) == nullptr)
        return arrows;
    RecordIndex before = no_record; // a record has two slices where it waits first
    for (std::uint32_t slice = first; slice < end; ++slice) {
        const RecordIndex record = model.data.slices.record[slice];
        if (record != before)
            add_messages(model, model.run_number(row), record, arrows);
        before = record;
    }
    return arrows;
}

} // namespace trainyard::gui
