// The replay of a step's requests: what lives, instance by instance, and what the allocator makes
// of it.

#include "sim/program/repetition.h"
#include "sim/strategy/memory.h"
#include "sim/strategy/memory/allocator_replay.h"
#include "sim/strategy/memory/kept_activations.h"
#include "sim/strategy/memory/live_peak.h"
#include "sim/strategy/plan.h"
#include "tests/catch.h"
#include "tests/support/flaws.h"
#include "tests/support/replay_flaws.h"

#include <algorithm>
#include <numeric>

using namespace trainyard;

namespace {

Transformer small_model()
{
    Transformer t;
    t.hidden = 1024;
    t.layers = 8;
    t.heads = 8;
    t.kv_heads = 4;
    t.head_dim = 128;
    t.ffn = 4096;
    t.vocabulary = 32000;
    return t;
}

JobRequest request_of(const Transformer& model, const Strategy& strategy, int devices, int batch)
{
    JobRequest request;
    request.model = {"small", model};
    request.training.sequence_length = 2048;
    request.training.global_batch = batch;
    request.training.fp32_gradients = true;
    request.strategy = strategy;
    request.devices = devices;
    return request;
}

// Jobs of every kind: how they are cut, what they recompute, which schedule they follow.
std::vector<Job> all_kinds()
{
    std::vector<JobRequest> requests;
    const auto add = [&](const Transformer& model, auto change) {
        Strategy strategy;
        JobRequest request = request_of(model, strategy, 8, 32);
        change(request);
        requests.push_back(std::move(request));
    };
    const Transformer dense = small_model();
    Transformer moe = dense;
    moe.moe = MixtureOfExperts{.experts = 8, .experts_per_token = 2, .expert_ffn = 2048};
    moe.moe->shared_expert_ffn = 1024;
    Transformer gpt = dense;
    gpt.gated_mlp = false;
    gpt.dropout = true;
    gpt.position = PositionKind::learned;
    gpt.max_positions = 2048;
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
        add(dense, [&](JobRequest& r) { r.training.recompute = recompute; });
        add(gpt, [&](JobRequest& r) {
            r.training.recompute = recompute;
            r.software.kernels.attention = AttentionKernel::unfused;
            r.strategy.tp = 2;
            r.strategy.sequence_parallel = true;
        });
        add(moe, [&](JobRequest& r) {
            r.training.recompute = recompute;
            r.strategy.ep = 4;
            r.strategy.pp = 2;
        });
    }
    for (const char* schedule :
         {"gpipe", "1f1b", "interleaved-1f1b", "zb-h1", "zb-h2", "zb-v", "dualpipe", "dualpipev"})
        add(dense, [&](JobRequest& r) {
            r.strategy.pp = 4;
            r.strategy.schedule = schedule;
            const std::string_view name(schedule);
            if (name == "interleaved-1f1b" || name == "zb-v" || name == "dualpipev")
                r.strategy.vpp = 2; // dualpipe holds two chunks without being told
            r.devices = 4;
        });
    for (const Transformer& model : {dense, moe})
        for (const char* schedule : {"zb-h1", "dualpipe"})
            add(model, [&](JobRequest& r) {
                r.training.precision = Precision::fp8;
                r.training.recompute = Recompute::full;
                r.strategy.pp = 2;
                r.strategy.schedule = schedule;
            });
    for (const int zero : {1, 3})
        add(dense, [&](JobRequest& r) {
            r.strategy.zero = zero;
            r.strategy.prefetch = 2;
        });
    add(dense, [&](JobRequest& r) {
        r.strategy.zero = 3;
        r.strategy.reshard_after_forward = false;
    });
    for (const char* schedule : {"1f1b", "zb-h1", "dualpipe"})
        for (const bool overlap : {true, false})
            add(dense, [&](JobRequest& r) {
                r.strategy.pp = 2;
                r.strategy.schedule = schedule;
                r.strategy.offload.activation_layers = 3;
                r.strategy.offload.overlap = overlap;
            });
    std::vector<Job> jobs;
    for (const JobRequest& request : requests) {
        Checked<Job> job = resolve(request);
        INFO(request.strategy.schedule << (job ? "" : ": " + job.error()[0].message));
        REQUIRE(job);
        jobs.push_back(std::move(*job));
    }
    return jobs;
}

std::string words(const Job& job)
{
    return job.strategy.schedule + " zero " + std::to_string(job.strategy.zero) + " recompute " +
           std::string(to_name(job.training.recompute)) + (job.model.is_moe() ? " moe" : "");
}

Plan pipeline_of(int micro_batches)
{
    Strategy strategy;
    strategy.pp = 4;
    return make_plan(resolve(request_of(small_model(), strategy, 4, micro_batches)).value());
}

} // namespace

TEST_CASE("every tensor is freed once, where it lives, and none is left")
{
    for (const Job& job : all_kinds()) {
        CAPTURE(words(job));
        const Plan plan = make_plan(job);
        CHECK(flaws(plan.program) == std::vector<std::string>{});
        for (const Role& role : plan.program.roles)
            CHECK(replay_flaws(plan.program, role) == std::vector<std::string>{});
    }
}

// The most bytes of tensors of that name that live at once.
std::int64_t most_of(const Program& program, const Role& role, std::string_view name)
{
    std::int64_t live = 0;
    std::int64_t most = 0;
    const HostOrder order(program);
    StepWalk(order, role).whole([&](MemoryPlace, std::uint32_t, const MemoryEvent& event) {
        const Tensor& tensor = program.tensors[event.tensor.value];
        if (tensor.name == name)
            live += event.action == MemoryAction::allocate ? tensor.bytes : -tensor.bytes;
        most = std::max(most, live);
        return true;
    });
    return most;
}

TEST_CASE("gradients that weights' gradients put off still read are kept as products read them")
{
    const auto most = [](Precision precision, const char* schedule, std::string_view name) {
        Strategy strategy;
        strategy.pp = 2;
        strategy.schedule = schedule;
        JobRequest request = request_of(small_model(), strategy, 2, 8);
        request.training.precision = precision;
        const Plan plan = make_plan(resolve(request).value());
        return most_of(plan.program, plan.program.roles.back(), name);
    };
    constexpr std::int64_t tokens = 2048;
    constexpr std::int64_t up = 2 * 2 * tokens * 4096; // gated, in bf16
    // One layer at a time, where nothing is put off.
    CHECK(most(Precision::bf16, "1f1b", "activation_input_gradient") == up);
    CHECK(most(Precision::fp8, "1f1b", "activation_input_gradient") == up);
    CHECK(most(Precision::fp8, "1f1b", "activation_input_gradient cast") == 0);
    // Of four layers and more, else.
    CHECK(most(Precision::bf16, "zb-h1", "activation_input_gradient") >= 4 * up);
    CHECK(most(Precision::fp8, "zb-h1", "activation_input_gradient") == up);
    CHECK(most(Precision::fp8, "zb-h1", "activation_input_gradient cast") >= 4 * up / 2);
    CHECK(most(Precision::bf16, "zb-h1", "output_gradient") >= 4 * 2 * tokens * 1024);
    CHECK(most(Precision::bf16, "1f1b", "output_gradient") <= 2 * 2 * tokens * 1024);
}

TEST_CASE("the peak is the highest of the sums after each request")
{
    for (const Job& job : all_kinds()) {
        CAPTURE(words(job));
        const Plan plan = make_plan(job);
        const HostOrder order(plan.program);
        for (const Role& role : plan.program.roles) {
            std::int64_t live = role.static_memory;
            std::int64_t most = live;
            StepWalk(order, role).whole([&](MemoryPlace, std::uint32_t, const MemoryEvent& event) {
                const Tensor& tensor = plan.program.tensors[event.tensor.value];
                live += event.action == MemoryAction::allocate ? tensor.bytes : -tensor.bytes;
                most = std::max(most, live);
                CHECK(live >= role.static_memory);
                return true;
            });
            CHECK(live == role.static_memory);
            const LivePeak peak = live_peak(order, role);
            CHECK(peak.bytes == most);
            const KindBytes kinds = bytes_by_kind(plan.program, peak.tensors);
            CHECK(std::accumulate(kinds.begin(), kinds.end(), std::int64_t{0}) == most);
        }
    }
}

TEST_CASE("1F1B repeats a forward and a backward pass")
{
    const Plan plan = pipeline_of(64);
    const Role& role = plan.program.roles[1];
    const Repetition found = find_repetition(role);
    CHECK(found.micro_batches == 1);
    // 64 micro-batches, of which 3 warm up and 3 cool down.
    CHECK(found.times >= 56);
    for (std::uint32_t i = 0; i + found.period < found.period * found.times; ++i)
        REQUIRE(role.order[found.first + i].block ==
                role.order[found.first + i + found.period].block);
}

TEST_CASE("passing over repetitions changes nothing allocated and little reserved")
{
    for (const Job& job : all_kinds()) {
        CAPTURE(words(job));
        const Plan plan = make_plan(job);
        const HostOrder order(plan.program);
        for (const Role& role : plan.program.roles) {
            AllocatorReplayRequest request;
            request.micro_batches = static_cast<int>(job.micro_batches());
            const AllocatorReplay quick = replay_allocator(order, role, request);
            request.lengths = {1.0}; // each micro-batch by itself
            const AllocatorReplay whole = replay_allocator(order, role, request);
            CHECK(quick.peak.allocated == whole.peak.allocated);
            CHECK(quick.retries == whole.retries);
            CHECK_THAT(static_cast<double>(quick.peak.reserved),
                       WithinRel(static_cast<double>(whole.peak.reserved), 0.03));
            CHECK(quick.peak.allocated >= live_peak(order, role).bytes);
            CHECK(quick.unused() >= 0);
        }
    }
}

TEST_CASE("states and what passes keep are the least that a stage holds")
{
    const DeviceMemory device{.capacity = Bytes(80'000'000'000), .context = Bytes(500'000'000)};
    for (const Job& job : all_kinds()) {
        CAPTURE(words(job));
        const MemoryEstimate least = estimate_least(job, device);
        const MemoryEstimate live = estimate_memory(job, device, {.view = AllocatorView::nobody});
        REQUIRE(least.stages.size() == live.stages.size());
        for (std::size_t stage = 0; stage < live.stages.size(); ++stage) {
            CHECK(least.stages[stage].kinds.at("activations") > Bytes(0));
            CHECK(least.stages[stage].total() <= live.stages[stage].total());
        }
    }
}

TEST_CASE("what layers keep waits on the host as far as offloading takes them")
{
    // 8 layers on one device, alike; what embedding and head keep stays.
    const auto kept_with = [](int offloaded, Recompute recompute) {
        JobRequest request = request_of(small_model(), {}, 1, 4);
        request.strategy.offload.activation_layers = offloaded;
        request.training.recompute = recompute;
        request.training.recompute_layers =
            recompute == Recompute::full ? std::optional(2) : std::nullopt;
        const Job job = resolve(request).value();
        return kept_activations(job, job_work(job)).front();
    };
    const std::int64_t all = kept_with(0, Recompute::none);
    const std::int64_t rest = kept_with(8, Recompute::none);
    CHECK(rest < all);
    CHECK(kept_with(2, Recompute::none) - rest == (all - rest) / 8 * 6);
    // Two are recomputed, which leaves six to wait elsewhere; of the two the inputs stay.
    const std::int64_t again = kept_with(0, Recompute::full);
    CHECK(again - kept_with(6, Recompute::full) == (all - rest) / 8 * 6);
    CHECK(kept_with(8, Recompute::full) == kept_with(6, Recompute::full));
    CHECK(kept_with(6, Recompute::full) > rest);
}

TEST_CASE("where no pass keeps anything the least is what is held all the time")
{
    Strategy strategy;
    strategy.data_parallel = DataParallelScheme::single_process;
    JobRequest request = request_of(small_model(), strategy, 4, 32);
    const Checked<Job> job = resolve(request);
    REQUIRE(job);
    CHECK(kept_activations(*job, job_work(*job)) == std::vector<std::int64_t>{0});
}

TEST_CASE("in 1F1B each stage keeps one micro-batch less than the one before")
{
    Strategy strategy;
    strategy.pp = 4;
    const Job job = resolve(request_of(small_model(), strategy, 4, 16)).value();
    const std::vector<std::int64_t> kept = kept_activations(job, job_work(job));
    REQUIRE(kept.size() == 4);
    // The two in the middle hold two layers each and nothing besides.
    CHECK(kept[1] > 0);
    CHECK(kept[1] * 2 == kept[2] * 3);
}

TEST_CASE("the steady state of a long pipeline costs nothing")
{
    const Plan few = pipeline_of(64);
    const Plan many = pipeline_of(4096);
    for (std::size_t stage = 0; stage < 4; ++stage) {
        const AllocatorReplay one =
            replay_allocator(HostOrder(few.program), few.program.roles[stage], {});
        const HostOrder order(many.program);
        CHECK(replay_allocator(order, many.program.roles[stage], {}) == one);
        CHECK(live_peak(order, many.program.roles[stage]).bytes ==
              live_peak(HostOrder(few.program), few.program.roles[stage]).bytes);
    }
}

TEST_CASE("lengths that vary leave holes that expandable segments do not")
{
    const Plan plan = pipeline_of(16);
    const HostOrder order(plan.program);
    AllocatorReplayRequest request;
    request.micro_batches = 16;
    request.steps = 6;
    const AllocatorReplay same = replay_allocator(order, plan.program.roles[0], request);
    for (int i = 0; i < 29; ++i) // no two neighbours alike, none longer than the job's
        request.lengths.push_back(0.25 + 0.75 * ((i * 11) % 29 + 1) / 29);
    const AllocatorReplay mixed = replay_allocator(order, plan.program.roles[0], request);
    CHECK(mixed.peak.allocated < same.peak.allocated);
    CHECK(mixed.unused() > 2 * same.unused());
    CHECK(mixed.steps.back().reserved >= mixed.steps.front().reserved);
    request.allocator.expandable_segments = true;
    const AllocatorReplay expandable = replay_allocator(order, plan.program.roles[0], request);
    CHECK(expandable.peak.reserved < mixed.peak.reserved);
}

TEST_CASE("a device that is too small ends the replay where it fails")
{
    const Plan plan = pipeline_of(16);
    const HostOrder order(plan.program);
    const Role& role = plan.program.roles[0];
    AllocatorReplayRequest request;
    request.allocator.device_bytes = live_peak(order, role).bytes * 9 / 10;
    const AllocatorReplay replay = replay_allocator(order, role, request);
    REQUIRE(replay.failed);
    CHECK(replay.peak.reserved <= request.allocator.device_bytes);
    // What is asked for comes in segments of at most 20 MiB more.
    CHECK(replay.peak.reserved + replay.failed_bytes + (20 << 20) > request.allocator.device_bytes);
}
