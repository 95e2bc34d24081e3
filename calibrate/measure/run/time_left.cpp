#include "calibrate/measure/run/time_left.h"

#include <algorithm>

namespace trainyard {
namespace {

constexpr double first_guess = 0.25; // of a grid: sizes that are added to it

CollectiveWork of_size(CollectiveWork work, Bytes size)
{
    work.size = size;
    return work;
}

Point curve_of(const Point& point)
{
    Point out = point;
    if (auto* const work = std::get_if<CollectiveWork>(&out.work))
        work->size = Bytes(0);
    return out;
}

bool same_but_launch(Point a, const Point& b)
{
    a.launch = b.launch;
    return a == b;
}

} // namespace

TimeLeft::TimeLeft(const MeasurePlan& plan, int launches, const Forecast& forecast)
    : forecast_(forecast)
{
    for (int launch = 0; launch < launches; ++launch)
        for (const PlannedGroup& group : plan.groups) {
            for (const PlannedCurve& curve : group.curves) {
                std::vector<Point> grid;
                for (const Bytes size : starting_sizes(curve.sizes))
                    grid.push_back({group.spec, of_size(curve.work, size), launch});
                points_.insert(points_.end(), grid.begin(), grid.end());
                curves_.push_back(
                    {{group.spec, of_size(curve.work, Bytes(0)), launch}, std::move(grid)});
            }
            for (const TimedWork& work : group.singles)
                points_.push_back({group.spec, work, launch});
        }
}

void TimeLeft::measured(const Point& point, const MeasuredPoint& result, Seconds took)
{
    forecast_.learn(result.point, Seconds(result.estimate.median), took);
    gave_up(point);
}

void TimeLeft::gave_up(const Point& point)
{
    const auto found = std::find(points_.begin(), points_.end(), point);
    if (found != points_.end())
        points_.erase(found);
}

void TimeLeft::gave_up(const GroupSpec& group, int launch)
{
    std::erase_if(points_, [&](const Point& point) {
        return point.launch == launch && point.group == group;
    });
    for (Curve& curve : curves_)
        if (curve.curve.launch == launch && curve.curve.group == group)
            curve.open = false;
}

void TimeLeft::added(const std::vector<Point>& points)
{
    for (const Point& point : points) {
        points_.push_back(point);
        for (Curve& curve : curves_)
            if (curve.curve == curve_of(point))
                ++curve.extra;
    }
}

void TimeLeft::refined(const Point& curve)
{
    for (Curve& one : curves_)
        if (one.curve == curve_of(curve))
            one.open = false;
}

// Sizes that are yet to come, of a curve that may get some.
double TimeLeft::expected_extra(const Curve& curve) const
{
    int all = 0;
    int known = 0;
    for (const Curve& other : curves_) {
        if (other.open)
            continue;
        if (same_but_launch(other.curve, curve.curve))
            return std::max(0, other.extra - curve.extra);
        all += other.extra;
        ++known;
    }
    const double usual = known > 0 ? static_cast<double>(all) / known
                                   : first_guess * static_cast<double>(curve.grid.size());
    return std::max(0.0, usual - curve.extra);
}

// One of its sizes, on average.
Seconds TimeLeft::typical(const Curve& curve) const
{
    Seconds sum;
    for (const Point& point : curve.grid)
        sum += forecast_.of(point);
    return sum / static_cast<double>(curve.grid.size());
}

Seconds TimeLeft::seconds() const
{
    Seconds out = forecast_.of(points_);
    for (const Curve& curve : curves_)
        if (curve.open)
            out += typical(curve) * expected_extra(curve);
    return out;
}

} // namespace trainyard
