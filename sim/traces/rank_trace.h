#pragma once

// What a profiler recorded of one rank, kept small: names once, an event in a few words. Times are
// nanoseconds since the epoch of the rank's clock.

#include "sim/base/ids.h"
#include "sim/base/quantity.h"
#include "sim/base/vocabulary.h"

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace trainyard {

using TraceTime = Quantity<struct NanosecondTag, std::int64_t>;
using TraceNameId = Id<struct TraceNameTag>;

constexpr Seconds to_seconds(TraceTime time)
{
    return Seconds(static_cast<double>(time.value()) * 1e-9);
}

// Texts of a trace, each once.
class TraceNames {
public:
    TraceNameId intern(std::string_view text);
    const std::string& text(TraceNameId id) const { return texts_[id.value]; }
    std::size_t size() const { return texts_.size(); }

private:
    std::deque<std::string> texts_; // stable: keys of ids_ point into it
    std::unordered_map<std::string_view, TraceNameId> ids_;
};

struct TraceSpan {
    TraceTime start;
    TraceTime end;

    TraceTime length() const { return end - start; }
    bool operator==(const TraceSpan&) const = default;
};

// What PyTorch writes of a collective or message; numbers are those of one rank.
struct TraceMessage {
    TraceNameId collective; // "_allgather_base", "allreduce", ...
    TraceNameId dtype;      // "BFloat16"
    TraceNameId group;      // name of the process group
    TraceNameId purpose;    // its description
    TraceNameId ranks;      // "[0, 1, 2, 3]"; cut in the middle where there are many
    std::uint64_t in_elements = 0;
    std::uint64_t out_elements = 0;
    int group_size = 0;
    int peer = -1;         // the other end of a message
    TraceTime moving_from; // when data began to move, where the trace says so; else 0

    bool operator==(const TraceMessage&) const = default;
};

enum class DeviceActivity : std::uint8_t { kernel, copy, set };

struct DeviceEvent {
    TraceSpan span;
    TraceNameId name;
    std::uint64_t correlation = 0; // of its launch; 0: none
    std::uint64_t external = 0;    // id of the host op that launched it; 0: none
    std::uint64_t bytes = 0;       // of a copy
    std::uint32_t stream = 0;
    std::uint32_t message = 0; // one past its place in RankTrace::messages; 0: none
    std::uint16_t device = 0;
    DeviceActivity activity = DeviceActivity::kernel;
    std::optional<Phase> phase; // where the trace says it
};

enum class HostActivity : std::uint8_t { op, call, annotation };

struct HostEvent {
    TraceSpan span;
    TraceNameId name;
    TraceNameId shapes; // "[[8, 512], [512, 64]]" of an op's inputs
    TraceNameId types;  // of its inputs
    std::uint64_t thread = 0;
    std::uint64_t correlation = 0; // of a call that launches
    std::uint64_t external = 0;    // of an op: its id
    std::uint32_t message = 0;     // as in DeviceEvent
    HostActivity activity = HostActivity::op;
};

// A process group as the profiler lists it.
struct TraceGroup {
    std::string name;
    std::string purpose;
    int size = 0;
    std::vector<int> ranks; // empty: not listed in full

    bool operator==(const TraceGroup&) const = default;
};

struct RankTrace {
    std::string file;
    std::optional<int> rank;
    std::optional<int> world;
    std::string backend;
    std::vector<std::string> devices; // models, as the driver names them
    std::vector<TraceGroup> groups;
    TraceNames names;
    std::vector<TraceMessage> messages;
    std::deque<DeviceEvent> device_events; // deques: growing them copies nothing
    std::deque<HostEvent> host_events;
    std::uint64_t events = 0;    // of the file, those that are not kept too
    std::uint64_t backwards = 0; // device events that end before they begin
    std::uint64_t graphs = 0;    // device events that are a CUDA graph each, with all its kernels
    bool simulated = false;      // an export of a simulated step
    bool on_host = false;        // device events are ops of the host's cores (host_ops.h)

    const std::string& text(TraceNameId id) const
    {
        static const std::string none;
        return id.valid() ? names.text(id) : none;
    }
};

} // namespace trainyard
