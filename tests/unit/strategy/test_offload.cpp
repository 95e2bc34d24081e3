// What is copied between the device's memory and memory elsewhere, when, and what stays.

#include "sim/strategy/memory.h"
#include "sim/strategy/memory/kept_activations.h"
#include "tests/catch.h"
#include "tests/support/flaws.h"
#include "tests/unit/strategy/plans.h"

#include <string_view>

using namespace trainyard;
using namespace trainyard::literals;
using namespace trainyard::testing;

namespace {

// Bytes that the copies of a stream move in a step.
double copied(const Plan& plan, std::string_view stream)
{
    REQUIRE(flaws(plan.program) == std::vector<std::string>{});
    double bytes = 0;
    for_each_op(
        plan.program, plan.program.roles[0], [&](const Block&, const Op& op, const BlockUse&) {
            if (op.kind == OpKind::copy && plan.program.streams[op.stream.value].name == stream)
                bytes += static_cast<double>(plan.compute[op.cost.value].host_copy.value());
        });
    return bytes;
}

double host_bytes(const Plan& plan)
{
    double bytes = 0;
    for_each_op(
        plan.program, plan.program.roles[0], [&](const Block&, const Op& op, const BlockUse&) {
            if (op.kind == OpKind::host)
                bytes += static_cast<double>(plan.compute[op.cost.value].host_bytes.value());
        });
    return bytes;
}

Job job_with(int zero, int dp, const OffloadOptions& offload, int micro_batches = 1)
{
    Strategy strategy;
    strategy.zero = zero;
    strategy.dp = dp;
    strategy.overlap.dp = true;
    strategy.offload = offload;
    Training training = training_of(dp * micro_batches);
    training.fp32_gradients = false;
    return job_of(small_decoder(), strategy, training);
}

double held(const Plan& plan, MemoryKind kind)
{
    double bytes = 0;
    for (const TensorId id : plan.program.roles[0].held)
        if (plan.program.tensors[id.value].kind == kind)
            bytes += static_cast<double>(plan.program.tensors[id.value].bytes);
    return bytes;
}

constexpr OffloadOptions optimizer_on_cpu{.optimizer = OffloadTarget::cpu};

} // namespace

TEST_CASE("an optimizer on the host gets a shard's gradients and returns its parameters")
{
    // ZeRO-Offload (Ren 2021): 2 bytes per parameter of the shard each way, and on the host Adam's
    // 12 bytes read and written, the gradient read, the parameter written: 28.
    const auto& [zero, dp] = GENERATE(std::pair(0, 1), std::pair(1, 4), std::pair(2, 4),
                                      std::pair(3, 4), std::pair(3, 1));
    OffloadOptions offload = optimizer_on_cpu;
    offload.overlap = GENERATE(true, false);
    const Job job = job_with(zero, dp, offload, GENERATE(1, 3));
    const Plan plan = make_plan(job);
    const double shard = stage_parameters(job).dense / dp;
    CHECK_THAT(copied(plan, "d2h"), WithinRel(2 * shard, 1e-6));
    CHECK_THAT(copied(plan, "h2d"), WithinRel(2 * shard, 1e-6));
    CHECK_THAT(host_bytes(plan), WithinRel(28 * shard, 1e-6));
}

TEST_CASE("parameters on the host are fetched a shard at a time before every gather")
{
    OffloadOptions offload;
    offload.parameters = OffloadTarget::cpu;
    const int dp = GENERATE(1, 4);
    const Job job = job_with(3, dp, offload, 2);
    const Plan plan = make_plan(job);
    const Plan inside = make_plan(job_with(3, 4, {}, 2));
    const double gathered = volume(inside, 0, CollectiveKind::all_gather, GroupKind::dp).bytes;
    CHECK_THAT(copied(plan, "h2d"), WithinRel(gathered / dp, 1e-6));
    // The device updated them: they go home once.
    CHECK_THAT(copied(plan, "d2h"), WithinRel(2 * stage_parameters(job).dense / dp, 1e-6));
    offload.optimizer = OffloadTarget::cpu;
    const Plan both = make_plan(job_with(3, dp, offload, 2));
    CHECK(copied(both, "h2d") == copied(plan, "h2d"));
    CHECK_THAT(copied(both, "d2h"), WithinRel(2 * stage_parameters(job).dense / dp, 1e-6));
}

TEST_CASE("what layers keep goes to the host and comes back once a micro-batch")
{
    constexpr int micro_batches = 3;
    OffloadOptions offload;
    const auto kept_with = [&](int layers) {
        offload.activation_layers = layers;
        const Job job = job_with(0, 1, offload, micro_batches);
        return kept_activations(job, job_work(job)).front();
    };
    const auto away = static_cast<double>(kept_with(0) - kept_with(2));
    offload.overlap = GENERATE(true, false);
    const Plan plan = make_plan(job_with(0, 1, offload, micro_batches));
    CHECK(away > 0);
    CHECK(copied(plan, "d2h") == micro_batches * away);
    CHECK(copied(plan, "h2d") == micro_batches * away);
}

TEST_CASE("no more layers' activations wait on the host than a device has layers")
{
    OffloadOptions offload;
    offload.activation_layers = 1000;
    JobRequest request;
    request.model = small_decoder();
    request.strategy.offload = offload;
    request.training = training_of(1);
    request.devices = 1;
    const Checked<Job> job = resolve(request);
    REQUIRE_FALSE(job);
    CHECK(job.error().front().pointer == "/strategy/offload/activation_layers");
    CHECK(job.error().front().hint == "0 to 8");
}

TEST_CASE("states in a peer's memory come and go once per step")
{
    // 12 bytes of the fp32 copy and two moments each way.
    OffloadOptions offload;
    offload.optimizer = OffloadTarget::peer;
    const Job job = job_with(1, 4, offload);
    const Plan plan = make_plan(job);
    CHECK_THAT(copied(plan, "from peer"), WithinRel(12 * stage_parameters(job).dense / 4, 1e-6));
    CHECK_THAT(copied(plan, "to peer"), WithinRel(12 * stage_parameters(job).dense / 4, 1e-6));
    CHECK(held(plan, MemoryKind::optimizer) == 0);
    CHECK(held(plan, MemoryKind::pinned_host) == 0);
}

TEST_CASE("what is offloaded leaves the device and lies in pinned memory of the host")
{
    // 2 bytes of parameters stay with one micro-batch, 4 where sums are made on the device; the
    // host holds 12 of states and 2 of gradients (Ren 2021, figure 2: 2M and 14M).
    const double all = stage_parameters(job_with(0, 1, {})).dense;
    const Plan one = make_plan(job_with(0, 1, optimizer_on_cpu, 1));
    CHECK(held(one, MemoryKind::parameters) == 2 * all);
    CHECK(held(one, MemoryKind::gradients) == 0);
    CHECK(held(one, MemoryKind::optimizer) == 0);
    CHECK(held(one, MemoryKind::pinned_host) == 14 * all);
    CHECK(held(make_plan(job_with(0, 1, optimizer_on_cpu, 2)), MemoryKind::gradients) == 2 * all);

    OffloadOptions everything = optimizer_on_cpu;
    everything.parameters = OffloadTarget::cpu;
    const Plan none = make_plan(job_with(3, 4, everything));
    CHECK(held(none, MemoryKind::parameters) == 0);
    CHECK_THAT(held(none, MemoryKind::pinned_host), WithinRel(16 * all / 4, 1e-6));
}

TEST_CASE("offloading costs time, less of it when copies run beside compute")
{
    const double inside = step_time(job_with(2, 4, {})).value();
    OffloadOptions offload = optimizer_on_cpu;
    const double beside = step_time(job_with(2, 4, offload)).value();
    offload.overlap = false;
    const double after = step_time(job_with(2, 4, offload)).value();
    CHECK(inside < beside);
    CHECK(beside < after);

    OffloadOptions fetched;
    fetched.parameters = OffloadTarget::cpu;
    const double ahead = step_time(job_with(3, 4, fetched)).value();
    fetched.overlap = false;
    CHECK(step_time(job_with(3, 4, {})).value() < ahead);
    CHECK(ahead < step_time(job_with(3, 4, fetched)).value());
}

TEST_CASE("copies run at the rate of their link")
{
    const CostModel& cost = h100_costs();
    const Device& device = cost.profile().hardware.device;
    const double latency = device.host_copy_latency.value();
    CHECK(cost.copy(1_GB, CopyRoute::host, false) == cost.host_copy(1_GB));
    CHECK_THAT(cost.copy(1_GB, CopyRoute::host, true).value(),
               WithinRel(latency + 1e9 / device.host_copy_both.value(), 1e-9));
    CHECK_THAT(cost.copy(1_GB, CopyRoute::peer, true).value(),
               WithinRel(latency + 1e9 / device.peer_copy.value(), 1e-9));
    CHECK_THAT(cost.host_pass(1_GB).value(), WithinRel(1e9 / device.host_memory.value(), 1e-9));
    CHECK(cost.copy(1_GB, CopyRoute::peer, false) < cost.copy(1_GB, CopyRoute::host, false));
}

TEST_CASE("offloading that cannot be is refused with what can")
{
    const auto refusal_of = [](int zero, const OffloadOptions& offload) {
        JobRequest request;
        request.model = small_decoder();
        request.training = training_of(4);
        request.strategy.dp = 4;
        request.strategy.zero = zero;
        request.strategy.offload = offload;
        request.devices = 4;
        const Checked<Job> job = resolve(request);
        return job ? std::string() : render(job.error(), "");
    };
    CHECK_THAT(refusal_of(0, optimizer_on_cpu), ContainsSubstring("use zero 1, 2 or 3"));
    OffloadOptions fetched;
    fetched.parameters = OffloadTarget::cpu;
    CHECK_THAT(refusal_of(2, fetched), ContainsSubstring("use zero 3"));

    const Device& pcie = h100_costs().profile().hardware.device;
    OffloadOptions offload;
    offload.optimizer = OffloadTarget::grace;
    CHECK_THAT(render(offload_misfits(job_with(1, 4, offload), pcie), ""),
               ContainsSubstring("over PCIe"));
    offload.optimizer = OffloadTarget::peer;
    CHECK(offload_misfits(job_with(1, 4, offload), pcie).empty());
    CHECK_THAT(render(offload_misfits(job_with(1, 8, offload), pcie), ""),
               ContainsSubstring("at most 4 ranks"));
    Device lonely = pcie;
    lonely.peer_copy = Bandwidth(0);
    CHECK_THAT(render(offload_misfits(job_with(1, 4, offload), lonely), ""),
               ContainsSubstring("use \"cpu\""));
}
