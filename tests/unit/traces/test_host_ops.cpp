// Traces of jobs that train on their host's cores.

#include "sim/traces/run_summary.h"
#include "sim/traces/step_needs.h"
#include "tests/unit/traces/written_trace.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr const char* floats = "\"Input Dims\": [[4, 8], [8, 16]], \"Input type\": [\"float\"]";

// A layer, its backward pass on the same thread with a sum that another thread carries, the update;
// `late`: how much later than the other rank this one comes to the sum.
WrittenTrace core_step(int rank, double late)
{
    WrittenTrace written(rank, 2);
    const auto op = [&](const std::string& name, double start, double length,
                        const char* arguments = "\"Ev Idx\": 0") {
        written.host("cpu_op", name, start, length, arguments);
    };
    written.on_cores().step(1, 0, 2000);
    op("aten::linear", 10, 200);
    op("aten::t", 12, 2);
    op("aten::addmm", 20, 180, floats);
    op("aten::copy_", 22, 20);
    op("aten::relu", 220, 40);
    op("aten::clamp_min", 225, 34);
    op("autograd::engine::evaluate_function: AddmmBackward0", 300, 400 + late);
    op("AddmmBackward0", 302, 380 + late);
    op("aten::mm", 310, 300 + late, floats);
    op("c10d::allreduce_", 640 + late, 20);
    written.host("user_annotation", "gloo:all_reduce", 650 + late, 450 - late,
                 "\"Input Dims\": [[250000]], \"Input type\": [\"float\"]", 5);
    written.host("user_annotation", "torch.distributed.ddp.reducer::copy_bucket_to_grad", 1108, 54);
    op("aten::copy_", 1110, 50);
    written.host("cpu_op", "Optimizer.step#SGD.step", 1200, 300);
    op("aten::add_", 1210, 100);
    op("aten::mul", 1320, 100);
    op("aten::to", 1330, 20);
    op("aten::_to_copy", 1332, 16);
    return written;
}

std::vector<std::string> names_of(const RankTrace& trace)
{
    std::vector<std::string> out;
    for (const DeviceEvent& event : trace.device_events)
        out.push_back(trace.text(event.name));
    return out;
}

} // namespace

TEST_CASE("what takes its time itself is an op of the host's cores")
{
    const RankTrace trace = core_step(0, 0).read();
    CHECK(trace.on_host);
    // A product with what it calls, of an activation the op within, of a multiplication not the
    // cast of its scalar; what the engine does around them is none.
    CHECK(names_of(trace) == std::vector<std::string>{"aten::addmm", "aten::clamp_min", "aten::mm",
                                                      "aten::copy_", "aten::add_", "aten::mul",
                                                      "gloo:all_reduce"});
}

TEST_CASE("a step on the host's cores is accounted for")
{
    const Checked<JobTrace> job = joined({core_step(0, 0), core_step(1, 100)});
    if (!job)
        FAIL(render(job.error(), ""));
    const RunSummary run = run_summary(*job);
    CHECK(run.backend == "gloo");
    const auto time = [&](TimeKind kind) {
        return run.ranks[0].time[static_cast<std::size_t>(kind)].value();
    };
    CHECK_THAT(time(TimeKind::forward), WithinRel((180 + 34) * 1e-6, 1e-9));
    CHECK_THAT(time(TimeKind::backward), WithinRel(300e-6, 1e-9));
    CHECK_THAT(time(TimeKind::other_compute), WithinRel(50e-6, 1e-9));
    CHECK_THAT(time(TimeKind::optimizer), WithinRel((100 + 100) * 1e-6, 1e-9));
    // Rank 1 comes 100 us later to the sum; until then rank 0 waits, from then on data move.
    CHECK_THAT(time(TimeKind::waiting), WithinRel(100e-6, 1e-9));
    CHECK_THAT(time(TimeKind::exposed_dp), WithinRel(350e-6, 1e-9));
    REQUIRE(run.transfers.size() == 1);
    CHECK(run.transfers[0].kind == CollectiveKind::all_reduce);
    CHECK(run.transfers[0].bytes == 1'000'000);
    CHECK(run.transfers[0].ranks == 2); // of the only process group
    CHECK(run.transfers[0].role == GroupKind::dp);
    CHECK(run.transfers[0].source == MovingFrom::arrivals);
}

TEST_CASE("a step on the host's cores, rebuilt from its ops, takes what it took")
{
    const Checked<JobTrace> job = joined({core_step(0, 0), core_step(1, 100)});
    REQUIRE(job);
    const Checked<RebuiltStep> step = rebuild_step(*job, {.known = {0}, .transfer_time = {}});
    REQUIRE(step);
    CHECK_THAT(step->rebuilt() / step->recorded(), WithinAbs(1, 0.08));
}

TEST_CASE("ops that only launch are none of the host's work")
{
    const testing::Folder folder;
    const auto refused = [&](const WrittenTrace& written) {
        const auto ranks = read_kineto(folder.file("trace.json", written.text()));
        return !ranks &&
               ranks.error().front().message.find("no event of a GPU") != std::string::npos;
    };
    WrittenTrace on_device;
    on_device.host("cpu_op", "aten::mm", 0, 50);
    CHECK(refused(on_device)); // a device is named
    WrittenTrace calls;
    calls.on_cores().host("cpu_op", "aten::mm", 0, 50).call("hipDeviceSynchronize", 60, 5);
    CHECK(refused(calls));
    WrittenTrace nothing;
    nothing.on_cores().host("cpu_op", "aten::empty", 0, 5);
    nothing.host("user_annotation", "gloo:all_reduce", 10, 50, "\"Ev Idx\": 0", 5);
    CHECK(refused(nothing)); // what computed was not recorded
}

TEST_CASE(
    "what a backend's own threads do is its transfer, and what waits for one computes nothing")
{
    WrittenTrace written(0, 2);
    written.on_cores().step(1, 0, 1000);
    written.host("cpu_op", "aten::mm", 10, 100, floats);
    written.host("cpu_op", "_c10d_functional::wait_tensor", 120, 300);
    written.host("user_annotation", "gloo:all_gather", 110, 300,
                 R"("Input Dims": [[1000]], "Input type": ["float"])", 5);
    written.host("cpu_op", "aten::copy_", 350, 50, "\"Ev Idx\": 0", 5);
    written.host("cpu_op", "aten::mm", 430, 100, floats);
    const Checked<JobTrace> job = joined({written});
    REQUIRE(job);
    CHECK(job->ranks.front().ops.size() == 3);
    const RunSummary run = run_summary(*job);
    const auto time = [&](TimeKind kind) {
        return run.ranks[0].time[static_cast<std::size_t>(kind)].value();
    };
    CHECK_THAT(time(TimeKind::exposed_dp), WithinRel(300e-6, 1e-9));
    REQUIRE(run.transfers.size() == 1);
    CHECK(run.transfers[0].bytes == 2 * 1000 * 4); // of both ranks
}

TEST_CASE("a core's host goes on when its op has ended, so ops make up the step and not the host")
{
    WrittenTrace written(0, 1);
    written.on_cores().step(1, 0, 400);
    for (int i = 0; i < 3; ++i)
        written.host("cpu_op", "aten::mm", 10 + 130 * i, 100, floats);
    const Checked<JobTrace> job = joined({written});
    REQUIRE(job);
    for (const TraceOp& op : job->ranks.front().ops)
        CHECK(op.blocks_host);
    const StepNeeds needs =
        step_needs(job->ranks.front(), transfer_times(*job)[0], job->ranks.front().steps.front());
    TraceTime host = needs.host_before_end + needs.host_end;
    for (const OpNeeds& op : needs.ops)
        host += op.host_before + op.host;
    CHECK(host == us(400 - 300));
    const Checked<RebuiltStep> step = rebuild_step(*job, {.known = {0}, .transfer_time = {}});
    REQUIRE(step);
    CHECK_THAT(step->rebuilt() / step->recorded(), WithinAbs(1, 1e-6));
}

TEST_CASE(
    "products beyond any core's rate are doubted, and that only the host was recorded is told")
{
    const auto job_of_products = [](double length) {
        WrittenTrace written(0, 1);
        written.on_cores().step(1, 0, 100 + length);
        written.host("cpu_op", "aten::mm", 10, length,
                     R"("Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["float"])");
        Checked<JobTrace> job = joined({written});
        REQUIRE(job);
        return std::move(*job);
    };
    // 137 GFLOP in 10 us, as long as a launch takes, and in 100 ms.
    const JobTrace launched = job_of_products(10);
    REQUIRE(launched.doubts.size() == 1);
    CHECK_THAT(launched.doubts.front(), ContainsSubstring("PFLOP/s"));
    const JobTrace computed = job_of_products(100'000);
    CHECK(computed.doubts.empty());
    REQUIRE(computed.assumed.size() == 1);
    CHECK_THAT(computed.assumed.front(), ContainsSubstring("no event is of a device"));
    CHECK(run_summary(computed).on_host);
}
