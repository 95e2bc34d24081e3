#include "sim/strategy/communicators.h"

#include "sim/base/vocabulary.h"
#include "sim/strategy/rank_layout.h"

#include <set>

namespace trainyard {

namespace {

bool of_experts(GroupKind kind)
{
    return kind == GroupKind::ep || kind == GroupKind::etp || kind == GroupKind::edp;
}

} // namespace

CommunicatorStart communicator_start(const Job& job, const CollectiveForm& form)
{
    const RankLayout layout(job);
    CommunicatorStart most;
    for (int stage = 0; stage < job.strategy.pp; ++stage) {
        const RankId rank = layout.rank({.tp = 0, .cp = 0, .dp = 0, .pp = stage});
        std::set<std::vector<RankId>> distinct;
        for (const EnumName<GroupKind>& kind : enum_names<GroupKind>()) {
            if (of_experts(kind.value) && !job.model.is_moe())
                continue;
            if (std::vector<RankId> members = layout.members(kind.value, rank); members.size() > 1)
                distinct.insert(std::move(members));
        }
        CommunicatorStart start;
        for (const std::vector<RankId>& members : distinct) {
            ++start.count;
            start.time +=
                form.creation + form.creation_per_rank * static_cast<double>(members.size());
        }
        if (start.time > most.time)
            most = start;
    }
    return most;
}

} // namespace trainyard
