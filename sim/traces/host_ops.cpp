#include "sim/traces/host_ops.h"

#include "sim/traces/execution/op_rules.h"
#include "sim/traces/trace_words.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trainyard {
namespace {

constexpr std::uint32_t outside = ~std::uint32_t{0};

// Names of the autograd engine: what they stand around computes.
bool stands_around(std::string_view name)
{
    return phase_begun_by(name).has_value() || name.starts_with("torch::autograd::");
}

bool is_general(DeviceWork work)
{
    return work == DeviceWork::elementwise || work == DeviceWork::copy ||
           work == DeviceWork::reduction || work == DeviceWork::other;
}

class HostOps {
public:
    explicit HostOps(RankTrace& trace) : trace_(trace), inner_(trace.host_events.size())
    {
        for (std::size_t i = 0; i < trace.names.size(); ++i) {
            const std::string& name = trace.names.text(make_id<TraceNameId>(i));
            works_.push_back(stands_around(name) ? std::nullopt : work_of_op(name, ""));
            transfers_.push_back(work_of_kernel(name) == DeviceWork::communication);
        }
        nest();
    }

    bool any() const
    {
        return std::any_of(order_.begin(), order_.end(), [&](std::uint32_t i) {
            return !is_transfer(trace_.host_events[i]) && counts(i);
        });
    }

    void take()
    {
        std::vector<std::uint32_t> counted; // a thread's ops that count and are not over
        for (const std::uint32_t i : order_) {
            HostEvent& event = trace_.host_events[i];
            event.external = std::uint64_t{i} + 1;
            if (is_transfer(event)) {
                add(event);
                continue;
            }
            while (!counted.empty() && !within(i, counted.back()))
                counted.pop_back();
            if (counted.empty() && counts(i) && !of_transfers_[event.thread]) {
                counted.push_back(i);
                add(event);
            }
        }
    }

private:
    bool is_transfer(const HostEvent& event) const
    {
        return event.activity != HostActivity::call && transfers_[event.name.value];
    }

    bool within(std::uint32_t inner, std::uint32_t outer) const
    {
        const HostEvent& in = trace_.host_events[inner];
        const HostEvent& out = trace_.host_events[outer];
        return in.thread == out.thread && in.span.start < out.span.end;
    }

    // Order of threads and, in each, from the outside in; what each op's own ops take.
    void nest()
    {
        const std::deque<HostEvent>& events = trace_.host_events;
        for (std::uint32_t i = 0; i < events.size(); ++i)
            if (events[i].activity == HostActivity::op || is_transfer(events[i]))
                order_.push_back(i);
        std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
            const auto key = [&](std::uint32_t i) {
                return std::tuple(events[i].thread, events[i].span.start,
                                  -events[i].span.end.value(), i);
            };
            return key(a) < key(b);
        });
        std::vector<std::uint32_t> around;
        std::map<std::uint64_t, TraceTime> transferring; // by thread, until when
        for (const std::uint32_t i : order_) {
            TraceTime& until = transferring.try_emplace(events[i].thread).first->second;
            if (is_transfer(events[i])) { // may end on another thread
                until = std::max(until, events[i].span.end);
                of_transfers_.try_emplace(events[i].thread, true);
                continue;
            }
            of_transfers_[events[i].thread] =
                of_transfers_[events[i].thread] && events[i].span.end <= until;
            while (!around.empty() && !within(i, around.back()))
                around.pop_back();
            if (!around.empty())
                inner_[around.back()] += events[i].span.length();
            around.push_back(i);
        }
    }

    bool counts(std::uint32_t index) const
    {
        const HostEvent& event = trace_.host_events[index];
        const std::optional<DeviceWork>& work = works_[event.name.value];
        return work && event.span.length() > TraceTime() &&
               (!is_general(*work) || 2 * inner_[index].value() <= event.span.length().value());
    }

    void add(const HostEvent& event)
    {
        DeviceEvent made;
        made.span = event.span;
        made.name = event.name;
        made.external = event.external;
        made.message = event.message;
        made.stream = streams_
                          .try_emplace({event.thread, is_transfer(event)},
                                       static_cast<std::uint32_t>(streams_.size()))
                          .first->second;
        trace_.device_events.push_back(made);
    }

    RankTrace& trace_;
    std::vector<std::optional<DeviceWork>> works_; // by name
    std::vector<bool> transfers_;                  // by name
    std::vector<TraceTime> inner_;                 // by host event: what ops within it take
    std::vector<std::uint32_t> order_;
    std::map<std::uint64_t, bool> of_transfers_; // threads: all that they do is within transfers
    std::map<std::pair<std::uint64_t, bool>, std::uint32_t> streams_;
};

bool names_device(const RankTrace& trace)
{
    return !trace.device_events.empty() || !trace.devices.empty() ||
           trace.backend.find("nccl") != std::string::npos ||
           std::any_of(trace.host_events.begin(), trace.host_events.end(),
                       [&](const HostEvent& event) {
                           return event.activity == HostActivity::call ||
                                  trace.text(event.name).starts_with("nccl:");
                       });
}

} // namespace

bool take_host_ops(RankTrace& trace)
{
    if (names_device(trace))
        return false;
    HostOps ops(trace);
    if (!ops.any())
        return false;
    ops.take();
    trace.on_host = true;
    return true;
}

} // namespace trainyard
