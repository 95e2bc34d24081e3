#include "sim/base/files.h"
#include "sim/report/timeline/kineto.h"
#include "sim/report/timeline/kineto_names.h"
#include "tests/catch.h"
#include "tests/support/folder.h"
#include "tests/unit/report/small_outcome.h"

#include <cmath>
#include <filesystem>
#include <map>

using namespace trainyard;
using namespace trainyard::test;

namespace {

Json trace_of(const Outcome& outcome, const TraceOptions& options = {})
{
    const Checked<Json> json = parse_json(kineto_trace(outcome, options), "trace.json");
    REQUIRE(json);
    return *json;
}

std::string text_of(const Json& event, std::string_view key)
{
    const Json* value = event.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : "";
}

std::vector<Json> events_of(const Json& trace, std::string_view phase)
{
    std::vector<Json> out;
    for (const Json& event : trace.find("traceEvents")->items())
        if (text_of(event, "ph") == phase)
            out.push_back(event);
    return out;
}

} // namespace

TEST_CASE("a trace parses and says where it belongs")
{
    const Json trace = trace_of(recorded_outcome());
    CHECK(trace.find("schemaVersion")->as_integer() == 1);
    const Json& job = *trace.find("distributedInfo");
    CHECK(job.find("backend")->as_string() == "nccl");
    CHECK(job.find("world_size")->as_integer() == 4);
    CHECK(job.find("pg_config")->items().size() == 2);
    CHECK(trace.find("trainyard")->find("input_hash")->as_string() == "0x0123456789abcdef");
}

TEST_CASE("slices of one thread do not overlap")
{
    const Json trace = trace_of(recorded_outcome());
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::pair<double, double>>> threads;
    for (const Json& event : events_of(trace, "X"))
        threads[{event.find("pid")->as_integer(), event.find("tid")->as_integer()}].emplace_back(
            event.find("ts")->as_double(), event.find("dur")->as_double());
    CHECK(threads.size() == 4 * 5); // four ranks: host, compute, dp, pp, steps
    for (auto& [thread, slices] : threads) {
        std::sort(slices.begin(), slices.end());
        for (std::size_t i = 1; i < slices.size(); ++i)
            CHECK(slices[i - 1].first + slices[i - 1].second <= slices[i].first + 1e-6);
    }
}

TEST_CASE("collectives carry PyTorch's own argument names")
{
    const Json trace = trace_of(recorded_outcome());
    int found = 0;
    for (const Json& event : events_of(trace, "X")) {
        const Json* args = event.find("args");
        if (args == nullptr || text_of(*args, "Collective name") != "allreduce")
            continue;
        ++found;
        CHECK_THAT(text_of(event, "name"), StartsWith("ncclDevKernel_AllReduce"));
        CHECK(text_of(event, "cat") == "kernel");
        CHECK(args->find("In msg nelems")->as_integer() == 250'000'000); // 1 GB of fp32
        CHECK(args->find("Out msg nelems")->as_integer() == 250'000'000);
        CHECK(args->find("Group size")->as_integer() == 2);
        CHECK(text_of(*args, "dtype") == "Float");
        CHECK(text_of(*args, "Process Group Description") == "dp");
        const bool first = event.find("pid")->as_integer() < 2;
        CHECK(text_of(*args, "Process Group Ranks") == (first ? "[0, 1]" : "[2, 3]"));
        CHECK(text_of(*args, "Process Group Name") == (first ? "dp_0" : "dp_2"));
    }
    CHECK(found == 4);
}

TEST_CASE("sends and receives name their peer and are joined by arrows that point forward")
{
    const Json trace = trace_of(recorded_outcome());
    int sends = 0;
    for (const Json& event : events_of(trace, "X")) {
        const Json* args = event.find("args");
        if (args == nullptr)
            continue;
        if (text_of(*args, "Collective name") == "recv") // 40 MB of bf16
            CHECK(args->find("Out msg nelems")->as_integer() == 20'000'000);
        if (text_of(*args, "Collective name") != "send")
            continue;
        ++sends;
        CHECK(std::abs(args->find("Dst Rank")->as_integer() - event.find("pid")->as_integer()) ==
              2);
    }
    CHECK(sends == 8);
    std::map<std::int64_t, double> starts;
    for (const Json& event : events_of(trace, "s"))
        starts[event.find("id")->as_integer()] = event.find("ts")->as_double();
    CHECK(starts.size() == 8);
    for (const Json& event : events_of(trace, "f"))
        CHECK(starts.at(event.find("id")->as_integer()) <= event.find("ts")->as_double());
}

TEST_CASE("kernels and their launches share a correlation, launches come first")
{
    const Json trace = trace_of(recorded_outcome());
    std::map<std::int64_t, double> launches;
    std::size_t kernels = 0;
    for (const Json& event : events_of(trace, "X"))
        if (text_of(event, "cat") == "cuda_runtime")
            launches[event.find("args")->find("correlation")->as_integer()] =
                event.find("ts")->as_double();
    for (const Json& event : events_of(trace, "X"))
        if (text_of(event, "cat") == "kernel") {
            ++kernels;
            CHECK(launches.contains(event.find("args")->find("correlation")->as_integer()));
        }
    CHECK(kernels == launches.size());
    CHECK(kernels == 40);
}

TEST_CASE("a trace can hold one rank")
{
    const Json trace = trace_of(recorded_outcome(), {{RankId{2}}});
    for (const Json& event : trace.find("traceEvents")->items())
        CHECK(event.find("pid")->as_integer() == 2);
    CHECK(trace.find("distributedInfo")->find("rank")->as_integer() == 2);
}

TEST_CASE("times are whole nanoseconds, and neighbours still meet")
{
    CHECK(microseconds(SimTime(1'234'499)) == "1.234");
    CHECK(microseconds(SimTime(1'234'500)) == "1.235");
    // Stage 0's first pass runs from 300 ps to 10 ms and 600 ps. Its length alone would be rounded
    // down, its end is rounded up, and there the next pass begins.
    Outcome outcome = recorded_outcome(Lanes::folded);
    StepResult result = *outcome.result;
    for (OpRecord& record : result.records)
        for (SimTime* const time : {&record.start, &record.transfer_start, &record.end})
            *time += SimTime(300 + time->value() / 33'333'333);
    outcome.result = std::make_shared<const StepResult>(std::move(result));
    std::vector<std::pair<double, double>> passes;
    for (const Json& event : events_of(trace_of(outcome), "X"))
        if (event.find("pid")->as_integer() == 0 && event.find("tid")->as_integer() == 1)
            passes.emplace_back(event.find("ts")->as_double(), event.find("dur")->as_double());
    REQUIRE(passes.size() == 5);
    CHECK(std::llround(1000 * (passes[0].first + passes[0].second)) ==
          std::llround(1000 * passes[1].first));
}

TEST_CASE("a collective says when data began to move only where that was after its start")
{
    // Stage 1's ranks reach the sum of gradients together; stage 0's second receive waits.
    const Json trace = trace_of(recorded_outcome());
    int later = 0;
    for (const Json& event : events_of(trace, "X")) {
        const Json* args = event.find("args");
        const Json* moved = args == nullptr ? nullptr : args->find("transfer_start_us");
        if (moved == nullptr)
            continue;
        ++later;
        CHECK(moved->as_double() > event.find("ts")->as_double());
    }
    // Stage 0 waits for both gradients, stage 1 for the first activations; two replicas.
    CHECK(later == 2 * 3);
}

TEST_CASE("a rank that stands for others says for how many")
{
    const Json trace = trace_of(recorded_outcome(Lanes::folded));
    std::vector<std::string> labels;
    for (const Json& event : events_of(trace, "M"))
        if (text_of(event, "name") == "process_labels")
            labels.push_back(text_of(*event.find("args"), "labels"));
    REQUIRE(labels.size() == 2);
    CHECK(labels[0] == "stage 0, node 0, stands for 2 ranks");
}

TEST_CASE("a trace without records is still a trace")
{
    const Json trace = trace_of(small_outcome());
    CHECK(trace.find("traceEvents")->items().empty());
}

TEST_CASE("names with quotes and line breaks keep a trace readable")
{
    Outcome outcome = recorded_outcome();
    Plan plan = *outcome.plan;
    for (Label& label : plan.program.labels)
        label.name = "a \"quoted\"\n\\ name";
    outcome.plan = std::make_shared<const Plan>(std::move(plan));
    outcome.job.model.name = "\x01\"</script>";
    trace_of(outcome);
}

TEST_CASE("a name that ends in .gz is compressed")
{
    const testing::Folder temporary;
    const std::filesystem::path& folder = temporary.path();
    write_kineto_trace(folder / "t.json", recorded_outcome());
    write_kineto_trace(folder / "t.json.gz", recorded_outcome());
    const std::string plain = read_file(folder / "t.json");
    const std::string packed = read_file(folder / "t.json.gz");
    CHECK(plain.front() == '{');
    CHECK(packed.substr(0, 2) == "\x1f\x8b");
    CHECK(packed.size() < plain.size() / 4);
}

TEST_CASE("elements in and out follow each collective's convention")
{
    using enum CollectiveKind;
    const Bytes gigabyte(1'000'000'000);
    CHECK(message_elements(all_gather, gigabyte, 4, 2) ==
          MessageElements{125'000'000, 500'000'000});
    CHECK(message_elements(reduce_scatter, gigabyte, 4, 4) ==
          MessageElements{250'000'000, 62'500'000});
    CHECK(message_elements(all_reduce, gigabyte, 4, 2) ==
          MessageElements{500'000'000, 500'000'000});
}

TEST_CASE("long lists of ranks are cut as PyTorch cuts them")
{
    std::vector<RankId> ranks;
    for (std::uint32_t i = 0; i < 64; ++i)
        ranks.push_back(RankId{i});
    CHECK_THAT(kineto_rank_list(ranks), StartsWith("[0, 1, 2"));
    CHECK_THAT(kineto_rank_list(ranks), EndsWith("27, 28, ..., 63]"));
    ranks.resize(30);
    CHECK_THAT(kineto_rank_list(ranks), EndsWith("28, 29]"));
}
