#pragma once

// The Pareto front of two figures: points that no other beats in one without losing in the other.

#include "gui/explore/metrics.h"

namespace trainyard::gui {

struct FrontPoint {
    double x = 0;
    double y = 0;
    std::uint32_t point = 0;

    bool operator==(const FrontPoint&) const = default;
};

// Grows with the points: each costs the logarithm of the front's length, and what it beats.
class ParetoFront {
public:
    // Where a direction is not known there is no front.
    explicit ParetoFront(Better x = Better::neither, Better y = Better::neither) : x_(x), y_(y) {}

    bool drawn() const { return x_ != Better::neither && y_ != Better::neither; }
    // NaN is left out. Of equals the one added first stays. True where the front has changed.
    bool add(const FrontPoint& point);
    // From the best x on.
    const std::vector<FrontPoint>& points() const { return points_; }

private:
    Better x_;
    Better y_;
    std::vector<FrontPoint> points_;
};

} // namespace trainyard::gui
