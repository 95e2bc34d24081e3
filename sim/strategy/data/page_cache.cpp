#include "sim/strategy/data/page_cache.h"

#include <cmath>

namespace trainyard {

namespace {

// P(X Y >= t) for X and Y uniform on [low, 1].
double product_at_least(double t, double low)
{
    const double area = (1 - low) * (1 - low);
    if (t <= low * low)
        return 1;
    if (t >= 1)
        return 0;
    if (t >= low)
        return (1 - t + t * std::log(t)) / area;
    return 1 - (t * std::log(t / (low * low)) - t + low * low) / area;
}

} // namespace

double shuffled_hit_share(double cached, int nodes)
{
    if (cached >= 1)
        return 1;
    if (cached <= 0)
        return 0;
    const double low = 1 - 1.0 / nodes;
    double share = 0;
    double first = 1.0 / nodes; // probability of this epoch
    double between = 1;         // not read in the whole epochs between
    while (between > 1 - cached) {
        share += first * product_at_least((1 - cached) / between, low);
        first *= low;
        between *= low;
    }
    return share;
}

double sequential_hit_share(double cached, int nodes)
{
    return cached * nodes >= 1 ? 1 : 0;
}

} // namespace trainyard
