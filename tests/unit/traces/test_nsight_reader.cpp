// Nsight Systems' SQLite, made here with the tables that its documentation describes (Exporter
// Schema Reference of the 2024 and 2025 versions).

#include "sim/database/database.h"
#include "sim/traces/nsight/nsight_reader.h"
#include "sim/traces/run_summary.h"
#include "tests/unit/traces/written_graph.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr std::int64_t process = std::int64_t{77} << 24U;

// Tables and rows of one process on device 0: two iterations of a product and a collective.
std::string small_report(const std::string& more = "")
{
    std::string sql = R"(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, busLocation TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, text TEXT, globalTid INTEGER, textId INTEGER, domainId INTEGER, jsonText TEXT, jsonTextId INTEGER);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1000000000, '', '');
INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'NVIDIA H100 80GB HBM3', '');
INSERT INTO StringIds VALUES (1, 'void cutlass::device_kernel<gemm>(Params)'), (2, 'device_kernel'), (3, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)'), (4, 'ncclDevKernel_AllReduce'), (5, 'cudaLaunchKernel_v7000'), (6, 'ncclAllReduce');
INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, NULL, 'NCCL', NULL, NULL, 3, NULL, NULL);
)";
    const auto row = [&](const char* const table, const std::string& values) {
        sql += fmt::format("INSERT INTO {} VALUES ({});\n", table, values);
    };
    for (int i = 0; i < 2; ++i) {
        const int at = 1000 * i;
        const int launch = 10 * i + 1;
        const std::int64_t thread = process + 5;
        row("NVTX_EVENTS", fmt::format("{}, {}, 59, 1, 'iteration {}', {}, NULL, 0, NULL, NULL", at,
                                       at + 900, 7 + i, thread));
        row("NVTX_EVENTS",
            fmt::format("{}, {}, 59, 1, 'aten::mm, seq = 5, op_id = 9, sizes = [[8, 16], [16, "
                        "4]]', {}, NULL, 0, NULL, NULL",
                        at + 10, at + 40, thread));
        row("NVTX_EVENTS",
            fmt::format("{}, {}, 59, 1, NULL, {}, 6, 3, '{{\"Payload\": {{\"NCCL communicator "
                        "ID\": 254, \"Message size [bytes]\": 4096}}}}', NULL",
                        at + 50, at + 90, thread));
        row("CUPTI_ACTIVITY_KIND_RUNTIME",
            fmt::format("{}, {}, 0, {}, {}, 5, 0", at + 20, at + 24, thread, launch));
        row("CUPTI_ACTIVITY_KIND_RUNTIME",
            fmt::format("{}, {}, 0, {}, {}, 5, 0", at + 60, at + 64, thread, launch + 1));
        row("CUPTI_ACTIVITY_KIND_KERNEL",
            fmt::format("{}, {}, 0, 1, 7, {}, {}, 1, 2", at + 100, at + 300, launch, process));
        row("CUPTI_ACTIVITY_KIND_KERNEL",
            fmt::format("{}, {}, 0, 1, 19, {}, {}, 3, 4", at + 300, at + 500, launch + 1, process));
        row("CUPTI_ACTIVITY_KIND_MEMCPY",
            fmt::format("{}, {}, 0, 7, 0, {}, 640, 1", at + 500, at + 520, process));
    }
    Database database("", DatabaseAccess::memory);
    database.run((sql + more).c_str());
    return database.image();
}

} // namespace

TEST_CASE("a report of Nsight Systems gives kernels, launches, shapes, collectives and steps")
{
    const RankActivity rank = activity_read(small_report(), "report.sqlite");
    REQUIRE(rank.ops.size() == 6);
    CHECK(rank.text(rank.ops[0].name) == "void cutlass::device_kernel<gemm>(Params)");
    CHECK(rank.ops[0].work == DeviceWork::gemm);
    CHECK(rank.ops[0].span == TraceSpan{TraceTime(1'000'000'100), TraceTime(1'000'000'300)});
    CHECK(rank.ops[0].issued == TraceTime(1'000'000'024));
    CHECK(rank.text(rank.ops[0].shapes) == "[[8, 16], [16, 4]]");
    CHECK(rank.ops[0].phase == Phase::forward);
    CHECK(rank.ops[1].stream == 19);
    REQUIRE(rank.transfers.size() == 2);
    CHECK(rank.transfers[0].kind == CollectiveKind::all_reduce);
    CHECK(rank.transfers[0].bytes == 4096);
    CHECK(rank.transfers[0].group == "fe");
    CHECK(rank.ops[2].crosses_host);
    CHECK(rank.ops[2].bytes == 640);
    CHECK(rank.step_source == StepSource::annotations);
    REQUIRE(rank.steps.size() == 2);
    CHECK(rank.steps[0].number == 7);
    CHECK(rank.times == TimesStated::timeline);
}

TEST_CASE("processes of one report are ranks in the order of their devices")
{
    const std::int64_t other = std::int64_t{3} << 24U;
    const Checked<TraceFile> read = read_text(
        small_report(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 9, 1, 1, 7, "
                                 "1, {}, 1, 2);",
                                 other)),
        "report.sqlite");
    REQUIRE(read);
    REQUIRE(read->ranks.size() == 2);
    CHECK(read->ranks[0].activity.device == 0);
    CHECK(read->ranks[1].activity.device == 1);
    CHECK(read->ranks[0].file.devices == std::vector<std::string>{"NVIDIA H100 80GB HBM3"});
}

TEST_CASE("a CUDA graph whose kernels were not recorded is one op, which is said")
{
    const std::string graphs = fmt::format(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId "
        "INTEGER, graphId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER); "
        "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (520, 860, 0, 3, 7, 90, {});",
        process);
    Checked<TraceFile> read = read_text(small_report(graphs), "report.sqlite");
    REQUIRE(read);
    const RankActivity& rank = read->ranks.front().activity;
    REQUIRE(rank.ops.size() == 7);
    CHECK(rank.text(rank.ops[3].name) == "CUDA graph 3");
    CHECK(rank.ops[3].work == DeviceWork::other);
    CHECK(rank.ops[3].span.length() == TraceTime(340));
    const Checked<JobTrace> job = join_ranks(std::move(read->ranks));
    REQUIRE(job);
    CHECK_THAT(fmt::format("{}", fmt::join(job->assumed, "\n")),
               ContainsSubstring("1 runs of CUDA graphs") &&
                   ContainsSubstring("--cuda-graph-trace=node"));
    CHECK(read_text(small_report(graphs + "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;"),
                    "report.sqlite"));
}

TEST_CASE("reports without kernels, columns or times of this world are refused by table and row")
{
    CHECK_THAT(refusal_of(small_report("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;")),
               ContainsSubstring("no kernels of Nsight Systems"));
    CHECK_THAT(refusal_of(small_report("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; DELETE FROM "
                                       "CUPTI_ACTIVITY_KIND_MEMCPY;")),
               ContainsSubstring("no event of a GPU"));
    CHECK_THAT(refusal_of(small_report("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN "
                                       "streamId;")),
               ContainsSubstring("has no column streamId"));
    CHECK_THAT(refusal_of(small_report("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = "
                                       "9000000000000000000 WHERE correlationId = 11;")),
               ContainsSubstring("row 3 of CUPTI_ACTIVITY_KIND_KERNEL: a time beyond"));
    const std::string whole = small_report();
    const testing::Folder folder;
    CHECK_THAT(refusal_of(std::string(sqlite_magic) + std::string(600, 'x')),
               ContainsSubstring("damaged database"));
    for (const std::size_t length : {100UL, 5000UL, whole.size() / 2, whole.size() - 4096}) {
        INFO(length);
        CHECK_FALSE(read_trace_file(folder.file("cut.sqlite", whole.substr(0, length))));
    }
}
