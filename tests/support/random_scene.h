#pragma once

// Random programs that can always finish: actions are drawn one after the other and written on all
// lanes that take part, so that every op depends on earlier ones only.

#include "sim/base/random.h"
#include "tests/support/scene.h"

namespace trainyard::test {

struct RandomTraits {
    bool interference = false;
    bool links = false;
    bool conditions = false; // windows of slowness, jitter, late steps
    bool hops = false;       // links member by member
    bool late = false;       // late steps
    int actions = 25;
    std::size_t most_lanes = 5;
};

class RandomScene {
public:
    RandomScene(std::uint64_t seed, const RandomTraits& traits)
        : random_(hash_key(seed, 1)),
          traits_(traits),
          lanes_(pick(1, traits.most_lanes)),
          scene_(lanes_)
    {
        draw_lanes();
        draw_groups();
        if (traits.links)
            draw_links();
        for (int i = 0; i < traits.actions; ++i)
            draw_action();
        if (traits.conditions)
            draw_conditions();
        if (traits.late)
            for (Lane& lane : scene_.binding.lanes)
                draw_lateness(lane);
    }

    Scene& scene() { return scene_; }

private:
    std::size_t pick(std::size_t low, std::size_t high)
    {
        return static_cast<std::size_t>(
            random_.integer(static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)));
    }
    bool chance(double p) { return random_.uniform() < p; }

    void draw_lanes()
    {
        for (SimTime& time : scene_.binding.costs.host_per_kernel)
            time = SimTime(chance(0.5) ? random_.integer(0, 30) : 0);
        for (Lane& lane : scene_.binding.lanes) {
            if (chance(0.3))
                lane.scales[0] = static_cast<std::uint32_t>(random_.integer(0, 2 * full_share));
            if (chance(0.2))
                lane.start = SimTime(random_.integer(0, 100));
        }
        // A second slot for every neighbour, as in a pipeline of two stages.
        scene_.program.peer_slots = static_cast<std::uint8_t>(2 * lanes_);
        for (Lane& lane : scene_.binding.lanes) {
            const std::vector<Peer> once = lane.peers;
            lane.peers.insert(lane.peers.end(), once.begin(), once.end());
        }
    }

    // Any factors will do for a table of quantiles.
    void draw_conditions()
    {
        for (std::uint64_t j = 0; j < 2; ++j) {
            Jitter jitter;
            jitter.seed = random_.bits();
            jitter.chance = j == 0 ? full_share : full_share / 3;
            for (std::size_t edge = 0; edge < 2 * jitter_edges; ++edge)
                jitter.factors.push_back(static_cast<std::uint32_t>(pick(0, 3 * full_share)));
            scene_.binding.jitters.push_back(std::move(jitter));
        }
        for (Lane& lane : scene_.binding.lanes) {
            if (chance(0.5))
                lane.jitter = make_id<JitterId>(pick(0, 1));
            std::int64_t time = random_.integer(0, 200);
            for (std::size_t i = pick(0, 4); i > 0; --i) {
                const std::int64_t end = time + random_.integer(1, 400);
                lane.windows.push_back(
                    {SimTime(time), SimTime(end), static_cast<std::uint32_t>(pick(1, full_share))});
                time = end + (chance(0.3) ? 0 : random_.integer(0, 300));
            }
            if (!lane.windows.empty() && chance(0.2))
                lane.windows.back().end = longest_sim_time;
            draw_lateness(lane);
        }
        draw_link_windows();
    }

    // Slow, dead, faster than usual.
    void draw_link_windows()
    {
        Binding& binding = scene_.binding;
        for (std::size_t l = 0; l < binding.links.size(); ++l) {
            std::int64_t time = random_.integer(0, 300);
            for (std::size_t i = chance(0.5) ? pick(0, 3) : 0; i > 0; --i) {
                const std::int64_t end = time + random_.integer(1, 300);
                const ByteRate rate(chance(0.3) ? 0 : pick(1, 3000));
                binding.link_windows.push_back(
                    {make_id<LinkId>(l), SimTime(time), SimTime(end), rate});
                time = end + (chance(0.3) ? 0 : random_.integer(0, 300));
            }
        }
        std::ranges::stable_sort(binding.link_windows, {}, &LinkWindow::begin);
    }

    void draw_lateness(Lane& lane)
    {
        for (std::vector<SimTime>* late : {&lane.late, &lane.late_input})
            for (std::size_t i = pick(0, 3); i > 0; --i)
                late->push_back(SimTime(random_.integer(0, 100)));
    }

    // Some groups are also found in a second slot of all or some of their members.
    void draw_groups()
    {
        static constexpr std::array kinds = {GroupKind::tp, GroupKind::dp, GroupKind::ep};
        const std::size_t count = pick(1, 3);
        for (std::size_t g = 0; g < count; ++g) {
            std::vector<std::size_t> members;
            for (std::size_t l = 0; l < lanes_; ++l)
                if (chance(0.7) || (members.empty() && l + 1 == lanes_))
                    members.push_back(l);
            if (traits_.hops) // rings follow any order
                for (std::size_t i = members.size(); i > 1; --i)
                    std::swap(members[i - 1], members[pick(0, i - 1)]);
            const GroupSlot slot = scene_.group(kinds[g], members);
            groups_.push_back({members, {slot}, make_id<GroupId>(g)});
        }
        for (DrawnGroup& group : groups_) {
            if (!chance(0.3))
                continue;
            group.slots.push_back(add_group_slot(scene_.program, GroupKind::dp));
            for (Lane& lane : scene_.binding.lanes) {
                const bool member = lane.groups[group.slots[0].value] == group.id;
                lane.groups.push_back(member && chance(0.7) ? group.id : GroupId::none());
            }
        }
    }

    std::vector<LinkUse> draw_path()
    {
        std::vector<LinkUse> path;
        const std::size_t length = pick(0, 3);
        for (std::size_t i = 0; i < length; ++i)
            path.push_back({make_id<LinkId>(pick(0, scene_.binding.links.size() - 1)),
                            chance(0.5) ? 1U << 16 : static_cast<std::uint32_t>(pick(1, 200'000))});
        return path;
    }

    void draw_links()
    {
        const std::size_t count = pick(1, 5);
        for (std::size_t l = 0; l < count; ++l)
            scene_.link(pick(300, 3000));
        for (Group& group : scene_.binding.groups) {
            for (auto* uses : {&group.ring, &group.tree, &group.nvls, &group.all_to_all})
                *uses = draw_path();
        }
        if (traits_.hops)
            for (Group& group : scene_.binding.groups)
                draw_hops(group);
        for (Lane& lane : scene_.binding.lanes)
            for (Peer& peer : lane.peers)
                peer.links = draw_path();
        // Both slots of a neighbour take one path.
        for (Lane& lane : scene_.binding.lanes)
            for (std::size_t p = 0; p < lanes_; ++p)
                lane.peers[p + lanes_].links = lane.peers[p].links;
    }

    void draw_hops(Group& group)
    {
        const bool own_links = chance(0.5); // messages may be on them too
        for (std::size_t i = 0; i < group.members.size(); ++i) {
            group.ring_hops.add(own_links ? std::vector<LinkUse>{{scene_.link(pick(100, 3000))}}
                                          : draw_path());
            group.neighbour_hops.add(draw_path());
            for (std::size_t j = 0; j < group.members.size(); ++j)
                group.pairs.add(draw_path());
        }
        group.ring = sum_of(group.ring_hops);
        group.neighbours = sum_of(group.neighbour_hops);
        for (std::uint32_t tree = 0; tree < 2; ++tree)
            draw_tree(group, tree);
    }

    // Members in any order, each under one of those before it.
    void draw_tree(Group& group, std::uint32_t tree)
    {
        std::vector<std::uint32_t> order;
        for (std::uint32_t i = 0; i < group.members.size(); ++i)
            order.insert(order.begin() + static_cast<std::ptrdiff_t>(pick(0, i)), i);
        for (std::size_t i = 1; i < order.size(); ++i) {
            group.tree_edges.push_back({order[i], order[pick(0, i - 1)], tree});
            group.tree_ways.add(draw_path());
            group.tree_ways.add(draw_path());
        }
    }

    // Draws are statements of their own: compilers for other machines evaluate arguments in another
    // order, and a seed must mean the same program there.
    TransferCost draw_cost()
    {
        const std::size_t ceiling = pick(1, 1500);
        const std::int64_t moving = chance(0.15) ? 0 : random_.integer(1, 200);
        const std::int64_t latency = chance(0.3) ? 0 : random_.integer(0, 60);
        TransferCost cost = transfer(latency, moving, ceiling);
        if (chance(0.3) && cost.work.value > 0)
            cost.work.value += pick(0, 999); // no whole number of picoseconds
        cost.pattern = static_cast<TrafficPattern>(
            pick(0, static_cast<std::size_t>(TrafficPattern::all_to_all)));
        if (traits_.hops && cost.pattern == TrafficPattern::nvls)
            cost.pattern = chance(0.3) ? TrafficPattern::neighbours : TrafficPattern::ring;
        if (traits_.interference) {
            cost.sm_share = static_cast<std::uint32_t>(pick(0, full_share / 4));
            cost.traffic_share = static_cast<std::uint32_t>(pick(0, full_share));
        }
        return cost;
    }

    static Phase phase_at(std::size_t i) { return static_cast<Phase>(i % phase_count); }

    StreamId draw_stream()
    {
        static constexpr std::array streams = {
            compute_stream, second_compute_stream, tp_stream, dp_stream, pp_stream, copy_stream};
        return streams[pick(0, streams.size() - 1)];
    }

    // Waits, record and the rest of the op just written.
    void decorate(LaneWriter writer, bool by_itself = false)
    {
        static const std::array<std::string, 4> events = {"a", "b", "c", "d"};
        while (chance(0.35))
            writer.wait(events[pick(0, 3)]);
        if (chance(0.5))
            writer.record(events[pick(0, 3)]);
        if (chance(0.5))
            writer.kernels(static_cast<std::uint16_t>(pick(0, 5)));
        if (chance(0.08) && !by_itself)
            writer.blocks_host();
        if (chance(0.3))
            writer.scaled();
        if (chance(0.3)) {
            const std::int64_t at_end = random_.integer(-100, 50);
            writer.memory(random_.integer(-50, 100), at_end);
        }
    }

    void draw_timed(std::size_t l)
    {
        LaneWriter writer = scene_.on(l);
        const std::int64_t duration = chance(0.1) ? 0 : random_.integer(1, 150);
        const double what = random_.uniform();
        const bool worker = what >= 0.75 && what < 0.9 && chance(0.5);
        if (what < 0.75)
            writer.compute(duration, draw_stream()).phase(phase_at(pick(0, phase_count - 1)));
        else if (what < 0.9)
            writer.copy(duration, worker ? worker_stream : copy_stream);
        else
            writer.host(duration).phase(phase_at(pick(0, phase_count - 1)));
        decorate(writer, worker);
    }

    CollectiveKind draw_kind(TrafficPattern pattern)
    {
        static constexpr std::array ring_kinds = {
            CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
            CollectiveKind::broadcast,  CollectiveKind::reduce,     CollectiveKind::barrier};
        switch (pattern) {
        case TrafficPattern::all_to_all:
            return CollectiveKind::all_to_all;
        case TrafficPattern::neighbours:
            return CollectiveKind::send_receive;
        case TrafficPattern::ring:
            return ring_kinds[std::min<std::size_t>(pick(0, 11), pick(0, 5))];
        default:
            return CollectiveKind::all_reduce;
        }
    }

    void draw_collective()
    {
        const DrawnGroup& group = groups_[pick(0, groups_.size() - 1)];
        const TransferCost cost = draw_cost();
        const StreamId stream = draw_stream();
        Label label{"sum", Phase::gradient_sync, CollectiveKind::all_reduce,
                    scene_.binding.groups[group.id.value].kind};
        if (traits_.hops)
            label.collective = draw_kind(cost.pattern);
        for (const std::size_t l : group.members) {
            LaneWriter writer = scene_.on(l);
            GroupSlot slot = group.slots[pick(0, group.slots.size() - 1)];
            if (scene_.binding.lanes[l].groups[slot.value] != group.id)
                slot = group.slots[0];
            writer.collective(slot, cost, chance(0.8) ? stream : draw_stream());
            if (traits_.hops)
                writer.label(label);
            decorate(writer);
        }
    }

    // Every message of the batch once on each side; a lane writes all its parts as one op.
    void draw_exchange()
    {
        struct Message {
            std::size_t from, to;
            std::uint8_t channel;
            TransferCost cost;
        };
        std::vector<Message> messages;
        const std::size_t count = pick(1, 4);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t from = pick(0, lanes_ - 1);
            const std::size_t to = (from + pick(1, lanes_ - 1)) % lanes_;
            TransferCost cost = draw_cost();
            cost.eager = chance(0.3);
            messages.push_back({from, to, static_cast<std::uint8_t>(pick(0, 1)), cost});
        }
        for (std::size_t l = 0; l < lanes_; ++l) {
            LaneWriter writer = scene_.on(l);
            bool written = false;
            for (const Message& message : messages) {
                if (message.from != l && message.to != l)
                    continue;
                if (!written)
                    writer.exchange(draw_stream());
                written = true;
                const std::size_t second_slot = chance(0.5) ? lanes_ : 0;
                if (message.from == l)
                    writer.send(message.to + second_slot, message.cost, message.channel);
                else
                    writer.receive(message.from + second_slot, message.cost, message.channel);
            }
            if (written)
                decorate(writer);
        }
    }

    void draw_action()
    {
        const double what = random_.uniform();
        if (what < 0.5)
            draw_timed(pick(0, lanes_ - 1));
        else if (what < 0.8 || lanes_ == 1)
            draw_collective();
        else
            draw_exchange();
    }

    struct DrawnGroup {
        std::vector<std::size_t> members;
        std::vector<GroupSlot> slots;
        GroupId id;
    };

    Random random_;
    RandomTraits traits_;
    std::size_t lanes_;
    Scene scene_;
    std::vector<DrawnGroup> groups_;
};

} // namespace trainyard::test
