#pragma once

// What a whole run has yet to do, and how long that takes: the time left of its progress bar.

#include "calibrate/measure/design/forecast.h"
#include "calibrate/measure/plan/plan.h"

namespace trainyard {

// All launches of a run, what is timed beside one another and sizes to come included. One of these
// lives through all launches, so that what one launch shows is known in the next.
//
// How many sizes a curve will get is what it got in another launch; else what curves got so far, on
// average; before any, a quarter of its grid.
class TimeLeft {
public:
    TimeLeft(const MeasurePlan& plan, int launches, const Forecast& forecast);

    void made(const CreationTime& creation) { forecast_.learn(creation); }

    // A point is measured: `took` seconds of the clock. `point` as it was planned, before it was
    // fitted to its group.
    void measured(const Point& point, const MeasuredPoint& result, Seconds took);

    // It will not be measured.
    void gave_up(const Point& point);
    void gave_up(const GroupSpec& group, int launch); // and nothing else of that communicator

    // Points that the plan does not have are to be measured next.
    void added(const std::vector<Point>& points);

    // A curve (of size 0) gets no more sizes in this launch.
    void refined(const Point& curve);

    Seconds seconds() const;

private:
    struct Curve {
        Point curve; // of size 0
        std::vector<Point> grid;
        int extra = 0; // sizes that it got
        bool open = true;
    };

    double expected_extra(const Curve& curve) const;
    Seconds typical(const Curve& curve) const;

    Forecast forecast_;
    std::vector<Point> points_; // to be measured
    std::vector<Curve> curves_;
};

} // namespace trainyard
