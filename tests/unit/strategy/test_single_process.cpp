// One process with a replica per device (torch.nn.DataParallel).

#include "sim/strategy/memory.h"
#include "tests/catch.h"
#include "tests/support/flaws.h"
#include "tests/unit/strategy/plans.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

Job replicas(int dp, DataParallelScheme scheme, int micro_batches = 1)
{
    Strategy strategy;
    strategy.dp = dp;
    strategy.data_parallel = scheme;
    strategy.overlap.dp = true;
    Training training = training_of(dp * micro_batches);
    training.fp32_gradients = false;
    SoftwareClass software;
    software.host_per_kernel_forward = Seconds(10e-6);
    software.host_per_kernel_backward = Seconds(10e-6);
    return job_of(small_decoder(), strategy, training, software);
}

constexpr auto single = DataParallelScheme::single_process;

} // namespace

TEST_CASE("one process broadcasts all parameters and adds up all gradients in every micro-batch")
{
    const int micro_batches = GENERATE(1, 3);
    const Job job = replicas(4, single, micro_batches);
    const Plan plan = make_plan(job);
    REQUIRE(flaws(plan.program) == std::vector<std::string>{});
    REQUIRE(plan.program.roles.size() == 2);
    const double bytes = 2 * stage_parameters(job).dense * micro_batches;
    for (const int role : {0, 1}) {
        CHECK_THAT(volume(plan, role, CollectiveKind::broadcast, GroupKind::dp).bytes,
                   WithinRel(bytes, 1e-6));
        CHECK_THAT(volume(plan, role, CollectiveKind::reduce, GroupKind::dp).bytes,
                   WithinRel(bytes, 1e-6));
    }
}

TEST_CASE("device 0 gathers the outputs of all others and sends their gradients back")
{
    const Plan plan = make_plan(replicas(4, single));
    std::vector<int> sent(2);
    std::vector<int> received(2);
    double bytes = 0;
    for (std::size_t role = 0; role < 2; ++role)
        for_each_op(plan.program, plan.program.roles[role],
                    [&](const Block& block, const Op& op, const BlockUse&) {
                        for (std::size_t i = 0; i < op.part_count; ++i) {
                            const ExchangePart& part = block.parts[op.part_first + i];
                            ++(part.direction == Direction::send ? sent : received)[role];
                            bytes =
                                static_cast<double>(plan.transfers[part.cost.value].bytes.value());
                        }
                    });
    CHECK(sent == std::vector<int>{3, 1});
    CHECK(received == std::vector<int>{3, 1});
    CHECK(bytes == 2.0 * 1024 * 8192); // logits of 1024 tokens
}

TEST_CASE("only device 0 updates parameters, and it holds most")
{
    const Job job = replicas(4, single);
    const Plan plan = make_plan(job);
    const auto updates = [&](std::size_t role) {
        int count = 0;
        for_each_op(plan.program, plan.program.roles[role],
                    [&](const Block& block, const Op&, const BlockUse&) {
                        count += block.name == "optimizer";
                    });
        return count;
    };
    CHECK(updates(0) == 1);
    CHECK(updates(1) == 0);
    const double all = stage_parameters(job).dense;
    CHECK(static_cast<double>(plan.program.roles[0].static_memory) == 16 * all);
    CHECK(static_cast<double>(plan.program.roles[1].static_memory) == 2 * all);
}

TEST_CASE("device 0 holds the optimizer's states as a device by itself does")
{
    const Plan shared = make_plan(replicas(4, single));
    const Plan alone = make_plan(replicas(1, DataParallelScheme::ddp));
    const auto states = [](const Plan& plan, std::size_t role) {
        std::vector<std::int64_t> bytes;
        for (const auto& list :
             {plan.program.roles[role].held, plan.program.roles[role].held_from_update})
            for (const TensorId id : list)
                if (const Tensor& tensor = plan.program.tensors[id.value];
                    tensor.kind == MemoryKind::optimizer)
                    bytes.push_back(tensor.bytes);
        return bytes;
    };
    CHECK(states(shared, 0) == states(alone, 0));
    CHECK(states(shared, 1).empty());
}

TEST_CASE(
    "one process for all devices is slower than a process for each, the more the more devices")
{
    double before = 1;
    for (const int dp : {2, 4, 8}) {
        const double one = step_time(replicas(dp, single)).value();
        const double each = step_time(replicas(dp, DataParallelScheme::ddp)).value();
        CHECK(one > each);
        CHECK(one / each > before);
        before = one / each;
    }
}

TEST_CASE("a single device needs no process to share it")
{
    CHECK(make_plan(replicas(1, single)) == make_plan(replicas(1, DataParallelScheme::ddp)));
}

TEST_CASE("one process runs whole models only")
{
    JobRequest request;
    request.model = small_decoder();
    request.training = training_of(8);
    request.strategy.data_parallel = single;
    request.strategy.dp = 4;
    request.strategy.tp = 2;
    request.devices = 8;
    const auto hint = [&] {
        const Checked<Job> job = resolve(request);
        REQUIRE_FALSE(job);
        return render(job.error(), "");
    };
    CHECK_THAT(hint(), ContainsSubstring("\"ddp\""));
    request.strategy.tp = 1;
    request.strategy.zero = 3;
    CHECK_THAT(hint(), ContainsSubstring("zero 0"));
}
