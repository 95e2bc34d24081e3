#include "sim/traces/rebuilt_step.h"
#include "tests/unit/traces/written_trace.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

Checked<RebuiltStep> rebuilt(const std::vector<WrittenTrace>& written,
                             const RebuildQuestion& question)
{
    const Checked<JobTrace> job = joined(written);
    if (!job)
        FAIL(render(job.error(), ""));
    return rebuild_step(*job, question);
}

RebuiltStep of_one(const WrittenTrace& written, const TransferChange& change = {})
{
    const Checked<RebuiltStep> step = rebuilt({written}, {{0}, change});
    if (!step)
        FAIL(render(step.error(), ""));
    return *step;
}

Seconds work(const std::array<Seconds, device_work_count>& times, DeviceWork work)
{
    return times[static_cast<std::size_t>(work)];
}

// A host that launches three products, one every 40 us, and then waits for the device. Products
// take `length`.
WrittenTrace bound_by_host(int rank, double length)
{
    WrittenTrace out(rank);
    out.step(1, 0, 160);
    for (const double start : {40, 80, 120})
        out.kernel("gemm", start, length).launch(start - 5, 5);
    out.call("cudaDeviceSynchronize", 125, 35);
    return out;
}

// us  0         100                    400
//     product   sum (another stream)   ...
// The stream of products waits for the sum before its last product at 400.
WrittenTrace with_a_sum()
{
    return WrittenTrace()
        .step(1, 0, 500)
        .kernel("gemm", 1, 99)
        .launch(0, 1)
        .all_reduce(100, 200, 1000)
        .launch(2, 1)
        .kernel("long gemm", 100, 300)
        .launch(4, 1)
        .call("cudaStreamWaitEvent", 6, 1)
        .kernel("optimizer", 400, 100)
        .launch(8, 1);
}

} // namespace

TEST_CASE("a step that the host sets is rebuilt with its time")
{
    // Products of 10 or 30 us are hidden behind launches of 40 us; the last one is waited for.
    const RebuiltStep step = of_one(bound_by_host(0, 30));
    CHECK_THAT(step.rebuilt().value(), WithinRel(160e-6, 0.02));
    CHECK_THAT(work(step.rebuilt_work, DeviceWork::gemm).value(), WithinRel(90e-6, 1e-3));
    CHECK(!step.judged());
}

TEST_CASE("a first step is rebuilt without what the device had to do before")
{
    const RebuiltStep step = of_one(
        WrittenTrace().step(1, 0, 100).kernel("gemm", 0, 60).kernel("gemm", 60, 40).launch(55, 3));
    CHECK_THAT(step.recorded().value(), WithinRel(40e-6, 1e-6));
    CHECK_THAT(step.rebuilt().value(), WithinRel(40e-6, 0.02));
}

TEST_CASE("another rank's step comes from the times of the ranks that are known")
{
    const Checked<RebuiltStep> step =
        rebuilt({bound_by_host(0, 30), bound_by_host(1, 10)}, {{0}, {}});
    REQUIRE(step);
    CHECK(step->judged());
    CHECK(step->ranks[0].known);
    CHECK(!step->ranks[1].known);
    CHECK(step->unknown == 0);
    // What rank 0's products took, beside what rank 1's did.
    CHECK_THAT(work(step->rebuilt_work, DeviceWork::gemm).value(), WithinRel(90e-6, 1e-3));
    CHECK_THAT(work(step->recorded_work, DeviceWork::gemm).value(), WithinRel(30e-6, 1e-3));
}

TEST_CASE("a longer transfer holds up what waits for it, once its slack is used up")
{
    const auto with_sum_of = [](double seconds) {
        return of_one(with_a_sum(), [=](const TraceTransfer&, double recorded, MovingFrom) {
            CHECK_THAT(recorded, WithinRel(200e-6, 1e-3));
            return std::optional(seconds);
        });
    };
    CHECK_THAT(of_one(with_a_sum()).rebuilt().value(), WithinRel(500e-6, 0.01));
    // It ends at 300, and 100 us later is when it is waited for.
    CHECK_THAT(with_sum_of(290e-6).rebuilt().value(), WithinRel(500e-6, 0.01));
    CHECK_THAT(with_sum_of(400e-6).rebuilt().value(), WithinRel(600e-6, 0.01));
}

TEST_CASE("compute beside a transfer is slower by what the kernels themselves tell")
{
    // Two products of 10 us alone, two of 13 beside a sum of 100.
    WrittenTrace written;
    written.step(1, 0, 200)
        .kernel("gemm", 0, 10)
        .kernel("gemm", 10, 10)
        .all_reduce(20, 100, 1000)
        .kernel("gemm", 30, 13)
        .kernel("gemm", 43, 13);
    const RebuiltStep step = of_one(written);
    CHECK_THAT(step.slowdown, WithinRel(1.3, 1e-6));
    CHECK_THAT(work(step.rebuilt_work, DeviceWork::gemm).value(), WithinRel(46e-6, 0.01));
    // Nothing is slower where the kernels do not tell.
    CHECK(of_one(with_a_sum()).slowdown == 1);
}

TEST_CASE("members of a collective wait for the last one, whoever it is")
{
    // Rank 1 computes 50 us longer, so rank 0 waits in the sum.
    const auto rank = [](int number, double compute) {
        return WrittenTrace(number)
            .step(1, 0, 120)
            .kernel("kernel of rank " + std::to_string(number), 0, compute)
            .all_reduce(compute, 100 - compute, 1000);
    };
    const Checked<RebuiltStep> step = rebuilt({rank(0, 30), rank(1, 80)}, {{0, 1}, {}});
    REQUIRE(step);
    CHECK(step->joined == 1);
    CHECK(step->lone == 0);
    for (const RebuiltRank& one : step->ranks)
        CHECK_THAT(one.rebuilt.value(), WithinRel(100e-6, 0.01));
    // Data move for 20 us; the rest of rank 0's kernel is waiting.
    CHECK_THAT(work(step->rebuilt_work, DeviceWork::communication).value(), WithinRel(20e-6, 0.01));
    CHECK(of_one(rank(0, 30)).lone == 1);
}

TEST_CASE("ops that none of the known ranks ran take what others of their work took")
{
    WrittenTrace first(0);
    first.step(1, 0, 100).kernel("sgemm one", 0, 40);
    WrittenTrace second(1);
    second.step(1, 0, 100).kernel("sgemm two", 0, 90);
    const Checked<RebuiltStep> step = rebuilt({first, second}, {{0}, {}});
    REQUIRE(step);
    CHECK(step->unknown == 1);
    CHECK_THAT(step->ranks[1].rebuilt.value(), WithinRel(40e-6, 0.01));
}

TEST_CASE("a step that takes no time is not rebuilt")
{
    const Checked<RebuiltStep> step =
        rebuilt({WrittenTrace().step(1, 0, 0).kernel("gemm", 0, 0)}, {{0}, {}});
    REQUIRE(!step);
    CHECK_THAT(step.error().front().message, ContainsSubstring("no time"));
}
