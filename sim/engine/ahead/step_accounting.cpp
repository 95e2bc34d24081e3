#include "sim/engine/ahead/step_accounting.h"

#include "sim/engine/slowdown.h"

namespace trainyard::engine::ahead {

replay::LaneLoad lane_load(const TransferCost& cost)
{
    return {cost.sm_share, cost.latency.value(), traffic_of(cost, cost.ceiling)};
}

StepAccounting::StepAccounting(const RunState& run)
    : run_(run),
      interferes_(interferes(run.binding.costs)),
      times_(run.lanes.size()),
      totals_(run.lanes.size()),
      works_(run.lanes.size()),
      own_steps_(run.lanes.size()),
      sums_(transfer_class_count())
{
    for (const LaneKind& kind : run.compiled.kinds)
        barriers_.push_back(replay::barriers_of(kind));
    for (const Group& group : run.binding.groups)
        joins_stages_.push_back(joins_stages(group, run.binding.lanes) ? 1 : 0);
    for (std::size_t l = 0; l < run.lanes.size(); ++l)
        times_[l].resize(*run.lanes[l].kind, interferes_);
}

std::size_t StepAccounting::size(const RunState& run)
{
    constexpr std::size_t per_op = 4 * sizeof(replay::Time) + sizeof(u128);
    constexpr std::size_t per_part = 2 * sizeof(replay::Time);
    std::size_t bytes = 0;
    for (const LaneState& lane : run.lanes)
        bytes += lane.kind->ops.size() * per_op + lane.kind->parts.size() * per_part;
    return bytes;
}

void StepAccounting::count_transfer(std::uint32_t lane, const FlatOp& op, const Counted& counted,
                                    std::uint64_t times)
{
    const SimTime moved = counted.ended - counted.began;
    const SimTime waited = counted.began - counted.arrived;
    const std::uint64_t ranks = run_.lanes[lane].multiplicity * times;
    totals_[lane].communication_busy += moved * static_cast<std::int64_t>(times);
    TransferSum& sum = sums_[transfer_class(run_.program.labels[op.label.value])];
    sum.count += ranks;
    sum.bytes += static_cast<u128>(counted.bytes.value()) * ranks;
    sum.transfer += static_cast<u128>(moved.value()) * ranks;
    sum.waiting += static_cast<u128>(waited.value()) * ranks;
}

void StepAccounting::close(std::uint32_t lane, SimTime opened, SimTime ended,
                           const replay::RepeatedOps& repeated)
{
    own_steps_[lane] = ended - opened;
    const LaneKind& kind = *run_.lanes[lane].kind;
    std::vector<std::uint8_t> stages;
    for (const GroupId group : run_.binding.lanes[lane].groups)
        stages.push_back(group.valid() ? joins_stages_[group.value] : 0);
    replay::Ledger ledger(run_.program, kind, barriers_[run_.compiled.lane_kinds[lane]],
                          std::move(stages), std::vector<std::uint32_t>(kind.streams.size()));
    replay::LaneCharges charges;
    charges.exposed.resize(sums_.size());
    ledger.charge(times_[lane], opened.value(), charges, repeated);
    times_[lane] = {};
    LaneTotals& totals = totals_[lane];
    totals.compute_busy = SimTime(charges.compute_busy);
    for (std::size_t k = 0; k < time_kind_count; ++k)
        totals.time[k] = SimTime(charges.time[k]);
    works_[lane] = charges.work;
    for (std::size_t k = 0; k < sums_.size(); ++k)
        sums_[k].exposed += static_cast<u128>(charges.exposed[k]) * run_.lanes[lane].multiplicity;
}

void StepAccounting::write(StepResult& result) const
{
    result.lanes = totals_;
    const TimeKind idle = kind_at_the_end(run_.binding.lanes);
    for (std::size_t l = 0; l < totals_.size(); ++l) {
        add_work(result.lanes[l], works_[l]);
        fill_step(result.lanes[l], result.step_time - own_steps_[l], idle);
    }
    result.critical_lane = critical_lane(result.lanes);
    result.transfers = transfer_totals(sums_);
}

} // namespace trainyard::engine::ahead
