#include "sim/engine/replay/step_totals.h"

#include "sim/engine/slowdown.h"

#include <algorithm>
#include <numeric>

namespace trainyard::engine::replay {

namespace {

LaneLoad lane_load(const TransferLoad& load, std::size_t index)
{
    return {load.resident.of(index), load.latency.of(index), load.traffic.of(index)};
}

// Calls `visit` with the ops of a lane class that a Ledger looks at.
template <class Visit>
void for_each_charged(const LaneKind& kind, const ChargePlan& charges, const Visit& visit)
{
    for (std::size_t s = 0; s < kind.streams.size(); ++s)
        for (std::uint32_t p = charges.tail[s]; p < kind.streams[s].op_count; ++p)
            visit(kind.streams[s].op_first + p);
}

// Adds up the lanes of one class.
class LaneClassTotals {
public:
    LaneClassTotals(const TotalsRequest& request, std::uint32_t lane_class, Tables& tables,
                    Interpreter& interpreter)
        : request_(request),
          c_(lane_class),
          lane_class_(request.lane_classes.all[lane_class]),
          kind_(*lane_class_.kind),
          code_(request.generated.code),
          plan_(request.generated.charge_plans[lane_class]),
          tables_(tables),
          interpreter_(interpreter),
          communicates_(lane_class_.lanes.size())
    {}

    void add(StepResult& result, std::vector<TransferSum>& sums)
    {
        add_totals(sums);
        if (kind_.op_count == 0) {
            for (const std::uint32_t lane : lane_class_.lanes)
                fill_step(result.lanes[lane], result.step_time, request_.idle);
            return;
        }
        const bool vectorized = plan_.vectorized && charge_tail();
        if (plan_.vectorized) {
            sum_work();
            find_sums();
        }
        const Time* opens = interpreter_.column(code_.inputs[c_].opened);
        const Time* ends = interpreter_.column(code_.lane_ends[c_]);
        Ledger ledger(request_.program, kind_, barriers_of(kind_), request_.stages[c_], plan_.tail);
        LaneCharges charges;
        charges.exposed.resize(sums.size());
        for (std::uint32_t i = 0; i < lane_class_.lanes.size(); ++i) {
            charges.clear(request_.generated.transfer_classes[c_].used);
            const Time opened = opens[i];
            const Time ended = ends[i];
            const Time computed = vectorized ? ended : plan_.vectorized ? computed_at(i) : opened;
            if (computed < ended) {
                fill_times(i);
                ledger.charge(times_, computed, charges);
            }
            if (plan_.vectorized)
                add_vectorized(i, computed - opened, charges);
            write(i, charges, ended - opened, result);
            result.lane_ends[lane_class_.lanes[i]] = SimTime(ended);
            for (const std::uint32_t k : request_.generated.transfer_classes[c_].used)
                sums[k].exposed +=
                    static_cast<u128>(charges.exposed[k]) * lane_class_.multiplicity[i];
        }
    }

private:
    // Adds up its transfers, but for what of them is exposed.
    void add_totals(std::vector<TransferSum>& sums)
    {
        const TransferClasses& classes = request_.generated.transfer_classes[c_];
        for (std::uint32_t k = 0; k < classes.used.size(); ++k) {
            TransferSum& sum = sums[classes.used[k]];
            const Time* waiting = interpreter_.sum(c_, interpreter_.waiting_sum(c_, k));
            const Time* held_up = interpreter_.sum(c_, interpreter_.waiting_sum(c_, k) + 2);
            const Time* counted = interpreter_.sum(c_, interpreter_.waiting_sum(c_, k) + 1);
            Column moving(counted, counted + lane_class_.lanes.size());
            add_moving(classes.moving, k, moving.data());
            for (std::size_t i = 0; i < moving.size(); ++i) {
                communicates_[i] += moving[i];
                sum.waiting +=
                    static_cast<u128>(waiting[i] + held_up[i]) * lane_class_.multiplicity[i];
                sum.transfer += static_cast<u128>(moving[i]) * lane_class_.multiplicity[i];
            }
        }
    }

    // Adds for how long the transfers of a transfer class move, by index.
    void add_moving(const MovingTimes& movings, std::uint32_t transfer_class, Time* times) const
    {
        const std::size_t lanes = lane_class_.lanes.size();
        for (const auto& [moving, count] : movings) {
            if (moving.transfer_class != transfer_class)
                continue;
            const Time* of = moving.table->times.data();
            if (moving.by == MovingTime::By::lane) {
                interpreter_.kernels().add_times(times, of, count, lanes);
            } else if (moving.by == MovingTime::By::partner) {
                const std::vector<std::uint32_t>& partners =
                    lane_class_.pipes[moving.where].partners;
                for (std::size_t i = 0; i < lanes; ++i)
                    times[i] += of[partners[i]] * count;
            } else {
                const GroupClass& group_class = request_.lane_classes.group_classes[moving.where];
                for (std::size_t g = 0; g < group_class.groups.size(); ++g)
                    for (std::uint32_t m = group_class.first[g]; m < group_class.first[g + 1]; ++m)
                        times[group_class.members[m].index] += of[g] * count;
            }
        }
    }

    Time computed_at(std::size_t lane)
    {
        return interpreter_.column(code_.ops[c_][plan_.last_compute].end)[lane];
    }

    // Charges the time behind the last compute, where at most one stream goes on: each gap is the
    // host's and the rest its ops'. False where several streams do.
    bool charge_tail()
    {
        const Time* computed = interpreter_.column(code_.ops[c_][plan_.last_compute].end);
        const Instr* going_on = nullptr;
        for (std::size_t s = 0; s < kind_.streams.size(); ++s) {
            const StreamPlan& stream = kind_.streams[s];
            const Time* end =
                interpreter_.column(code_.ops[c_][stream.op_first + stream.op_count - 1].end);
            if (interpreter_.kernels().ordered(end, computed, lane_class_.lanes.size()))
                continue;
            if (going_on != nullptr)
                return false;
            going_on = &plan_.tail_charges[s];
        }
        if (going_on != nullptr)
            interpreter_.execute(*going_on);
        return true;
    }

    // Adds up what compute takes alone, by kind of time.
    void sum_work()
    {
        work_.assign(std::tuple_size_v<ComputeWork>, {});
        for (const auto& [what, count] : plan_.computing) {
            Column& sum = work_[what.first];
            sum.resize(lane_class_.lanes.size());
            interpreter_.kernels().add_times(sum.data(), what.second->times.data(), count,
                                             sum.size());
        }
        const std::vector<Column>& drawn = tables_.drawn_sums(c_);
        for (std::size_t kind = 0; kind < drawn.size(); ++kind)
            if (!drawn[kind].empty()) // all compute of a lane class is drawn, or none
                work_[kind] = drawn[kind];
    }

    void find_sums()
    {
        const auto sum = [&](Sum which) {
            return interpreter_.sum(c_, static_cast<std::uint32_t>(which));
        };
        slowed_ = sum(Sum::slowed);
        sums_ = {{TimeKind::bubble, sum(Sum::bubble), none},
                 {TimeKind::waiting, sum(Sum::waiting), none},
                 {TimeKind::data, sum(Sum::data), none}};
        const TransferClasses& classes = request_.generated.transfer_classes[c_];
        const Slice all{0, lane_class_.lanes.size(), none};
        for (std::uint32_t k = 0; k < classes.used.size(); ++k) {
            const std::uint32_t of = classes.used[k];
            Time* exposed = interpreter_.sum(c_, static_cast<std::uint32_t>(Sum::classes) + k, all);
            add_moving(classes.exposed, k, exposed);
            sums_.push_back(
                {exposed_kind(static_cast<GroupKind>(of % group_kind_count)), exposed, of});
            sums_.push_back({TimeKind::waiting,
                             interpreter_.sum(c_, interpreter_.waiting_sum(c_, k) + 2), none});
        }
    }

    // Adds what the code has charged of the `span` up to the last compute; the rest is the host's.
    void add_vectorized(std::size_t lane, Time span, LaneCharges& charges) const
    {
        for (const VectorizedSum& sum : sums_) {
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

    void write(std::uint32_t i, const LaneCharges& charges, Time own_step, StepResult& result) const
    {
        LaneTotals& totals = result.lanes[lane_class_.lanes[i]];
        totals.compute_busy = SimTime(charges.compute_busy);
        totals.communication_busy = SimTime(communicates_[i]);
        for (std::size_t k = 0; k < time_kind_count; ++k)
            totals.time[k] = SimTime(charges.time[k]);
        add_work(totals, charges.work);
        fill_step(totals, result.step_time - SimTime(own_step), request_.idle);
    }

    // What an op that takes time takes on a free device.
    Time alone(std::uint32_t o, std::size_t lane)
    {
        if (kind_.ops[o].kind == OpKind::compute && tables_.jitters(c_))
            return tables_.drawn_time(c_, kind_.ops[o], lane);
        const TimeTable* table = request_.generated.times[c_][o];
        return table != nullptr ? table->times[lane] : 0;
    }

    // Fills in the times of the ops that a Ledger looks at, on one lane.
    void fill_times(std::size_t lane)
    {
        const bool loaded = !request_.slows[c_].empty();
        const auto time = [&](Value value) {
            return value == none ? 0 : interpreter_.column(value)[lane];
        };
        const Time opened = time(code_.inputs[c_].opened);
        times_.resize(kind_, loaded);
        for_each_charged(kind_, plan_, [&](std::uint32_t o) {
            const FlatOp& op = kind_.ops[o];
            const OpValues& values = code_.ops[c_][o];
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
                times_.part_begin[p] = time(code_.parts[c_][p].begin);
                times_.part_end[p] = time(code_.parts[c_][p].end);
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

    const TotalsRequest& request_;
    std::uint32_t c_;
    const LaneClass& lane_class_;
    const LaneKind& kind_;
    const StepCode& code_;
    const ChargePlan& plan_;
    Tables& tables_;
    Interpreter& interpreter_;
    Column communicates_; // for how long, transfers at the same time added up; by index
    LaneTimes times_;
    std::vector<Column> work_; // by kind of computing time; by index
    // What the code charges to a kind of time, by index.
    struct VectorizedSum {
        TimeKind kind;
        const Time* column;
        std::uint32_t exposed; // class of transfers; none
    };
    std::vector<VectorizedSum> sums_;
    const Time* slowed_ = nullptr; // compute, by index
};

// How many ranks of a lane class have each variant.
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

// Adds up the number and the bytes of the transfers of a lane class.
void count_transfers(const TotalsRequest& request, std::uint32_t c, Tables& tables,
                     std::vector<TransferSum>& sums)
{
    const std::vector<std::uint32_t>& multiplicity = request.lane_classes.all[c].multiplicity;
    const LaneKind& kind = *request.lane_classes.all[c].kind;
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

std::vector<Value> values_for_totals(const LaneClasses& lane_classes, const StepCode& code,
                                     const std::vector<ChargePlan>& charges)
{
    std::vector<std::uint8_t> wanted(code.values.size());
    const auto want = [&](Value value) {
        if (value != none)
            wanted[value] = 1;
    };
    for (std::uint32_t c = 0; c < lane_classes.all.size(); ++c) {
        const LaneKind& kind = *lane_classes.all[c].kind;
        want(code.inputs[c].opened);
        if (charges[c].vectorized)
            want(code.ops[c][charges[c].last_compute].end);
        for (const StreamPlan& stream : kind.streams)
            want(code.ops[c][stream.op_first + stream.op_count - 1].end);
        for_each_charged(kind, charges[c],
                         [&](std::uint32_t o) { for_each_value(code, kind, c, o, want); });
    }
    std::vector<Value> values;
    for (Value value = 0; value < wanted.size(); ++value)
        if (wanted[value] != 0)
            values.push_back(value);
    return values;
}

void fill_totals(const TotalsRequest& request, Tables& tables, Interpreter& interpreter,
                 StepResult& result)
{
    result.lanes.resize(request.binding.lanes.size());
    result.lane_ends.resize(request.binding.lanes.size());
    std::vector<TransferSum> sums(transfer_class_count());
    for (std::uint32_t c = 0; c < request.lane_classes.all.size(); ++c) {
        LaneClassTotals(request, c, tables, interpreter).add(result, sums);
        count_transfers(request, c, tables, sums);
    }
    result.critical_lane = critical_lane(result.lanes);
    result.transfers = transfer_totals(sums);
}

} // namespace trainyard::engine::replay
