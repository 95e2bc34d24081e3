#include "sim/engine/replay/replay.h"

#include "sim/engine/interference.h"
#include "sim/engine/replay/capture.h"
#include "sim/engine/replay/ledger.h"
#include "sim/engine/replay/scribe.h"

#include <algorithm>
#include <numeric>

namespace trainyard::engine {

namespace {

using namespace replay;

constexpr std::size_t instrs_between_checks = 1U << 12;
constexpr double longest_slowed = double(std::uint64_t{1} << 42); // ps: x 2^20 fits
constexpr std::size_t most_captured = std::size_t{1} << 28; // bytes

class Replay {
public:
    Replay(const Program& program, const Binding& binding, const RunControl& control)
        : program_(program),
          binding_(binding),
          control_(control),
          compiled_(compile(program, binding))
    {}

    tl::expected<StepResult, Refusal> run()
    {
        if (auto refused = prepare())
            return tl::unexpected(std::move(*refused));
        play();
        return result();
    }

private:
    std::optional<Refusal> prepare();
    bool find_eager();
    void find_slowing();
    bool could_overflow();
    bool plan_charges();
    void play();
    void start_lanes();
    void play_step(int step);
    StepResult result();
    void charge(StepResult& result, std::vector<TransferSum>& sums);
    void charge_cohort(std::uint32_t c, StepResult& result, std::vector<TransferSum>& sums);
    LaneTimes times_of(std::uint32_t c, std::size_t lane);
    void count(std::vector<TransferSum>& sums);
    u128 bytes_of(std::uint32_t c, std::uint32_t index, const FlatOp& op) const;

    const Program& program_;
    const Binding& binding_;
    const RunControl& control_;
    CompiledProgram compiled_;
    Cohorts cohorts_;
    std::vector<Known> known_;
    IsEager eager_;
    SlowsCompute slows_;
    std::optional<Tables> tables_;
    std::optional<Composed> composed_;
    std::optional<Player> player_;
    std::optional<Capture> capture_;
    std::optional<Scribe> scribe_;
    std::vector<SimTime> step_ends_;
};

std::optional<Refusal> Replay::prepare()
{
    if (control_.fidelity != Fidelity::alpha_beta)
        return Refusal{"transfers may share links"};
    for (const Lane& lane : binding_.lanes)
        if (!lane.windows.empty() || lane.jitter.valid() || !lane.late.empty() ||
            !lane.late_input.empty())
            return Refusal{"some rank is slow for a time, jitters or comes late"};
    auto cohorts = gather_cohorts(program_, binding_, compiled_);
    if (!cohorts)
        return Refusal{"some rank never comes to a transfer of its group or neighbour"};
    cohorts_ = std::move(*cohorts);
    for (const Cohort& cohort : cohorts_.all)
        known_.emplace_back(*cohort.kind);
    tables_.emplace(program_, binding_, cohorts_);
    if (!find_eager())
        return Refusal{"some messages of an op are eager and others are not"};
    find_slowing();
    for (std::uint32_t c = 0; c < cohorts_.all.size() && control_.steps > 1; ++c)
        if (!slows_[c].empty() && steps_interfere(*cohorts_.all[c].kind, known_[c], slows_[c]))
            return Refusal{"a step may begin to communicate while the one before computes"};
    const OrderRequest request{cohorts_, known_, eager_, slows_};
    const std::vector<Act> acts = order_of(request);
    const bool empty = std::all_of(cohorts_.all.begin(), cohorts_.all.end(),
                                   [](const Cohort& cohort) { return cohort.kind->op_count == 0; });
    if (acts.empty() && !empty)
        return Refusal{slows_.empty() || slows_.front().empty()
                           ? "ops of different ranks wait for each other in a circle"
                           : "what slows compute on one rank depends on what slows it on another, and back"};
    composed_ = compose(program_, request, acts, *tables_);
    if (!composed_)
        return Refusal{"ranks do not agree about a transfer"};
    if (could_overflow())
        return Refusal{"the steps may take longer than the clock counts"};
    if (!plan_charges())
        return Refusal{"the times of all ops are more than it holds"};
    scribe_.emplace(program_, binding_, cohorts_, known_, composed_->tape, control_.record);
    place_values(composed_->tape, cohorts_);
    player_.emplace(cohorts_, *composed_);
    return std::nullopt;
}

bool Replay::find_eager()
{
    for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c) {
        const LaneKind& kind = *cohorts_.all[c].kind;
        auto& of_cohort = eager_.emplace_back();
        for (const PartPlan& part : kind.parts) {
            const bool eager = tables_->cost_of(c, 0, part).eager;
            for (std::uint32_t i = 1; i < cohorts_.all[c].lanes.size(); ++i)
                if (tables_->cost_of(c, i, part).eager != eager)
                    return false;
            of_cohort.push_back(eager ? 1 : 0);
        }
    }
    return true;
}

void Replay::find_slowing()
{
    const bool any = interferes(binding_.costs);
    for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c) {
        const LaneKind& kind = *cohorts_.all[c].kind;
        auto& of_cohort = slows_.emplace_back();
        if (!any)
            continue;
        const auto slows = [](const TransferLoad& load) {
            return !load.resident.zero() || !load.traffic.zero();
        };
        for (const FlatOp& op : kind.ops) {
            bool some = op.kind == OpKind::collective && slows(tables_->load(c, op));
            for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
                some |= slows(tables_->load(c, kind.parts[p]));
            of_cohort.push_back(some ? 1 : 0);
        }
    }
}

// Whether some time could pass the end of the clock, even if nothing ran at the same time.
bool Replay::could_overflow()
{
    double sum = 0;
    const auto greatest = [](const Column& column) {
        return static_cast<double>(*std::max_element(column.begin(), column.end()));
    };
    for (const Instr& instr : composed_->tape.instrs) {
        sum += static_cast<double>(instr.constant);
        if (instr.code == Instr::Code::compute && greatest(*instr.table) >= longest_slowed)
            return true;
        const double slower = instr.code == Instr::Code::compute ? full_share / least_share + 1 : 1;
        for (const Column* table : {instr.table, instr.table2})
            if (table != nullptr && !table->empty())
                sum += slower * greatest(*table);
    }
    for (const Cohort& cohort : cohorts_.all)
        sum += static_cast<double>(cohort.kind->host.after_last.value());
    sum *= control_.steps;
    Time start = 0;
    for (const Lane& lane : binding_.lanes)
        start = std::max(start, lane.start.value());
    return sum + static_cast<double>(start) >= static_cast<double>(longest_sim_time.value() / 2);
}

// Whether there is room for the times of all ops.
bool Replay::plan_charges()
{
    std::vector<std::vector<std::uint32_t>> lanes;
    for (const Cohort& cohort : cohorts_.all) {
        lanes.emplace_back(cohort.lanes.size());
        std::iota(lanes.back().begin(), lanes.back().end(), 0U);
    }
    capture_.emplace(composed_->tape, std::move(lanes));
    for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c)
        capture_->want_ops(c);
    return capture_->size() <= most_captured;
}

void Replay::play()
{
    start_lanes();
    for (int step = 0; step < control_.steps; ++step) {
        play_step(step);
        Time latest = step_ends_.empty() ? 0 : step_ends_.back().value();
        for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c) {
            if (cohorts_.all[c].kind->op_count == 0)
                continue;
            const Time* ends = player_->column(composed_->tape.lane_ends[c]);
            latest = std::max(latest, *std::max_element(ends, ends + cohorts_.all[c].lanes.size()));
        }
        step_ends_.emplace_back(latest);
        if (step + 1 < control_.steps)
            player_->carry();
    }
}

void Replay::start_lanes()
{
    for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c) {
        const Inputs& in = composed_->tape.inputs[c];
        for (std::uint32_t i = 0; i < cohorts_.all[c].lanes.size(); ++i) {
            const Time start = binding_.lanes[cohorts_.all[c].lanes[i]].start.value();
            for (const Value value : {in.lane_start, in.opened, in.base})
                player_->column(value)[i] = start;
        }
    }
}

void Replay::play_step(int step)
{
    const bool measured = step + 1 == control_.steps;
    const bool recorded = scribe_->wants(step);
    const auto& instrs = composed_->tape.instrs;
    if (measured)
        capture_->note_inputs(*player_);
    if (recorded)
        scribe_->begin_step(*player_);
    for (std::size_t i = 0; i < instrs.size(); ++i) {
        if (i % instrs_between_checks == 0)
            control_.work.check();
        if (instrs[i].measured && !measured)
            continue;
        player_->play(i);
        if (measured)
            capture_->note(*player_, instrs[i]);
        if (recorded)
            scribe_->note(*player_, instrs[i]);
    }
    if (recorded)
        scribe_->end_step(step);
}

StepResult Replay::result()
{
    StepResult result;
    result.step_ends = step_ends_;
    result.step_time = step_ends_.back();
    if (step_ends_.size() > 1)
        result.step_time -= step_ends_[step_ends_.size() - 2];
    result.lanes.resize(binding_.lanes.size());
    result.lane_ends.resize(binding_.lanes.size());
    std::vector<TransferSum> sums(transfer_class_count());
    for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c) {
        const Cohort& cohort = cohorts_.all[c];
        charge_cohort(c, result, sums);
        result.ops += std::uint64_t{cohort.kind->op_count} * cohort.lanes.size() *
                      static_cast<std::uint64_t>(control_.steps);
    }
    count(sums);
    result.critical_lane = critical_lane(result.lanes);
    result.transfers = transfer_totals(sums);
    result.records = scribe_->take();
    return result;
}

void Replay::charge_cohort(std::uint32_t c, StepResult& result, std::vector<TransferSum>& sums)
{
    const Cohort& cohort = cohorts_.all[c];
    std::vector<std::uint8_t> stages;
    const auto& groups = binding_.lanes[cohort.lanes.front()].groups;
    for (const GroupId group : groups)
        stages.push_back(
            group.valid() && joins_stages(binding_.groups[group.value], binding_.lanes) ? 1 : 0);
    Ledger ledger(program_, *cohort.kind, known_[c], stages,
                  std::vector<std::uint32_t>(cohort.kind->streams.size()));
    const Tape& tape = composed_->tape;
    for (std::uint32_t i = 0; i < cohort.lanes.size(); ++i) {
        const std::uint32_t l = cohort.lanes[i];
        const bool idle = cohort.kind->op_count == 0;
        const Time opened = idle ? 0 : capture_->at(c, tape.inputs[c].opened, i);
        const Time ended = idle ? 0 : player_->column(tape.lane_ends[c])[i];
        Charges charges;
        charges.exposed.resize(sums.size());
        if (!idle)
            ledger.charge(times_of(c, i), opened, charges);
        LaneTotals& totals = result.lanes[l];
        for (std::size_t k = 0; k < time_kind_count; ++k)
            totals.time[k] = SimTime(charges.time[k]);
        totals.compute_busy = SimTime(charges.compute_busy);
        add_work(totals, charges.work);
        totals.communication_busy = SimTime(charges.communication_busy);
        fill_step(totals, result.step_time - SimTime(ended - opened));
        result.lane_ends[l] = SimTime(ended);
        for (std::size_t k = 0; k < sums.size(); ++k)
            sums[k].exposed +=
                static_cast<u128>(charges.exposed[k]) * binding_.lanes[l].multiplicity;
    }
}

namespace {

LaneLoad lane_load(const TransferLoad& load, std::size_t index)
{
    return {load.resident.of(index), load.latency.of(index), load.traffic.of(index)};
}

} // namespace

LaneTimes Replay::times_of(std::uint32_t c, std::size_t lane)
{
    const auto time = [&](Value value) {
        return capture_->at(c, value, lane);
    };
    const Time opened = time(composed_->tape.inputs[c].opened);
    LaneTimes times;
    const auto& ops = composed_->tape.ops[c];
    for (std::size_t o = 0; o < ops.size(); ++o) {
        times.start.push_back(time(ops[o].start));
        times.begin.push_back(time(ops[o].begin));
        times.end.push_back(time(ops[o].end));
        const Column* alone = composed_->times[c][o];
        times.alone.push_back(alone == nullptr ? 0 : (*alone)[lane]);
        times.device.push_back(ops[o].device == none ? times.start.back() + times.alone.back()
                                                     : time(ops[o].device));
        times.left.push_back(
            ops[o].left == none
                ? static_cast<u128>(times.device.back() - std::clamp(opened, times.start.back(),
                                                                     times.device.back())) *
                      full_share
                : static_cast<u128>(time(ops[o].left)));
        if (slows_[c].empty())
            continue;
        const FlatOp& op = cohorts_.all[c].kind->ops[o];
        LaneLoad& load = times.loads.emplace_back();
        if (op.kind == OpKind::collective)
            load = lane_load(tables_->load(c, op), lane);
        for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
            load.resident =
                std::max(load.resident,
                         tables_->load(c, cohorts_.all[c].kind->parts[p]).resident.of(lane));
    }
    for (const PartValues& part : composed_->tape.parts[c]) {
        times.part_begin.push_back(time(part.begin));
        times.part_end.push_back(time(part.end));
    }
    if (!slows_[c].empty())
        for (const PartPlan& part : cohorts_.all[c].kind->parts)
            times.part_loads.push_back(lane_load(tables_->load(c, part), lane));
    return times;
}

// What the transfers of the measured step add up to, but for what of it is exposed.
void Replay::count(std::vector<TransferSum>& sums)
{
    for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c) {
        const Cohort& cohort = cohorts_.all[c];
        const auto multiplicity = [&](std::uint32_t i) {
            return static_cast<u128>(binding_.lanes[cohort.lanes[i]].multiplicity);
        };
        for (const FlatOp& op : cohort.kind->ops) {
            if (op.kind != OpKind::collective && op.kind != OpKind::exchange)
                continue;
            TransferSum& sum = sums[transfer_class(program_.labels[op.label.value])];
            for (std::uint32_t i = 0; i < cohort.lanes.size(); ++i) {
                sum.count += binding_.lanes[cohort.lanes[i]].multiplicity;
                sum.bytes += bytes_of(c, i, op) * multiplicity(i);
            }
        }
        const Totals& totals = composed_->totals[c];
        for (std::uint32_t k = 0; k < totals.classes.size(); ++k)
            for (std::uint32_t i = 0; i < cohort.lanes.size(); ++i) {
                TransferSum& sum = sums[totals.classes[k]];
                sum.waiting += static_cast<u128>(player_->total(c, k, 0)[i]) * multiplicity(i);
                sum.transfer += static_cast<u128>(player_->total(c, k, 1)[i]) * multiplicity(i);
            }
    }
}

u128 Replay::bytes_of(std::uint32_t c, std::uint32_t index, const FlatOp& op) const
{
    const Cohort& cohort = cohorts_.all[c];
    const Lane& lane = binding_.lanes[cohort.lanes[index]];
    if (op.kind == OpKind::collective) {
        const Group& group = binding_.groups[lane.groups[op.group.value].value];
        return binding_.costs.transfers[group.variant][op.cost.value].bytes.value();
    }
    u128 bytes = 0;
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
        if (cohort.kind->parts[p].direction == Direction::send)
            bytes += tables_->cost_of(c, index, cohort.kind->parts[p]).bytes.value();
    return bytes;
}

} // namespace

tl::expected<StepResult, Refusal> run_replay(const Program& program, const Binding& binding,
                                             const RunControl& control)
{
    return Replay(program, binding, control).run();
}

} // namespace trainyard::engine
