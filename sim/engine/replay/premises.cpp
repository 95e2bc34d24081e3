#include "sim/engine/replay/premises.h"

#include "sim/engine/interference.h"
#include "sim/engine/totals.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

constexpr double longest_slowed = double(std::uint64_t{1} << 42); // ps: x 2^20 fits

double greatest(const TimeTable* table)
{
    return table == nullptr ? 0.0 : static_cast<double>(table->greatest);
}

double greatest_kernel(const Instr& instr)
{
    return instr.host_ends ? greatest(instr.table->kernel) : 0.0;
}

} // namespace

std::optional<JoinsStages> find_stages(const Binding& binding, const Cohorts& cohorts)
{
    const auto joins = [&](std::uint32_t group) {
        return joins_stages(binding.groups[group], binding.lanes);
    };
    std::vector<std::uint8_t> of_meeting;
    for (const Meeting& meeting : cohorts.meetings) {
        of_meeting.push_back(joins(meeting.groups[0]) ? 1 : 0);
        for (const std::uint32_t group : meeting.groups)
            if (joins(group) != (of_meeting.back() != 0))
                return std::nullopt;
    }
    JoinsStages stages;
    for (const Cohort& cohort : cohorts.all) {
        auto& of_cohort = stages.emplace_back();
        for (const std::uint32_t m : cohort.meetings)
            of_cohort.push_back(m == none ? 0 : of_meeting[m]);
    }
    return stages;
}

std::optional<IsEager> find_eager(const Cohorts& cohorts, Tables& tables)
{
    IsEager eager;
    for (std::uint32_t c = 0; c < cohorts.all.size(); ++c) {
        const LaneKind& kind = *cohorts.all[c].kind;
        auto& of_cohort = eager.emplace_back();
        of_cohort.reserve(kind.parts.size());
        std::map<std::pair<PeerSlot, CostId>, bool> known;
        auto last = known.end();
        for (const PartPlan& part : kind.parts) {
            if (last != known.end() && last->first == std::pair{part.peer, part.cost}) {
                of_cohort.push_back(last->second ? 1 : 0);
                continue;
            }
            const auto [found, added] = known.try_emplace({part.peer, part.cost}, false);
            if (added) {
                const Variants& variants = tables.variants(c, part.peer);
                found->second = tables.cost(variants.of(0), part.cost).eager;
                for (const std::uint32_t variant : variants.each)
                    if (tables.cost(variant, part.cost).eager != found->second)
                        return std::nullopt;
            }
            last = found;
            of_cohort.push_back(found->second ? 1 : 0);
        }
    }
    return eager;
}

SlowsCompute find_slowing(const Binding& binding, const Cohorts& cohorts, Tables& tables)
{
    SlowsCompute slowing(cohorts.all.size());
    if (!interferes(binding.costs))
        return slowing;
    const auto slows = [](const TransferLoad& load) {
        return !load.resident.zero() || !load.traffic.zero();
    };
    for (std::uint32_t c = 0; c < cohorts.all.size(); ++c) {
        const LaneKind& kind = *cohorts.all[c].kind;
        for (const FlatOp& op : kind.ops) {
            bool some = op.kind == OpKind::collective && slows(tables.load(c, op));
            for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
                some |= slows(tables.load(c, kind.parts[p]));
            slowing[c].push_back(some ? 1 : 0);
        }
    }
    return slowing;
}

bool could_overflow(const Cohorts& cohorts, const Tape& tape, int steps, double latest_start)
{
    double sum = 0;
    // A chain of ops goes through a segment of a host once: from where that began to one op.
    std::vector<Time> segments(tape.values.size());
    for (const Instr& instr : tape.instrs) {
        if (instr.base != none)
            segments[instr.base] =
                std::max({segments[instr.base], instr.constant, instr.end_constant});
        const bool slowed = instr.code == Instr::Code::compute;
        if (slowed && greatest(instr.table) >= longest_slowed)
            return true;
        const double slower = slowed ? full_share / least_share + 1 : 1;
        sum += slower * (greatest(instr.table) + greatest_kernel(instr));
    }
    for (const Time segment : segments)
        sum += static_cast<double>(segment);
    for (const Cohort& cohort : cohorts.all)
        sum += static_cast<double>(cohort.kind->host.after_last.value());
    sum *= steps;
    return sum + latest_start >= static_cast<double>(longest_sim_time.value() / 2);
}

} // namespace trainyard::engine::replay
