#pragma once

// Random programs that use a few blocks again and again, as layers are: compute, sums that no other
// simulated rank takes part in, and between them what ties ranks to each other. Drawn one after the
// other on all lanes that take part, so that every op depends on earlier ones only. With
// repetitions, a second list of actions comes that often, with a micro-batch of its own each time,
// and a third follows.

#include "sim/base/random.h"
#include "sim/program/binding.h"
#include "sim/program/builder.h"

#include <algorithm>
#include <array>

namespace trainyard::test {

struct RepeatTraits {
    bool interference = false;
    int actions = 60; // before what repeats
    int repetitions = 0;
    int repeated = 15;  // actions
    int behind = 15;    // likewise
    int lag = 0;        // repetitions that receivers of some messages are behind their senders
    int host_time = 25; // per kernel, at most
};

class RandomRepeats {
public:
    RandomRepeats(std::uint64_t seed, const RepeatTraits& traits)
        : random_(hash_key(seed, 3)), traits_(traits), lanes_(pick(1, 3))
    {
        add_stream(program, {"host", StreamKind::host});
        for (const char* name : {"compute", "sums", "other sums", "messages"})
            add_stream(program, {name, name == std::string("compute") ? StreamKind::compute
                                                                      : StreamKind::communication});
        own_ = add_group_slot(program, GroupKind::tp);
        shared_ = add_group_slot(program, GroupKind::dp);
        program.peer_slots = static_cast<std::uint8_t>(lanes_);
        program.scale_slots = 1;
        binding.costs.transfers.resize(1);
        for (SimTime& time : binding.costs.host_per_kernel)
            time = SimTime(chance(0.6) ? random_.integer(0, traits.host_time) : 0);
        for (std::size_t l = 0; l < lanes_; ++l)
            draw_lane(l);
        draw_shared_group();
        for (std::size_t b = pick(1, 3); b > 0; --b)
            layers_.push_back(draw_layer());
        for (std::size_t l = 0; l < lanes_; ++l) {
            roles_.emplace_back("lane " + std::to_string(l));
            for (std::size_t e = 0; e < events_per_role * most_rings; ++e)
                roles_.back().event();
        }
        rings_ = traits.repetitions > 0 ? pick(1, most_rings) : 1;
        draw_actions(traits.actions);
        write_uses(uses_, 0, BlockUse::no_index);
        repeats_ = true;
        draw_actions(traits.repetitions > 0 ? traits.repeated : 0);
        repeats_ = false;
        write_lagging(sends_);
        for (int r = 0; r < traits.repetitions; ++r)
            write_uses(uses_, r, static_cast<std::uint16_t>(r));
        write_lagging(receives_);
        draw_actions(traits.repetitions > 0 ? traits.behind : 0);
        write_uses(uses_, traits.repetitions, BlockUse::no_index);
        for (RoleBuilder& role : roles_)
            add_role(program, std::move(role).build());
    }

    Program program;
    Binding binding;

private:
    static constexpr std::size_t events_per_role = 5;
    static constexpr std::size_t most_rings = 4;

    // An event of a role: which, and of the repetition so many before the one at hand, as long as
    // no later one has recorded it anew.
    struct RingEvent {
        std::size_t event = 0;
        std::size_t earlier = 0;
    };
    struct Layer {
        BlockId block;
        std::vector<std::vector<RingEvent>> events; // of some uses
    };
    struct Use {
        std::size_t lane;
        BlockId block;
        std::vector<RingEvent> events;
    };

    std::size_t pick(std::size_t low, std::size_t high)
    {
        return static_cast<std::size_t>(
            random_.integer(static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)));
    }
    bool chance(double p) { return random_.uniform() < p; }
    RingEvent draw_event()
    {
        return {pick(0, events_per_role - 1), chance(0.8) ? 0 : pick(0, rings_ - 1)};
    }

    void draw_actions(int actions)
    {
        uses_.clear();
        for (int i = 0; i < actions; ++i)
            draw_action();
    }

    // As the repetition of that number.
    void write_uses(const std::vector<Use>& uses, int repetition, std::uint16_t micro_batch)
    {
        for (const Use& use : uses) {
            std::vector<EventId> events;
            for (const RingEvent& event : use.events) {
                const std::size_t ring =
                    (static_cast<std::size_t>(repetition) + rings_ - event.earlier) % rings_;
                events.push_back(make_id<EventId>(event.event * most_rings + ring));
            }
            roles_[use.lane].use(use.block, events, micro_batch);
        }
    }

    // Senders that run ahead of their receivers have sent some messages before.
    void write_lagging(const std::vector<Use>& ends)
    {
        for (int i = 0; i < traits_.lag; ++i)
            write_uses(ends, 0, BlockUse::no_index);
    }

    void draw_lane(std::size_t l)
    {
        Lane lane;
        lane.role = make_id<RoleId>(l);
        lane.rank = make_id<RankId>(l);
        lane.multiplicity = static_cast<std::uint32_t>(pick(1, 4));
        lane.groups = {make_id<GroupId>(l), make_id<GroupId>(lanes_)};
        lane.scales = {static_cast<std::uint32_t>(pick(full_share / 2, 2 * full_share))};
        for (std::size_t p = 0; p < lanes_; ++p)
            lane.peers.push_back({p == l ? LaneId::none() : make_id<LaneId>(p), 0, {}});
        if (chance(0.3))
            lane.start = SimTime(random_.integer(0, 200));
        binding.lanes.push_back(std::move(lane));
        Group group;
        group.kind = GroupKind::tp;
        group.members = {make_id<LaneId>(l)};
        group.ranks = 4;
        binding.groups.push_back(std::move(group));
    }

    void draw_shared_group()
    {
        Group group;
        group.kind = GroupKind::dp;
        for (std::size_t l = 0; l < lanes_; ++l)
            group.members.push_back(make_id<LaneId>(l));
        group.ranks = static_cast<std::uint32_t>(lanes_);
        binding.groups.push_back(std::move(group));
    }

    CostId draw_compute()
    {
        binding.costs.compute.push_back(SimTime(chance(0.1) ? 0 : random_.integer(1, 150)));
        return make_id<CostId>(binding.costs.compute.size() - 1);
    }

    CostId draw_transfer()
    {
        TransferCost cost;
        cost.latency = SimTime(chance(0.3) ? 0 : random_.integer(0, 60));
        cost.ceiling = ByteRate(pick(1, 1500));
        cost.work = work_done(cost.ceiling, SimTime(chance(0.15) ? 0 : random_.integer(1, 200)));
        cost.bytes = Bytes(pick(1, 1000));
        if (traits_.interference && chance(0.6)) {
            cost.sm_share = static_cast<std::uint32_t>(pick(0, full_share / 4));
            cost.traffic_share = static_cast<std::uint32_t>(pick(0, full_share));
        }
        binding.costs.transfers[0].push_back(cost);
        return make_id<CostId>(binding.costs.transfers[0].size() - 1);
    }

    LabelId transfer_label(CollectiveKind collective, GroupKind group)
    {
        return label_id(program, {"transfer", Phase::forward, collective, group});
    }

    Op compute_op()
    {
        const auto phase = static_cast<Phase>(pick(0, phase_count - 1));
        const CostId cost = draw_compute();
        return {.kind = OpKind::compute,
                .stream = compute_,
                .scale = chance(0.5) ? ScaleSlot{0} : ScaleSlot::none(),
                .kernels = static_cast<std::uint16_t>(pick(0, 4)),
                .label = label_id(program, {"compute", phase}),
                .cost = cost};
    }

    Op sum_op(GroupSlot group, StreamId stream)
    {
        const CostId cost = draw_transfer();
        return {.kind = OpKind::collective,
                .stream = stream,
                .group = group,
                .label = transfer_label(CollectiveKind::all_reduce,
                                        group == own_ ? GroupKind::tp : GroupKind::dp),
                .cost = cost};
    }

    // Mostly begins with compute that waits for what was before, and waits inside for its own only.
    Layer draw_layer()
    {
        BlockBuilder block("layer");
        std::vector<LocalEvent> events;
        for (std::size_t e = pick(2, 4); e > 0; --e)
            events.push_back(block.event());
        const auto event = [&] { return events[pick(0, events.size() - 1)]; };
        std::vector<LocalEvent> recorded;
        for (std::size_t i = 0, ops = pick(3, 9); i < ops; ++i) {
            const bool computes = i == 0 ? !chance(0.05) : chance(0.5);
            const StreamId sums = chance(0.85) ? sums_ : other_sums_;
            block.op(computes ? compute_op() : sum_op(own_, sums));
            if (i == 0 || chance(0.03))
                block.wait(event());
            else if (chance(computes ? 0.4 : 0.95) && !recorded.empty())
                block.wait(recorded[pick(0, recorded.size() - 1)]);
            if (i == 0 || chance(0.7)) {
                recorded.push_back(event());
                block.record(recorded.back());
            }
        }
        Layer layer{add_block(program, std::move(block).build()), {}};
        for (std::size_t i = pick(1, 3); i > 0; --i) {
            auto& bound = layer.events.emplace_back();
            for (std::size_t e = 0; e < events.size(); ++e)
                bound.push_back(draw_event());
        }
        return layer;
    }

    // A block of one op that waits for something and records something.
    void write(std::size_t lane, const Op& op, const ExchangePart* part = nullptr)
    {
        BlockBuilder block("single");
        const std::array events{block.event(), block.event()};
        block.op(op);
        if (part != nullptr)
            block.part(*part);
        if (chance(0.7))
            block.wait(events[0]);
        if (chance(0.7))
            block.record(events[1]);
        uses_.push_back(
            {lane, add_block(program, std::move(block).build()), {draw_event(), draw_event()}});
    }

    void draw_message()
    {
        const std::size_t from = pick(0, lanes_ - 1);
        const std::size_t to = (from + pick(1, lanes_ - 1)) % lanes_;
        const CostId cost = draw_transfer();
        const bool lags = traits_.lag > 0 && repeats_ && chance(0.5);
        binding.costs.transfers[0].back().eager = lags;
        const Op op{.kind = OpKind::exchange,
                    .stream = messages_,
                    .label = transfer_label(CollectiveKind::send_receive, GroupKind::pp)};
        const ExchangePart send{Direction::send, make_id<PeerSlot>(to), 0, cost};
        const ExchangePart receive{Direction::receive, make_id<PeerSlot>(from), 0, cost};
        write(from, op, &send);
        if (lags)
            sends_.push_back(uses_.back());
        write(to, op, &receive);
        if (lags)
            receives_.push_back(uses_.back());
    }

    void draw_action()
    {
        const std::size_t lane = pick(0, lanes_ - 1);
        const double what = random_.uniform();
        if (what < 0.7) {
            const Layer& layer = layers_[pick(0, layers_.size() - 1)];
            uses_.push_back({lane, layer.block, layer.events[pick(0, layer.events.size() - 1)]});
        } else if (what < 0.8 && lanes_ > 1) {
            draw_message();
        } else if (what < 0.9) {
            const Op op = sum_op(shared_, chance(0.8) ? other_sums_ : sums_);
            for (std::size_t each = 0; each < lanes_; ++each)
                write(each, op);
        } else if (what < 0.93) {
            write(lane, {.kind = OpKind::host,
                         .stream = host_stream,
                         .label = label_id(program, {"host", Phase::other}),
                         .cost = draw_compute()});
        } else {
            Op op = compute_op();
            op.blocks_host = chance(0.2);
            write(lane, op);
        }
    }

    Random random_;
    RepeatTraits traits_;
    std::size_t lanes_;
    static constexpr StreamId compute_{1};
    static constexpr StreamId sums_{2};
    static constexpr StreamId other_sums_{3};
    static constexpr StreamId messages_{4};
    GroupSlot own_;
    GroupSlot shared_;
    std::vector<Layer> layers_;
    std::vector<RoleBuilder> roles_;
    std::vector<Use> uses_;  // drawn last
    std::vector<Use> sends_; // of messages that lag
    std::vector<Use> receives_;
    bool repeats_ = false;
    std::size_t rings_ = 1; // so many events for each that is drawn
};

} // namespace trainyard::test
