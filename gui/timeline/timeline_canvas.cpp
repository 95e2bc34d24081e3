#include "gui/timeline/timeline_canvas.h"

#include <QEvent>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <utility>

namespace trainyard::gui {

namespace {

// The slice of another run with the same tracks: in the same place of a row that is as long, and of
// the same name. Else nothing.
std::uint32_t same_slice(const TimelineModel& before, const TimelineModel& now, std::uint32_t slice)
{
    if (slice == nothing)
        return nothing;
    const std::uint32_t index = before.data.row_of_slice(slice);
    const SliceRow& old_row = before.data.rows[index];
    const SliceRow& row = now.data.rows[index];
    const std::uint32_t found = row.first + (slice - old_row.first);
    const bool same =
        row.count == old_row.count && before.data.names[before.data.slices.name[slice]] ==
                                          now.data.names[now.data.slices.name[found]];
    return same ? found : nothing;
}

// Whether lines of one are lines of the other: what is said beside their names does not count.
bool same_tree(const TimelineData& a, const TimelineData& b)
{
    return std::ranges::equal(a.tracks, b.tracks, [](const Track& one, const Track& other) {
        return one.kind == other.kind && one.name == other.name && one.parent == other.parent &&
               one.end == other.end && one.row == other.row && one.run == other.run &&
               one.rank == other.rank && one.lane == other.lane && one.stream == other.stream;
    });
}

bool same_run(const TimelineModel& a, const TimelineModel& b)
{
    return !a.runs.empty() && !b.runs.empty() && a.runs.front()->outcome == b.runs.front()->outcome;
}

} // namespace

TimelineCanvas::TimelineCanvas(ViewState& view, QWidget* parent)
    : QAbstractScrollArea(parent), view_(view)
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setMouseTracking(true);
    viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
    viewport()->grabGesture(Qt::PinchGesture);
    setMinimumSize(320, 160);
    setAccessibleName(tr("Timeline"));
    scene_.layout = &layout_;
    scene_.path = true;
    scene_.matches = &matches_;
    read_palette();
    read_view();
    connect(&view_, &ViewState::rangeChanged, this, &TimelineCanvas::read_view);
    connect(&view_, &ViewState::cursorChanged, this, &TimelineCanvas::read_view);
    connect(&view_, &ViewState::selectionChanged, this, &TimelineCanvas::read_selection);
}

void TimelineCanvas::set_model(std::shared_ptr<const TimelineModel> model)
{
    const bool shows = model_ && model && !model->data.empty();
    const bool same_tracks = shows && same_tree(model_->data, model->data);
    const bool reordered = shows && !same_tracks && same_run(*model_, *model);
    const std::uint32_t kept = same_tracks ? same_slice(*model_, *model, scene_.pinned)
                               : reordered ? kept_slice(*model)
                                           : nothing;
    const std::shared_ptr<const TimelineModel> before = model_; // its layout looks at it
    // What another view selected of this run, before this one had it.
    const std::optional<std::size_t> selected =
        std::exchange(behind_, false) ? view_.selection().record : std::nullopt;
    model_ = std::move(model);
    scene_.model = model_.get();
    scene_.hovered = scene_.pinned = nothing;
    scene_.relations = {};
    scene_.measured.reset();
    matches_ = {};
    measuring_ = false;
    cache_.model = nullptr; // its address may be used again
    cache_.rows.forget();
    if (model_ == nullptr || model_->data.empty()) {
        model_.reset();
        scene_.model = nullptr;
        layout_ = {};
    } else if (same_tracks)
        layout_.rebase(model_->data);
    else {
        TrackLayout fresh(model_->data);
        if (reordered)
            fresh.adopt(layout_);
        fresh.mark(marks_);
        layout_ = std::move(fresh);
        if (!reordered)
            fill_height();
    }
    if (model_)
        view_.set_whole(model_->data.whole);
    layout_changed();
    read_view();
    forget_record();
    pin(selected ? nothing : kept);
    pin_awaited();
    if (selected) {
        Selection selection = view_.selection();
        selection.record = selected;
        view_.select(selection);
    }
    emit pinnedChanged();
}

// The pinned slice where its rank's lanes lie elsewhere.
std::uint32_t TimelineCanvas::kept_slice(const TimelineModel& now) const
{
    if (scene_.pinned == nothing)
        return nothing;
    const SliceRow& row = model_->row_at(scene_.pinned);
    const Track& track = model_->data.tracks[row.track];
    const std::uint32_t found = now.data.row_of(track.run, track.lane, track.stream);
    return track.kind == TrackKind::passes || found == nothing
               ? nothing
               : now.data.rows[found].first + (scene_.pinned - row.first);
}

void TimelineCanvas::set_counters(std::vector<CounterSeries> counters)
{
    const bool as_many = counters.size() == counters_.size();
    counters_ = std::move(counters);
    scene_.counters = &counters_;
    if (as_many)
        viewport()->update();
    else
        layout_changed();
}

QRect TimelineCanvas::body() const
{
    return model_ ? frame().body : QRect();
}

void TimelineCanvas::setOrder(LaneOrder order)
{
    if (order == order_)
        return;
    order_ = order;
    emit orderChanged();
}

void TimelineCanvas::showHidden()
{
    layout_.show_hidden();
    keep_marks();
    layout_changed();
}

void TimelineCanvas::set_marks(const LaneMarks& marks)
{
    marks_ = marks;
    if (model_ == nullptr)
        return;
    layout_.clear_marks();
    layout_.mark(marks_);
    layout_changed();
}

// After a change by hand.
void TimelineCanvas::keep_marks()
{
    marks_ = layout_.marks();
}

void TimelineCanvas::set_matches(SearchMatches matches)
{
    matches_ = std::move(matches);
    viewport()->update();
}

void TimelineCanvas::set_message(const QString& message)
{
    message_ = message;
    viewport()->update();
}

void TimelineCanvas::read_view()
{
    scene_.range = view_.range();
    scene_.cursor =
        view_.cursor() > view_.whole().from ? std::optional(view_.cursor()) : std::nullopt;
    if (!viewport()->underMouse())
        scene_.pointed = scene_.cursor;
    viewport()->update();
}

void TimelineCanvas::read_palette()
{
    scene_.colours = TimelineColours(palette());
    scene_.font = font();
    viewport()->update();
}

void TimelineCanvas::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange ||
        event->type() == QEvent::StyleChange)
        read_palette();
    QAbstractScrollArea::changeEvent(event);
}

void TimelineCanvas::reveal_line(std::uint32_t track)
{
    const std::size_t hidden = layout_.hidden_count();
    layout_.reveal(track);
    if (layout_.hidden_count() != hidden)
        keep_marks();
    layout_changed();
    const auto line = layout_.line_of(track);
    if (!line)
        return;
    const int height = frame().body.height();
    const int held = layout_.held_height(height);
    const int top = layout_.lines()[*line].y;
    const int bottom = layout_.lines()[*line].bottom();
    if (top >= held && (top < scene_.scroll + held || bottom > scene_.scroll + height))
        verticalScrollBar()->setValue(top - (height + held) / 2);
}

void TimelineCanvas::layout_changed()
{
    const int height = model_ ? frame().body.height() : viewport()->height();
    verticalScrollBar()->setPageStep(height);
    verticalScrollBar()->setSingleStep(layout_.line_height());
    verticalScrollBar()->setRange(0, std::max(0, layout_.height() - height));
    scene_.scroll = verticalScrollBar()->value();
    viewport()->update();
    emit laidOut();
}

void TimelineCanvas::scrollContentsBy(int, int)
{
    scene_.scroll = verticalScrollBar()->value();
    viewport()->update();
}

void TimelineCanvas::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    layout_changed();
}

std::uint32_t TimelineCanvas::slice_at(const QPoint& position) const
{
    if (model_ == nullptr || !frame().body.contains(position))
        return nothing;
    const auto line = line_at(scene_, frame(), position.y());
    if (!line)
        return nothing;
    const std::uint32_t row = model_->data.tracks[layout_.lines()[*line].track].row;
    return row == nothing
               ? nothing
               : hit_slice(model_->data, model_->data.rows[row], scale(), position.x(), 3);
}

std::vector<std::uint32_t> TimelineCanvas::rows_in_sight() const
{
    std::vector<std::uint32_t> rows;
    if (model_ == nullptr)
        return rows;
    // Of a line that is closed, what hangs in it.
    const auto& tracks = model_->data.tracks;
    for (const Line& line : layout_.lines()) {
        const std::uint32_t end =
            layout_.open(line.track) ? line.track + 1 : tracks[line.track].end;
        for (std::uint32_t t = line.track; t < end; ++t)
            if (tracks[t].kind == TrackKind::stream && tracks[t].row != nothing)
                rows.push_back(tracks[t].row);
    }
    return rows;
}

void TimelineCanvas::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    if (scene_.model != nullptr) {
        paint_scene(painter, scene_, viewport()->size(), cache_);
    } else {
        painter.fillRect(viewport()->rect(), scene_.colours.background);
        painter.setPen(scene_.colours.quiet_text);
        painter.drawText(viewport()->rect().adjusted(20, 20, -20, -20),
                         Qt::AlignCenter | Qt::TextWordWrap, message_);
    }
    if (hasFocus()) {
        painter.setPen(palette().color(QPalette::Highlight));
        painter.drawRect(viewport()->rect().adjusted(0, 0, -1, -1));
    }
}

void TimelineCanvas::paint_to(QPainter& painter, const QSize& size)
{
    if (scene_.model == nullptr) {
        painter.fillRect(QRect({}, size), scene_.colours.background);
        painter.setPen(scene_.colours.quiet_text);
        painter.setFont(scene_.font);
        painter.drawText(QRect({}, size), Qt::AlignCenter | Qt::TextWordWrap, message_);
        return;
    }
    Scene still = scene_;
    if (still.pinned == nothing)
        still.relations = {};
    still.hovered = nothing;
    still.pointed = still.cursor;
    PaintCache cache;
    paint_scene(painter, still, size, cache);
}

void TimelineCanvas::fitAll()
{
    view_.show_all();
}

void TimelineCanvas::fitPinned()
{
    if (scene_.pinned == nothing)
        return;
    const SimTime start = model_->data.slices.start[scene_.pinned];
    const SimTime end = model_->data.slices.end[scene_.pinned];
    const SimTime margin = (end - start) / 10;
    view_.show({start - margin, end + margin});
}

void TimelineCanvas::fitHeight()
{
    if (model_ == nullptr)
        return;
    layout_.set_line_height(frame().body.height() /
                            std::max(1, static_cast<int>(layout_.lines().size())));
    layout_changed();
}

// Few lines are higher than usual, up to twice.
void TimelineCanvas::fill_height()
{
    if (model_ == nullptr)
        return;
    const int lines = std::max(1, static_cast<int>(layout_.lines().size()));
    // Counters are to come.
    const int height = frame().body.height() * (counters_.empty() ? 6 : 10) / 10;
    layout_.set_line_height(std::clamp(height / lines, usual_line_height, 2 * usual_line_height));
}

void TimelineCanvas::openAll()
{
    layout_.set_all_open(TrackKind::group, true);
    layout_.set_all_open(TrackKind::rank, true);
    fill_height();
    layout_changed();
}

void TimelineCanvas::closeAll()
{
    layout_.set_all_open(TrackKind::rank, false);
    layout_.set_all_open(TrackKind::group, false);
    layout_changed();
}

void TimelineCanvas::setPathShown(bool shown)
{
    if (shown == scene_.path)
        return;
    scene_.path = shown;
    viewport()->update();
    emit pathShownChanged(shown);
}

void TimelineCanvas::setMessagesShown(bool shown)
{
    scene_.arrows = shown;
    viewport()->update();
}

} // namespace trainyard::gui
