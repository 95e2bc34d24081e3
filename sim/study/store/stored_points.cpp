#include "sim/study/store/stored_points.h"

namespace trainyard {

PointFacts StoredPoints::facts(const LayoutChoice& choice, const PointLimits& limits,
                               const std::optional<PointFacts>& known)
{
    const std::string point = questions_.point(choice);
    const std::optional<PointFacts> found = known ? known : find(point);
    if (found && (found->reserved || !limits.may_be_best(choice, *found)))
        return *found;
    const PointFacts facts = source_.facts(choice, limits, found);
    const bool tells = facts.kind != PointFacts::Kind::beaten; // hangs on what was found before
    if (keeps_ != nullptr && tells && facts != found)
        keeps_->put(point, choice, replicas_of(choice, base_.facts), facts);
    return facts;
}

// Of several that know it, the one that knows most.
std::optional<PointFacts> StoredPoints::find(const std::string& point) const
{
    std::optional<PointFacts> out;
    for (PlanStore* store : stores_) {
        std::optional<PointFacts> found = store->find(point);
        if (found && (!out || found->reserved))
            out = std::move(found);
        if (out && out->reserved)
            break;
    }
    return out;
}

} // namespace trainyard
