// Traces in mlcommons/chakra's schema: protobuf, and its forms in JSON.

#include "sim/report/chakra/protobuf_writer.h"
#include "sim/traces/execution/wire_reader.h"
#include "sim/traces/run_summary.h"
#include "tests/unit/traces/written_graph.h"

#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr std::uint64_t compute = 4, send = 5, collective = 7;

// An attribute under its number in et_def.proto: 7 int32, 9 int64, 13 uint64, 27 bool, 29 string.
ProtobufWriter attribute(std::string_view name, std::uint32_t field, std::uint64_t value)
{
    ProtobufWriter out;
    out.text(1, name);
    out.number(field, value);
    return out;
}

class WrittenMessages {
public:
    WrittenMessages()
    {
        ProtobufWriter head;
        head.text(1, "0.0.4");
        head.append_to(text_);
    }
    WrittenMessages& node(std::uint64_t id, std::uint64_t type, std::string_view name,
                          std::vector<std::uint64_t> waits, std::uint64_t microseconds,
                          const std::vector<ProtobufWriter>& attributes = {})
    {
        ProtobufWriter out;
        out.number(1, id);
        out.text(2, name);
        out.number(3, type);
        out.numbers(5, waits);
        out.number(7, microseconds);
        for (const ProtobufWriter& each : attributes)
            out.message(10, each);
        out.append_to(text_);
        return *this;
    }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

WrittenMessages small_graph()
{
    WrittenMessages out;
    out.node(1, compute, "launch", {}, 3, {attribute("is_cpu_op", 27, 1)});
    out.node(2, compute, "sm90_gemm", {1}, 40,
             {attribute("is_cpu_op", 27, 0), attribute("num_ops", 9, 5'000'000'000)});
    out.node(3, compute, "vectorized_elementwise_kernel", {1}, 10);
    out.node(4, collective, "gather", {2, 3}, 0,
             {attribute("comm_type", 9, 2), attribute("comm_size", 9, 6'000'000'000)});
    out.node(
        5, send, "send", {4}, 7,
        {attribute("comm_size", 9, 100), attribute("comm_src", 7, 1), attribute("comm_dst", 7, 0)});
    return out;
}

} // namespace

TEST_CASE("nodes are what their type says, with stated durations, operations and bytes")
{
    const RankActivity rank = activity_read(small_graph().text(), "trace.et");
    REQUIRE(rank.ops.size() == 4); // the first is the host's
    CHECK(rank.times == TimesStated::durations);
    CHECK(rank.rank == 1); // who sends
    CHECK(rank.ops[0].work == DeviceWork::gemm);
    CHECK(rank.ops[0].flops == 5e9);
    CHECK(rank.ops[0].span.length() == TraceTime(40'000));
    CHECK(rank.ops[1].work == DeviceWork::elementwise);
    REQUIRE(rank.transfers.size() == 2);
    CHECK(rank.transfers[0].kind == CollectiveKind::all_gather);
    CHECK(rank.transfers[1].kind == CollectiveKind::send_receive);
    CHECK(rank.transfers[1].peer == 0);
    // 3 + 40 + 0 + 7 us along launch, product, gather and message.
    CHECK_THAT(rank.graph->critical_path.value(), WithinRel(50e-6, 1e-9));
    CHECK(rank.graph->depth == 4);
    CHECK(rank.graph->waits == 5);
}

TEST_CASE("a file's name says its rank where no message does, and communicators the sizes")
{
    WrittenMessages one;
    one.node(1, collective, "gather", {}, 0,
             {attribute("comm_type", 9, 2), attribute("comm_size", 9, 1000),
              attribute("pg_name", 13, 3)});
    std::vector<DigestedRank> ranks;
    for (const char* const name : {"trace.2.et", "trace.10.et"})
        ranks.push_back(std::move(read_text(one.text(), name)->ranks.front()));
    const Checked<TraceFile> groups = read_text("{\"3\": [2, 10]}", "comm_group.json");
    REQUIRE(groups);
    const Checked<JobTrace> job = join_ranks(std::move(ranks), groups->groups);
    REQUIRE(job);
    CHECK(job->ranks[0].rank == 2);
    CHECK(job->ranks[1].rank == 10);
    CHECK(job->ranks[0].transfers[0].ranks == 2);
    CHECK(job->ranks[0].transfers[0].bytes == 2000); // what goes in, of both
    CHECK_THAT(refusal_of("{\"3\": [2, -1]}", "comm_group.json"),
               ContainsSubstring("no communicator"));
}

TEST_CASE("a gather among an unknown number of ranks has an unknown size")
{
    std::vector<DigestedRank> ranks;
    ranks.push_back(std::move(read_text(small_graph().text(), "trace.et")->ranks.front()));
    const Checked<JobTrace> job = join_ranks(std::move(ranks));
    REQUIRE(job);
    CHECK(job->ranks[0].transfers[0].bytes == 0);
    CHECK(job->ranks[0].transfers[0].ranks == 0);
}

TEST_CASE("the same graph in JSON reads as in protobuf")
{
    const RankActivity wire = activity_read(small_graph().text(), "trace.et");
    const std::string graph = R"({"workload_graph": [
{"Id": 1, "Name": "launch", "NodeType": 4, "data_deps": [], "runtime": 3, "is_cpu_op": true},
{"Id": 2, "Name": "sm90_gemm", "NodeType": 4, "data_deps": [1], "runtime": 40, "is_cpu_op": false, "num_ops": 5000000000},
{"Id": 3, "Name": "vectorized_elementwise_kernel", "NodeType": 4, "data_deps": [1], "runtime": 10},
{"Id": 4, "Name": "gather", "NodeType": 7, "data_deps": [2, 3], "comm_type": 2, "comm_size": 6000000000},
{"Id": 5, "Name": "send", "NodeType": 5, "data_deps": [4], "runtime": 7, "comm_size": 100, "comm_src": 1, "comm_dst": 0}]})";
    const std::string apart = R"({"version": "0.0.4"}
{"id": "1", "name": "launch", "type": "COMP_NODE", "durationMicros": "3", "attr": [{"name": "is_cpu_op", "boolVal": true}]}
{"id": "2", "name": "sm90_gemm", "type": "COMP_NODE", "dataDeps": ["1"], "durationMicros": "40", "attr": [{"name": "is_cpu_op", "boolVal": false}, {"name": "num_ops", "int64Val": "5000000000"}]}
{"id": "3", "name": "vectorized_elementwise_kernel", "type": "COMP_NODE", "dataDeps": ["1"], "durationMicros": "10"}
{"id": "4", "name": "gather", "type": "COMM_COLL_NODE", "dataDeps": ["2", "3"], "attr": [{"name": "comm_type", "int64Val": "2"}, {"name": "comm_size", "int64Val": "6000000000"}]}
{"id": "5", "name": "send", "type": "COMM_SEND_NODE", "dataDeps": ["4"], "durationMicros": "7", "attr": [{"name": "comm_size", "int64Val": "100"}, {"name": "comm_src", "int32Val": 1}, {"name": "comm_dst", "int32Val": 0}]}
)";
    for (const std::string& text : {graph, apart}) {
        const RankActivity read = activity_read(text);
        REQUIRE(read.ops.size() == wire.ops.size());
        for (std::size_t i = 0; i < read.ops.size(); ++i) {
            CHECK(read.ops[i].span == wire.ops[i].span);
            CHECK(read.ops[i].work == wire.ops[i].work);
            CHECK(read.ops[i].flops == wire.ops[i].flops);
        }
        CHECK(read.transfers == wire.transfers);
        CHECK(read.graph == wire.graph);
        CHECK(read.rank == wire.rank);
    }
}

TEST_CASE("nodes that wait for each other are refused by their ids")
{
    CHECK_THAT(refusal_of(WrittenMessages()
                              .node(1, compute, "a", {3}, 1)
                              .node(2, compute, "b", {1}, 1)
                              .node(3, compute, "c", {2}, 1)
                              .text(),
                          "t.et"),
               ContainsSubstring("over 3 nodes"));
    CHECK_THAT(refusal_of(WrittenMessages().node(7, compute, "a", {7}, 1).text(), "t.et"),
               ContainsSubstring("node 7 waits for itself"));
    // A node that the file has not may have been left out.
    CHECK(activity_read(WrittenMessages().node(7, compute, "a", {9}, 1).text(), "t.et")
              .graph->waits_for_unknown == 1);
}

TEST_CASE("damaged protobuf is refused with its byte")
{
    const std::string whole = small_graph().text();
    for (std::size_t length = 8; length < whole.size(); ++length) {
        const std::string message = refusal_of(whole.substr(0, length), "t.et");
        if (message != "accepted") // where a node ends
            CHECK_THAT(message, ContainsSubstring("ends within a message") ||
                                    ContainsSubstring("no op") ||
                                    ContainsSubstring("no node of an execution trace"));
    }
    std::string other = whole;
    other[8] = '\xff'; // of the first node's tag
    CHECK_THAT(refusal_of(other, "t.et"), ContainsSubstring("at byte"));
    CHECK_THAT(refusal_of(WrittenMessages().node(1, compute, "a", {}, 1ULL << 60U).text(), "t.et"),
               ContainsSubstring("more than a year"));
    std::mt19937_64 random(7);
    for (int draw = 0; draw < 2000; ++draw) {
        std::string bytes = whole.substr(0, 8);
        for (int i = 0; i < 60; ++i)
            bytes += static_cast<char>(random());
        const std::string message = refusal_of(bytes, "t.et");
        CHECK_FALSE(message.empty());
    }
}

TEST_CASE("a number of ten bytes is one, of eleven none")
{
    CHECK(WireReader("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").varint() == ~std::uint64_t{0});
    CHECK_FALSE(WireReader("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").varint());
    CHECK_FALSE(WireReader("\x80").varint());
}
