#pragma once

// Small programs written by hand: every lane has a role of its own with one block.
//
//     Scene scene(2);
//     const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
//     scene.on(0).compute(100).record("ready");
//     scene.on(0).collective(dp, transfer(10, 40)).wait("ready");
//     const StepResult result = scene.run();
//
// Times are picoseconds. Streams: host, compute, and one per kind of transfer.

#include "sim/engine/engine.h"
#include "sim/program/builder.h"
#include "tests/catch.h"
#include "tests/support/flaws.h"

#include <map>

namespace trainyard::test {

inline constexpr StreamId compute_stream{1};
inline constexpr StreamId second_compute_stream{2};
inline constexpr StreamId tp_stream{3};
inline constexpr StreamId dp_stream{4};
inline constexpr StreamId pp_stream{5};
inline constexpr StreamId copy_stream{6};
inline constexpr StreamId worker_stream{7};

// Latency, then `moving` at the ceiling.
inline TransferCost transfer(std::int64_t latency, std::int64_t moving,
                             std::uint64_t ceiling = 1000)
{
    TransferCost cost;
    cost.latency = SimTime(latency);
    cost.ceiling = ByteRate(ceiling);
    cost.work = work_done(cost.ceiling, SimTime(moving));
    cost.bytes = Bytes(static_cast<std::uint64_t>(moving));
    return cost;
}

class Scene;

// Adds to one lane's program; what follows an op speaks of it.
class LaneWriter {
public:
    LaneWriter(Scene& scene, std::size_t lane) : scene_(scene), lane_(lane) {}

    LaneWriter& compute(std::int64_t duration, StreamId stream = compute_stream);
    LaneWriter& copy(std::int64_t duration, StreamId stream = copy_stream);
    LaneWriter& host(std::int64_t duration);
    LaneWriter& collective(GroupSlot group, const TransferCost& cost, StreamId stream = dp_stream);
    LaneWriter& exchange(StreamId stream = pp_stream);
    LaneWriter& send(std::size_t to, const TransferCost& cost, std::uint8_t channel = 0);
    LaneWriter& receive(std::size_t from, const TransferCost& cost, std::uint8_t channel = 0);

    LaneWriter& wait(const std::string& event);
    LaneWriter& record(const std::string& event);
    LaneWriter& kernels(std::uint16_t count);
    LaneWriter& phase(Phase phase);
    LaneWriter& label(const Label& label);
    LaneWriter& blocks_host();
    LaneWriter& scaled();
    LaneWriter& memory(std::int64_t at_start, std::int64_t at_end);

private:
    LaneWriter& add(Op op, const Label& label);
    Block& block();
    Op& last();
    LocalEvent event(const std::string& name);

    Scene& scene_;
    std::size_t lane_;
};

class Scene {
public:
    explicit Scene(std::size_t lanes)
    {
        for (const auto& [name, kind] : std::initializer_list<std::pair<const char*, StreamKind>>{
                 {"host", StreamKind::host},
                 {"compute", StreamKind::compute},
                 {"compute 2", StreamKind::compute},
                 {"tp", StreamKind::communication},
                 {"dp", StreamKind::communication},
                 {"pp", StreamKind::communication},
                 {"copy", StreamKind::copy},
                 {"worker", StreamKind::worker}})
            add_stream(program, {name, kind});
        program.scale_slots = 1;
        program.peer_slots = static_cast<std::uint8_t>(lanes);
        binding.costs.transfers.resize(1);
        for (std::size_t l = 0; l < lanes; ++l) {
            program.blocks.push_back({.name = "lane " + std::to_string(l)});
            program.roles.push_back({.name = "lane " + std::to_string(l)});
            Lane lane;
            lane.role = make_id<RoleId>(l);
            lane.rank = make_id<RankId>(l);
            lane.scales = {full_share};
            lane.peers.resize(lanes);
            for (std::size_t p = 0; p < lanes; ++p)
                if (p != l)
                    lane.peers[p].lane = make_id<LaneId>(p);
            binding.lanes.push_back(std::move(lane));
        }
        events.resize(lanes);
    }

    LaneWriter on(std::size_t lane) { return {*this, lane}; }

    GroupSlot group(GroupKind kind, const std::vector<std::size_t>& members)
    {
        const GroupSlot slot = add_group_slot(program, kind);
        const GroupId id = make_id<GroupId>(binding.groups.size());
        Group group;
        group.kind = kind;
        group.ranks = static_cast<std::uint32_t>(members.size());
        for (Lane& lane : binding.lanes)
            lane.groups.push_back(GroupId::none());
        for (const std::size_t member : members) {
            group.members.push_back(make_id<LaneId>(member));
            binding.lanes[member].groups.back() = id;
        }
        binding.groups.push_back(std::move(group));
        return slot;
    }

    Group& group_of(GroupSlot slot) { return binding.groups[slot.value]; }

    LinkId link(std::uint64_t capacity)
    {
        binding.links.push_back(ByteRate(capacity));
        return make_id<LinkId>(binding.links.size() - 1);
    }

    Checked<StepResult> try_run(RunControl control = {})
    {
        bind_roles();
        const auto in_program = flaws(program);
        INFO((in_program.empty() ? "" : in_program[0]));
        REQUIRE(in_program.empty());
        const auto in_binding = flaws(program, binding);
        INFO((in_binding.empty() ? "" : in_binding[0]));
        REQUIRE(in_binding.empty());
        return run_reference(program, binding, control);
    }

    // One step unless asked otherwise, every op recorded.
    StepResult run(int steps = 1, Fidelity fidelity = Fidelity::alpha_beta)
    {
        RunControl control;
        control.steps = steps;
        control.fidelity = fidelity;
        control.record = RecordRequest{[](LaneId) { return true; }, 0};
        auto result = try_run(control);
        INFO((result ? std::string() : render(result.error(), "")));
        REQUIRE(result.has_value());
        return std::move(*result);
    }

    // Closes the roles: local events are the role's.
    void bind_roles()
    {
        for (std::size_t l = 0; l < program.roles.size(); ++l) {
            Role& role = program.roles[l];
            role.event_count = program.blocks[l].local_events;
            role.events.clear();
            for (std::uint32_t e = 0; e < role.event_count; ++e)
                role.events.push_back(EventId{e});
            role.order = {{.block = make_id<BlockId>(l)}};
        }
    }

    Program program;
    Binding binding;
    std::vector<std::map<std::string, LocalEvent>> events;
};

inline Block& LaneWriter::block()
{
    return scene_.program.blocks[lane_];
}

inline Op& LaneWriter::last()
{
    return block().ops.back();
}

inline LaneWriter& LaneWriter::add(Op op, const Label& label)
{
    op.label = label_id(scene_.program, label);
    op.wait_first = static_cast<std::uint16_t>(block().waits.size());
    op.part_first = static_cast<std::uint16_t>(block().parts.size());
    block().ops.push_back(op);
    return *this;
}

inline LaneWriter& LaneWriter::compute(std::int64_t duration, StreamId stream)
{
    auto& costs = scene_.binding.costs.compute;
    costs.push_back(SimTime(duration));
    return add(
        {.kind = OpKind::compute, .stream = stream, .cost = make_id<CostId>(costs.size() - 1)},
        {"work", Phase::forward});
}

inline LaneWriter& LaneWriter::copy(std::int64_t duration, StreamId stream)
{
    compute(duration, stream);
    last().kind = OpKind::copy;
    return label({"copy", Phase::data});
}

inline LaneWriter& LaneWriter::host(std::int64_t duration)
{
    compute(duration, host_stream);
    last().kind = OpKind::host;
    return label({"host", Phase::other});
}

inline LaneWriter& LaneWriter::collective(GroupSlot group, const TransferCost& cost,
                                          StreamId stream)
{
    auto& costs = scene_.binding.costs.transfers[0];
    costs.push_back(cost);
    return add({.kind = OpKind::collective,
                .stream = stream,
                .group = group,
                .cost = make_id<CostId>(costs.size() - 1)},
               {"sum", Phase::gradient_sync, CollectiveKind::all_reduce,
                scene_.program.groups[group.value].kind});
}

inline LaneWriter& LaneWriter::exchange(StreamId stream)
{
    return add({.kind = OpKind::exchange, .stream = stream},
               {"pass", Phase::forward, CollectiveKind::send_receive, GroupKind::pp});
}

inline LaneWriter& LaneWriter::send(std::size_t to, const TransferCost& cost, std::uint8_t channel)
{
    auto& costs = scene_.binding.costs.transfers[0];
    costs.push_back(cost);
    block().parts.push_back(
        {Direction::send, make_id<PeerSlot>(to), channel, make_id<CostId>(costs.size() - 1)});
    ++last().part_count;
    return *this;
}

inline LaneWriter& LaneWriter::receive(std::size_t from, const TransferCost& cost,
                                       std::uint8_t channel)
{
    send(from, cost, channel);
    block().parts.back().direction = Direction::receive;
    return *this;
}

inline LocalEvent LaneWriter::event(const std::string& name)
{
    const auto [found, added] =
        scene_.events[lane_].try_emplace(name, LocalEvent{block().local_events});
    if (added)
        ++block().local_events;
    return found->second;
}

inline LaneWriter& LaneWriter::wait(const std::string& name)
{
    block().waits.push_back(event(name));
    ++last().wait_count;
    return *this;
}

inline LaneWriter& LaneWriter::record(const std::string& name)
{
    last().record = event(name);
    return *this;
}

inline LaneWriter& LaneWriter::kernels(std::uint16_t count)
{
    last().kernels = count;
    return *this;
}

inline LaneWriter& LaneWriter::label(const Label& label)
{
    last().label = label_id(scene_.program, label);
    return *this;
}

inline LaneWriter& LaneWriter::phase(Phase phase)
{
    Label changed = scene_.program.labels[last().label.value];
    changed.phase = phase;
    return label(changed);
}

inline LaneWriter& LaneWriter::blocks_host()
{
    last().blocks_host = true;
    return *this;
}

inline LaneWriter& LaneWriter::scaled()
{
    last().scale = ScaleSlot{0};
    return *this;
}

inline LaneWriter& LaneWriter::memory(std::int64_t at_start, std::int64_t at_end)
{
    last().memory = memory_effect_id(scene_.program, {at_start, at_end});
    return *this;
}

// Time of a kind on a lane, in ps.
inline std::int64_t time_in(const StepResult& result, std::size_t lane, TimeKind kind)
{
    return result.lanes[lane].time[static_cast<std::size_t>(kind)].value();
}

inline std::int64_t time_sum(const LaneTotals& totals)
{
    SimTime sum{};
    for (const SimTime time : totals.time)
        sum += time;
    return sum.value();
}

} // namespace trainyard::test
