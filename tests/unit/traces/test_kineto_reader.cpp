#include "sim/base/files.h"
#include "sim/traces/event_draft.h"
#include "sim/traces/host_context.h"
#include "sim/traces/trace_file.h"
#include "tests/unit/traces/written_trace.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

std::string refusal(const std::string& text)
{
    const testing::Folder folder;
    const Checked<std::vector<RankTrace>> ranks = read_kineto(folder.file("bad.json", text));
    REQUIRE(!ranks);
    REQUIRE(ranks.error().size() == 1);
    return fmt::format("{}: {}", ranks.error().front().line, ranks.error().front().message);
}

} // namespace

TEST_CASE("an event keeps its times to the nanosecond, its names once")
{
    WrittenTrace written(3, 8);
    written.kernel("a", 5239871100622.169, 7.168).kernel("b", 1, 2).kernel("a", 4, 1);
    const RankTrace trace = written.read();
    CHECK(trace.rank == 3);
    CHECK(trace.world == 8);
    CHECK(trace.backend == "nccl");
    CHECK(trace.devices == std::vector<std::string>{"NVIDIA H100"});
    REQUIRE(trace.device_events.size() == 3);
    CHECK(trace.device_events[0].span.start == TraceTime(1'000'000'000 + 5'239'871'100'622'169));
    CHECK(trace.device_events[0].span.length() == TraceTime(7168));
    CHECK(trace.device_events[0].name == trace.device_events[2].name);
    CHECK(trace.text(trace.device_events[1].name) == "b");
    CHECK(trace.device_events[1].correlation == 2);
}

TEST_CASE("times and numbers that are written as text are read as the numbers they are")
{
    const std::string text = R"({"traceEvents": [
{"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": "123.45", "dur": "6.5",
 "args": {"stream": "7", "device": "0", "correlation": "12"}}]})";
    const testing::Folder folder;
    const Checked<std::vector<RankTrace>> ranks = read_kineto(folder.file("t.json", text));
    REQUIRE(ranks);
    const DeviceEvent& event = ranks->front().device_events.front();
    CHECK(event.span == TraceSpan{TraceTime(123450), TraceTime(129950)});
    CHECK(event.stream == 7);
    CHECK(event.correlation == 12);
    const auto with = [](const std::string& dur) {
        return "{\"traceEvents\": [\n{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"a\", \"ts\": "
               "1, "
               "\"dur\": \"" +
               dur + "\"}]}";
    };
    CHECK(refusal(with("6.5 us")) == "2: a time that is no number");
    CHECK(refusal(with("")) == "2: a time that is no number");
}

TEST_CASE("events of the device that end before they begin take no time, and are counted")
{
    const RankTrace trace = WrittenTrace().kernel("a", 5, -3).kernel("b", 9, 1).read();
    CHECK(trace.device_events[0].span == TraceSpan{at_us(5), at_us(5)});
    CHECK(trace.backwards == 1);
}

TEST_CASE("microseconds become nanoseconds without a detour through binary fractions")
{
    CHECK(nanoseconds("1740461679470813.123") == TraceTime(1740461679470813123));
    CHECK(nanoseconds("0.5") == TraceTime(500));
    CHECK(nanoseconds("-1.25") == TraceTime(-1250));
    CHECK(!nanoseconds("1e3"));
    CHECK(!nanoseconds("99999999999999999999"));
}

TEST_CASE("a collective keeps what PyTorch says of it")
{
    const RankTrace trace = WrittenTrace().all_reduce(10, 20, 1024).read();
    REQUIRE(trace.messages.size() == 1);
    const TraceMessage& message = trace.messages.front();
    CHECK(trace.text(message.collective) == "allreduce");
    CHECK(message.in_elements == 1024);
    CHECK(message.group_size == 2);
    CHECK(trace.text(message.ranks) == "[0, 1]");
    CHECK(trace.device_events.front().message == 1);
}

TEST_CASE("a packed trace reads as the plain one")
{
    const testing::Folder folder;
    const std::string text = WrittenTrace().kernel("a", 1, 2).text();
    const std::string packed = (folder.path() / "t.json.gz").string();
    write_file_gzip(packed, text);
    const Checked<std::vector<RankTrace>> ranks = read_kineto(packed);
    REQUIRE(ranks);
    CHECK(ranks->front().device_events.size() == 1);
    SECTION("cut, it is refused with how far it went")
    {
        const std::string whole = read_file(packed);
        const std::string cut =
            folder.file("cut.json.gz", std::string_view(whole).substr(0, whole.size() / 2));
        const Checked<std::vector<RankTrace>> refused = read_kineto(cut);
        REQUIRE(!refused);
        CHECK_THAT(refused.error().front().message, ContainsSubstring("end too early"));
        CHECK_THAT(refused.error().front().message, ContainsSubstring("bytes of text"));
        // Lines of the text are none of the packed file, so none is quoted.
        CHECK(render(refused.error(), "").find(" | ") == std::string::npos);
    }
}

TEST_CASE("what is no trace of a GPU's work is refused by name")
{
    const std::string whole = WrittenTrace().kernel("a", 1, 2).kernel("b", 3, 1).text();
    CHECK_THAT(refusal(whole.substr(0, whole.size() - 150)), ContainsSubstring("ends too early"));
    CHECK_THAT(refusal(whole.substr(0, whole.size() - 150)), StartsWith("3: "));
    CHECK_THAT(refusal("{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"v8\", \"name\": \"a\"}]}"),
               ContainsSubstring("no event of PyTorch's profiler"));
    std::string archive(257, 'x');
    archive += "ustar";
    archive.append(300, ' ');
    CHECK_THAT(refusal(archive), ContainsSubstring("is an archive"));
    CHECK_THAT(refusal("{\"a\": 1}"), ContainsSubstring("no event of PyTorch's profiler"));
    CHECK_THAT(refusal(WrittenTrace().host("cpu_op", "aten::mm", 1, 2).text()),
               ContainsSubstring("no event of a GPU"));
    CHECK_THAT(refusal(WrittenTrace().kernel("a", 9e17, 2).text()),
               ContainsSubstring("a time beyond any clock's"));
    CHECK_THAT(refusal(std::string(100, '[')), ContainsSubstring("nested deeper"));
    CHECK_THROWS_AS(read_kineto("/nowhere/trace.json"), WorldError);
}

TEST_CASE("ids beyond integers tell ops apart like others")
{
    WrittenTrace written;
    for (const int i : {0, 1})
        written
            .host("cpu_op", i == 0 ? "aten::mm" : "aten::bmm", 100 * i, 20,
                  fmt::format("\"External id\": 1844674407370955160{}, \"Input Dims\": [[{}]]", i,
                              i + 7))
            .kernel("gemm", 100 * i + 10, 20,
                    fmt::format(", \"External id\": 1844674407370955160{}", i));
    const RankTrace trace = written.read();
    const std::vector<LaunchContext> contexts = launch_contexts(trace);
    REQUIRE(contexts.size() == 2);
    CHECK(trace.text(contexts[0].shapes) == "[[7]]");
    CHECK(trace.text(contexts[1].shapes) == "[[8]]");
}

TEST_CASE("files that are no text, hold nothing or stand in one line are refused by what helps")
{
    const testing::Folder folder;
    const auto problem = [&](const std::string& text) {
        const Checked<TraceFile> read = read_trace_file(folder.file("trace", text));
        REQUIRE(!read);
        return read.error().front();
    };
    CHECK(problem("").message == "is empty");
    CHECK_THAT(problem(std::string("NV\0\1NV\0\1", 8)).message, ContainsSubstring("neither JSON"));
    const std::string line = "{\"traceEvents\": [" + std::string(500, ' ') + "?]}";
    CHECK_THAT(problem(line).message, ContainsSubstring("at byte 51"));
    CHECK(problem(line).line == 0);
    CHECK(problem("{\n\n\"traceEvents\": [?]}").line == 3);
}

TEST_CASE("names in a trace's head drive no terminal")
{
    std::string text = WrittenTrace().kernel("a", 1, 2).text();
    const std::string plain = "NVIDIA H100";
    text.replace(text.find(plain), plain.size(), "\\u001b[31mH100");
    const testing::Folder folder;
    const auto ranks = read_kineto(folder.file("trace.json", text));
    REQUIRE(ranks);
    CHECK(ranks->front().devices.front() == "\\x1b[31mH100");
}
