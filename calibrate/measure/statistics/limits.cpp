#include "calibrate/measure/statistics/limits.h"

#include "calibrate/fit/size_band.h"

namespace trainyard {

Limits limits_of(Effort effort, Bytes size, std::optional<int> trials)
{
    Limits out;
    if (effort == Effort::quick) {
        out.warm_up = Seconds(0.1);
        out.least_batches = 10;
        out.most_batches = 40;
        out.half_width = 0.05;
        out.timed = Seconds(0.3);
        out.isolated = 10;
    }
    if (band_of(size) == SizeBand::above)
        out.half_width /= 2;
    if (trials)
        out.least_batches = out.most_batches = *trials;
    return out;
}

} // namespace trainyard
