#include "sim/report/collective_curves.h"

#include "sim/strategy/group_options.h"
#include "sim/strategy/rank_layout.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

constexpr std::uint64_t first_size = 1ULL << 10;
constexpr std::uint64_t last_size = 1ULL << 30;

// Of the first rank that has one; a single device where none has.
GroupShape shape_of(const Outcome& outcome, CollectiveKind kind, GroupKind group)
{
    const RankLayout layout(outcome.job);
    std::vector<DeviceId> devices;
    for (const Lane& lane : outcome.binding->lanes) {
        devices.clear();
        for (const RankId rank : layout.members(group, lane.rank))
            devices.push_back(DeviceId{rank.value});
        if (devices.size() > 1)
            break;
    }
    if (kind == CollectiveKind::send_receive && devices.size() > 2)
        devices.resize(2);
    return group_shape(*outcome.topology, devices);
}

} // namespace

std::vector<CollectiveCurve> collective_curves(const Outcome& outcome)
{
    std::vector<CollectiveCurve> out;
    for (const TransferTotals& totals : outcome.result->transfers) {
        const CollectiveKind kind = totals.collective;
        if (kind == CollectiveKind::barrier || totals.count == 0)
            continue;
        const GroupShape shape = shape_of(outcome, kind, totals.group);
        if (shape.ranks < 2)
            continue;
        const Backend backend = backend_of(outcome.job.strategy, totals.group);
        CollectiveCurve curve;
        curve.group = totals.group;
        curve.table.collective = kind;
        curve.table.backend = backend;
        curve.table.domains = shape.domains;
        curve.table.ranks_per_domain = shape.ranks / std::max(1, shape.domains);
        curve.basis = "closed form: the profile has no table of these groups";
        if (const KnotTable* const table = outcome.cost->knots_for(kind, shape, backend)) {
            curve.basis = fmt::format("the profile's table, {}", to_name(table->grade));
            curve.table.grade = table->grade;
            curve.table.source = table->source;
        }
        for (std::uint64_t size = first_size; size <= last_size; size *= 2) {
            const Bytes bytes(size);
            const Seconds time = kind == CollectiveKind::send_receive
                                     ? outcome.cost->send_receive(bytes, shape, backend).total
                                     : outcome.cost->collective(kind, bytes, shape, backend).total;
            curve.table.samples.knots.push_back({bytes, time, time, time});
        }
        out.push_back(std::move(curve));
    }
    return out;
}

} // namespace trainyard
