// All rules of the engine in the order in which they apply.

#include "tests/support/naive_engine.h"

#include "tests/support/naive_work.h"

#include <algorithm>
#include <limits>
#include <set>

namespace trainyard::test {

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

class NaiveRun {
public:
    NaiveRun(const Binding& binding, NaiveWork work, Fidelity fidelity)
        : binding_(binding), fidelity_(fidelity), work_(std::move(work))
    {
        for (const Lane& lane : binding.lanes)
            hosts_.push_back({0, lane.start.value()});
    }

    NaiveResult run()
    {
        while (work_.sound) {
            settle_instant();
            grant_rates();
            const std::int64_t next = next_time();
            if (next == never)
                break;
            drain(next - now_);
            now_ = next;
        }
        return result();
    }

private:
    bool may_step(const NaiveTransfer& transfer) const
    {
        if (transfer.message || transfer.members.size() != transfer.needed)
            return false;
        const bool ring = transfer.cost->pattern == TrafficPattern::ring &&
                          (transfer.collective == CollectiveKind::all_reduce ||
                           transfer.collective == CollectiveKind::all_gather ||
                           transfer.collective == CollectiveKind::reduce_scatter);
        const bool steps = fidelity_ == Fidelity::chunk ||
                           (fidelity_ == Fidelity::flow && ring && transfer.remaining > 0);
        return steps &&
               NaiveSteps::known(*transfer.group, transfer.collective, transfer.cost->pattern);
    }

    // In flow all members come when the latency is over, in chunk each for itself.
    bool step(NaiveTransfer& transfer)
    {
        if (!may_step(transfer))
            return false;
        const bool chunk = fidelity_ == Fidelity::chunk;
        bool changed = false;
        if (!transfer.steps) {
            if (!chunk &&
                (!transfer.begun || now_ < *transfer.begun + transfer.cost->latency.value()))
                return false;
            transfer.steps.emplace(*transfer.group, transfer.collective, *transfer.cost);
            for (const NaiveOp* member : transfer.members)
                if (!chunk)
                    transfer.steps->come(transfer.place_of(*member), transfer.scale, 0);
        }
        for (const NaiveOp* member : transfer.members)
            if (chunk && member->start == now_ && !come_.contains({&transfer, member})) {
                come_.insert({&transfer, member});
                transfer.steps->come(transfer.place_of(*member), scale_of(*member),
                                     transfer.cost->latency.value());
                changed = true;
            }
        return transfer.steps->settle(now_) || changed;
    }

    std::uint32_t scale_of(const NaiveOp& op) const
    {
        return op.op->scale.valid() ? binding_.lanes[op.lane].scales[op.op->scale.value]
                                    : full_share;
    }

    // Everything that happens now, until nothing more does; ends before starts.
    void settle_instant()
    {
        for (bool changed = true; changed;) {
            changed = false;
            for (NaiveTransfer& transfer : work_.transfers)
                changed = step(transfer) || end_transfer(transfer) || changed;
            for (auto& ops : work_.lanes)
                for (NaiveOp& op : ops)
                    changed = end_op(op) || changed;
            for (std::size_t l = 0; l < work_.lanes.size(); ++l)
                changed = advance_host(l) || changed;
            for (auto& ops : work_.lanes)
                for (NaiveOp& op : ops)
                    changed = start_op(op) || changed;
            for (NaiveTransfer& transfer : work_.transfers)
                if (!transfer.begun && transfer.ready()) {
                    transfer.begun = now_;
                    changed = true;
                }
        }
    }

    bool end_transfer(NaiveTransfer& transfer)
    {
        const bool over = !transfer.steps && transfer.begun && !transfer.end &&
                          transfer.remaining == 0 &&
                          now_ >= *transfer.begun + transfer.cost->latency.value();
        if (over)
            transfer.end = now_;
        return over;
    }

    std::int64_t host_bound(const NaiveOp& op) const
    {
        if (op.op->kind == OpKind::host || op.op->kernels == 0 ||
            op.stream_kind == StreamKind::worker)
            return 0;
        return *op.last_issued + op.duration / op.op->kernels;
    }

    bool end_op(NaiveOp& op)
    {
        if (!op.active())
            return false;
        if (op.is_transfer()) {
            if (!std::all_of(op.transfers.begin(), op.transfers.end(),
                             [&](const NaiveTransfer* t) { return t->ended_for(op); }))
                return false;
            for (const NaiveTransfer* transfer : op.transfers)
                op.moved = std::max(op.moved,
                                    transfer->begun ? *transfer->begun : transfer->last_arrival());
        } else {
            if (!op.device_end && op.remaining == 0)
                op.device_end = now_;
            if (!op.device_end || now_ < host_bound(op))
                return false;
        }
        op.end = now_;
        return true;
    }

    bool advance_host(std::size_t l)
    {
        auto& [next, clock] = hosts_[l];
        auto& ops = work_.lanes[l];
        bool changed = false;
        while (next < ops.size()) {
            NaiveOp& op = ops[next];
            if (op.stream_kind == StreamKind::worker) {
                ++next;
                continue;
            }
            const bool barrier = op.op->kind == OpKind::host || op.op->blocks_host;
            if (!op.first_issued) {
                const std::int64_t kernels =
                    op.op->kind == OpKind::host ? 0 : std::int64_t{op.op->kernels};
                clock += op.late;
                op.first_issued = clock + (kernels > 0 ? op.per_kernel : 0);
                op.last_issued = clock + kernels * op.per_kernel;
                clock = *op.last_issued;
                changed = true;
            }
            if (barrier) {
                if (!op.end)
                    return changed;
                clock = *op.end;
            }
            ++next;
        }
        return changed;
    }

    bool start_op(NaiveOp& op)
    {
        const bool free = !op.start && (op.before == nullptr || op.before->end) &&
                          std::all_of(op.waits.begin(), op.waits.end(),
                                      [](const NaiveOp* wait) { return wait->end.has_value(); });
        if (!free || !op.first_issued || now_ < op.may_start())
            return false;
        op.start = now_;
        op.remaining = static_cast<u128>(op.duration) * full_share;
        return true;
    }

    void grant_rates()
    {
        std::vector<NaiveTransfer*> sharing;
        std::vector<NaiveSend*> sending;
        std::vector<NaiveDemand> demands; // of sends, then of others
        std::vector<NaiveDemand> others;
        for (NaiveTransfer& transfer : work_.transfers) {
            transfer.rate = 0;
            if (transfer.steps)
                for (NaiveSend& send : transfer.steps->sends)
                    if (send.moves_from && *send.moves_from <= now_ && !send.end) {
                        send.rate = transfer.cost->ceiling.value();
                        sending.push_back(&send);
                        demands.push_back({send.rate, send.links});
                    }
            if (!transfer.draining(now_))
                continue;
            transfer.rate = transfer.cost->ceiling.value();
            if (fidelity_ != Fidelity::alpha_beta) {
                sharing.push_back(&transfer);
                others.push_back({transfer.rate, transfer.links});
            }
        }
        demands.insert(demands.end(), others.begin(), others.end());
        std::vector<std::uint64_t> capacities;
        for (const ByteRate capacity : binding_.links)
            capacities.push_back(capacity.value());
        for (const LinkWindow& window : binding_.link_windows)
            if (now_ >= window.begin.value() && now_ < window.end.value())
                capacities[window.link.value] = window.capacity.value();
        const auto rates = naive_max_min(capacities, demands);
        for (std::size_t i = 0; i < sending.size(); ++i)
            sending[i]->rate = rates[i];
        for (std::size_t i = 0; i < sharing.size(); ++i)
            sharing[i]->rate = rates[sending.size() + i];
        for (auto& ops : work_.lanes)
            for (NaiveOp& op : ops)
                if (op.active() && !op.is_transfer())
                    op.share = op.op->kind == OpKind::compute ? device_share(op.lane) : full_share;
    }

    std::uint64_t device_share(std::size_t lane)
    {
        std::int64_t share = full_share;
        for (const NaiveOp& op : work_.lanes[lane]) {
            if (!op.active() || !op.is_transfer() || op.stream_kind != StreamKind::communication)
                continue;
            share -= op.sm_share;
            for (const NaiveTransfer* transfer : op.transfers) {
                const auto lose = [&](std::uint64_t rate, std::size_t abreast) {
                    share -= static_cast<std::int64_t>(
                        static_cast<u128>(transfer->cost->traffic_share) * rate /
                        (static_cast<u128>(transfer->cost->ceiling.value()) * abreast));
                };
                if (transfer->draining(now_) && (!transfer->message || transfer->sender == &op))
                    lose(transfer->rate, 1);
                if (transfer->steps)
                    for (const NaiveSend& send : transfer->steps->sends)
                        if (send.from == transfer->place_of(op) && send.moves_from &&
                            *send.moves_from <= now_ && !send.end)
                            lose(send.rate, send.abreast);
            }
        }
        std::uint64_t granted =
            static_cast<std::uint64_t>(std::max<std::int64_t>(share, full_share / 20));
        for (const SpeedWindow& window : binding_.lanes[lane].windows)
            if (now_ >= window.begin.value() && now_ < window.end.value())
                granted = std::max<std::uint64_t>(granted * window.speed / full_share, 1);
        return granted;
    }

    static std::int64_t time_for(u128 work, u128 rate)
    {
        return static_cast<std::int64_t>((work + rate - 1) / rate);
    }

    std::int64_t next_time() const
    {
        std::int64_t next = never;
        const auto offer = [&](std::int64_t time) {
            if (time > now_)
                next = std::min(next, time);
        };
        for (const auto& ops : work_.lanes)
            for (const NaiveOp& op : ops) {
                if (!op.start && op.first_issued)
                    offer(op.may_start());
                if (op.active() && !op.is_transfer()) {
                    if (op.remaining > 0)
                        offer(now_ + time_for(op.remaining, op.share));
                    else
                        offer(host_bound(op));
                }
            }
        if (next != never)
            for (const Lane& lane : binding_.lanes)
                for (const SpeedWindow& window : lane.windows) {
                    offer(window.begin.value());
                    offer(window.end.value());
                }
        for (const LinkWindow& window : binding_.link_windows) {
            offer(window.begin.value());
            offer(window.end.value());
        }
        for (const NaiveTransfer& transfer : work_.transfers) {
            if (transfer.steps)
                for (const NaiveSend& send : transfer.steps->sends) {
                    if (send.moves_from && !send.end)
                        offer(*send.moves_from);
                    if (send.moves_from && *send.moves_from <= now_ && !send.end && send.rate > 0)
                        offer(now_ + time_for(send.remaining, send.rate));
                }
            if (!transfer.begun || transfer.end)
                continue;
            offer(*transfer.begun + transfer.cost->latency.value());
            if (transfer.rate > 0)
                offer(now_ + time_for(transfer.remaining, transfer.rate));
        }
        return next;
    }

    void drain(std::int64_t time)
    {
        const auto take = [&](u128& remaining, u128 rate) {
            const u128 done = rate * static_cast<u128>(time);
            remaining = done >= remaining ? 0 : remaining - done;
        };
        for (auto& ops : work_.lanes)
            for (NaiveOp& op : ops)
                if (op.active() && !op.is_transfer())
                    take(op.remaining, op.share);
        for (NaiveTransfer& transfer : work_.transfers) {
            take(transfer.remaining, transfer.rate);
            if (transfer.steps)
                for (NaiveSend& send : transfer.steps->sends)
                    if (send.moves_from && *send.moves_from <= now_ && !send.end)
                        take(send.remaining, send.rate);
        }
    }

    NaiveResult result() const
    {
        NaiveResult result;
        result.finished = work_.sound;
        for (const auto& ops : work_.lanes) {
            auto& times = result.times.emplace_back();
            for (const NaiveOp& op : ops) {
                if (!op.end) {
                    result.finished = false;
                    continue;
                }
                times.push_back({SimTime(op.may_start()), SimTime(*op.start),
                                 SimTime(std::max(*op.start, op.moved)), SimTime(*op.end)});
            }
        }
        return result;
    }

    const Binding& binding_;
    Fidelity fidelity_;
    NaiveWork work_;
    std::int64_t now_ = 0;
    std::vector<std::pair<std::size_t, std::int64_t>> hosts_;        // next op, clock
    std::set<std::pair<const NaiveTransfer*, const NaiveOp*>> come_; // to steps
};

} // namespace

NaiveResult run_naively(const Program& program, const Binding& binding, int steps,
                        Fidelity fidelity)
{
    return NaiveRun(binding, naive_work(program, binding, steps), fidelity).run();
}

} // namespace trainyard::test
