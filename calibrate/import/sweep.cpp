#include "calibrate/import/sweep.h"

namespace trainyard {

double bus_factor(CollectiveKind collective, int ranks)
{
    const double others = ranks > 0 ? static_cast<double>(ranks - 1) / ranks : 0.0;
    switch (collective) {
    case CollectiveKind::all_reduce:
        return 2 * others;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
        return others;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::barrier:
    case CollectiveKind::send_receive:
        return 1.0;
    }
    return 1.0;
}

} // namespace trainyard
