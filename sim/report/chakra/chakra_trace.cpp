#include "sim/report/chakra/chakra_trace.h"

#include "sim/base/build_info.h"
#include "sim/engine/compile.h"
#include "sim/engine/slowdown.h"
#include "sim/report/chakra/protobuf_writer.h"
#include "sim/report/text/describe.h"
#include "sim/report/timeline/kineto_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace trainyard {
namespace {

// Of et_def.proto.
enum class NodeType : std::uint8_t { compute = 4, send = 5, receive = 6, collective = 7 };

std::uint64_t chakra_type(CollectiveKind kind)
{
    switch (kind) {
    case CollectiveKind::all_reduce:
        return 0;
    case CollectiveKind::reduce:
        return 1;
    case CollectiveKind::all_gather:
        return 2;
    case CollectiveKind::broadcast:
        return 5;
    case CollectiveKind::all_to_all:
    case CollectiveKind::send_receive:
        return 6;
    case CollectiveKind::reduce_scatter:
        return 7;
    case CollectiveKind::barrier:
        return 9;
    }
    return 0;
}

// A node while it is written, and its attributes under the types that Chakra's own generators use.
class NodeWriter {
public:
    NodeWriter(std::uint64_t id, std::string_view name, NodeType type)
    {
        node_.number(1, id);
        node_.text(2, name);
        node_.number(3, static_cast<std::uint64_t>(type));
    }

    void waits_for(std::vector<std::uint64_t> ids)
    {
        std::sort(ids.begin(), ids.end());
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
        node_.numbers(5, ids);
    }

    void takes(std::uint64_t microseconds)
    {
        if (microseconds > 0)
            node_.number(7, microseconds);
    }

    void on_host(bool host) { attribute("is_cpu_op", 27, host ? 1 : 0); }
    void int32(std::string_view name, std::uint64_t value) { attribute(name, 7, value); }
    void int64(std::string_view name, std::uint64_t value) { attribute(name, 9, value); }
    void uint64(std::string_view name, std::uint64_t value) { attribute(name, 13, value); }
    void text(std::string_view name, std::string_view value)
    {
        ProtobufWriter inner;
        inner.text(1, name);
        inner.text(29, value);
        node_.message(10, inner);
    }

    void append_to(std::string& stream) const { node_.append_to(stream); }

private:
    void attribute(std::string_view name, std::uint32_t field, std::uint64_t value)
    {
        ProtobufWriter inner;
        inner.text(1, name);
        inner.number(field, value);
        node_.message(10, inner);
    }

    ProtobufWriter node_;
};

// Times in whole microseconds whose sums are right: what one leaves over the next one gets.
class WholeMicroseconds {
public:
    std::uint64_t next(SimTime time)
    {
        sum_ += time;
        const auto whole = static_cast<std::uint64_t>((sum_.value() + 500'000) / 1'000'000);
        const std::uint64_t out = whole - given_;
        given_ = whole;
        return out;
    }

private:
    SimTime sum_;
    std::uint64_t given_ = 0;
};

// Writes the trace of one rank.
class ExecutionGraph {
public:
    ExecutionGraph(const Outcome& outcome, const engine::CompiledProgram& compiled,
                   const ChakraGroups& groups, LaneId lane)
        : outcome_(outcome),
          program_(outcome.plan->program),
          binding_(*outcome.binding),
          compiled_(compiled),
          number_(lane.value),
          lane_(binding_.lanes[lane.value]),
          kind_(compiled.kinds[compiled.lane_kinds[lane.value]]),
          groups_(groups),
          nodes_(kind_.ops.size())
    {
        find_pipes();
    }

    std::string text()
    {
        write_head();
        std::vector<std::uint32_t> order(kind_.ops.size());
        std::vector<std::uint8_t> stream_of(kind_.ops.size());
        for (std::size_t s = 0; s < kind_.streams.size(); ++s)
            for (std::uint32_t i = 0; i < kind_.streams[s].op_count; ++i)
                stream_of[kind_.streams[s].op_first + i] = static_cast<std::uint8_t>(s);
        for (std::uint32_t i = 0; i < order.size(); ++i)
            order[i] = i;
        std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return kind_.ops[i].order; });
        sums_.resize(kind_.streams.size());
        for (const std::uint32_t i : order)
            write_op(i, stream_of[i]);
        return std::move(out_);
    }

private:
    using Ids = std::vector<std::uint64_t>;

    void write_head()
    {
        ProtobufWriter head;
        head.text(1, "0.0.4");
        const auto say = [&](std::string_view name, std::string_view value) {
            ProtobufWriter inner;
            inner.text(1, name);
            inner.text(29, value);
            head.message(2, inner);
        };
        say("trainyard", version());
        say("job", job_title(outcome_));
        say("settings", job_settings(outcome_));
        say("input_hash", hash_text(outcome_.input_hash));
        head.append_to(out_);
    }

    void write_op(std::uint32_t index, std::size_t stream)
    {
        const engine::FlatOp& op = kind_.ops[index];
        Ids before = waits_of(op);
        if (index > kind_.streams[stream].op_first)
            append(before, nodes_[index - 1]);
        if (!op.by_itself)
            append(before, launched(op));
        const Label& label = program_.labels[op.label.value];
        switch (op.kind) {
        case OpKind::collective:
            nodes_[index] = {write_collective(op, label, before)};
            break;
        case OpKind::exchange:
            nodes_[index] = write_messages(op, label, before);
            break;
        case OpKind::compute:
        case OpKind::copy:
        case OpKind::host:
            nodes_[index] = {write_compute(op, label, before, stream)};
            break;
        }
        if (op.ends_segment) {
            host_ = nodes_[index];
            host_time_ = SimTime();
            host_sum_ = WholeMicroseconds();
        }
    }

    static void append(Ids& to, const Ids& ids) { to.insert(to.end(), ids.begin(), ids.end()); }

    // Events of the step before have long happened.
    Ids waits_of(const engine::FlatOp& op) const
    {
        Ids out;
        for (std::uint32_t w = 0; w < op.wait_count; ++w) {
            const engine::StepWait& wait = kind_.waits[op.wait_first + w];
            if (!wait.previous_step)
                append(out, nodes_[kind_.streams[wait.stream].op_first + wait.position]);
        }
        return out;
    }

    // What the host has done when it launches the op. A launch that takes less than a microsecond
    // goes with the next one.
    const Ids& launched(const engine::FlatOp& op)
    {
        if (op.issue_offset > host_time_) {
            const std::uint64_t time = host_sum_.next(op.issue_offset - host_time_);
            host_time_ = op.issue_offset;
            if (time > 0) {
                NodeWriter node(next_id_, "launches", NodeType::compute);
                node.waits_for(host_);
                node.takes(time);
                node.on_host(true);
                node.append_to(out_);
                host_ = {next_id_++};
            }
        }
        return host_;
    }

    std::uint64_t write_compute(const engine::FlatOp& op, const Label& label, Ids before,
                                std::size_t stream)
    {
        const auto alone = SimTime(static_cast<std::int64_t>(
            static_cast<u128>(op.duration.value()) * engine::scale_on(lane_, op.scale) >> 20U));
        NodeWriter node(next_id_, label.name, NodeType::compute);
        node.waits_for(std::move(before));
        node.takes(sums_[stream].next(alone));
        node.on_host(op.kind == OpKind::host);
        node.text("phase", to_name(label.phase));
        if (op.kind == OpKind::compute && op.cost.value < outcome_.plan->compute.size()) {
            const WorkList& kernels = outcome_.plan->compute[op.cost.value].kernels;
            std::uint64_t bytes = 0;
            for (const auto& item : kernels)
                if (const auto* const kernel = std::get_if<Kernel>(&item))
                    bytes += kernel->bytes.value();
            node.int64("num_ops", static_cast<std::uint64_t>(hardware_flops(kernels).value()));
            node.uint64("tensor_size", bytes);
        }
        node.append_to(out_);
        return next_id_++;
    }

    std::uint64_t write_collective(const engine::FlatOp& op, const Label& label, Ids before)
    {
        const GroupId group = lane_.groups[op.group.value];
        const Bytes bytes = outcome_.plan->transfers[op.cost.value].bytes;
        const auto ranks = static_cast<int>(binding_.groups[group.value].ranks);
        NodeWriter node(next_id_, label.name, NodeType::collective);
        node.waits_for(std::move(before));
        node.on_host(false);
        node.text("phase", to_name(label.phase));
        node.int64("comm_type", chakra_type(label.collective));
        node.int64("comm_size", message_elements(label.collective, bytes, ranks, 1).in);
        if (const int number = groups_.number(group); number > 0)
            node.text("pg_name", fmt::format("{}", number));
        node.text("pg_desc", to_name(label.group));
        node.append_to(out_);
        return next_id_++;
    }

    Ids write_messages(const engine::FlatOp& op, const Label& label, const Ids& before)
    {
        Ids out;
        for (std::uint32_t p = 0; p < op.part_count; ++p) {
            const engine::PartPlan& part = kind_.parts[op.part_first + p];
            const bool sends = part.direction == Direction::send;
            const Lane& peer = binding_.lanes[lane_.peers[part.peer.value].lane.value];
            const std::uint32_t self = lane_.rank.value;
            NodeWriter node(next_id_, label.name, sends ? NodeType::send : NodeType::receive);
            node.waits_for(before);
            node.on_host(false);
            node.text("phase", to_name(label.phase));
            node.int64("comm_size", outcome_.plan->transfers[part.cost.value].bytes.value());
            node.int32("comm_src", sends ? self : peer.rank.value);
            node.int32("comm_dst", sends ? peer.rank.value : self);
            node.int32("comm_tag", tag_of(part));
            node.append_to(out_);
            out.push_back(next_id_++);
        }
        return out;
    }

    // The pipe's number between the two ranks in its direction, which both ends know alike, and the
    // message's in the pipe.
    std::uint64_t tag_of(const engine::PartPlan& part) const
    {
        const std::vector<std::uint32_t>& pipes =
            pipes_.at({lane_.peers[part.peer.value].lane, part.direction});
        const auto found = std::ranges::lower_bound(pipes, pipe_of(part));
        return static_cast<std::uint64_t>(found - pipes.begin()) << 22U | part.ordinal;
    }

    std::uint32_t pipe_of(const engine::PartPlan& part) const
    {
        return compiled_.lane_pipes[compiled_.lane_pipe_first[number_] + part.pipe];
    }

    void find_pipes()
    {
        for (const engine::PartPlan& part : kind_.parts)
            if (const LaneId peer = lane_.peers[part.peer.value].lane; peer.valid())
                pipes_[{peer, part.direction}].push_back(pipe_of(part));
        for (auto& [end, pipes] : pipes_) {
            std::ranges::sort(pipes);
            pipes.erase(std::unique(pipes.begin(), pipes.end()), pipes.end());
        }
    }

    const Outcome& outcome_;
    const Program& program_;
    const Binding& binding_;
    const engine::CompiledProgram& compiled_;
    std::uint32_t number_; // of the lane
    const Lane& lane_;
    const engine::LaneKind& kind_;
    const ChakraGroups& groups_;
    std::vector<Ids> nodes_; // by op
    Ids host_;               // what the host did last
    SimTime host_time_;      // since its segment began
    WholeMicroseconds host_sum_;
    std::vector<WholeMicroseconds> sums_; // by stream
    std::map<std::pair<LaneId, Direction>, std::vector<std::uint32_t>> pipes_;
    std::uint64_t next_id_ = 1;
    std::string out_;
};

} // namespace

ChakraGroups::ChakraGroups(const Outcome& outcome)
{
    const Binding& binding = *outcome.binding;
    std::map<std::vector<std::uint32_t>, int> known;
    for (const Group& group : binding.groups) {
        std::vector<std::uint32_t> ranks;
        for (const LaneId member : group.members)
            ranks.push_back(binding.lanes[member.value].rank.value);
        std::sort(ranks.begin(), ranks.end());
        int number = 0;
        if (ranks.size() < binding.lanes.size()) {
            const auto [at, fresh] = known.try_emplace(ranks, static_cast<int>(known.size()) + 1);
            number = at->second;
            if (fresh)
                members_.push_back(ranks);
        }
        numbers_.push_back(number);
    }
}

std::string ChakraGroups::json() const
{
    std::string out = "{";
    if (members_.empty())
        return "{}\n";
    for (std::size_t i = 0; i < members_.size(); ++i)
        out += fmt::format("{}\n  \"{}\": [{}]", i == 0 ? "" : ",", i + 1,
                           fmt::join(members_[i], ", "));
    return out + "\n}\n";
}

std::uint64_t chakra_nodes(const Outcome& outcome)
{
    std::uint64_t sum = 0;
    const Program& program = outcome.plan->program;
    for (const Lane& lane : outcome.binding->lanes)
        sum += op_count(program, program.roles[lane.role.value]);
    return sum;
}

std::vector<std::string> chakra_traces(const Outcome& outcome)
{
    const engine::CompiledProgram compiled =
        engine::compile(outcome.plan->program, *outcome.binding);
    const ChakraGroups groups(outcome);
    std::vector<std::string> out(outcome.binding->lanes.size());
    for (std::uint32_t i = 0; i < out.size(); ++i)
        out[outcome.binding->lanes[i].rank.value] =
            ExecutionGraph(outcome, compiled, groups, LaneId{i}).text();
    return out;
}

} // namespace trainyard
