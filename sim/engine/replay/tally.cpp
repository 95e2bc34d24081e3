#include "sim/engine/replay/tally.h"

#include "sim/engine/interference.h"

#include <algorithm>
#include <numeric>

namespace trainyard::engine::replay {

namespace {

LaneLoad lane_load(const TransferLoad& load, std::size_t index)
{
    return {load.resident.of(index), load.latency.of(index), load.traffic.of(index)};
}

// Calls with the ops of a cohort that a Ledger looks at.
template <class Visit>
void for_each_charged(const LaneKind& kind, const CohortCharges& charges, const Visit& visit)
{
    for (std::size_t s = 0; s < kind.streams.size(); ++s)
        for (std::uint32_t p = charges.tail[s]; p < kind.streams[s].op_count; ++p)
            visit(kind.streams[s].op_first + p);
}

// One cohort's lanes.
class CohortTally {
public:
    CohortTally(const TallyRequest& request, std::uint32_t cohort, Tables& tables, Player& player)
        : request_(request),
          c_(cohort),
          cohort_(request.cohorts.all[cohort]),
          kind_(*cohort_.kind),
          tape_(request.composed.tape),
          plan_(request.composed.charges[cohort]),
          tables_(tables),
          player_(player),
          communicates_(cohort_.lanes.size())
    {}

    void add(StepResult& result, std::vector<TransferSum>& sums)
    {
        add_totals(sums);
        if (kind_.op_count == 0) {
            for (const std::uint32_t lane : cohort_.lanes)
                fill_step(result.lanes[lane], result.step_time);
            return;
        }
        const bool by_tape = plan_.on_tape && charge_tail();
        if (plan_.on_tape) {
            sum_work();
            find_sums();
        }
        const Time* opens = player_.column(tape_.inputs[c_].opened);
        const Time* ends = player_.column(tape_.lane_ends[c_]);
        Ledger ledger(request_.program, kind_, barriers_of(kind_), request_.stages[c_], plan_.tail);
        Charges charges;
        charges.exposed.resize(sums.size());
        for (std::uint32_t i = 0; i < cohort_.lanes.size(); ++i) {
            charges.clear(request_.composed.totals[c_].classes);
            const Time opened = opens[i];
            const Time ended = ends[i];
            const Time computed = by_tape ? ended : plan_.on_tape ? computed_at(i) : opened;
            if (computed < ended) {
                fill_times(i);
                ledger.charge(times_, computed, charges);
            }
            if (plan_.on_tape)
                add_tape(i, computed - opened, charges);
            write(i, charges, ended - opened, result);
            result.lane_ends[cohort_.lanes[i]] = SimTime(ended);
            for (const std::uint32_t k : request_.composed.totals[c_].classes)
                sums[k].exposed += static_cast<u128>(charges.exposed[k]) * cohort_.multiplicity[i];
        }
    }

private:
    // What its transfers add up to, but for what of it is exposed.
    void add_totals(std::vector<TransferSum>& sums)
    {
        const Totals& totals = request_.composed.totals[c_];
        for (std::uint32_t k = 0; k < totals.classes.size(); ++k) {
            TransferSum& sum = sums[totals.classes[k]];
            const Time* waiting = player_.sum(c_, player_.waiting_sum(c_, k));
            const Time* held_up = player_.sum(c_, player_.waiting_sum(c_, k) + 2);
            const Time* counted = player_.sum(c_, player_.waiting_sum(c_, k) + 1);
            Column moving(counted, counted + cohort_.lanes.size());
            add_moving(totals.moving, k, moving.data());
            for (std::size_t i = 0; i < moving.size(); ++i) {
                communicates_[i] += moving[i];
                sum.waiting += static_cast<u128>(waiting[i] + held_up[i]) * cohort_.multiplicity[i];
                sum.transfer += static_cast<u128>(moving[i]) * cohort_.multiplicity[i];
            }
        }
    }

    // For how long the transfers of a class move, by index.
    void add_moving(const Movings& movings, std::uint32_t total, Time* times) const
    {
        const std::size_t lanes = cohort_.lanes.size();
        for (const auto& [moving, count] : movings) {
            if (moving.total != total)
                continue;
            const Time* of = moving.table->times.data();
            if (moving.by == Moving::By::lane) {
                player_.kernels().add_times(times, of, count, lanes);
            } else if (moving.by == Moving::By::partner) {
                const std::vector<std::uint32_t>& partners = cohort_.pipes[moving.where].partners;
                for (std::size_t i = 0; i < lanes; ++i)
                    times[i] += of[partners[i]] * count;
            } else {
                const Meeting& meeting = request_.cohorts.meetings[moving.where];
                for (std::size_t g = 0; g < meeting.groups.size(); ++g)
                    for (std::uint32_t m = meeting.first[g]; m < meeting.first[g + 1]; ++m)
                        times[meeting.members[m].index] += of[g] * count;
            }
        }
    }

    Time computed_at(std::size_t lane)
    {
        return player_.column(tape_.ops[c_][plan_.last_compute].end)[lane];
    }

    // Behind the last compute, where one stream at most goes on: then each gap is the host's and
    // the rest its ops', as before. False where several do.
    bool charge_tail()
    {
        const Time* computed = player_.column(tape_.ops[c_][plan_.last_compute].end);
        const Instr* going_on = nullptr;
        for (std::size_t s = 0; s < kind_.streams.size(); ++s) {
            const StreamPlan& stream = kind_.streams[s];
            const Time* end =
                player_.column(tape_.ops[c_][stream.op_first + stream.op_count - 1].end);
            if (player_.kernels().ordered(end, computed, cohort_.lanes.size()))
                continue;
            if (going_on != nullptr)
                return false;
            going_on = &plan_.tail_charges[s];
        }
        if (going_on != nullptr)
            player_.play(*going_on);
        return true;
    }

    // What compute takes alone, by kind of time.
    void sum_work()
    {
        work_.assign(std::tuple_size_v<ComputeWork>, {});
        for (const auto& [what, count] : plan_.computing) {
            Column& sum = work_[what.first];
            sum.resize(cohort_.lanes.size());
            player_.kernels().add_times(sum.data(), what.second->times.data(), count, sum.size());
        }
        const std::vector<Column>& drawn = tables_.drawn_sums(c_);
        for (std::size_t kind = 0; kind < drawn.size(); ++kind)
            if (!drawn[kind].empty()) // all compute of a cohort is drawn, or none
                work_[kind] = drawn[kind];
    }

    void find_sums()
    {
        const auto sum = [&](Sum which) {
            return player_.sum(c_, static_cast<std::uint32_t>(which));
        };
        slowed_ = sum(Sum::slowed);
        sums_ = {{TimeKind::bubble, sum(Sum::bubble), none},
                 {TimeKind::waiting, sum(Sum::waiting), none},
                 {TimeKind::data, sum(Sum::data), none}};
        const Totals& totals = request_.composed.totals[c_];
        const Slice all{0, cohort_.lanes.size(), none};
        for (std::uint32_t k = 0; k < totals.classes.size(); ++k) {
            const std::uint32_t of = totals.classes[k];
            Time* exposed = player_.sum(c_, static_cast<std::uint32_t>(Sum::classes) + k, all);
            add_moving(totals.exposed, k, exposed);
            sums_.push_back(
                {exposed_kind(static_cast<GroupKind>(of % group_kind_count)), exposed, of});
            sums_.push_back(
                {TimeKind::waiting, player_.sum(c_, player_.waiting_sum(c_, k) + 2), none});
        }
    }

    // What the tape has charged of the `span` up to the last compute; the rest is the host's.
    void add_tape(std::size_t lane, Time span, Charges& charges) const
    {
        for (const TapeSum& sum : sums_) {
            const Time time = sum.column[lane];
            charges.time[static_cast<std::size_t>(sum.kind)] += time;
            span -= time;
            if (sum.exposed != none)
                charges.exposed[sum.exposed] += time;
        }
        Time alone = 0;
        for (std::size_t kind = 0; kind < work_.size(); ++kind) {
            if (work_[kind].empty())
                continue;
            charges.work[kind] += static_cast<u128>(work_[kind][lane]) * full_share;
            alone += work_[kind][lane];
        }
        charges.compute_busy += alone + slowed_[lane];
        charges.time[static_cast<std::size_t>(TimeKind::host)] += span - charges.compute_busy;
    }

    void write(std::uint32_t i, const Charges& charges, Time own_step, StepResult& result) const
    {
        LaneTotals& totals = result.lanes[cohort_.lanes[i]];
        totals.compute_busy = SimTime(charges.compute_busy);
        totals.communication_busy = SimTime(communicates_[i]);
        for (std::size_t k = 0; k < time_kind_count; ++k)
            totals.time[k] = SimTime(charges.time[k]);
        add_work(totals, charges.work);
        fill_step(totals, result.step_time - SimTime(own_step));
    }

    // What an op that takes time takes on a free device.
    Time alone(std::uint32_t o, std::size_t lane)
    {
        if (kind_.ops[o].kind == OpKind::compute && tables_.jitters(c_))
            return tables_.drawn_time(c_, kind_.ops[o], lane);
        const TimeTable* table = request_.composed.times[c_][o];
        return table != nullptr ? table->times[lane] : 0;
    }

    // The times of the ops that a Ledger looks at, on one lane.
    void fill_times(std::size_t lane)
    {
        const bool loaded = !request_.slows[c_].empty();
        const auto time = [&](Value value) {
            return value == none ? 0 : player_.column(value)[lane];
        };
        const Time opened = time(tape_.inputs[c_].opened);
        times_.resize(kind_, loaded);
        for_each_charged(kind_, plan_, [&](std::uint32_t o) {
            const FlatOp& op = kind_.ops[o];
            const OpValues& values = tape_.ops[c_][o];
            times_.start[o] = time(values.start);
            times_.begin[o] = time(values.begin);
            times_.end[o] = time(values.end);
            times_.device[o] =
                values.device != none ? time(values.device) : times_.start[o] + alone(o, lane);
            const Time since = std::clamp(opened, times_.start[o], times_.device[o]);
            times_.left[o] = values.left != none
                                 ? static_cast<u128>(time(values.left))
                                 : static_cast<u128>(times_.device[o] - since) * full_share;
            for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
                times_.part_begin[p] = time(tape_.parts[c_][p].begin);
                times_.part_end[p] = time(tape_.parts[c_][p].end);
            }
            if (loaded)
                fill_loads(o, lane);
        });
    }

    void fill_loads(std::uint32_t o, std::size_t lane)
    {
        const FlatOp& op = kind_.ops[o];
        if (op.kind == OpKind::collective)
            times_.loads[o] = lane_load(tables_.load(c_, op), lane);
        for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
            times_.part_loads[p] = lane_load(tables_.load(c_, kind_.parts[p]), lane);
            times_.loads[o].resident = std::max(p == op.part_first ? 0 : times_.loads[o].resident,
                                                times_.part_loads[p].resident);
        }
    }

    const TallyRequest& request_;
    std::uint32_t c_;
    const Cohort& cohort_;
    const LaneKind& kind_;
    const Tape& tape_;
    const CohortCharges& plan_;
    Tables& tables_;
    Player& player_;
    Column communicates_; // for how long, transfers at the same time added up; by index
    LaneTimes times_;
    std::vector<Column> work_; // by kind of computing time; by index
    // What the tape charges to a kind of time, by index.
    struct TapeSum {
        TimeKind kind;
        const Time* column;
        std::uint32_t exposed; // class of transfers; none
    };
    std::vector<TapeSum> sums_;
    const Time* slowed_ = nullptr; // compute, by index
};

// The ranks of a cohort that have each of some variants.
using RanksOf = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
RanksOf ranks_of(const Variants& variants, const std::vector<std::uint32_t>& multiplicity)
{
    RanksOf ranks;
    for (std::size_t i = 0; i < multiplicity.size(); ++i) {
        auto found = std::find_if(ranks.begin(), ranks.end(),
                                  [&](const auto& of) { return of.first == variants.of(i); });
        if (found == ranks.end())
            found = ranks.insert(found, {variants.of(i), 0});
        found->second += multiplicity[i];
    }
    return ranks;
}

// What the transfers of a cohort add up to, but for what of it is exposed.
void count_transfers(const TallyRequest& request, std::uint32_t c, Tables& tables,
                     std::vector<TransferSum>& sums)
{
    const std::vector<std::uint32_t>& multiplicity = request.cohorts.all[c].multiplicity;
    const LaneKind& kind = *request.cohorts.all[c].kind;
    const auto ranks = std::accumulate(multiplicity.begin(), multiplicity.end(), std::uint64_t{0});
    std::map<std::uint32_t, RanksOf> known; // by slot, of a group or a neighbour
    const auto bytes = [&](std::uint32_t where, CostId cost, auto slot) {
        const auto [found, added] = known.try_emplace(where);
        if (added)
            found->second = ranks_of(tables.variants(c, slot), multiplicity);
        u128 sum = 0;
        for (const auto& [variant, count] : found->second)
            sum += static_cast<u128>(tables.cost(variant, cost).bytes.value()) * count;
        return sum;
    };
    for (const FlatOp& op : kind.ops) {
        if (op.kind != OpKind::collective && op.kind != OpKind::exchange)
            continue;
        TransferSum& sum = sums[transfer_class(request.program.labels[op.label.value])];
        sum.count += ranks;
        if (op.kind == OpKind::collective)
            sum.bytes += bytes(op.group.value, op.cost, op.group);
        for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
            const PartPlan& part = kind.parts[p];
            if (part.direction == Direction::send)
                sum.bytes += bytes(0x100U + part.peer.value, part.cost, part.peer);
        }
    }
}

} // namespace

std::vector<Value> tallied_values(const Cohorts& cohorts, const Tape& tape,
                                  const std::vector<CohortCharges>& charges)
{
    std::vector<std::uint8_t> wanted(tape.values.size());
    const auto want = [&](Value value) {
        if (value != none)
            wanted[value] = 1;
    };
    for (std::uint32_t c = 0; c < cohorts.all.size(); ++c) {
        const LaneKind& kind = *cohorts.all[c].kind;
        want(tape.inputs[c].opened);
        if (charges[c].on_tape)
            want(tape.ops[c][charges[c].last_compute].end);
        for (const StreamPlan& stream : kind.streams)
            want(tape.ops[c][stream.op_first + stream.op_count - 1].end);
        for_each_charged(kind, charges[c],
                         [&](std::uint32_t o) { for_each_value(tape, kind, c, o, want); });
    }
    std::vector<Value> values;
    for (Value value = 0; value < wanted.size(); ++value)
        if (wanted[value] != 0)
            values.push_back(value);
    return values;
}

void tally(const TallyRequest& request, Tables& tables, Player& player, StepResult& result)
{
    result.lanes.resize(request.binding.lanes.size());
    result.lane_ends.resize(request.binding.lanes.size());
    std::vector<TransferSum> sums(transfer_class_count());
    for (std::uint32_t c = 0; c < request.cohorts.all.size(); ++c) {
        CohortTally(request, c, tables, player).add(result, sums);
        count_transfers(request, c, tables, sums);
    }
    result.critical_lane = critical_lane(result.lanes);
    result.transfers = transfer_totals(sums);
}

} // namespace trainyard::engine::replay
