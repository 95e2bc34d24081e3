#include "sim/strategy/held_layer.h"

namespace trainyard {

bool ties_across_devices(const Job& job)
{
    const auto* transformer = std::get_if<Transformer>(&job.model.architecture);
    return transformer != nullptr && transformer->embeds_at_both_ends() &&
           !apart_ends(placement_of(job)).empty();
}

} // namespace trainyard
