#include "sim/report/timeline/kineto.h"

#include "sim/base/build_info.h"
#include "sim/base/files.h"
#include "sim/report/text/describe.h"
#include "sim/report/timeline/kineto_arguments.h"
#include "sim/report/timeline/kineto_names.h"
#include "sim/report/timeline/memory_curve.h"
#include "sim/report/timeline/recorded.h"
#include "sim/strategy/rank_layout.h"
#include "sim/study/recorded/record_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

namespace trainyard {

namespace {

constexpr int host_thread = 0;
constexpr int step_thread = 1000;
constexpr std::size_t counter_points = 2000;

// Writes events one after the other, straight into the text.
class TraceWriter {
public:
    TraceWriter(const Outcome& outcome, const TraceOptions& options)
        : outcome_(outcome),
          program_(outcome.plan->program),
          records_(outcome.result->records),
          layout_(outcome.job),
          graph_(program_, *outcome.binding, records_),
          arguments_(outcome, graph_),
          more_events_(options.more_events)
    {
        for (std::size_t i = 0; i < records_.size(); ++i)
            if (options.ranks.empty() || contains(options.ranks, lane_of(records_[i]).rank))
                chosen_.push_back(i);
        for (const Tensor& tensor : program_.tensors)
            held_kinds_[static_cast<std::size_t>(tensor.kind)] = true;
        // Thread by thread, each in time: half the size of a mixed file when compressed.
        std::stable_sort(chosen_.begin(), chosen_.end(), [&](std::size_t a, std::size_t b) {
            return std::pair(records_[a].lane, records_[a].stream) <
                   std::pair(records_[b].lane, records_[b].stream);
        });
    }

    std::string text()
    {
        const std::set<LaneId> lanes = lanes_shown();
        write_head(lanes);
        out_ += "\"traceEvents\": [\n";
        std::size_t order = 0;
        for (const LaneId lane : lanes)
            write_names(lane, order++);
        write_steps(lanes);
        for (const std::size_t i : chosen_)
            write_op(i);
        for (const LaneId lane : lanes)
            write_launches(lane);
        write_messages();
        for (const LaneId lane : lanes)
            write_memory(lane);
        if (!more_events_.empty())
            event("{}", more_events_);
        out_ += "\n]}\n";
        return std::move(out_);
    }

private:
    static bool contains(const std::vector<RankId>& ranks, RankId rank)
    {
        return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
    }

    const Lane& lane_of(const OpRecord& record) const
    {
        return outcome_.binding->lanes[record.lane.value];
    }

    std::set<LaneId> lanes_shown() const
    {
        std::set<LaneId> lanes;
        for (const std::size_t i : chosen_)
            lanes.insert(records_[i].lane);
        return lanes;
    }

    template <class... Args>
    void event(fmt::format_string<Args...> format, Args&&... args)
    {
        out_ += first_ ? "" : ",\n";
        first_ = false;
        fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    }

    void write_head(const std::set<LaneId>& lanes)
    {
        const std::uint32_t rank =
            lanes.empty() ? 0 : outcome_.binding->lanes[lanes.begin()->value].rank.value;
        fmt::format_to(std::back_inserter(out_),
                       "{{\"schemaVersion\": 1,\n\"distributedInfo\": {{\"backend\": {}, \"rank\": "
                       "{}, \"world_size\": {}, \"pg_config\": [",
                       json_text(to_name(outcome_.job.strategy.backend)), rank,
                       outcome_.job.world());
        write_groups(lanes);
        fmt::format_to(std::back_inserter(out_),
                       "]}},\n\"displayTimeUnit\": \"ms\",\n\"trainyard\": {{\"version\": {}, "
                       "\"job\": {}, \"settings\": {}, \"input_hash\": {}, \"seed\": {}}},\n",
                       json_text(version()), json_text(job_title(outcome_)),
                       json_text(job_settings(outcome_)), json_text(hash_text(outcome_.input_hash)),
                       outcome_.scenario.run.seed);
    }

    // The groups that the ranks shown belong to.
    void write_groups(const std::set<LaneId>& lanes)
    {
        std::set<std::string> seen;
        for (const LaneId lane : lanes)
            for (const GroupSlotInfo& slot : program_.groups) {
                const auto members =
                    layout_.members(slot.kind, outcome_.binding->lanes[lane.value].rank);
                const std::string name = kineto_group_name(slot.kind, members);
                if (members.size() < 2 || !seen.insert(name).second)
                    continue;
                fmt::format_to(std::back_inserter(out_),
                               "{}{{\"pg_name\": {}, \"pg_desc\": {}, \"pg_size\": {}, \"ranks\": "
                               "{}}}",
                               seen.size() > 1 ? ", " : "", json_text(name),
                               json_text(to_name(slot.kind)), members.size(),
                               json_text(kineto_rank_list(members)));
            }
    }

    static std::string stands_for(const Lane& lane)
    {
        return lane.multiplicity > 1 ? fmt::format(", stands for {} ranks", lane.multiplicity) : "";
    }

    void write_names(LaneId id, std::size_t order)
    {
        const Lane& lane = outcome_.binding->lanes[id.value];
        const std::uint32_t pid = lane.rank.value;
        const NodeId node = outcome_.topology->device(DeviceId{pid}).node;
        const auto meta = [&](std::string_view what, int tid, const std::string& args) {
            event("{{\"ph\": \"M\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"args\": {{{}}}}}",
                  what, pid, tid, args);
        };
        meta("process_name", 0,
             fmt::format("\"name\": {}", json_text(fmt::format("rank {}", pid))));
        meta("process_labels", 0,
             fmt::format("\"labels\": {}",
                         json_text(fmt::format("{}, node {}{}", stage_name(program_, lane.role),
                                               node.value, stands_for(lane)))));
        meta("process_sort_index", 0, fmt::format("\"sort_index\": {}", order));
        meta("thread_name", step_thread, "\"name\": \"steps\"");
        for (std::size_t i = 0; i < program_.streams.size(); ++i) {
            const int tid = static_cast<int>(i);
            meta("thread_name", tid,
                 fmt::format("\"name\": {}", json_text(program_.streams[i].name)));
            meta("thread_sort_index", tid, fmt::format("\"sort_index\": {}", tid));
        }
    }

    void write_steps(const std::set<LaneId>& lanes)
    {
        std::map<std::pair<LaneId, std::uint16_t>, std::pair<SimTime, SimTime>> spans;
        for (const std::size_t i : chosen_) {
            const OpRecord& record = records_[i];
            auto [at, fresh] =
                spans.try_emplace({record.lane, record.step}, std::pair(record.issued, record.end));
            at->second.first = std::min({at->second.first, record.issued, record.start});
            at->second.second = std::max(at->second.second, record.end);
        }
        for (const LaneId lane : lanes) {
            SimTime free; // steps overlap where prefetch crosses their border
            for (const auto& [key, span] : spans) {
                if (key.first != lane)
                    continue;
                const SimTime start = std::max(span.first, free);
                free = std::max(span.second, start);
                event("{{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": "
                      "\"ProfilerStep#{}\", \"pid\": {}, \"tid\": {}, \"ts\": {}, \"dur\": {}}}",
                      key.second, outcome_.binding->lanes[lane.value].rank.value, step_thread,
                      microseconds(start), length(start, free));
            }
        }
    }

    void write_op(std::size_t index)
    {
        const OpRecord& record = records_[index];
        const Label& label = program_.labels[record.label.value];
        const std::uint32_t rank = lane_of(record).rank.value;
        if (record.stream == host_stream)
            return; // with the launches, which share its thread
        event("{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": {}, \"pid\": {}, \"tid\": {}, \"ts\": "
              "{}, \"dur\": {}, \"args\": {{{}}}}}",
              record.kind == OpKind::copy ? "gpu_memcpy" : "kernel",
              json_text(name_of(record, label)), rank, record.stream.value,
              microseconds(record.start), length(record.start, record.end), arguments_.of(index));
    }

    std::string name_of(const OpRecord& record, const Label& label) const
    {
        if (record.kind == OpKind::copy)
            return fmt::format("Memcpy ({})", label.name);
        if (record.kind == OpKind::compute)
            return label.name;
        if (const Backend backend = outcome_.job.strategy.backend; on_host(backend))
            return fmt::format("{}:{} ({})", to_name(backend),
                               kineto_collective_name(label.collective), label.name);
        return fmt::format("{} ({})", nccl_kernel_name(label.collective), label.name);
    }

    // The host's thread: its own work, and the launch of every device op, cut where the next
    // begins.
    void write_launches(LaneId lane)
    {
        struct HostEvent {
            SimTime start;
            SimTime end;
            std::size_t record;
        };
        std::vector<HostEvent> events;
        for (const std::size_t i : chosen_) {
            const OpRecord& record = records_[i];
            if (record.lane != lane)
                continue;
            if (record.stream == host_stream) {
                events.push_back({record.start, record.end, i});
                continue;
            }
            const int kernels = graph_.op_of(static_cast<RecordIndex>(i)).kernels;
            const Phase phase = program_.labels[record.label.value].phase;
            const SimTime each =
                outcome_.binding->costs.host_per_kernel[static_cast<std::size_t>(phase)];
            events.push_back({record.issued, record.issued + each * kernels, i});
        }
        std::stable_sort(events.begin(), events.end(),
                         [](const HostEvent& a, const HostEvent& b) { return a.start < b.start; });
        for (std::size_t i = 0; i + 1 < events.size(); ++i)
            events[i].end = std::min(events[i].end, events[i + 1].start);
        for (const HostEvent& at : events)
            write_host_event(at.start, at.end, at.record);
    }

    void write_host_event(SimTime start, SimTime end, std::size_t index)
    {
        const OpRecord& record = records_[index];
        const bool own = record.stream == host_stream;
        const std::string name =
            own ? program_.labels[record.label.value].name : std::string("cudaLaunchKernel");
        event("{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": {}, \"pid\": {}, \"tid\": {}, \"ts\": "
              "{}, \"dur\": {}, \"args\": {{\"correlation\": {}}}}}",
              own ? "cpu_op" : "cuda_runtime", json_text(name), lane_of(record).rank.value,
              host_thread, microseconds(start), length(start, end), index + 1);
    }

    // Of ends rounded alike, so that neighbours still meet.
    static std::string length(SimTime start, SimTime end)
    {
        return microseconds(to_nanosecond(end) - to_nanosecond(start));
    }

    // Arrows from each send to its receive, bound to the middle of their transfers. A send that is
    // batched with something slower may end later than its receive; arrows never point back.
    void write_messages()
    {
        const std::set<std::size_t> chosen(chosen_.begin(), chosen_.end());
        std::size_t id = records_.size() + 1;
        for (const RecordGraph::Message& message : graph_.messages()) {
            if (!chosen.contains(message.send) || !chosen.contains(message.receive))
                continue;
            const SimTime received = middle(records_[message.receive]);
            const SimTime sent = std::max(records_[message.send].start,
                                          std::min(middle(records_[message.send]), received));
            write_arrow_end(id, message.send, sent, "\"ph\": \"s\"");
            write_arrow_end(id, message.receive, received, "\"ph\": \"f\", \"bp\": \"e\"");
            ++id;
        }
    }

    // Counters of what a device holds, by kind: at most `counter_points` a step, the fullest moment
    // of each stretch of time.
    void write_memory(LaneId lane)
    {
        std::set<std::uint16_t> steps;
        for (const std::size_t i : chosen_)
            if (records_[i].lane == lane)
                steps.insert(records_[i].step);
        for (const std::uint16_t step : steps) {
            const std::vector<HeldBytes> points = memory_curve(outcome_, lane, step).points;
            const std::size_t stretch = points.size() / counter_points + 1;
            for (std::size_t i = 0; i < points.size(); i += stretch) {
                const auto first = points.begin() + static_cast<std::ptrdiff_t>(i);
                const auto last =
                    first + static_cast<std::ptrdiff_t>(std::min(stretch, points.size() - i));
                write_counter(lane,
                              *std::max_element(first, last, [](const auto& a, const auto& b) {
                                  return a.bytes < b.bytes;
                              }));
            }
        }
    }

    void write_counter(LaneId lane, const HeldBytes& point)
    {
        std::string kinds;
        for (std::size_t k = 0; k < point.kinds.size(); ++k)
            if (const auto kind = static_cast<MemoryKind>(k); held_kinds_[k] && on_device(kind))
                kinds += fmt::format("{}\"{}\": {}", kinds.empty() ? "" : ", ", to_name(kind),
                                     point.kinds[k]);
        if (kinds.empty())
            return;
        event("{{\"ph\": \"C\", \"name\": \"memory held (bytes)\", \"pid\": {}, \"tid\": {}, "
              "\"ts\": {}, \"args\": {{{}}}}}",
              outcome_.binding->lanes[lane.value].rank.value, host_thread, microseconds(point.time),
              kinds);
    }

    static SimTime middle(const OpRecord& record)
    {
        return record.transfer_start + SimTime((record.end - record.transfer_start).value() / 2);
    }

    void write_arrow_end(std::size_t id, std::size_t index, SimTime time, std::string_view phase)
    {
        event("{{{}, \"cat\": \"message\", \"name\": \"message\", \"id\": {}, \"pid\": {}, "
              "\"tid\": {}, \"ts\": {}}}",
              phase, id, lane_of(records_[index]).rank.value, records_[index].stream.value,
              microseconds(time));
    }

    const Outcome& outcome_;
    const Program& program_;
    const std::vector<OpRecord>& records_;
    RankLayout layout_;
    RecordGraph graph_;
    OpArguments arguments_;
    const std::string& more_events_;
    std::vector<std::size_t> chosen_;
    std::array<bool, memory_kind_count> held_kinds_{}; // that the program names at all
    std::string out_;
    bool first_ = true;
};

} // namespace

std::string kineto_trace(const Outcome& outcome, const TraceOptions& options)
{
    return TraceWriter(outcome, options).text();
}

void write_kineto_trace(const std::filesystem::path& path, const Outcome& outcome,
                        const TraceOptions& options)
{
    const std::string text = kineto_trace(outcome, options);
    if (path.extension() == ".gz")
        write_file_gzip(path, text);
    else
        write_file(path, text);
}

} // namespace trainyard
