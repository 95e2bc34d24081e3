// What TimelineCanvas has pinned, and what all views select.

#include "gui/timeline/slice_facts.h"
#include "gui/timeline/timeline_canvas.h"

#include <QAccessible>
#include <algorithm>

namespace trainyard::gui {

// What a session had pinned, where this run still has it on the same rank.
void TimelineCanvas::pin_awaited()
{
    if (model_ == nullptr || model_->runs.empty())
        return;
    const std::optional<std::size_t> record = view_.take_awaited_record();
    const RecordedRun& run = *model_->runs.front();
    if (!record || *record >= run.graph.records().size())
        return;
    const OpRecord& found = run.graph.records()[*record];
    const std::uint32_t slice = model_->data.slice_of(0, found);
    if (slice == nothing ||
        view_.selection().rank != run.outcome->binding->lanes[found.lane.value].rank)
        return;
    reveal_line(model_->row_at(slice).track);
    pin(slice);
}

void TimelineCanvas::expect_model()
{
    behind_ = true;
    forget_record();
}

// An index into the records of another run says nothing about the next one's.
void TimelineCanvas::forget_record()
{
    Selection selection = view_.selection();
    selection.record.reset();
    writing_ = true;
    view_.select(selection);
    writing_ = false;
}

// What another view selected.
void TimelineCanvas::read_selection()
{
    scene_.selected = view_.selection().range;
    viewport()->update();
    if (writing_ || behind_ || model_ == nullptr || model_->runs.empty())
        return;
    const Selection& selection = view_.selection();
    const auto& records = model_->runs.front()->graph.records();
    if (selection.record && *selection.record < records.size()) {
        const std::uint32_t slice =
            model_->slice_of(0, static_cast<RecordIndex>(*selection.record));
        if (slice != nothing && slice != scene_.pinned)
            go_to(slice);
        return;
    }
    if (scene_.pinned != nothing && !selection.record) {
        scene_.pinned = nothing;
        update_relations();
        emit pinnedChanged();
    }
    if (selection.rank)
        for (std::uint32_t t = 0; t < model_->data.tracks.size(); ++t)
            if (model_->data.tracks[t].rank == *selection.rank) {
                reveal_line(t);
                break;
            }
}

void TimelineCanvas::pin(std::uint32_t slice)
{
    if (slice == scene_.pinned || model_ == nullptr)
        return;
    scene_.pinned = slice;
    update_relations();
    Selection selection = view_.selection();
    selection.record.reset();
    if (slice != nothing) {
        const SliceRow& row = model_->row_at(slice);
        const RecordIndex record = model_->data.slices.record[slice];
        selection.rank = model_->data.tracks[row.track].rank;
        if (!behind_ && model_->run_number(row) == 0 && record != no_record &&
            model_->data.tracks[row.track].kind == TrackKind::stream)
            selection.record = record;
    }
    writing_ = true;
    view_.select(selection);
    writing_ = false;
    tell_accessibility();
    viewport()->update();
    emit pinnedChanged();
}

void TimelineCanvas::update_relations()
{
    const std::uint32_t slice = scene_.pinned != nothing ? scene_.pinned : scene_.hovered;
    scene_.relations = slice == nothing ? Relations{} : relations_of(*model_, slice);
    viewport()->update();
}

void TimelineCanvas::go_to(std::uint32_t slice)
{
    const SimTime start = model_->data.slices.start[slice];
    const SimTime end = model_->data.slices.end[slice];
    const TimeRange& range = scene_.range;
    reveal_line(model_->row_at(slice).track);
    if (end - start > range.length() || (end - start).value() * 200 < range.length().value()) {
        // Too long or too short to be seen well.
        const SimTime margin = std::max((end - start) * 5, SimTime(1000));
        view_.show({start - margin, end + margin});
    } else if (start < range.from || end > range.to) {
        const SimTime from = start - (range.length() - (end - start)) / 2;
        view_.show({from, from + range.length()});
    }
    pin(slice);
}

void TimelineCanvas::go_to_match(Toward toward)
{
    if (model_ == nullptr)
        return;
    if (const std::uint32_t slice = step_to_match(model_->data, matches_, scene_.pinned, toward);
        slice != nothing)
        go_to(slice);
}

void TimelineCanvas::tell_accessibility()
{
    QString text;
    if (scene_.pinned != nothing) {
        const SliceFacts facts = facts_of(*model_, scene_.pinned);
        text = QString::fromStdString(facts.title + ", " + facts.place);
        for (const Fact& fact : facts.facts)
            text += QString::fromStdString(", " + fact.name + " " + fact.value);
    }
    setAccessibleDescription(text);
    QAccessibleEvent event(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
}

} // namespace trainyard::gui
