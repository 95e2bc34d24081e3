#pragma once

// A trace as PyTorch's profiler writes it, event by event. Times are microseconds.

#include "sim/traces/job_trace.h"
#include "sim/traces/kineto_reader.h"
#include "tests/catch.h"
#include "tests/support/folder.h"

#include <fmt/format.h>

#include <string>

namespace trainyard::test {

class WrittenTrace {
public:
    explicit WrittenTrace(int rank = 0, int world = 2) : rank_(rank), world_(world) {}

    WrittenTrace& kernel(const std::string& name, double start, double length,
                         const std::string& arguments = "", int stream = 7)
    {
        return event("kernel", name, fmt::format("\"pid\": 0, \"tid\": {}", stream), start, length,
                     fmt::format("\"stream\": {}, \"device\": 0, \"correlation\": {}{}", stream,
                                 ++launches_, arguments));
    }
    // Of the kernel that was added last.
    WrittenTrace& launch(double start, double length, int thread = 1)
    {
        return event("cuda_runtime", "cudaLaunchKernel",
                     fmt::format("\"pid\": 9, \"tid\": {}", thread), start, length,
                     fmt::format("\"correlation\": {}", launches_));
    }
    WrittenTrace& host(const std::string& category, const std::string& name, double start,
                       double length, const std::string& arguments = "\"Ev Idx\": 0",
                       int thread = 1)
    {
        return event(category, name, fmt::format("\"pid\": 9, \"tid\": {}", thread), start, length,
                     arguments);
    }
    // A call of the runtime that launches nothing: "cudaStreamWaitEvent", "cudaDeviceSynchronize".
    WrittenTrace& call(const std::string& name, double start, double length)
    {
        return event("cuda_runtime", name, "\"pid\": 9, \"tid\": 1", start, length, "\"x\": 0");
    }
    WrittenTrace& step(int number, double start, double length)
    {
        return host("user_annotation", fmt::format("ProfilerStep#{}", number), start, length);
    }
    // A collective of two ranks with `elements` floats.
    WrittenTrace& all_reduce(double start, double length, int elements,
                             const std::string& ranks = "[0, 1]")
    {
        return kernel(
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", start,
            length,
            fmt::format(", \"Collective name\": \"allreduce\", \"In msg nelems\": {0}, \"Out msg "
                        "nelems\": {0}, \"Group size\": 2, \"dtype\": \"Float\", \"Process Group "
                        "Name\": \"0\", \"Process Group Description\": \"default_pg\", \"Process "
                        "Group Ranks\": \"{1}\"",
                        elements, ranks),
            24);
    }

    // Another process group beside the one of all ranks.
    WrittenTrace& group(const std::string& name, const std::string& purpose, int size)
    {
        groups_ += fmt::format(", {{\"pg_name\": \"{}\", \"pg_desc\": \"{}\", \"pg_size\": {}}}",
                               name, purpose, size);
        return *this;
    }

    // When the times of events begin, since the epoch.
    WrittenTrace& recorded_at(std::int64_t nanoseconds)
    {
        base_ = nanoseconds;
        return *this;
    }

    // Of a job over Gloo on a machine without devices.
    WrittenTrace& on_cores()
    {
        devices_.clear();
        backend_ = "gloo";
        return *this;
    }

    std::string text() const
    {
        return fmt::format(
            "{{\"schemaVersion\": 1, \"deviceProperties\": [{}], \"distributedInfo\": "
            "{{\"backend\": \"{}\", \"rank\": {}, \"world_size\": {}, \"pg_config\": "
            "[{{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"pg_size\": {}}}{}]}}, "
            "\"traceEvents\": [\n{}\n], \"baseTimeNanoseconds\": {}}}\n",
            devices_, backend_, rank_, world_, world_, groups_, fmt::join(events_, ",\n"), base_);
    }

    RankTrace read() const
    {
        const testing::Folder folder;
        Checked<std::vector<RankTrace>> ranks = read_kineto(folder.file("trace.json", text()));
        if (!ranks)
            FAIL(render(ranks.error(), ""));
        REQUIRE(ranks->size() == 1);
        return std::move(ranks->front());
    }

private:
    WrittenTrace& event(const std::string& category, const std::string& name,
                        const std::string& place, double start, double length,
                        const std::string& arguments)
    {
        events_.push_back(fmt::format("{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", {}, "
                                      "\"ts\": {:.3f}, \"dur\": {:.3f}, \"args\": {{{}}}}}",
                                      category, name, place, start, length, arguments));
        return *this;
    }

    int rank_;
    int world_;
    std::string devices_ = "{\"id\": 0, \"name\": \"NVIDIA H100\"}";
    std::string backend_ = "nccl";
    std::string groups_;
    int launches_ = 0;
    std::int64_t base_ = 1'000'000'000;
    std::vector<std::string> events_;
};

inline TraceTime at_us(double microseconds)
{
    return TraceTime(1'000'000'000 + static_cast<std::int64_t>(microseconds * 1000));
}

inline TraceTime us(double microseconds)
{
    return TraceTime(static_cast<std::int64_t>(microseconds * 1000));
}

inline Checked<JobTrace> joined(const std::vector<WrittenTrace>& written)
{
    std::vector<DigestedRank> ranks;
    for (const WrittenTrace& trace : written)
        ranks.push_back(digest(trace.read()));
    return join_ranks(std::move(ranks));
}

} // namespace trainyard::test
