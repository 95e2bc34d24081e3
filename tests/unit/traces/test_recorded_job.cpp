#include "sim/traces/host_context.h"
#include "sim/traces/run_summary.h"
#include "tests/unit/traces/written_trace.h"

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

namespace {

std::string contradiction(const std::vector<WrittenTrace>& written)
{
    const Checked<JobTrace> job = joined(written);
    REQUIRE(!job);
    return job.error().front().message;
}

// Rank 1's clock is 1000 us ahead; it comes 30 us late to the first sum, rank 0 10 us to the
// second.
std::vector<WrittenTrace> two_ranks()
{
    WrittenTrace first(0);
    first.step(1, 0, 200).kernel("gemm", 0, 20).all_reduce(20, 50, 1000).all_reduce(110, 20, 1000);
    WrittenTrace second(1);
    second.step(1, 1000, 200)
        .kernel("gemm", 1000, 50)
        .all_reduce(1050, 20, 1000)
        .all_reduce(1100, 30, 1000);
    return {first, second};
}

} // namespace

TEST_CASE("a collective ends on all its ranks at one time, so clocks can be set by it")
{
    const Checked<JobTrace> job = joined(two_ranks());
    REQUIRE(job);
    REQUIRE(job->collectives.size() == 2);
    CHECK(job->collectives.front().complete);
    CHECK(job->clock_offsets[1] == us(1000));
    CHECK(job->offset_spreads[1] == us(0));
}

TEST_CASE("who comes last keeps the others waiting, and data move from then on")
{
    const Checked<JobTrace> job = joined(two_ranks());
    REQUIRE(job);
    const RunSummary run = run_summary(*job);
    REQUIRE(run.stragglers.size() == 2);
    CHECK(run.stragglers[0].rank == 1);
    CHECK_THAT(run.stragglers[0].kept.value(), WithinRel(30e-6, 1e-9));
    CHECK_THAT(run.stragglers[0].waited.value(), WithinRel(10e-6, 1e-9));
    CHECK(run.stragglers[0].last == 1);
    CHECK_THAT(run.stragglers[1].kept.value(), WithinRel(10e-6, 1e-9));
    REQUIRE(run.transfers.size() == 1);
    const TransferRow& row = run.transfers.front();
    CHECK(row.source == MovingFrom::arrivals);
    CHECK(row.bytes == 4000);
    CHECK_THAT(row.moving.value(), WithinRel(20e-6, 1e-9));
    // Two ranks: 2 (n - 1) / n = 1 of 4000 B in 20 us.
    CHECK_THAT(row.bus_bandwidth.value(), WithinRel(200e6, 1e-9));
    CHECK_THAT(run.ranks[0].time[static_cast<std::size_t>(TimeKind::waiting)].value(),
               WithinRel(30e-6, 1e-9));
}

TEST_CASE("of a rank alone the quickest of three alike is taken to wait for nobody")
{
    WrittenTrace written(0);
    written.step(1, 0, 500)
        .all_reduce(0, 100, 1000)
        .all_reduce(200, 40, 1000)
        .all_reduce(300, 60, 1000);
    const Checked<JobTrace> job = joined({written});
    REQUIRE(job);
    const auto times = transfer_times(*job);
    CHECK(times[0][0].source == MovingFrom::quickest);
    CHECK(times[0][0].moving_from == at_us(60));
    CHECK(times[0][1].moving_from == at_us(200));
}

TEST_CASE("a group that sums in the forward is TP's")
{
    WrittenTrace tensor(0);
    tensor.step(1, 0, 500)
        .host("cpu_op", "aten::all_reduce", 0, 20)
        .all_reduce(10, 10, 1000)
        .launch(5, 1)
        .host("cpu_op", "autograd::engine::evaluate_function: X", 30, 30, "\"External id\": 4", 2)
        .all_reduce(40, 10, 1000)
        .launch(35, 1, 2);
    const Checked<JobTrace> job = joined({tensor});
    REQUIRE(job);
    REQUIRE(job->groups.size() == 1);
    CHECK(job->groups.front().role == GroupKind::tp);
    CHECK(!job->groups.front().role_stated);
}

TEST_CASE("ranks of two runs are refused")
{
    const WrittenTrace first = two_ranks().front();
    CHECK_THAT(contradiction({first, first}), ContainsSubstring("is of rank 0, and so is"));
    CHECK_THAT(contradiction({first, WrittenTrace(1, 4).step(1, 0, 9).kernel("a", 1, 1)}),
               ContainsSubstring("is of a job of 4 ranks"));
    CHECK_THAT(contradiction({first, WrittenTrace(1).step(7, 0, 9).kernel("a", 1, 1)}),
               ContainsSubstring("none in common"));
    CHECK_THAT(
        contradiction({first, WrittenTrace(1).step(1, 0, 200).all_reduce(20, 9, 77)}),
        ContainsSubstring("all_reduce of 308 bytes on rank 1, all_reduce of 4000 bytes on rank 0"));
}

TEST_CASE("ranks that record days apart are of two runs, where their clocks show the date")
{
    constexpr std::int64_t date = 1'700'000'000'000'000'000;
    constexpr std::int64_t minute = 60'000'000'000;
    const auto at = [](int rank, std::int64_t time) {
        return WrittenTrace(rank).recorded_at(time).step(1, 0, 200).kernel("a", 0, 20);
    };
    CHECK_THAT(contradiction({at(0, date), at(1, date + 8 * 24 * 60 * minute)}),
               ContainsSubstring("was recorded 8.0 days after"));
    // A clock that is badly set, and one that shows no date.
    const auto doubts = [&](std::int64_t first, std::int64_t other) {
        const Checked<JobTrace> job = joined({at(0, first), at(1, other)});
        REQUIRE(job);
        return job->doubts;
    };
    CHECK(doubts(date, date + minute / 2).empty());
    REQUIRE(doubts(date, date - 5 * minute).size() == 1);
    CHECK_THAT(doubts(date, date - 5 * minute).front(), ContainsSubstring("300 s before"));
    CHECK_THAT(doubts(minute, 24 * 60 * minute).front(), ContainsSubstring("do not show the date"));
}

TEST_CASE("steps of unlike length on ranks of one job are doubted")
{
    const Checked<JobTrace> job = joined({WrittenTrace(0).step(1, 0, 200).kernel("a", 0, 20),
                                          WrittenTrace(1).step(1, 0, 400).kernel("a", 0, 20)});
    REQUIRE(job);
    REQUIRE(job->doubts.size() == 1);
    CHECK_THAT(job->doubts.front(), ContainsSubstring("takes 400 us"));
    CHECK(joined(two_ranks())->doubts.empty());
}

TEST_CASE("a kernel that runs in several classes is listed in each, as the classes count it")
{
    WrittenTrace written(0, 1);
    written.step(1, 0, 100)
        .host("cpu_op", "aten::add", 0, 10, "\"External id\": 1")
        .kernel("vectorized_elementwise_kernel", 10, 20, ", \"External id\": 1")
        .launch(2, 1)
        .host("user_annotation", "Optimizer.step#SGD.step", 20, 30, "\"External id\": 2")
        .kernel("vectorized_elementwise_kernel", 40, 5, ", \"External id\": 2")
        .launch(25, 1);
    const Checked<JobTrace> job = joined({written});
    REQUIRE(job);
    const RunSummary run = run_summary(*job);
    REQUIRE(run.kernels.size() == 2);
    for (const RecordedKernel& kernel : run.kernels) {
        const auto work = static_cast<std::size_t>(kernel.work);
        CHECK(kernel.count == run.ranks.front().ops[work]);
        CHECK(kernel.time == run.ranks.front().work[work]);
    }
    CHECK(run.kernels[1].work == DeviceWork::optimizer);
}

TEST_CASE("annotations of passes that a loop mixes tell the phase of what they launch")
{
    WrittenTrace trace(0, 1);
    trace.step(1, 0, 500).host("user_annotation", "1F1B", 0, 400);
    const auto annotated = [&](const std::string& name, double start) {
        trace.host("user_annotation", name, start, 50)
            .host("cpu_op", "aten::mm", start + 5, 20)
            .kernel("gemm", start + 15, 20)
            .launch(start + 10, 5);
    };
    annotated("attn(F)", 0);
    annotated("mlp(B)", 100);
    annotated("mlp(W)", 200);
    trace.host("cpu_op", "aten::mm", 300, 20).kernel("gemm", 315, 20).launch(310, 5);
    const std::vector<LaunchContext> contexts = launch_contexts(trace.read());
    REQUIRE(contexts.size() == 4);
    CHECK(contexts[0].phase == Phase::forward);
    CHECK(contexts[1].phase == Phase::backward);
    CHECK(contexts[2].phase == Phase::backward);
    CHECK(contexts[3].phase == Phase::forward);
}

namespace {

// As a trace is whose header states neither rank nor world.
Checked<JobTrace> joined_unnamed(const std::vector<WrittenTrace>& written)
{
    std::vector<DigestedRank> ranks;
    for (const WrittenTrace& trace : written) {
        RankTrace read = trace.read();
        read.rank.reset();
        read.file = fmt::format("{}.json", ranks.size());
        ranks.push_back(digest(std::move(read)));
    }
    return join_ranks(std::move(ranks));
}

} // namespace

TEST_CASE("ranks without names are no copies of each other, and no more than the job has")
{
    const auto rank = [](double start) {
        return WrittenTrace(0).step(1, 0, 90).kernel("gemm", start, 20).launch(start - 3, 1);
    };
    CHECK(joined_unnamed({rank(10), rank(11)}));
    const Checked<JobTrace> copies = joined_unnamed({rank(10), rank(10)});
    REQUIRE(!copies);
    CHECK_THAT(copies.error().front().message, ContainsSubstring("is the recording of 0.json"));
    const Checked<JobTrace> three = joined_unnamed({rank(10), rank(11), rank(12)});
    REQUIRE(!three);
    CHECK_THAT(three.error().front().message,
               ContainsSubstring("is of rank 2 of a job of 2 ranks"));
}

TEST_CASE("what an unnamed sum is for is known where the job describes one kind of group")
{
    const auto job_with = [](const std::vector<std::string>& purposes) {
        WrittenTrace written(0, 4);
        for (const std::string& purpose : purposes)
            written.group(purpose, purpose, 2);
        written.group("alone", "mesh_cp", 1);
        written.step(1, 0, 90)
            .kernel("gemm", 10, 20)
            .kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 30, 20);
        Checked<JobTrace> job = joined({written});
        REQUIRE(job);
        return std::move(*job);
    };
    const auto role = [](const JobTrace& job) {
        return job.role_of(job.ranks.front().transfers.front());
    };
    const JobTrace described = job_with({"mesh_tp"});
    CHECK(role(described) == GroupKind::tp);
    CHECK(run_summary(described).sizes[static_cast<std::size_t>(GroupKind::tp)] == 2);
    const JobTrace several = job_with({"mesh_tp", "mesh_dp_shard"});
    CHECK(!role(several));
    CHECK(run_summary(several).sizes[static_cast<std::size_t>(GroupKind::dp)] == 2);
    CHECK(!run_summary(several).sizes[static_cast<std::size_t>(GroupKind::cp)]);
    REQUIRE(!several.assumed.empty());
    CHECK_THAT(several.assumed.back(), ContainsSubstring("groups of several kinds"));
    const JobTrace none = job_with({});
    CHECK(role(none) == GroupKind::dp);
    CHECK_THAT(none.assumed.back(), ContainsSubstring("are of data parallelism: 1"));
}

TEST_CASE("in a group of one rank there is nobody to wait for")
{
    WrittenTrace alone(0, 1);
    alone.step(1, 0, 90).kernel(
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 10, 20,
        R"(, "Collective name": "allreduce", "In msg nelems": 9, "Out msg nelems": 9, "Group size": 1, "dtype": "Float", "Process Group Name": "0")");
    const Checked<JobTrace> job = joined({alone});
    REQUIRE(job);
    const RunSummary run = run_summary(*job);
    REQUIRE(run.transfers.size() == 1);
    CHECK(run.transfers[0].source == MovingFrom::arrivals);
    for (const std::optional<int>& size : run.sizes)
        CHECK(!size);
}

TEST_CASE("a gather to one rank is none of the kinds, and sizes may differ from rank to rank")
{
    const auto rank = [](int number, int out) {
        WrittenTrace written(number);
        written.step(1, 0, 90)
            .kernel("gemm", 0, 5)
            .kernel(
                "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", 10, 20,
                fmt::format(
                    R"(, "Collective name": "gather", "In msg nelems": 9, "Out msg nelems": {},)"
                    R"( "Group size": 2, "dtype": "Float", "Process Group Name": "0")",
                    out));
        return written;
    };
    const Checked<JobTrace> job = joined({rank(0, 18), rank(1, 0)});
    REQUIRE(job);
    for (const RankActivity& of : job->ranks) {
        CHECK(!of.transfers.front().kind);
        CHECK(of.transfers.front().bytes == 0);
        CHECK(!job->role_of(of.transfers.front()));
    }
}
