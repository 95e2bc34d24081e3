#include "sim/traces/host_context.h"

#include "sim/traces/trace_words.h"

#include <algorithm>
#include <tuple>

namespace trainyard {
namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

// What holds within a host event, itself included.
struct HostPlace {
    Phase phase = Phase::other;
    std::uint32_t shaped = none; // innermost op with shapes
    std::uint32_t message = 0;
};

class HostPlaces {
public:
    explicit HostPlaces(const RankTrace& trace) : trace_(trace), places_(trace.host_events.size())
    {
        for (std::size_t i = 0; i < trace.names.size(); ++i)
            phases_.push_back(phase_begun_by(trace.names.text(make_id<TraceNameId>(i))));
        walk();
        for (std::uint32_t i = 0; i < places_.size(); ++i) {
            const HostEvent& event = trace.host_events[i];
            if (event.activity == HostActivity::call && event.correlation != 0)
                calls_.emplace_back(event.correlation, i);
            else if (event.activity != HostActivity::call && event.external != 0)
                ops_.emplace_back(event.external, i);
        }
        std::sort(calls_.begin(), calls_.end());
        std::sort(ops_.begin(), ops_.end());
    }

    LaunchContext of(const DeviceEvent& event) const
    {
        LaunchContext out;
        const std::uint32_t call = find(calls_, event.correlation);
        std::uint64_t external = event.external;
        if (call != none) {
            const HostEvent& launch = trace_.host_events[call];
            out.issued = std::min(launch.span.end, event.span.start);
            out.call = launch.span;
            if (external == 0 && launch.external != launch.correlation)
                external = launch.external;
        }
        const std::uint32_t op = find(ops_, external);
        const std::uint32_t at = op != none ? op : call;
        if (at == none)
            return out;
        if (trace_.on_host) // a core is given its work when it does it
            out.issued = event.span.start;
        const HostPlace& place = places_[at];
        out.phase = place.phase;
        out.message = place.message;
        if (place.shaped != none) {
            const HostEvent& shaped = trace_.host_events[place.shaped];
            std::tie(out.op, out.shapes, out.types) =
                std::tie(shaped.name, shaped.shapes, shaped.types);
        }
        return out;
    }

private:
    using Index = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

    static std::uint32_t find(const Index& index, std::uint64_t key)
    {
        const auto at = std::lower_bound(index.begin(), index.end(), std::pair(key, 0U));
        return key != 0 && at != index.end() && at->first == key ? at->second : none;
    }

    // Thread by thread from the outside in.
    void walk()
    {
        const std::deque<HostEvent>& events = trace_.host_events;
        std::vector<std::uint32_t> order(events.size());
        bool any_op = false;
        for (std::uint32_t i = 0; i < order.size(); ++i) {
            order[i] = i;
            any_op = any_op || events[i].activity == HostActivity::op;
        }
        std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            const auto key = [&](std::uint32_t i) {
                return std::tuple(events[i].thread, events[i].span.start,
                                  -events[i].span.end.value(), i);
            };
            return key(a) < key(b);
        });
        std::vector<std::uint32_t> around;
        HostPlace outermost;
        outermost.phase = any_op ? Phase::forward : Phase::other;
        for (const std::uint32_t i : order) {
            while (!around.empty() && (events[around.back()].thread != events[i].thread ||
                                       events[around.back()].span.end <= events[i].span.start))
                around.pop_back();
            places_[i] = within(around.empty() ? outermost : places_[around.back()], i);
            if (events[i].activity != HostActivity::call)
                around.push_back(i);
        }
    }

    HostPlace within(HostPlace place, std::uint32_t index) const
    {
        const HostEvent& event = trace_.host_events[index];
        if (event.activity == HostActivity::call)
            return place;
        place.phase = phase_within(place.phase, phases_[event.name.value], trace_.text(event.name));
        if (event.shapes.valid())
            place.shaped = index;
        if (event.message != 0)
            place.message = event.message;
        return place;
    }

    const RankTrace& trace_;
    std::vector<HostPlace> places_;
    std::vector<std::optional<Phase>> phases_; // by name
    Index calls_;
    Index ops_;
};

} // namespace

std::vector<LaunchContext> launch_contexts(const RankTrace& trace)
{
    const HostPlaces places(trace);
    std::vector<LaunchContext> out;
    out.reserve(trace.device_events.size());
    for (const DeviceEvent& event : trace.device_events)
        out.push_back(places.of(event));
    return out;
}

} // namespace trainyard
