#include "sim/report/traces/recorded_events.h"

#include "sim/report/text/describe.h"
#include "sim/report/timeline/kineto_names.h"
#include "sim/traces/rebuilt_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace trainyard {
namespace {

constexpr int first_process = 10'000'000; // behind all ranks

// Ends are rounded alike, so that neighbours still meet.
std::string span_text(TraceTime start, TraceTime end)
{
    const auto text = [](std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); };
    return fmt::format("\"ts\": {}, \"dur\": {}", text(start.value()), text((end - start).value()));
}

std::string arguments_of(const RankActivity& rank, const TraceOp& op)
{
    std::string out = fmt::format("\"class\": {}, \"phase\": \"{}\"", json_text(title_of(op.work)),
                                  to_name(op.phase));
    if (op.shapes.valid())
        out += fmt::format(", \"Input Dims\": {}", json_text(rank.text(op.shapes)));
    if (op.transfer != TraceOp::no_transfer) {
        const TraceTransfer& transfer = rank.transfers[op.transfer];
        out += fmt::format(", \"bytes\": {}, \"Group size\": {}", transfer.bytes, transfer.ranks);
        if (transfer.kind)
            out += fmt::format(", \"collective\": \"{}\"", to_name(*transfer.kind));
    }
    return out;
}

class RecordedEvents {
public:
    // The step begins at `at`, of the trace's time.
    RecordedEvents(const JobTrace& job, TraceTime at) : job_(job)
    {
        const std::vector<int> steps = common_steps(job);
        if (steps.empty())
            return;
        TraceTime first;
        for (std::size_t r = 0; r < job.ranks.size(); ++r) {
            const TraceTime start =
                step_numbered(job.ranks[r], steps.front()).span.start - job.clock_offsets[r];
            first = r == 0 ? start : std::min(first, start);
        }
        for (std::size_t r = 0; r < job.ranks.size(); ++r)
            add_rank(r, steps.front(), at - first - job.clock_offsets[r]);
    }

    std::string text() const { return fmt::format("{}", fmt::join(events_, ",\n")); }

private:
    void add_rank(std::size_t r, int number, TraceTime shift)
    {
        const RankActivity& rank = job_.ranks[r];
        const TraceSpan& span = step_numbered(rank, number).span;
        const int process = first_process + rank.rank;
        name(process, 0, "process_name", fmt::format("rank {}, recorded", rank.rank));
        events_.push_back(fmt::format(
            "{{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"recorded step {}\", "
            "\"pid\": {}, \"tid\": -1, {}}}",
            number, process, span_text(span.start + shift, span.end + shift)));
        std::set<std::uint32_t> streams;
        for (const TraceOp& op : rank.ops) {
            if (op.span.start < span.start || op.span.start >= span.end)
                continue;
            if (streams.insert(op.stream).second)
                name(process, op.stream, "thread_name", fmt::format("stream {}", op.stream));
            events_.push_back(fmt::format(
                "{{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": {}, \"pid\": {}, \"tid\": {}, {}, "
                "\"args\": {{{}}}}}",
                json_text(rank.text(op.name)), process, op.stream,
                span_text(op.span.start + shift, op.span.end + shift), arguments_of(rank, op)));
        }
    }

    void name(int process, std::uint32_t thread, std::string_view what, const std::string& text)
    {
        events_.push_back(fmt::format("{{\"ph\": \"M\", \"name\": \"{}\", \"pid\": {}, \"tid\": "
                                      "{}, \"args\": {{\"name\": {}}}}}",
                                      what, process, thread, json_text(text)));
    }

    const JobTrace& job_;
    std::vector<std::string> events_;
};

TraceTime start_of(const Outcome& simulated)
{
    SimTime first;
    bool any = false;
    for (const OpRecord& record : simulated.result->records) {
        const SimTime start = std::min(record.issued, record.start);
        first = any ? std::min(first, start) : start;
        any = true;
    }
    return TraceTime(first.value() / 1000);
}

} // namespace

void write_both_steps(const std::filesystem::path& path, const JobTrace& job,
                      const Outcome& simulated)
{
    TraceOptions options;
    options.more_events = RecordedEvents(job, start_of(simulated)).text();
    write_kineto_trace(path, simulated, options);
}

} // namespace trainyard
