#include "tests/support/naive_work.h"

#include <map>
#include <set>
#include <tuple>

namespace trainyard::test {

namespace {

std::int64_t scaled(std::int64_t value, std::uint32_t scale)
{
    return static_cast<std::int64_t>(static_cast<u128>(value) * scale >> 20);
}

std::int64_t late_at(const std::vector<SimTime>& late, int step)
{
    const auto k = static_cast<std::size_t>(step);
    return k < late.size() ? late[k].value() : 0;
}

class Unroller {
public:
    Unroller(const Program& program, const Binding& binding, int steps)
        : program_(program), binding_(binding), steps_(steps)
    {}

    NaiveWork unrolled()
    {
        for (std::size_t l = 0; l < binding_.lanes.size(); ++l)
            unroll(l);
        for (NaiveTransfer& transfer : work_.transfers)
            transfer.remaining = transfer.cost->work.value * transfer.scale >> 20;
        return std::move(work_);
    }

private:
    enum Side { of_group, sent, received };
    // Group, or sender and receiver with their channel.
    using Between = std::tuple<Side, std::size_t, std::size_t, std::size_t>;

    // What has been seen of a lane so far.
    struct Seen {
        std::map<EventId, NaiveOp*> recorded;
        std::map<StreamId, NaiveOp*> last;
        std::set<int> issued; // steps of which the host has an op
        std::set<int> loaded; // and the workers
    };

    void unroll(std::size_t l)
    {
        const Lane& lane = binding_.lanes[l];
        const Role& role = program_.roles[lane.role.value];
        auto& ops = work_.lanes.emplace_back();
        std::size_t count = 0;
        for (const BlockUse& use : role.order)
            count += program_.blocks[use.block.value].ops.size();
        ops.resize(count * static_cast<std::size_t>(steps_)); // addresses must not move
        Seen seen;
        auto naive = ops.begin();
        for (int step = 0; step < steps_; ++step) {
            std::uint32_t place = 0;
            for (const BlockUse& use : role.order) {
                const Block& block = program_.blocks[use.block.value];
                for (const Op& op : block.ops) {
                    naive->op = &op;
                    naive->lane = l;
                    fill(*naive, block, lane);
                    delay(*naive, lane, step, place++, seen);
                    order(*naive, block, role, use, seen);
                    ++naive;
                }
            }
        }
    }

    // Jitter of kernels, late input and late hosts.
    void delay(NaiveOp& naive, const Lane& lane, int step, std::uint32_t place, Seen& seen)
    {
        if (naive.op->kind == OpKind::compute && lane.jitter.valid()) {
            const Jitter& jitter = binding_.jitters[lane.jitter.value];
            naive.duration =
                scaled(naive.duration, jitter_factor(jitter, jitter_key(jitter.seed, lane.rank),
                                                     static_cast<std::uint32_t>(step), place));
        }
        if (naive.stream_kind == StreamKind::worker) {
            if (seen.loaded.insert(step).second)
                naive.duration += late_at(lane.late_input, step);
        } else if (seen.issued.insert(step).second) {
            naive.late = late_at(lane.late, step);
        }
    }

    static void order(NaiveOp& naive, const Block& block, const Role& role, const BlockUse& use,
                      Seen& seen)
    {
        const Op& op = *naive.op;
        for (std::size_t w = 0; w < op.wait_count; ++w) {
            const LocalEvent local = block.waits[op.wait_first + w];
            const auto found = seen.recorded.find(role.events[use.event_first + local.value]);
            if (found != seen.recorded.end())
                naive.waits.push_back(found->second);
        }
        naive.before = seen.last[op.stream];
        seen.last[op.stream] = &naive;
        if (op.record.valid())
            seen.recorded[role.events[use.event_first + op.record.value]] = &naive;
    }

    // The transfer that is the `sequence`-th between these.
    NaiveTransfer& the_one(const Between& between, std::size_t sequence)
    {
        const auto [found, added] = transfers_.try_emplace({between, sequence}, nullptr);
        if (added)
            found->second = &work_.transfers.emplace_back();
        return *found->second;
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
        work_.sound = work_.sound && *transfer.cost == cost && transfer.collective == collective;
    }

    void add_to_group(NaiveOp& op, std::size_t g, std::uint32_t scale)
    {
        const Group& group = binding_.groups[g];
        const std::size_t sequence = counts_[{of_group, g, op.lane, 0}]++;
        NaiveTransfer& transfer = the_one({of_group, g, 0, 0}, sequence);
        const TransferCost& cost = binding_.costs.transfers[group.variant][op.op->cost.value];
        agree(transfer, cost, op);
        transfer.needed = group.members.size();
        transfer.scale = transfer.members.empty() ? scale : std::max(transfer.scale, scale);
        transfer.members.push_back(&op);
        transfer.links = group.uses(cost.pattern);
        transfer.group = &group;
        op.transfers.push_back(&transfer);
        op.sm_share = cost.sm_share;
    }

    void add_part(NaiveOp& op, const ExchangePart& part, std::uint32_t scale)
    {
        const Peer& peer = binding_.lanes[op.lane].peers[part.peer.value];
        const bool sends = part.direction == Direction::send;
        const std::size_t from = sends ? op.lane : peer.lane.value;
        const std::size_t to = sends ? peer.lane.value : op.lane;
        const std::size_t sequence = counts_[{sends ? sent : received, from, to, part.channel}]++;
        NaiveTransfer& transfer = the_one({sent, from, to, part.channel}, sequence);
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

    const Program& program_;
    const Binding& binding_;
    int steps_;
    NaiveWork work_;
    std::map<std::pair<Between, std::size_t>, NaiveTransfer*> transfers_;
    std::map<Between, std::size_t> counts_;
};

} // namespace

NaiveWork naive_work(const Program& program, const Binding& binding, int steps)
{
    return Unroller(program, binding, steps).unrolled();
}

} // namespace trainyard::test
