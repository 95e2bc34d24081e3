#pragma once

// What all views show alike: the time range in sight, the op, rank and link selected, and where the
// time cursor stands. A view changes it and hears of every change, its own too.

#include "sim/base/ids.h"
#include "sim/base/quantity.h"

#include <QObject>
#include <optional>

namespace trainyard::gui {

// Picoseconds, for arithmetic with pixels.
inline double as_double(SimTime time)
{
    return static_cast<double>(time.value());
}

struct TimeRange {
    SimTime from;
    SimTime to;

    SimTime length() const { return to - from; }
    bool operator==(const TimeRange&) const = default;
};

// At most one of each. Of a run that is replaced, what no longer exists is dropped by the views.
struct Selection {
    std::optional<std::size_t> record; // index into StepResult::records of the run shown
    std::optional<RankId> rank;
    std::optional<LinkId> link;
    std::optional<TimeRange> range; // dragged out, for tables of what is in it

    bool operator==(const Selection&) const = default;
};

class ViewState : public QObject {
    Q_OBJECT

public:
    using QObject::QObject;

    const TimeRange& whole() const { return whole_; }
    const TimeRange& range() const { return range_; }
    const Selection& selection() const { return selection_; }
    SimTime cursor() const { return cursor_; }

    // Another run is shown, whose step lies there: what was in sight, marked or under the cursor is
    // at the same part of the new step. All stays all.
    void begin_run(TimeRange step);
    // What there is to see of the run shown. What was in sight stays where it still is inside, and
    // shows all where all was in sight.
    void set_whole(TimeRange whole);
    // Cut to the whole; at least a nanosecond long.
    void show(TimeRange range);
    void show_all() { show(whole_); }
    // Of a run that is still to come: shown with the next whole.
    void show_when_known(TimeRange range) { awaited_ = range; }
    void select(const Selection& selection);
    // The same of a selection: with the next whole. Its record waits for who shows records.
    void select_when_known(const Selection& selection) { awaited_selection_ = selection; }
    std::optional<std::size_t> take_awaited_record();
    // Lets go of what a job of this size does not have.
    void keep_within(std::size_t ranks, std::size_t links);
    // Cut to the whole; at its beginning it stands for no moment, and stays there.
    void set_cursor(SimTime time);

signals:
    void rangeChanged();
    void selectionChanged();
    void cursorChanged();

private:
    TimeRange cut(TimeRange range) const;
    // What is in sight then, unless something else is awaited.
    void settle(TimeRange range, SimTime cursor);

    TimeRange step_{SimTime(0), SimTime(1)};
    TimeRange whole_{SimTime(0), SimTime(1)};
    TimeRange range_{SimTime(0), SimTime(1)};
    Selection selection_;
    SimTime cursor_{0};
    std::optional<TimeRange> awaited_;
    std::optional<Selection> awaited_selection_;
    std::optional<std::size_t> awaited_record_;
};

} // namespace trainyard::gui
