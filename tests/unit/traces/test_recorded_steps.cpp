#include "sim/traces/step_account.h"
#include "sim/traces/trace_steps.h"
#include "tests/unit/traces/written_trace.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

JobTrace job_of(const WrittenTrace& written)
{
    std::vector<DigestedRank> ranks;
    ranks.push_back(digest(written.read()));
    Checked<JobTrace> job = join_ranks(std::move(ranks));
    if (!job)
        FAIL(render(job.error(), ""));
    return std::move(*job);
}

} // namespace

TEST_CASE("a step begins when the device is free of the one before")
{
    // The host is ahead: what it issues in step 1 ends 30 us after it began step 2.
    const JobTrace job = job_of(WrittenTrace()
                                    .step(1, 0, 100)
                                    .step(2, 100, 100)
                                    .kernel("gemm", 20, 110)
                                    .launch(10, 5)
                                    .kernel("gemm", 130, 100)
                                    .launch(110, 5));
    const std::vector<TraceStep>& steps = job.ranks.front().steps;
    REQUIRE(steps.size() == 2);
    CHECK(steps[0].number == 1);
    CHECK(steps[0].span == TraceSpan{at_us(0), at_us(130)});
    CHECK(steps[1].span == TraceSpan{at_us(130), at_us(230)});
}

TEST_CASE("what was launched before launches were recorded is of no step, and delays the first")
{
    // The queue of the step before, 50 us of it, is still there when the profiler starts.
    const JobTrace job = job_of(WrittenTrace()
                                    .step(1, 0, 100)
                                    .step(2, 100, 100)
                                    .kernel("gemm", 5, 30)
                                    .kernel("gemm", 35, 20)
                                    .kernel("gemm", 55, 40)
                                    .launch(2, 1)
                                    .kernel("gemm", 120, 50)
                                    .launch(105, 5));
    const RankActivity& rank = job.ranks.front();
    CHECK(rank.ops[0].left_over);
    CHECK(rank.ops[1].left_over);
    CHECK(!rank.ops[2].left_over);
    REQUIRE(rank.steps.size() == 2);
    CHECK(rank.steps[0].span == TraceSpan{at_us(55), at_us(100)});
    CHECK(rank.steps[1].span == TraceSpan{at_us(100), at_us(200)});
    REQUIRE(job.assumed.size() == 1);
    CHECK_THAT(job.assumed.front(), ContainsSubstring("2 of 4 kernels and copies"));
}

TEST_CASE("kernels whose launches are never recorded are of the step in which they ran")
{
    // Only those of the runtime's calls are; both run between two of them, and before the first.
    const JobTrace job = job_of(WrittenTrace()
                                    .step(1, 0, 100)
                                    .kernel("triton", 5, 5)
                                    .kernel("gemm", 10, 10)
                                    .launch(2, 1)
                                    .kernel("triton", 40, 10)
                                    .kernel("gemm", 60, 10)
                                    .launch(30, 5)
                                    .kernel("gemm", 80, 10)
                                    .launch(72, 3));
    const RankActivity& rank = job.ranks.front();
    CHECK(rank.steps.front().span == TraceSpan{at_us(0), at_us(100)});
    for (const TraceOp& op : rank.ops)
        CHECK(!op.left_over);
    // Streams run in order: it had been issued when the one behind it was.
    CHECK(rank.ops[2].latest_issue() == at_us(35));
    const StepAccount account =
        step_account(job, transfer_times(job)[0], 0, rank.steps.front().span);
    // Before 5 nobody knows, but for what was launched at 3; from 20 on until 35 likewise.
    CHECK(account.untold == us(3 + 15));
    CHECK(account.gaps == us(2 + 5 + 10 + 5));
    CHECK(account.of(TimeKind::host) == us(5 + 10));
}

TEST_CASE("without launches nobody knows why nothing runs")
{
    const JobTrace job =
        job_of(WrittenTrace().step(1, 0, 100).kernel("gemm", 20, 30).kernel("gemm", 60, 10));
    const StepAccount account =
        step_account(job, transfer_times(job)[0], 0, job.ranks.front().steps.front().span);
    CHECK(account.untold == us(20 + 10 + 30));
    CHECK(account.gaps == us(0));
    CHECK(account.of(TimeKind::host) == us(0));
}

TEST_CASE("without annotations steps are what repeats")
{
    std::vector<TraceNameId> names;
    for (std::size_t step = 0; step < 5; ++step)
        for (const std::size_t name : {0, 1, 1, 2, 1, 1, 3})
            names.push_back(make_id<TraceNameId>(name));
    CHECK(period_of(names) == 7);
    names.resize(13);
    CHECK(period_of(names) == 0); // not twice
    WrittenTrace written;
    for (int step = 0; step < 3; ++step)
        for (int kernel = 0; kernel < 4; ++kernel)
            written.kernel("kernel " + std::to_string(kernel), 100 * step + 10 * kernel, 5);
    const JobTrace job = job_of(written);
    CHECK(job.ranks.front().step_source == StepSource::periodicity);
    REQUIRE(job.ranks.front().steps.size() == 3);
    CHECK(job.ranks.front().steps[1].span == TraceSpan{at_us(100), at_us(200)});
}

TEST_CASE("a step's time goes to phases, transfers, the host and gaps, and adds up")
{
    // us  0     10        30          70         90      120        130  140
    //     idle  forward   all-reduce  backward   idle    optimizer  idle
    WrittenTrace written;
    written.step(1, 0, 140)
        .host("cpu_op", "aten::mm", 0, 10,
              "\"External id\": 1, \"Input Dims\": [[8, 512], [512, 64]], \"Input type\": "
              "[\"float\", "
              "\"float\"]")
        .kernel("gemm", 10, 20, ", \"External id\": 1")
        .launch(2, 3)
        .all_reduce(30, 40, 1000)
        .launch(6, 1)
        .host("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 40, 40,
              "\"External id\": 2", 2)
        .kernel("gemm", 70, 20)
        .launch(45, 3, 2)
        .host("user_annotation", "Optimizer.step#AdamW.step", 85, 40, "\"External id\": 3")
        .kernel("multi_tensor_apply_kernel<AdamFunctor>", 120, 10)
        .launch(95, 10);
    const JobTrace job = job_of(written);
    const auto times = transfer_times(job);
    const RankActivity& rank = job.ranks.front();
    CHECK(rank.text(rank.ops.front().shapes) == "[[8, 512], [512, 64]]");
    CHECK(rank.text(rank.ops.front().host_op) == "aten::mm");
    const StepAccount account = step_account(job, times[0], 0, rank.steps.front().span);
    CHECK(account.step == us(140));
    CHECK(account.of(TimeKind::forward) == us(20));
    CHECK(account.of(TimeKind::backward) == us(20));
    CHECK(account.of(TimeKind::optimizer) == us(10));
    // Issued in the forward, so TP; the backward began at its end.
    CHECK(account.of(TimeKind::exposed_tp) == us(40));
    // Until the first launch returned (5), while the optimizer's was under way (90 to 105), and at
    // the end (130 to 140).
    CHECK(account.of(TimeKind::host) == us(5 + 15 + 10));
    CHECK(account.gaps == us(5 + 15)); // 5 to 10 and 105 to 120
    TraceTime sum = account.gaps;
    for (const TraceTime time : account.time)
        sum += time;
    CHECK(sum == account.step);
    // The same piece by piece: one behind the other, and each kind as long as above.
    StepAccount pieced;
    TraceTime at = rank.steps.front().span.start;
    for (const StepPiece& piece : step_pieces(job, times[0], 0, rank.steps.front().span)) {
        CHECK(piece.span.start == at);
        at = piece.span.end;
        (piece.kind ? pieced.of(*piece.kind) : pieced.gaps) += piece.span.length();
    }
    CHECK(at == rank.steps.front().span.end);
    CHECK(pieced.time == account.time);
    CHECK(pieced.gaps == account.gaps);
}

TEST_CASE("a transfer that outlasts the next kernel's start holds nothing up: the host is late")
{
    const JobTrace job = job_of(WrittenTrace()
                                    .step(1, 0, 100)
                                    .kernel("gemm", 0, 10)
                                    .all_reduce(10, 80, 1000)
                                    .kernel("gemm", 50, 50)
                                    .launch(45, 5));
    const auto times = transfer_times(job);
    const StepAccount account =
        step_account(job, times[0], 0, job.ranks.front().steps.front().span);
    CHECK(account.of(TimeKind::host) == us(40));
    CHECK(account.of(TimeKind::exposed_dp) == us(0));
}

namespace {

std::vector<TraceNameId> names_of(const std::string& letters)
{
    std::vector<TraceNameId> out;
    for (const char letter : letters)
        out.push_back(make_id<TraceNameId>(static_cast<std::size_t>(letter)));
    return out;
}

std::string times(int count, const std::string& letters)
{
    std::string out;
    for (int i = 0; i < count; ++i)
        out += letters;
    return out;
}

} // namespace

TEST_CASE("a step is what kernels that run seldom repeat with, not the layer within it")
{
    // An embedding, 24 layers, a head.
    const std::string pass = "e" + times(24, "abcd") + "nh";
    CHECK(period_of(names_of(times(5, pass))) == pass.size());
    CHECK_FALSE(is_part_of_step(names_of(times(5, pass)), pass.size()));
    // Eight micro-batches and an update.
    const std::string step = times(8, "e" + times(6, "abcd") + "l" + times(6, "xyz")) + "uuu";
    CHECK(period_of(names_of(times(3, step))) == step.size());
    // Whose kernels come many times in a row.
    const std::string runs = times(20, "a") + times(20, "b") + "ccc";
    CHECK(period_of(names_of(times(3, runs))) == runs.size());
    // Of a single one only its parts repeat, and others run around them.
    CHECK(period_of(names_of(pass)) == 4);
    CHECK(is_part_of_step(names_of(pass), 4));
    CHECK(is_part_of_step(names_of(step), 44));
}

TEST_CASE("what repeats within a single step is no step, unless it holds an update each time")
{
    const auto recorded = [](bool updates) {
        WrittenTrace written;
        double at = 10;
        const auto run = [&](const std::string& name) {
            written.kernel(name, at, 8).launch(at - 8, 1);
            at += 10;
        };
        run("embedding");
        for (int i = 0; i < 12; ++i) {
            for (const char* const name : {"gemm", "norm", "flash", "silu"})
                run(name);
            if (updates)
                written.host("user_annotation", "Optimizer.step#SGD.step", at - 9, 3);
            run("update");
        }
        run("head");
        return job_of(written);
    };
    const JobTrace layers = recorded(false);
    CHECK(layers.ranks.front().step_source == StepSource::whole);
    CHECK(layers.ranks.front().parts == 12);
    REQUIRE(layers.assumed.size() == 1);
    CHECK_THAT(layers.assumed.front(), ContainsSubstring("kernels repeat 12 times"));
    const JobTrace steps = recorded(true);
    CHECK(steps.ranks.front().step_source == StepSource::periodicity);
    CHECK(steps.ranks.front().steps.size() == 12);
    CHECK(steps.assumed.empty());
}

TEST_CASE("steps of a number that was there before, and steps in which nothing runs, are told")
{
    const JobTrace job = job_of(WrittenTrace()
                                    .step(2, 0, 100)
                                    .kernel("gemm", 10, 20)
                                    .launch(5, 1)
                                    .step(3, 100, 100)
                                    .step(2, 200, 100)
                                    .kernel("gemm", 210, 20)
                                    .launch(205, 1));
    REQUIRE(job.assumed.size() == 2);
    CHECK_THAT(job.assumed[0], ContainsSubstring("left out: 1"));
    const JobTrace half =
        job_of(WrittenTrace().step(1, 0, 100).kernel("gemm", 10, 20).launch(5, 1).step(2, 100, 50));
    REQUIRE(half.assumed.size() == 1);
    CHECK_THAT(half.assumed[0], ContainsSubstring("in 1 of 2 steps no op begins"));
}

TEST_CASE("between a backward and the update gradients are summed, whatever the host is at")
{
    WrittenTrace written;
    written.step(1, 0, 200);
    const auto op = [&](const std::string& around, const std::string& kernel, double at) {
        if (!around.empty())
            written.host("user_annotation", around, at, 8);
        written.host("cpu_op", "aten::op", at + 1, 6);
        if (kernel == "sum")
            written.all_reduce(at + 5, 20, 1'000'000);
        else
            written.kernel(kernel, at + 5, 5);
        written.launch(at + 2, 1);
    };
    op("", "gemm", 0);
    op("Optimizer.zero_grad#SGD.zero_grad", "fill", 20);
    op("", "gemm", 40);
    op("autograd::engine::evaluate_function: MmBackward0", "gemm", 60);
    op("", "sum", 80);
    op("", "norm", 110);
    op("Optimizer.step#SGD.step", "multi_tensor", 130);
    op("", "gemm", 150);
    const JobTrace job = job_of(written);
    std::vector<Phase> phases;
    for (const TraceOp& of : job.ranks.front().ops)
        phases.push_back(of.phase);
    using enum Phase;
    CHECK(phases == std::vector{forward, optimizer, forward, backward, gradient_sync, gradient_sync,
                                optimizer, forward});
    // So a hand-written average is no tensor parallelism.
    CHECK(job.groups.front().role == GroupKind::dp);
    REQUIRE(!job.assumed.empty());
    CHECK_THAT(job.assumed.back(), ContainsSubstring("is for dp by what it carries"));
}
