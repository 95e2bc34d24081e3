#include "calibrate/measure/plan/plan.h"

#include "calibrate/measure/plan/kernels.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

template <>
std::vector<EnumName<PlanPart>> enum_names<PlanPart>()
{
    using enum PlanPart;
    return {{collectives, "collectives"}, {pairs, "pairs"},   {gemm, "gemm"},
            {memory, "memory"},           {launch, "launch"}, {attention, "attention"},
            {overlap, "overlap"}};
}

namespace {

constexpr std::array<CollectiveKind, 6> timed_kinds{
    CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
    CollectiveKind::all_to_all, CollectiveKind::broadcast,  CollectiveKind::barrier};

class Planner {
public:
    Planner(const PlanOptions& options, std::span<const RankFacts> ranks) : options_(options)
    {
        for (const RankFacts& rank : ranks)
            hosts_.push_back(rank.host);
        on_cpu_ = !ranks.empty() && ranks.front().facts.name != "nccl";
    }

    MeasurePlan plan()
    {
        std::vector<GroupSpec> groups = groups_of(hosts_);
        if (options_.quick && groups.size() > 2)
            groups.erase(groups.begin() + 1, groups.end() - 1);
        for (GroupSpec& spec : groups)
            plan_.groups.push_back({spec, {}, {}});
        GroupSpec all{"all ranks", std::vector<int>(hosts_.size()), "auto", "auto"};
        std::iota(all.members.begin(), all.members.end(), 0);
        if (plan_.groups.empty() || plan_.groups.back().spec.members != all.members)
            plan_.groups.push_back({all, {}, {}});
        if (wants(PlanPart::collectives))
            for (const GroupSpec& spec : groups)
                add_curves(spec);
        PlannedGroup& world = plan_.groups.back();
        add_kernels(world);
        if (wants(PlanPart::pairs))
            add_pairs(world);
        if (wants(PlanPart::overlap) && hosts_.size() > 1)
            add_overlap(world);
        std::erase_if(plan_.groups,
                      [](const PlannedGroup& g) { return g.curves.empty() && g.singles.empty(); });
        return std::move(plan_);
    }

private:
    bool wants(PlanPart part) const
    {
        return options_.parts.empty() || options_.parts.count(part) > 0;
    }

    std::vector<CollectiveKind> kinds() const
    {
        return options_.collectives.empty()
                   ? std::vector<CollectiveKind>(timed_kinds.begin(), timed_kinds.end())
                   : options_.collectives;
    }

    std::vector<ElementType> types() const
    {
        if (!options_.types.empty())
            return options_.types;
        if (on_cpu_)
            return {ElementType::float32};
        return {ElementType::bfloat16, ElementType::float32};
    }

    // As jobs use it. On CPUs gradients are summed where they lie: elsewhere costs a copy by a
    // core, a tenth of the time of a large sum.
    Buffers buffers_of(CollectiveKind kind) const
    {
        return on_cpu_ && kind == CollectiveKind::all_reduce ? Buffers::in_place
                                                             : Buffers::out_of_place;
    }

    PlannedGroup& group_of(const GroupSpec& spec)
    {
        for (PlannedGroup& group : plan_.groups)
            if (group.spec == spec)
                return group;
        plan_.groups.insert(plan_.groups.end() - 1, {spec, {}, {}});
        return *(plan_.groups.end() - 2);
    }

    PlannedCurve curve_of(const CollectiveWork& work, const GroupSpec& spec) const
    {
        SizeRange range;
        range.first = options_.min_size;
        range.last = options_.max_size;
        range.step =
            Bytes(static_cast<std::uint64_t>(element_bytes(work.type)) * spec.members.size());
        if (options_.quick) {
            range.ratio = 16;
            range.dense_ratio = 4;
        }
        return {work, range};
    }

    void add_curves(const GroupSpec& spec)
    {
        for (const CollectiveKind kind : kinds()) {
            if (kind == CollectiveKind::barrier) {
                CollectiveWork barrier;
                barrier.collective = kind;
                group_of(spec).singles.push_back(barrier);
                continue;
            }
            for (const ElementType type : types()) {
                CollectiveWork work;
                work.collective = kind;
                work.type = type;
                work.buffers = buffers_of(kind);
                group_of(spec).curves.push_back(curve_of(work, spec));
                if (!reduces(kind))
                    break; // bytes are moved alike, whatever they hold
            }
        }
        if (options_.forced)
            add_forced(spec);
    }

    // Each pair of algorithm and protocol needs a communicator of its own.
    void add_forced(const GroupSpec& spec)
    {
        for (const char* algorithm : {"Ring", "Tree"})
            for (const char* protocol : {"LL", "LL128", "Simple"}) {
                GroupSpec forced = spec;
                forced.algorithm = algorithm;
                forced.protocol = protocol;
                CollectiveWork work;
                work.type = types().front();
                group_of(forced).curves.push_back(curve_of(work, forced));
            }
    }

    void add_kernels(PlannedGroup& world) const
    {
        const KernelRange range{on_cpu_, options_.quick};
        const auto append = [&](PlanPart part, std::vector<LocalWork> works) {
            if (wants(part))
                world.singles.insert(world.singles.end(), works.begin(), works.end());
        };
        append(PlanPart::gemm, gemm_shapes(range));
        append(PlanPart::memory, memory_sizes(range));
        if (!on_cpu_)
            append(PlanPart::launch, launch_kinds());
        append(PlanPart::attention, attention_shapes(range));
    }

    // All ordered pairs where there are few; else one rank's and shifted permutations.
    void add_pairs(PlannedGroup& world) const
    {
        const int n = static_cast<int>(hosts_.size());
        const int all_up_to = options_.quick ? 4 : 16;
        const Bytes large =
            std::min(options_.max_size, Bytes(std::uint64_t{on_cpu_ ? 16U : 64U} << 20));
        for (int from = 0; from < n; ++from)
            for (int to = 0; to < n; ++to) {
                if (from == to || (n > all_up_to && from != 0 && to != 0))
                    continue;
                world.singles.push_back(ExchangeWork{{{from, to}}, large});
                if (from < to) {
                    world.singles.push_back(ExchangeWork{{{from, to}, {to, from}}, large});
                    world.singles.push_back(PingPongWork{from, to, Bytes(8)});
                }
            }
        if (n < 3)
            return;
        for (int shift = 1; shift < n; shift *= 2) {
            ExchangeWork permutation{{}, large};
            for (int rank = 0; rank < n; ++rank)
                permutation.messages.push_back({rank, (rank + shift) % n});
            world.singles.push_back(permutation);
        }
        ExchangeWork one_to_all{{}, large};
        ExchangeWork all_to_one{{}, large};
        for (int rank = 1; rank < n; ++rank) {
            one_to_all.messages.push_back({0, rank});
            all_to_one.messages.push_back({rank, 0});
        }
        world.singles.push_back(one_to_all);
        world.singles.push_back(all_to_one);
    }

    // What a job does both at once: gradients beside a backward's kernels. Each is timed beside the
    // other.
    void add_overlap(PlannedGroup& world) const
    {
        const KernelRange range{on_cpu_, options_.quick};
        std::vector<CollectiveWork> collectives = overlap_collectives(range);
        for (CollectiveWork& collective : collectives) {
            collective.type = types().front();
            collective.size = std::min(collective.size, options_.max_size);
        }
        collectives.erase(std::unique(collectives.begin(), collectives.end()), collectives.end());
        for (const CollectiveWork& collective : collectives)
            for (const LocalWork& local : overlap_kernels(range))
                for (const bool times_collective : {false, true})
                    world.singles.push_back(BesideWork{collective, local, times_collective, 1});
    }

    const PlanOptions& options_;
    std::vector<std::string> hosts_;
    bool on_cpu_ = false;
    MeasurePlan plan_;
};

} // namespace

std::size_t MeasurePlan::points() const
{
    std::size_t out = 0;
    for (const PlannedGroup& group : groups) {
        out += group.singles.size();
        for (const PlannedCurve& curve : group.curves)
            out += starting_sizes(curve.sizes).size();
    }
    return out;
}

MeasurePlan plan_of(const PlanOptions& options, std::span<const RankFacts> ranks)
{
    return Planner(options, ranks).plan();
}

} // namespace trainyard
