#include "sim/report/compare/crossover.h"

#include "sim/report/figures.h"
#include "sim/strategy/lower/parts.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

constexpr std::uint64_t largest_size = std::uint64_t{16} << 30;
constexpr int steps_per_octave = 4; // in which a change back and forth would be missed

Seconds time_of(const CostModel& cost, CollectiveKind kind, const GroupShape& shape,
                Backend backend, std::uint64_t size)
{
    return kind == CollectiveKind::send_receive
               ? cost.send_receive(Bytes(size), shape, backend).total
               : cost.collective(kind, Bytes(size), shape, backend).total;
}

// The largest transfer of a kind of group in a run: what it is and how large.
struct Largest {
    CollectiveKind kind = CollectiveKind::all_reduce;
    Bytes bytes;
};

Largest largest_transfer(const Plan& plan, GroupKind group)
{
    Largest out;
    for (const Block& block : plan.program.blocks)
        for (const Op& op : block.ops) {
            const Label& label = plan.program.labels[op.label.value];
            const auto take = [&](CostId cost) {
                const TransferRequest& request = plan.transfers[cost.value];
                if (label.group == group && request.bytes > out.bytes)
                    out = {request.kind, request.bytes};
            };
            if (op.kind == OpKind::collective)
                take(op.cost);
            if (op.kind == OpKind::exchange)
                for (std::uint16_t i = 0; i < op.part_count; ++i)
                    take(block.parts[op.part_first + i].cost);
        }
    return out;
}

// Of rank 0; for pipelines rank 0 and the next stage.
GroupShape shape_of(const Outcome& outcome, GroupKind group)
{
    std::vector<RankId> ranks = RankLayout(outcome.job).members(group, RankId{0});
    if (group == GroupKind::pp)
        ranks.resize(2);
    std::vector<DeviceId> devices;
    for (const RankId rank : ranks)
        devices.push_back(DeviceId{rank.value});
    return group_shape(*outcome.topology, devices);
}

} // namespace

std::vector<FasterFrom> faster_by_size(const CostModel& cost, CollectiveKind kind,
                                       const GroupShape& shape, Backend a, Backend b)
{
    const auto faster = [&](std::uint64_t size, Backend before) {
        const Seconds of_a = time_of(cost, kind, shape, a, size);
        const Seconds of_b = time_of(cost, kind, shape, b, size);
        return of_a == of_b ? before : of_a < of_b ? a : b;
    };
    std::vector<FasterFrom> out{{Bytes(1), faster(1, a)}};
    std::uint64_t low = 1;
    while (low < largest_size) {
        const std::uint64_t high = low + std::max<std::uint64_t>(1, low / steps_per_octave);
        const Backend before = out.back().backend;
        if (faster(high, before) != before) {
            std::uint64_t from = low;
            std::uint64_t to = high;
            while (to - from > 1) {
                const std::uint64_t middle = from + (to - from) / 2;
                (faster(middle, before) == before ? from : to) = middle;
            }
            out.push_back({Bytes(to), faster(to, before)});
        }
        low = high;
    }
    return out;
}

std::vector<Crossover> crossovers(std::span<const ComparedRun> runs)
{
    std::vector<Crossover> out;
    const Outcome& base = runs.front().outcome;
    for (const EnumName<GroupKind>& named : enum_names<GroupKind>()) {
        const GroupKind group = named.value;
        std::vector<Backend> seen{backend_of(base.job.strategy, group)};
        const bool differ = std::ranges::any_of(runs, [&](const ComparedRun& run) {
            return backend_of(run.outcome.job.strategy, group) != seen.front();
        });
        const Largest largest = differ ? largest_transfer(*base.plan, group) : Largest{};
        if (largest.bytes == Bytes(0))
            continue;
        for (const ComparedRun& run : runs.subspan(1)) {
            const Backend other = backend_of(run.outcome.job.strategy, group);
            if (std::ranges::find(seen, other) != seen.end())
                continue;
            seen.push_back(other);
            const GroupShape shape = shape_of(base, group);
            out.push_back({group, largest.kind, shape.ranks, seen.front(), other,
                           faster_by_size(*base.cost, largest.kind, shape, seen.front(), other),
                           largest.bytes});
        }
    }
    return out;
}

std::string crossover_text(const Crossover& c)
{
    std::string text = fmt::format("{} over {} ranks: ", transfer_name(c.group, c.kind), c.ranks);
    if (c.faster.size() == 1) {
        const Backend slower = c.faster.front().backend == c.first ? c.other : c.first;
        return text + fmt::format("{} is faster than {} at every size; up to {} here",
                                  to_name(c.faster.front().backend), to_name(slower),
                                  to_display(c.largest));
    }
    for (std::size_t i = 0; i + 1 < c.faster.size(); ++i)
        text += fmt::format("{} up to {}, ", to_name(c.faster[i].backend),
                            to_display(c.faster[i + 1].size));
    return text + fmt::format("{} above; up to {} here", to_name(c.faster.back().backend),
                              to_display(c.largest));
}

Json crossover_json(const Crossover& c)
{
    Json faster = Json::array();
    for (const FasterFrom& stretch : c.faster) {
        Json entry = Json::object();
        entry["from_bytes"] = static_cast<double>(stretch.size.value());
        entry["backend"] = std::string(to_name(stretch.backend));
        faster.push_back(std::move(entry));
    }
    Json out = Json::object();
    out["group"] = std::string(to_name(c.group));
    out["collective"] = std::string(to_name(c.kind));
    out["ranks"] = c.ranks;
    out["faster"] = std::move(faster);
    out["largest_bytes"] = static_cast<double>(c.largest.value());
    return out;
}

} // namespace trainyard
