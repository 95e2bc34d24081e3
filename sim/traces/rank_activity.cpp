#include "sim/traces/rank_activity.h"

#include "sim/base/utf8.h"
#include "sim/traces/execution/op_rules.h"
#include "sim/traces/host_context.h"
#include "sim/traces/issue_times.h"
#include "sim/traces/kineto_header.h"
#include "sim/traces/trace_steps.h"
#include "sim/traces/trace_words.h"

#include <algorithm>

namespace trainyard {
namespace {

std::uint16_t busiest_device(const RankTrace& trace)
{
    std::map<std::uint16_t, TraceTime> busy;
    for (const DeviceEvent& event : trace.device_events)
        busy[event.device] += event.span.length();
    return std::max_element(busy.begin(), busy.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

class ActivityBuilder {
public:
    ActivityBuilder(const RankTrace& trace, RankActivity& out)
        : trace_(trace), contexts_(launch_contexts(trace)), out_(out)
    {
        for (std::size_t i = 0; i < trace.names.size(); ++i) {
            const std::string& name = trace.names.text(make_id<TraceNameId>(i));
            works_.push_back(trace.on_host ? work_of_op(name, "").value_or(DeviceWork::other)
                                           : work_of_kernel(name));
        }
    }

    void add(std::size_t index)
    {
        const DeviceEvent& event = trace_.device_events[index];
        const LaunchContext& context = contexts_[index];
        TraceOp op;
        op.span = event.span;
        op.issued = context.issued;
        op.name = event.name;
        op.host_op = context.op;
        op.shapes = context.shapes;
        op.bytes = event.bytes;
        op.stream = event.stream;
        op.phase = event.phase.value_or(context.phase);
        op.work = work_of(event, op.phase);
        if (event.activity == DeviceActivity::copy) {
            const std::string& name = trace_.text(event.name);
            op.crosses_host = name.find("HtoD") != name.npos || name.find("DtoH") != name.npos ||
                              name.find("Host") != name.npos || trace_.simulated;
            if (op.crosses_host && context.call && context.call->end >= op.span.end) {
                op.blocks_host = true;
                out_.host_waits.push_back(*context.call);
            }
        }
        if (op.work == DeviceWork::communication)
            add_transfer(op, event, context);
        out_.ops.push_back(op);
    }

private:
    DeviceWork work_of(const DeviceEvent& event, Phase phase) const
    {
        if (event.activity != DeviceActivity::kernel)
            return DeviceWork::copy;
        if (event.message != 0)
            return DeviceWork::communication;
        return refined(works_[event.name.value], phase);
    }

    void add_transfer(TraceOp& op, const DeviceEvent& event, const LaunchContext& context)
    {
        TraceTransfer transfer;
        const std::uint32_t message = event.message != 0 ? event.message : context.message;
        const std::string& name = trace_.text(event.name);
        bool named = false; // of which collective it is, though there may be no kind for it here
        if (message != 0) {
            describe(transfer, trace_.messages[message - 1]);
            named = moves_data(trace_.text(trace_.messages[message - 1].collective));
        }
        if (message == 0 && trace_.groups.size() == 1 && !exchanges_tokens(name))
            describe_by_group(transfer, trace_.groups.front());
        if (transfer.bytes == 0)
            describe_by_op(transfer, context);
        if (!transfer.kind && !named)
            transfer.kind = collective_of_kernel(name);
        if (exchanges_tokens(name))
            transfer.purpose = to_name(GroupKind::ep);
        op.transfer = static_cast<std::uint32_t>(out_.transfers.size());
        out_.transfers.push_back(std::move(transfer));
    }

    void describe(TraceTransfer& transfer, const TraceMessage& message) const
    {
        transfer.kind = collective_called(trace_.text(message.collective));
        transfer.dtype = printable_lines(trace_.text(message.dtype));
        if (transfer.kind)
            transfer.bytes =
                whole_elements(*transfer.kind, message.in_elements, message.out_elements) *
                static_cast<std::uint64_t>(torch_element_bytes(transfer.dtype));
        transfer.ranks = message.group_size;
        transfer.group = printable_lines(trace_.text(message.group));
        transfer.purpose = printable_lines(trace_.text(message.purpose));
        transfer.members = listed_ranks(trace_.text(message.ranks));
        transfer.peer = message.peer;
        transfer.moving_from = message.moving_from;
    }

    // Before 2.3 the only trace of the size is the input of "nccl:all_to_all"; of Gloo's and MPI's
    // it is so still.
    void describe_by_op(TraceTransfer& transfer, const LaunchContext& context) const
    {
        const std::string& op = trace_.text(context.op);
        if (work_of_kernel(op) != DeviceWork::communication)
            return;
        if (!transfer.kind)
            transfer.kind = collective_called(op);
        const std::string& types = trace_.text(context.types);
        const int times = transfer.kind == CollectiveKind::all_gather ? transfer.ranks : 1;
        if (transfer.kind)
            transfer.bytes = elements_in(trace_.text(context.shapes)) *
                             static_cast<std::uint64_t>(torch_element_bytes(types) * times);
    }

    // There is no other that it could be of.
    static void describe_by_group(TraceTransfer& transfer, const TraceGroup& group)
    {
        transfer.ranks = group.size;
        transfer.group = group.name;
        transfer.purpose = group.purpose;
        transfer.members = group.ranks;
    }

    const RankTrace& trace_;
    std::vector<LaunchContext> contexts_;
    std::vector<DeviceWork> works_; // by name
    RankActivity& out_;
};

// On the host's cores: an op that begins late because it waited for a transfer. No call tells of
// that, so it is a pause, longer than nine in ten of its stream, in which a transfer ended.
void add_pauses(RankActivity& out)
{
    std::map<std::uint32_t, TraceTime> free; // by stream
    std::map<std::uint32_t, std::vector<TraceSpan>> pauses;
    std::vector<TraceTime> ends; // of transfers
    for (const TraceOp& op : out.ops) {
        if (op.transfer != TraceOp::no_transfer) {
            ends.push_back(op.span.end);
            continue;
        }
        const auto [at, first] = free.try_emplace(op.stream, op.span.start);
        if (!first && op.span.start > at->second)
            pauses[op.stream].push_back({at->second, op.span.start});
        at->second = std::max(at->second, op.span.end);
    }
    std::sort(ends.begin(), ends.end());
    for (auto& [stream, spans] : pauses) {
        std::vector<TraceTime> lengths;
        for (const TraceSpan& span : spans)
            lengths.push_back(span.length());
        const auto usual = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() * 9 / 10);
        std::nth_element(lengths.begin(), usual, lengths.end());
        for (const TraceSpan& span : spans) {
            const auto end = std::lower_bound(ends.begin(), ends.end(), span.start + *usual);
            if (end != ends.end() && *end <= span.end)
                out.host_waits.push_back(span);
        }
    }
}

// A transfer runs on a thread of its own: it is of the phase that the step was in.
void take_phases_of_cores(std::vector<TraceOp>& ops)
{
    Phase phase = Phase::forward;
    for (TraceOp& op : ops)
        if (op.transfer == TraceOp::no_transfer)
            phase = op.phase;
        else
            op.phase = phase;
}

// A thread goes on when its op has ended. That of the step is the one that computes most; no event
// tells which other thread waits for it.
void block_cores(std::vector<TraceOp>& ops)
{
    std::map<std::uint32_t, TraceTime> busy;
    for (const TraceOp& op : ops)
        if (op.transfer == TraceOp::no_transfer)
            busy[op.stream] += op.span.length();
    const auto most = std::max_element(
        busy.begin(), busy.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    for (TraceOp& op : ops)
        op.blocks_host = op.transfer == TraceOp::no_transfer && op.stream == most->first;
}

void add_host_side(const RankTrace& trace, RankActivity& out)
{
    if (trace.on_host) {
        add_pauses(out);
        out.launches = static_cast<std::uint64_t>(
            std::count_if(out.ops.begin(), out.ops.end(),
                          [](const TraceOp& op) { return op.transfer == TraceOp::no_transfer; }));
    }
    const auto has = [](const std::string& name, std::string_view part) {
        return name.find(part) != name.npos;
    };
    for (const HostEvent& event : trace.host_events) {
        if (event.activity != HostActivity::call)
            continue;
        const std::string& name = trace.text(event.name);
        if (has(name, "Synchronize"))
            out.host_waits.push_back(event.span);
        else if (has(name, "StreamWaitEvent"))
            out.stream_waits.push_back(event.span.start);
        else if (has(name, "Launch") || has(name, "Memcpy") || has(name, "Memset"))
            ++out.launches;
    }
    out.host_recorded = out.launches > 0;
    std::sort(out.host_waits.begin(), out.host_waits.end(),
              [](const TraceSpan& a, const TraceSpan& b) { return a.start < b.start; });
    std::sort(out.stream_waits.begin(), out.stream_waits.end());
}

} // namespace

DeviceWork refined(DeviceWork work, Phase phase)
{
    const bool general = work == DeviceWork::elementwise || work == DeviceWork::reduction ||
                         work == DeviceWork::other;
    return general && phase == Phase::optimizer ? DeviceWork::optimizer : work;
}

void take_apart_sums_of_gradients(std::vector<TraceOp>& ops)
{
    const auto marks = [](const TraceOp& op) {
        return op.phase == Phase::backward || op.phase == Phase::recompute ||
               op.phase == Phase::optimizer;
    };
    auto from = ops.begin(); // behind the last op that tells where the step is
    bool behind_backward = false;
    for (auto op = ops.begin(); op != ops.end(); ++op) {
        if (!marks(*op))
            continue;
        if (behind_backward && op->phase == Phase::optimizer)
            for (auto between = from; between != op; ++between)
                if (between->phase == Phase::forward && !between->crosses_host)
                    between->phase = Phase::gradient_sync;
        behind_backward = op->phase != Phase::optimizer;
        from = op + 1;
    }
}

void number_transfers(RankActivity& out)
{
    std::map<std::pair<std::string, std::size_t>, std::uint32_t> next;
    std::size_t step = 0;
    for (const TraceOp& op : out.ops) {
        while (step < out.steps.size() && op.span.start >= out.steps[step].span.end)
            ++step;
        if (op.transfer == TraceOp::no_transfer)
            continue;
        TraceTransfer& transfer = out.transfers[op.transfer];
        transfer.sequence = next[{transfer.group, step}]++;
    }
}

RankActivity activity_of(RankTrace&& trace)
{
    RankActivity out;
    out.file = trace.file;
    out.rank = trace.rank.value_or(0);
    out.device = busiest_device(trace);
    {
        ActivityBuilder builder(trace, out);
        for (std::size_t i = 0; i < trace.device_events.size(); ++i) {
            const std::uint16_t device = trace.device_events[i].device;
            if (device == out.device)
                builder.add(i);
            else if (std::find(out.other_devices.begin(), out.other_devices.end(), device) ==
                     out.other_devices.end())
                out.other_devices.push_back(device);
        }
    }
    trace.device_events.clear();
    std::stable_sort(out.ops.begin(), out.ops.end(), [](const TraceOp& a, const TraceOp& b) {
        return a.span.start < b.span.start;
    });
    out.on_host = trace.on_host;
    if (trace.on_host) {
        take_phases_of_cores(out.ops);
        block_cores(out.ops);
    }
    take_apart_sums_of_gradients(out.ops);
    add_host_side(trace, out);
    find_issue_times(out);
    find_steps(trace, out);
    number_transfers(out);
    trace.host_events.clear();
    trace.messages.clear();
    out.names = std::move(trace.names);
    return out;
}

} // namespace trainyard
