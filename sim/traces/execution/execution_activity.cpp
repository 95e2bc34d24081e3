#include "sim/traces/execution/dependencies.h"
#include "sim/traces/trace_steps.h"
#include "sim/traces/trace_words.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

constexpr std::uint32_t nowhere = ~std::uint32_t{0};

// What is around nodes: phases, and which ops have others within them that do the work.
class Nesting {
public:
    explicit Nesting(const ExecutionTrace& trace)
        : trace_(trace),
          parents_(trace.nodes.size(), nowhere),
          phases_(trace.nodes.size()),
          works_(trace.nodes.size(), false)
    {
        const auto places = places_of_nodes(trace);
        for (std::uint32_t i = 0; i < parents_.size(); ++i)
            if (const auto at = places.find(trace.nodes[i].parent);
                at != places.end() && at->second != i)
                parents_[i] = at->second;
    }

    // Says which node is within itself; empty: none.
    std::string find()
    {
        std::vector<std::optional<Phase>> begun;
        bool any = trace_.calls;
        for (std::size_t i = 0; i < trace_.names.size(); ++i) {
            begun.push_back(phase_begun_by(trace_.names.text(make_id<TraceNameId>(i))));
            any = any || begun.back();
        }
        const Phase outside = any ? Phase::forward : Phase::other;
        std::vector<std::uint8_t> state(parents_.size(), 0); // 1: below it is being looked at
        std::vector<std::uint32_t> path;
        for (std::uint32_t i = 0; i < parents_.size(); ++i) {
            for (std::uint32_t at = i; at != nowhere && state[at] != 2; at = parents_[at]) {
                if (state[at] == 1) {
                    if (trace_.calls)
                        return fmt::format("node {} is within itself", trace_.nodes[at].id);
                    // Control dependencies of nodes are no calls, and some converters close them.
                    parents_[path.back()] = nowhere;
                    break;
                }
                state[at] = 1;
                path.push_back(at);
            }
            for (; !path.empty(); path.pop_back()) {
                const std::uint32_t at = path.back();
                const std::uint32_t parent = parents_[at];
                const TraceNameId name = trace_.nodes[at].name;
                phases_[at] = phase_within(parent == nowhere ? outside : phases_[parent],
                                           begun[name.value], trace_.text(name));
                state[at] = 2;
            }
        }
        find_workers();
        return "";
    }

    Phase phase(std::size_t node) const { return trace_.nodes[node].phase.value_or(phases_[node]); }
    // In calls the innermost op starts the kernel, and one of a special kind does so beside fills
    // and copies that it makes; nodes stand for themselves.
    bool works(std::size_t node) const { return works_[node]; }

private:
    void find_workers()
    {
        std::vector<std::uint32_t> inside_first(parents_.size());
        for (std::uint32_t i = 0; i < inside_first.size(); ++i)
            inside_first[i] = i;
        std::sort(inside_first.begin(), inside_first.end(), [&](std::uint32_t a, std::uint32_t b) {
            return trace_.nodes[a].id > trace_.nodes[b].id;
        });
        std::vector<bool> has_copy(parents_.size(), false);
        std::vector<bool> has_other(parents_.size(), false);
        for (const std::uint32_t i : inside_first) {
            const GraphNode& node = trace_.nodes[i];
            const bool general = node.work == DeviceWork::elementwise ||
                                 node.work == DeviceWork::copy || node.work == DeviceWork::other;
            const bool others = has_other[i] || (general && has_copy[i]);
            works_[i] = node.role == NodeRole::op &&
                        (!trace_.calls || !others || node.transfer != GraphNode::no_transfer);
            if (!works_[i] || !trace_.calls)
                continue;
            std::vector<bool>& has = node.work == DeviceWork::copy ? has_copy : has_other;
            for (std::uint32_t at = parents_[i]; at != nowhere && !has[at]; at = parents_[at])
                has[at] = true;
        }
    }

    const ExecutionTrace& trace_;
    std::vector<std::uint32_t> parents_;
    std::vector<Phase> phases_;
    std::vector<bool> works_;
};

TraceOp op_of(const GraphNode& node, Phase phase)
{
    TraceOp op;
    op.name = node.name;
    op.host_op = node.name;
    op.shapes = node.shapes;
    op.bytes = node.bytes;
    op.flops = node.flops;
    op.transfer = node.transfer;
    op.phase = phase;
    op.work = refined(node.work, phase);
    return op;
}

// Ops in the order in which they began, one after the other; each takes what is stated, and where
// nothing is, counts as a nanosecond that it has not: `span` orders and bounds steps.
void line_up(const ExecutionTrace& trace, const Nesting& nesting, const std::vector<bool>& counted,
             RankActivity& out)
{
    std::vector<std::uint32_t> order(trace.nodes.size());
    for (std::uint32_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return trace.nodes[a].id < trace.nodes[b].id;
    });
    RankTrace marks; // where steps begin
    for (std::size_t i = 0; i < trace.names.size(); ++i)
        marks.names.intern(trace.names.text(make_id<TraceNameId>(i)));
    TraceTime now(1);
    for (const std::uint32_t i : order) {
        const GraphNode& node = trace.nodes[i];
        if (counted[i]) {
            TraceOp op = op_of(node, nesting.phase(i));
            op.span = {now, now + node.duration};
            now = op.span.end + TraceTime(1);
            out.ops.push_back(op);
        } else if (node.role == NodeRole::around) {
            HostEvent mark;
            mark.name = node.name;
            mark.activity = HostActivity::annotation;
            mark.span = {now, now};
            marks.host_events.push_back(mark);
        }
    }
    // An annotation lasts until the next one begins: work on other threads is of the step too.
    for (HostEvent& mark : marks.host_events)
        mark.span.end = now;
    if (out.ops.empty())
        return;
    take_apart_sums_of_gradients(out.ops);
    find_steps(marks, out);
    out.steps.back().span.end = now; // the last op may take no time
    // The profiler's last step may end before anything is done in it.
    std::erase_if(out.steps, [&](const TraceStep& step) {
        const auto first =
            std::lower_bound(out.ops.begin(), out.ops.end(), step.span.start,
                             [](const TraceOp& op, TraceTime t) { return op.span.start < t; });
        return first == out.ops.end() || first->span.start >= step.span.end;
    });
}

} // namespace

std::unordered_map<std::uint64_t, std::uint32_t> places_of_nodes(const ExecutionTrace& trace)
{
    std::unordered_map<std::uint64_t, std::uint32_t> places;
    places.reserve(trace.nodes.size());
    for (const GraphNode& node : trace.nodes)
        places.emplace(node.id, static_cast<std::uint32_t>(places.size()));
    return places;
}

Checked<RankActivity> activity_of(ExecutionTrace&& trace)
{
    const auto refused = [&](std::string message, std::string hint) {
        return rejected(trace.file, std::move(message), std::move(hint));
    };
    Nesting nesting(trace);
    if (std::string flaw = nesting.find(); !flaw.empty())
        return refused(std::move(flaw), "a node's parent stands for a call around it");
    std::vector<bool> works(trace.nodes.size());
    bool any_device = false;
    for (std::size_t i = 0; i < works.size(); ++i) {
        works[i] = nesting.works(i);
        any_device = any_device || (works[i] && !trace.nodes[i].on_host);
    }
    if (any_device) // what the host computes on its own tensors is not the device's
        for (std::size_t i = 0; i < works.size(); ++i)
            works[i] = works[i] && !trace.nodes[i].on_host;
    std::vector<bool> linked = works;
    if (!trace.calls) // kernels wait for each other by way of the host's nodes
        for (std::size_t i = 0; i < linked.size(); ++i)
            linked[i] = trace.nodes[i].role != NodeRole::around;
    Checked<GraphFacts> facts = chains_of(trace, linked);
    if (!facts)
        return tl::unexpected(std::move(facts.error()));
    RankActivity out;
    out.file = trace.file;
    out.rank = trace.rank.value_or(0);
    out.times = trace.any_duration ? TimesStated::durations : TimesStated::none;
    line_up(trace, nesting, works, out);
    if (out.ops.empty())
        return refused("holds no op that does work",
                       "an execution trace of a training step is expected");
    facts->tensors = trace.tensors;
    facts->tensor_numbers = trace.tensor_numbers;
    facts->tensor_bytes = trace.tensor_bytes;
    facts->on_host = !any_device;
    facts->sizes_go_in = !trace.calls;
    out.graph = *facts;
    out.transfers = std::move(trace.transfers);
    number_transfers(out);
    out.names = std::move(trace.names);
    return out;
}

} // namespace trainyard
