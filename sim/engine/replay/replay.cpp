#include "sim/engine/replay/replay.h"

#include "sim/engine/interference.h"
#include "sim/engine/replay/capture.h"
#include "sim/engine/replay/charges.h"
#include "sim/engine/replay/leaper.h"
#include "sim/engine/replay/ledger.h"
#include "sim/engine/replay/scribe.h"
#include "sim/engine/standstill.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace trainyard::engine {

namespace {

using namespace replay;

constexpr std::size_t instrs_between_checks = 1U << 12;
constexpr double longest_slowed = double(std::uint64_t{1} << 42); // ps: x 2^20 fits
constexpr std::size_t most_captured = std::size_t{1} << 28;       // bytes

LaneLoad lane_load(const TransferLoad& load, std::size_t index)
{
    return {load.resident.of(index), load.latency.of(index), load.traffic.of(index)};
}

class Replay {
public:
    // `by_tape`: time is charged to all lanes of a cohort at once where that can be.
    Replay(const Program& program, const Binding& binding, const RunControl& control, bool by_tape)
        : program_(program),
          binding_(binding),
          control_(control),
          by_tape_(by_tape),
          compiled_(compile(program, binding))
    {}

    tl::expected<StepResult, Refusal> run()
    {
        if (auto refused = prepare())
            return tl::unexpected(std::move(*refused));
        play();
        if (by_tape_ && !player_->fits())
            return Replay(program_, binding_, control_, false).run();
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
    bool find_stages();
    template <class Visit>
    void for_each_charged(std::uint32_t c, const Visit& visit) const;
    void add_tape(std::uint32_t c, std::size_t lane, Time span, Charges& charges);
    void fill_times(std::uint32_t c, std::size_t lane, LaneTimes& times);
    void count(StepResult& result, std::vector<TransferSum>& sums);

    const Program& program_;
    const Binding& binding_;
    const RunControl& control_;
    bool by_tape_;
    CompiledProgram compiled_;
    Cohorts cohorts_;
    std::vector<Known> known_;
    IsEager eager_;
    SlowsCompute slows_;
    std::optional<Tables> tables_;
    std::optional<Composed> composed_;
    std::optional<Player> player_;
    Regions regions_;
    std::optional<Leaper> leaper_;
    std::vector<std::vector<std::uint8_t>> stages_; // by cohort, group slot
    std::vector<CohortCharges> charges_;            // by cohort
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
    if (any_stops(binding_))
        return Refusal{"a rank hangs or dies"};
    auto cohorts = gather_cohorts(program_, binding_, compiled_);
    if (!cohorts)
        return Refusal{"some rank never comes to a transfer of its group or neighbour"};
    cohorts_ = std::move(*cohorts);
    for (const Cohort& cohort : cohorts_.all)
        known_.emplace_back(*cohort.kind);
    tables_.emplace(program_, binding_, cohorts_);
    if (!find_stages())
        return Refusal{"groups of one kind join stages and others do not"};
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
        return Refusal{
            slows_.empty() || slows_.front().empty()
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
    regions_ = find_regions(cohorts_, composed_->tape, capture_->values());
    place_values(composed_->tape, cohorts_);
    player_.emplace(cohorts_, *composed_);
    leaper_.emplace(*player_, cohorts_, composed_->tape, regions_);
    return std::nullopt;
}

bool Replay::find_eager()
{
    for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c) {
        const LaneKind& kind = *cohorts_.all[c].kind;
        auto& of_cohort = eager_.emplace_back();
        std::map<std::pair<PeerSlot, CostId>, bool> known;
        for (const PartPlan& part : kind.parts) {
            const auto [found, added] = known.try_emplace({part.peer, part.cost}, false);
            if (added) {
                found->second = tables_->cost_of(c, 0, part).eager;
                for (std::uint32_t i = 1; i < cohorts_.all[c].lanes.size(); ++i)
                    if (tables_->cost_of(c, i, part).eager != found->second)
                        return false;
            }
            of_cohort.push_back(found->second ? 1 : 0);
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
    std::unordered_map<const Column*, double> known;
    const auto greatest = [&](const Column* column) {
        if (column == nullptr || column->empty())
            return 0.0;
        const auto [found, added] = known.try_emplace(column, 0.0);
        if (added)
            found->second = static_cast<double>(*std::max_element(column->begin(), column->end()));
        return found->second;
    };
    for (const Instr& instr : composed_->tape.instrs) {
        const bool slowed = instr.code == Instr::Code::compute;
        if (slowed && greatest(instr.table) >= longest_slowed)
            return true;
        const double slower = slowed ? full_share / least_share + 1 : 1;
        sum += static_cast<double>(instr.constant) +
               slower * (greatest(instr.table) + greatest(instr.table2));
    }
    for (const Cohort& cohort : cohorts_.all)
        sum += static_cast<double>(cohort.kind->host.after_last.value());
    sum *= control_.steps;
    Time start = 0;
    for (const Lane& lane : binding_.lanes)
        start = std::max(start, lane.start.value());
    return sum + static_cast<double>(start) >= static_cast<double>(longest_sim_time.value() / 2);
}

// By cohort and slot; false if groups of one slot differ.
bool Replay::find_stages()
{
    for (const Cohort& cohort : cohorts_.all) {
        auto& stages = stages_.emplace_back();
        for (const std::uint32_t m : cohort.meetings)
            stages.push_back(m != none &&
                                     joins_stages(binding_.groups[cohorts_.meetings[m].groups[0]],
                                                  binding_.lanes)
                                 ? 1
                                 : 0);
    }
    for (const Meeting& meeting : cohorts_.meetings) {
        const auto joins = [&](std::uint32_t group) {
            return joins_stages(binding_.groups[group], binding_.lanes);
        };
        const bool first = joins(meeting.groups[0]);
        for (const std::uint32_t group : meeting.groups)
            if (joins(group) != first)
                return false;
    }
    return true;
}

// Whether there is room for the times that lanes are charged by one at a time.
bool Replay::plan_charges()
{
    if (by_tape_)
        charges_ = add_charges({program_, cohorts_, known_, stages_}, *composed_);
    else
        charges_.resize(cohorts_.all.size());
    std::vector<std::vector<std::uint32_t>> lanes;
    for (const Cohort& cohort : cohorts_.all) {
        lanes.emplace_back(cohort.lanes.size());
        std::iota(lanes.back().begin(), lanes.back().end(), 0U);
    }
    capture_.emplace(cohorts_, composed_->tape, std::move(lanes));
    for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c) {
        CohortCharges& plan = charges_[c];
        plan.tail.resize(cohorts_.all[c].kind->streams.size());
        capture_->want(c, composed_->tape.inputs[c].opened);
        if (plan.on_tape)
            capture_->want(c, composed_->tape.ops[c][plan.last_compute].end);
        for_each_charged(c, [&](std::uint32_t o) { capture_->want_op(c, o); });
    }
    return capture_->size() <= most_captured;
}

// The ops that a Ledger looks at.
template <class Visit>
void Replay::for_each_charged(std::uint32_t c, const Visit& visit) const
{
    const LaneKind& kind = *cohorts_.all[c].kind;
    for (std::size_t s = 0; s < kind.streams.size(); ++s)
        for (std::uint32_t p = charges_[c].tail[s]; p < kind.streams[s].op_count; ++p)
            visit(kind.streams[s].op_first + p);
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
            for (const Value value : in.stream_ends)
                player_->column(value)[i] = 0;
            for (const auto& [op, value] : in.ends)
                player_->column(value)[i] = 0;
            for (const auto& [from, value] : in.rivals)
                player_->column(value)[i] = 0;
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
    leaper_->restart();
    player_->forget_ranges();
    for (std::size_t i = 0; i < instrs.size(); ++i) {
        if (i % instrs_between_checks == 0)
            control_.work.check();
        const Stretch* stretch = leaper_->at(i);
        if (stretch != nullptr && !recorded && leaper_->leap(*player_, *stretch, measured)) {
            for (const Value value : stretch->results)
                if (measured)
                    capture_->note(*player_, value);
            i += stretch->instr_count - 1;
            continue;
        }
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
    if (measured)
        leaper_->settle();
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
    count(result, sums);
    result.critical_lane = critical_lane(result.lanes);
    result.transfers = transfer_totals(sums);
    result.records = scribe_->take();
    return result;
}

void Replay::charge_cohort(std::uint32_t c, StepResult& result, std::vector<TransferSum>& sums)
{
    const Cohort& cohort = cohorts_.all[c];
    const Tape& tape = composed_->tape;
    const CohortCharges& plan = charges_[c];
    Ledger ledger(program_, *cohort.kind, known_[c], stages_[c], plan.tail);
    LaneTimes times;
    Charges charges;
    for (std::uint32_t i = 0; i < cohort.lanes.size(); ++i) {
        const std::uint32_t l = cohort.lanes[i];
        LaneTotals& totals = result.lanes[l];
        Time opened = 0;
        Time ended = 0;
        if (cohort.kind->op_count > 0) {
            opened = capture_->at(c, tape.inputs[c].opened, i);
            ended = player_->column(tape.lane_ends[c])[i];
            charges = {};
            charges.exposed.resize(sums.size());
            const Time computed =
                plan.on_tape ? capture_->at(c, tape.ops[c][plan.last_compute].end, i) : opened;
            if (computed < ended) {
                fill_times(c, i, times);
                ledger.charge(times, computed, charges);
            }
            if (plan.on_tape)
                add_tape(c, i, computed - opened, charges);
            totals.compute_busy = SimTime(charges.compute_busy);
            for (std::size_t k = 0; k < time_kind_count; ++k)
                totals.time[k] = SimTime(charges.time[k]);
            add_work(totals, charges.work);
            for (std::size_t k = 0; k < sums.size(); ++k)
                sums[k].exposed +=
                    static_cast<u128>(charges.exposed[k]) * binding_.lanes[l].multiplicity;
        }
        fill_step(totals, result.step_time - SimTime(ended - opened));
        result.lane_ends[l] = SimTime(ended);
    }
}

// What the tape has charged of the `span` up to the last compute; the rest is the host's.
void Replay::add_tape(std::uint32_t c, std::size_t lane, Time span, Charges& charges)
{
    const auto sum = [&](std::uint32_t which) { return player_->sum(c, which)[lane]; };
    const auto add = [&](TimeKind kind, Time time) {
        charges.time[static_cast<std::size_t>(kind)] += time;
        span -= time;
    };
    add(TimeKind::bubble, sum(static_cast<std::uint32_t>(Sum::bubble)));
    add(TimeKind::waiting, sum(static_cast<std::uint32_t>(Sum::waiting)));
    add(TimeKind::data, sum(static_cast<std::uint32_t>(Sum::data)));
    const Totals& totals = composed_->totals[c];
    for (std::uint32_t k = 0; k < totals.classes.size(); ++k) {
        const Time exposed = sum(static_cast<std::uint32_t>(Sum::classes) + k);
        charges.exposed[totals.classes[k]] += exposed;
        add(exposed_kind(static_cast<GroupKind>(totals.classes[k] % group_kind_count)), exposed);
    }
    Time alone = 0;
    for (const auto& [what, count] : charges_[c].computing) {
        const Time time = (*what.second)[lane] * count;
        charges.work[what.first] += static_cast<u128>(time) * full_share;
        alone += time;
    }
    charges.compute_busy += slows_[c].empty() ? alone : sum(static_cast<std::uint32_t>(Sum::busy));
    charges.time[static_cast<std::size_t>(TimeKind::host)] += span - charges.compute_busy;
}

// The times of the ops that a Ledger looks at, on one lane.
void Replay::fill_times(std::uint32_t c, std::size_t lane, LaneTimes& times)
{
    const LaneKind& kind = *cohorts_.all[c].kind;
    const auto time = [&](Value value) { return capture_->at(c, value, lane); };
    const Time opened = time(composed_->tape.inputs[c].opened);
    times.resize(kind, !slows_[c].empty());
    for_each_charged(c, [&](std::uint32_t o) {
        const FlatOp& op = kind.ops[o];
        const OpValues& values = composed_->tape.ops[c][o];
        const Column* alone = composed_->times[c][o];
        times.start[o] = time(values.start);
        times.begin[o] = time(values.begin);
        times.end[o] = time(values.end);
        times.device[o] = values.device != none ? time(values.device)
                                                : times.start[o] + (alone ? (*alone)[lane] : 0);
        times.left[o] = values.left != none
                            ? static_cast<u128>(time(values.left))
                            : static_cast<u128>(times.device[o] - std::clamp(opened, times.start[o],
                                                                             times.device[o])) *
                                  full_share;
        for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
            times.part_begin[p] = time(composed_->tape.parts[c][p].begin);
            times.part_end[p] = time(composed_->tape.parts[c][p].end);
        }
        if (slows_[c].empty())
            return;
        if (op.kind == OpKind::collective)
            times.loads[o] = lane_load(tables_->load(c, op), lane);
        for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
            times.part_loads[p] = lane_load(tables_->load(c, kind.parts[p]), lane);
            times.loads[o].resident = std::max(p == op.part_first ? 0 : times.loads[o].resident,
                                               times.part_loads[p].resident);
        }
    });
}

// What the transfers of the measured step add up to, but for what of it is exposed.
void Replay::count(StepResult& result, std::vector<TransferSum>& sums)
{
    for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c) {
        const Cohort& cohort = cohorts_.all[c];
        const auto multiplicity = [&](std::uint32_t i) {
            return static_cast<u128>(binding_.lanes[cohort.lanes[i]].multiplicity);
        };
        std::uint64_t ranks = 0;
        for (std::uint32_t i = 0; i < cohort.lanes.size(); ++i)
            ranks += static_cast<std::uint64_t>(multiplicity(i));
        // Bytes of all ranks, by what says how many: slot or neighbour, and cost.
        std::map<std::pair<std::uint32_t, CostId>, u128> known;
        const auto bytes = [&](std::uint32_t where, CostId cost, const auto& of_lane) {
            const auto [found, added] = known.try_emplace({where, cost}, 0);
            if (added)
                for (std::uint32_t i = 0; i < cohort.lanes.size(); ++i)
                    found->second += of_lane(i).bytes.value() * multiplicity(i);
            return found->second;
        };
        for (const FlatOp& op : cohort.kind->ops) {
            if (op.kind != OpKind::collective && op.kind != OpKind::exchange)
                continue;
            TransferSum& sum = sums[transfer_class(program_.labels[op.label.value])];
            sum.count += ranks;
            if (op.kind == OpKind::collective)
                sum.bytes += bytes(op.group.value, op.cost, [&](std::uint32_t i) {
                    const Lane& lane = binding_.lanes[cohort.lanes[i]];
                    const GroupId group = lane.groups[op.group.value];
                    return binding_.costs
                        .transfers[binding_.groups[group.value].variant][op.cost.value];
                });
            for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
                const PartPlan& part = cohort.kind->parts[p];
                if (part.direction == Direction::send)
                    sum.bytes += bytes(0x100U + part.peer.value, part.cost, [&](std::uint32_t i) {
                        return tables_->cost_of(c, i, part);
                    });
            }
        }
        const Totals& totals = composed_->totals[c];
        for (std::uint32_t k = 0; k < totals.classes.size(); ++k)
            for (std::uint32_t i = 0; i < cohort.lanes.size(); ++i) {
                TransferSum& sum = sums[totals.classes[k]];
                result.lanes[cohort.lanes[i]].communication_busy +=
                    SimTime(player_->total(c, k, 1)[i]);
                sum.waiting += static_cast<u128>(player_->total(c, k, 0)[i]) * multiplicity(i);
                sum.transfer += static_cast<u128>(player_->total(c, k, 1)[i]) * multiplicity(i);
            }
    }
}

} // namespace

tl::expected<StepResult, Refusal> run_replay(const Program& program, const Binding& binding,
                                             const RunControl& control)
{
    return Replay(program, binding, control, true).run();
}

} // namespace trainyard::engine
