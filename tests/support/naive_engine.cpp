// One file on purpose: all rules of the engine in the order in which they apply.

#include "tests/support/naive_engine.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace trainyard::test {

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

struct NaiveTransfer;

struct NaiveOp {
    const Op* op = nullptr;
    std::size_t lane = 0;
    StreamKind stream_kind = StreamKind::compute;
    std::vector<NaiveOp*> waits;
    NaiveOp* before = nullptr; // on the same stream
    std::vector<NaiveTransfer*> transfers;
    std::uint32_t sm_share = 0;
    std::int64_t duration = 0;
    std::int64_t per_kernel = 0;
    std::int64_t late = 0; // the host's, before it issues the op

    std::optional<std::int64_t> first_issued;
    std::optional<std::int64_t> last_issued;
    std::optional<std::int64_t> start;
    std::optional<std::int64_t> device_end;
    std::optional<std::int64_t> end;
    u128 remaining = 0; // compute: ps x 2^20
    std::uint64_t share = 0;

    bool is_transfer() const
    {
        return op->kind == OpKind::collective || op->kind == OpKind::exchange;
    }
    bool active() const { return start && !end; }
    std::int64_t may_start() const { return is_transfer() ? *last_issued : *first_issued; }
};

struct NaiveTransfer {
    const TransferCost* cost = nullptr;
    std::size_t needed = 0;
    bool message = false;
    bool same = true; // all mean the same
    std::vector<NaiveOp*> members;
    NaiveOp* sender = nullptr;
    CollectiveKind collective = CollectiveKind::all_reduce;
    std::uint32_t scale = full_share;
    std::vector<LinkUse> links;

    std::optional<std::int64_t> begun;
    std::optional<std::int64_t> end;
    u128 remaining = 0;
    std::uint64_t rate = 0;

    bool ready() const
    {
        if (message && cost->eager)
            return sender != nullptr && sender->start;
        return members.size() == needed &&
               std::all_of(members.begin(), members.end(),
                           [](const NaiveOp* op) { return op->start.has_value(); });
    }
    bool draining(std::int64_t now) const
    {
        return begun && !end && now >= *begun + cost->latency.value() && remaining > 0;
    }
};

class NaiveRun {
public:
    NaiveRun(const Program& program, const Binding& binding, int steps, Fidelity fidelity)
        : program_(program), binding_(binding), steps_(steps), fidelity_(fidelity)
    {}

    NaiveResult run()
    {
        for (std::size_t l = 0; l < binding_.lanes.size(); ++l)
            unroll(l);
        match();
        bool sound = true;
        for (auto& [key, transfer] : transfers_)
            sound = sound && transfer.same;
        while (sound) {
            settle_instant();
            grant_rates();
            const std::int64_t next = next_time();
            if (next == never)
                break;
            drain(next - now_);
            now_ = next;
        }
        return result(sound);
    }

private:
    using TransferKey = std::tuple<int, std::size_t, std::size_t, std::size_t, std::size_t>;

    static std::int64_t scaled(std::int64_t value, std::uint32_t scale)
    {
        return static_cast<std::int64_t>(static_cast<u128>(value) * scale >> 20);
    }

    void unroll(std::size_t l)
    {
        const Lane& lane = binding_.lanes[l];
        const Role& role = program_.roles[lane.role.value];
        auto& ops = lanes_.emplace_back();
        std::size_t count = 0;
        for (const BlockUse& use : role.order)
            count += program_.blocks[use.block.value].ops.size();
        ops.resize(count * static_cast<std::size_t>(steps_)); // addresses must not move
        std::map<EventId, NaiveOp*> recorded;
        std::map<StreamId, NaiveOp*> last;
        std::set<int> issued; // steps of which the host has an op
        std::size_t i = 0;
        for (int step = 0; step < steps_; ++step) {
            bool input_seen = false;
            std::uint32_t place = 0;
            for (const BlockUse& use : role.order) {
                const Block& block = program_.blocks[use.block.value];
                for (const Op& op : block.ops) {
                    NaiveOp& naive = ops[i++];
                    naive.op = &op;
                    naive.lane = l;
                    fill(naive, block, lane);
                    if (op.kind == OpKind::compute && lane.jitter.valid())
                        naive.duration =
                            scaled(naive.duration,
                                   jitter_factor(binding_.jitters[lane.jitter.value], lane.rank,
                                                 static_cast<std::uint32_t>(step), place));
                    const auto late_at = [&](const std::vector<SimTime>& late) {
                        const auto k = static_cast<std::size_t>(step);
                        return k < late.size() ? late[k].value() : 0;
                    };
                    if (naive.stream_kind == StreamKind::worker) {
                        naive.duration += input_seen ? 0 : late_at(lane.late_input);
                        input_seen = true;
                    } else if (!issued.contains(step)) {
                        issued.insert(step);
                        naive.late = late_at(lane.late);
                    }
                    ++place;
                    for (std::size_t w = 0; w < op.wait_count; ++w) {
                        const LocalEvent local = block.waits[op.wait_first + w];
                        const auto found =
                            recorded.find(role.events[use.event_first + local.value]);
                        if (found != recorded.end())
                            naive.waits.push_back(found->second);
                    }
                    naive.before = last[op.stream];
                    last[op.stream] = &naive;
                    if (op.record.valid())
                        recorded[role.events[use.event_first + op.record.value]] = &naive;
                }
            }
        }
        hosts_.push_back({0, lane.start.value()});
    }

    void fill(NaiveOp& naive, const Block& block, const Lane& lane)
    {
        const Op& op = *naive.op;
        const Phase phase = program_.labels[op.label.value].phase;
        naive.stream_kind = program_.streams[op.stream.value].kind;
        naive.per_kernel = binding_.costs.host_per_kernel[static_cast<std::size_t>(phase)].value();
        if (naive.stream_kind == StreamKind::worker) // nobody issues it
            naive.first_issued = naive.last_issued = lane.start.value();
        const std::uint32_t scale = op.scale.valid() ? lane.scales[op.scale.value] : full_share;
        if (op.kind == OpKind::collective) {
            const GroupId group = lane.groups[op.group.value];
            add_to_group(naive, group.value, scale);
        } else if (op.kind == OpKind::exchange) {
            for (std::size_t p = 0; p < op.part_count; ++p)
                add_part(naive, block.parts[op.part_first + p], scale);
        } else {
            naive.duration = scaled(binding_.costs.compute[op.cost.value].value(), scale);
        }
    }

    void agree(NaiveTransfer& transfer, const TransferCost& cost, const NaiveOp& op)
    {
        const CollectiveKind collective = program_.labels[op.op->label.value].collective;
        if (transfer.cost == nullptr) {
            transfer.cost = &cost;
            transfer.collective = collective;
        }
        transfer.same =
            transfer.same && *transfer.cost == cost && transfer.collective == collective;
    }

    void add_to_group(NaiveOp& op, std::size_t g, std::uint32_t scale)
    {
        const Group& group = binding_.groups[g];
        const std::size_t sequence = counts_[{0, g, op.lane, 0, 0}]++;
        NaiveTransfer& transfer = transfers_[{0, g, 0, 0, sequence}];
        const TransferCost& cost = binding_.costs.transfers[group.variant][op.op->cost.value];
        agree(transfer, cost, op);
        transfer.needed = group.members.size();
        transfer.scale = transfer.members.empty() ? scale : std::max(transfer.scale, scale);
        transfer.members.push_back(&op);
        transfer.links = group.uses(cost.pattern);
        op.transfers.push_back(&transfer);
        op.sm_share = cost.sm_share;
    }

    void add_part(NaiveOp& op, const ExchangePart& part, std::uint32_t scale)
    {
        const Peer& peer = binding_.lanes[op.lane].peers[part.peer.value];
        const bool sends = part.direction == Direction::send;
        const std::size_t from = sends ? op.lane : peer.lane.value;
        const std::size_t to = sends ? peer.lane.value : op.lane;
        const std::size_t sequence = counts_[{sends ? 1 : 2, from, to, part.channel, 0}]++;
        NaiveTransfer& transfer = transfers_[{1, from, to, part.channel, sequence}];
        const TransferCost& cost = binding_.costs.transfers[peer.variant][part.cost.value];
        agree(transfer, cost, op);
        transfer.message = true;
        transfer.needed = 2;
        transfer.members.push_back(&op);
        if (sends) {
            transfer.sender = &op;
            transfer.scale = scale;
            transfer.links = peer.links;
        }
        op.transfers.push_back(&transfer);
        op.sm_share = std::max(op.sm_share, cost.sm_share);
    }

    void match()
    {
        for (auto& [key, transfer] : transfers_)
            transfer.remaining = transfer.cost->work.value * transfer.scale >> 20;
    }

    // Everything that happens now, until nothing more does; ends before starts.
    void settle_instant()
    {
        for (bool changed = true; changed;) {
            changed = false;
            for (auto& [key, transfer] : transfers_)
                changed = end_transfer(transfer) || changed;
            for (auto& ops : lanes_)
                for (NaiveOp& op : ops)
                    changed = end_op(op) || changed;
            for (std::size_t l = 0; l < lanes_.size(); ++l)
                changed = advance_host(l) || changed;
            for (auto& ops : lanes_)
                for (NaiveOp& op : ops)
                    changed = start_op(op) || changed;
            for (auto& [key, transfer] : transfers_)
                if (!transfer.begun && transfer.ready()) {
                    transfer.begun = now_;
                    changed = true;
                }
        }
    }

    bool end_transfer(NaiveTransfer& transfer)
    {
        const bool over = transfer.begun && !transfer.end && transfer.remaining == 0 &&
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
                             [](const NaiveTransfer* t) { return t->end.has_value(); }))
                return false;
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
        auto& ops = lanes_[l];
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
        std::vector<NaiveDemand> demands;
        for (auto& [key, transfer] : transfers_) {
            transfer.rate = 0;
            if (!transfer.draining(now_))
                continue;
            transfer.rate = transfer.cost->ceiling.value();
            if (fidelity_ == Fidelity::bundle) {
                sharing.push_back(&transfer);
                demands.push_back({transfer.rate, transfer.links});
            }
        }
        std::vector<std::uint64_t> capacities;
        for (const ByteRate capacity : binding_.links)
            capacities.push_back(capacity.value());
        const auto rates = naive_max_min(capacities, demands);
        for (std::size_t i = 0; i < sharing.size(); ++i)
            sharing[i]->rate = rates[i];
        for (auto& ops : lanes_)
            for (NaiveOp& op : ops)
                if (op.active() && !op.is_transfer())
                    op.share = op.op->kind == OpKind::compute ? device_share(op.lane) : full_share;
    }

    std::uint64_t device_share(std::size_t lane)
    {
        std::int64_t share = full_share;
        for (const NaiveOp& op : lanes_[lane]) {
            if (!op.active() || !op.is_transfer() || op.stream_kind != StreamKind::communication)
                continue;
            share -= op.sm_share;
            for (const NaiveTransfer* transfer : op.transfers)
                if (transfer->draining(now_) && (!transfer->message || transfer->sender == &op))
                    share -=
                        static_cast<std::int64_t>(static_cast<u128>(transfer->cost->traffic_share) *
                                                  transfer->rate / transfer->cost->ceiling.value());
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
        for (const auto& ops : lanes_)
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
        for (const auto& [key, transfer] : transfers_) {
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
        for (auto& ops : lanes_)
            for (NaiveOp& op : ops)
                if (op.active() && !op.is_transfer())
                    take(op.remaining, op.share);
        for (auto& [key, transfer] : transfers_)
            take(transfer.remaining, transfer.rate);
    }

    NaiveResult result(bool sound) const
    {
        NaiveResult result;
        result.finished = sound;
        for (const auto& ops : lanes_) {
            auto& times = result.times.emplace_back();
            for (const NaiveOp& op : ops) {
                if (!op.end) {
                    result.finished = false;
                    continue;
                }
                std::int64_t moved = *op.start;
                for (const NaiveTransfer* transfer : op.transfers)
                    moved = std::max(moved, *transfer->begun);
                times.push_back({SimTime(op.may_start()), SimTime(*op.start), SimTime(moved),
                                 SimTime(*op.end)});
            }
        }
        return result;
    }

    const Program& program_;
    const Binding& binding_;
    int steps_;
    Fidelity fidelity_;
    std::int64_t now_ = 0;
    std::vector<std::vector<NaiveOp>> lanes_;                 // in issue order, all steps
    std::vector<std::pair<std::size_t, std::int64_t>> hosts_; // next op, clock
    std::map<TransferKey, NaiveTransfer> transfers_;          // std::map: addresses do not move
    std::map<TransferKey, std::size_t> counts_;
};

} // namespace

NaiveResult run_naively(const Program& program, const Binding& binding, int steps,
                        Fidelity fidelity)
{
    return NaiveRun(program, binding, steps, fidelity).run();
}

} // namespace trainyard::test
