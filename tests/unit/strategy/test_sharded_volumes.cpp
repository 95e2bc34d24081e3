// Bytes that a rank hands to data-parallel collectives in a step, scheme by scheme, against closed
// forms; volumes per rank on the wire are theirs times (n - 1)/n, twice for an all-reduce.

#include "tests/catch.h"
#include "tests/support/flaws.h"
#include "tests/unit/strategy/plans.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

using enum CollectiveKind;

double all_parameters(const Job& job)
{
    double sum = 0;
    for (int stage = 0; stage < job.strategy.pp; ++stage)
        sum += stage_parameters(job, stage).dense;
    return sum;
}

// Bytes on the wire per rank of a sound plan.
double wire(const Plan& plan, int ranks)
{
    REQUIRE(flaws(plan.program) == std::vector<std::string>{});
    const double n = ranks;
    return (n - 1) / n *
           (2 * volume(plan, 0, all_reduce, GroupKind::dp).bytes +
            volume(plan, 0, all_gather, GroupKind::dp).bytes +
            volume(plan, 0, reduce_scatter, GroupKind::dp).bytes);
}

Training sixteen_bit(std::int64_t batch)
{
    Training training = training_of(batch);
    training.fp32_gradients = false; // W = 2 bytes throughout
    return training;
}

Strategy sharded(int zero, int dp)
{
    Strategy strategy;
    strategy.zero = zero;
    strategy.dp = dp;
    strategy.overlap.dp = true;
    return strategy;
}

} // namespace

TEST_CASE("DDP, ZeRO-1 and ZeRO-2 move 2 (n-1)/n S per rank, ZeRO-3 half as much again")
{
    // Rajbhandari 2020, section 7: S = 2 bytes x parameters; ZeRO-3 gathers twice but for the root
    // unit and the layer whose backward comes next.
    const int n = GENERATE(2, 4, 8);
    const auto bytes = [&](const Strategy& strategy) {
        return wire(make_plan(job_of(small_decoder(), strategy, sixteen_bit(n))), n);
    };
    const Job job = job_of(small_decoder(), sharded(0, n), sixteen_bit(n));
    const double s = 2 * all_parameters(job);
    const double once = (n - 1.0) / n * s;
    CHECK_THAT(bytes(sharded(0, n)), WithinRel(2 * once, 1e-6));
    CHECK_THAT(bytes(sharded(1, n)), WithinRel(2 * once, 1e-6));
    CHECK_THAT(bytes(sharded(2, n)), WithinRel(2 * once, 1e-6));
    Strategy deepspeed = sharded(1, n);
    deepspeed.sharding.style = ShardingStyle::deepspeed;
    CHECK_THAT(bytes(deepspeed), WithinRel(2 * once, 1e-6));
    Strategy fsdp = sharded(3, n);
    fsdp.fsdp.root_unit = false;
    const double layer = once / s * 2 * (8192.0 * 1024 + 1024); // the head stays for its backward
    CHECK_THAT(bytes(fsdp), WithinRel(3 * once - layer, 1e-6));
    fsdp.reshard_after_forward = false; // SHARD_GRAD_OP
    CHECK_THAT(bytes(fsdp), WithinRel(2 * once, 1e-6));
}

TEST_CASE("ZeRO-2 reduces gradients after every micro-batch, ZeRO-1 once")
{
    for (const auto& [zero, times] : {std::pair(1, 1), std::pair(2, 3)}) {
        Strategy strategy = sharded(zero, 4);
        strategy.sharding.style = ShardingStyle::deepspeed;
        strategy.overlap.dp = GENERATE(false, true);
        const Job job = job_of(small_decoder(), strategy, sixteen_bit(3 * 4));
        const Plan plan = make_plan(job);
        CHECK_THAT(volume(plan, 0, reduce_scatter, GroupKind::dp).bytes,
                   WithinRel(times * 2 * all_parameters(job), 1e-6));
        CHECK_THAT(volume(plan, 0, all_gather, GroupKind::dp).bytes,
                   WithinRel(2 * all_parameters(job), 1e-6));
        strategy.sharding.reduce_scatter = false;
        const Plan summed = make_plan(job_of(small_decoder(), strategy, sixteen_bit(3 * 4)));
        CHECK_THAT(volume(summed, 0, all_reduce, GroupKind::dp).bytes,
                   WithinRel(times * 2 * all_parameters(job), 1e-6));
    }
}

TEST_CASE("DDP without no_sync reduces m times as much")
{
    for (const bool overlap : {false, true}) {
        Strategy strategy = sharded(0, 4);
        strategy.overlap.dp = overlap;
        const auto reduced = [&] {
            const Plan plan = make_plan(job_of(small_decoder(), strategy, sixteen_bit(5 * 4)));
            REQUIRE(flaws(plan.program) == std::vector<std::string>{});
            return volume(plan, 0, all_reduce, GroupKind::dp);
        };
        const Volume once = reduced();
        strategy.ddp.no_sync = false;
        CHECK(reduced().bytes == 5 * once.bytes);
        CHECK(reduced().count == 5 * once.count);
    }
}

TEST_CASE("larger buckets make fewer collectives of the same bytes")
{
    int before = 1 << 30;
    double bytes = 0;
    for (const std::uint64_t cap : {4ULL << 20, 16ULL << 20, 64ULL << 20, 1ULL << 40}) {
        Strategy strategy = sharded(0, 4);
        strategy.bucket_cap = Bytes(cap);
        strategy.ddp.find_unused_parameters = GENERATE(false, true);
        const Plan plan = make_plan(job_of(small_decoder(), strategy, sixteen_bit(4)));
        const Volume sum = volume(plan, 0, all_reduce, GroupKind::dp);
        CHECK(sum.count < before);
        if (bytes > 0 && !strategy.ddp.find_unused_parameters)
            CHECK(sum.bytes == bytes);
        before = strategy.ddp.find_unused_parameters ? 1 << 30 : sum.count;
        bytes = strategy.ddp.find_unused_parameters ? 0 : sum.bytes;
    }
}

TEST_CASE("casting hooks halve the bytes of fp32 gradients in the same number of buckets")
{
    Strategy strategy = sharded(0, 4);
    Training training = training_of(4);
    training.fp32_gradients = true;
    const Volume whole = volume(make_plan(job_of(small_decoder(), strategy, training)), 0,
                                all_reduce, GroupKind::dp);
    strategy.ddp.compression = GradientCompression::bf16;
    const Volume half = volume(make_plan(job_of(small_decoder(), strategy, training)), 0,
                               all_reduce, GroupKind::dp);
    CHECK_THAT(half.bytes, WithinRel(whole.bytes / 2, 1e-6));
    CHECK(half.count == whole.count);
}

TEST_CASE("HSDP reduces whole gradients inside a shard group and shards across")
{
    Strategy strategy = sharded(GENERATE(1, 3), 8);
    strategy.cp = 2;
    strategy.shard_group = GENERATE(2, 4, 8);
    const Job job = job_of(small_decoder(), strategy, sixteen_bit(8));
    const Plan plan = make_plan(job);
    REQUIRE(flaws(plan.program) == std::vector<std::string>{});
    const double s = 2 * all_parameters(job);
    CHECK_THAT(volume(plan, 0, reduce_scatter, GroupKind::shard).bytes, WithinRel(s, 1e-6));
    CHECK_THAT(volume(plan, 0, all_reduce, GroupKind::replicate).bytes,
               WithinRel(s / *strategy.shard_group, 1e-6));
    CHECK(volume(plan, 0, reduce_scatter, GroupKind::dp).count == 0);
    CHECK(volume(plan, 0, all_gather, GroupKind::dp).count == 0);
    CHECK(volume(plan, 0, all_gather, GroupKind::shard).bytes >= s * 0.999);
}

TEST_CASE("HSDP over all ranks is FSDP, over single ranks it moves what DDP moves")
{
    const Training training = sixteen_bit(8);
    Strategy strategy = sharded(3, 8);
    const Plan fsdp = make_plan(job_of(small_decoder(), strategy, training));
    strategy.shard_group = 8;
    CHECK(make_plan(job_of(small_decoder(), strategy, training)) == fsdp);
    strategy.shard_group = 1;
    const Plan copies = make_plan(job_of(small_decoder(), strategy, training));
    REQUIRE(flaws(copies.program) == std::vector<std::string>{});
    const Plan ddp = make_plan(job_of(small_decoder(), sharded(0, 8), training));
    CHECK_THAT(volume(copies, 0, all_reduce, GroupKind::replicate).bytes,
               WithinRel(volume(ddp, 0, all_reduce, GroupKind::dp).bytes, 1e-6));
    CHECK(volume(copies, 0, all_gather, GroupKind::shard).count == 0);
    CHECK(volume(copies, 0, reduce_scatter, GroupKind::shard).count == 0);
}

TEST_CASE("wrapping more layers in a unit makes fewer collectives of the same bytes")
{
    const auto gathers = [](int unit_layers) {
        Strategy strategy = sharded(3, 4);
        strategy.fsdp.unit_layers = unit_layers;
        const Plan plan = make_plan(job_of(small_decoder(), strategy, sixteen_bit(2 * 4)));
        REQUIRE(flaws(plan.program) == std::vector<std::string>{});
        return volume(plan, 0, all_gather, GroupKind::dp);
    };
    // 8 layers in units of 1, 2, 3, 8: two micro-batches gather each twice, embedding and head
    // once.
    const Volume one = gathers(1);
    CHECK(one.count == 2 * (2 * 8 + 2));
    CHECK(gathers(2).count == 2 * (2 * 4 + 2));
    CHECK(gathers(3).count == 2 * (2 * 3 + 2));
    CHECK(gathers(8).count == 2 * (2 * 1 + 2));
    CHECK(gathers(0).count == 2 * (2 * 1 + 2));
    CHECK(gathers(3).bytes == one.bytes);
    CHECK(gathers(0).bytes == one.bytes);
}

TEST_CASE("FSDP's formats set what is gathered and what is reduced")
{
    Strategy strategy = sharded(3, 4);
    strategy.fsdp.param_dtype = Precision::fp8;
    strategy.fsdp.reduce_dtype = Precision::fp32;
    const Job job = job_of(small_decoder(), strategy, sixteen_bit(4));
    const Plan plan = make_plan(job);
    const Plan usual = make_plan(job_of(small_decoder(), sharded(3, 4), sixteen_bit(4)));
    CHECK_THAT(volume(plan, 0, all_gather, GroupKind::dp).bytes,
               WithinRel(volume(usual, 0, all_gather, GroupKind::dp).bytes / 2, 1e-6));
    CHECK_THAT(volume(plan, 0, reduce_scatter, GroupKind::dp).bytes,
               WithinRel(4 * all_parameters(job), 1e-6));
}

TEST_CASE("FSDP with no_sync reduces once and gathers as often as before")
{
    Strategy strategy = sharded(3, 4);
    const Plan every = make_plan(job_of(small_decoder(), strategy, sixteen_bit(3 * 4)));
    strategy.fsdp.no_sync = true;
    const Plan once = make_plan(job_of(small_decoder(), strategy, sixteen_bit(3 * 4)));
    REQUIRE(flaws(once.program) == std::vector<std::string>{});
    CHECK(volume(every, 0, reduce_scatter, GroupKind::dp).bytes ==
          3 * volume(once, 0, reduce_scatter, GroupKind::dp).bytes);
    CHECK(volume(every, 0, all_gather, GroupKind::dp).bytes ==
          volume(once, 0, all_gather, GroupKind::dp).bytes);
}

TEST_CASE("with pipeline stages FSDP gathers and reduces each parameter once per step")
{
    Strategy strategy = sharded(3, 4);
    strategy.pp = 4;
    strategy.vpp = GENERATE(1, 2);
    const Job job = job_of(small_decoder(), strategy, sixteen_bit(8 * 4));
    const Plan plan = make_plan(job);
    REQUIRE(flaws(plan.program) == std::vector<std::string>{});
    double gathered = 0;
    double reduced = 0;
    for (int stage = 0; stage < 4; ++stage) {
        gathered += volume(plan, stage, all_gather, GroupKind::dp).bytes;
        reduced += volume(plan, stage, reduce_scatter, GroupKind::dp).bytes;
    }
    CHECK_THAT(gathered, WithinRel(2 * all_parameters(job), 1e-6));
    CHECK_THAT(reduced, WithinRel(2 * all_parameters(job), 1e-6));
    // Gathered again in every pass where asked for: 16 passes, less those of the last layer whose
    // backward follows its forward.
    strategy.reshard_after_forward = true;
    strategy.fsdp.reshard_after_backward = true;
    const Plan again = make_plan(job_of(small_decoder(), strategy, sixteen_bit(8 * 4)));
    REQUIRE(flaws(again.program) == std::vector<std::string>{});
    CHECK(volume(again, 1, all_gather, GroupKind::dp).bytes >
          12 * volume(plan, 1, all_gather, GroupKind::dp).bytes);
}

TEST_CASE("units kept over one rank are not cut after forward, as FSDP2 has it")
{
    Strategy strategy = sharded(3, 8);
    strategy.fsdp.reshard_ranks = 1;
    const Job one = job_of(small_decoder(), strategy, sixteen_bit(2 * 8));
    CHECK(one.strategy.fsdp.reshard_ranks == std::nullopt);
    CHECK(*one.strategy.reshard_after_forward == false);
    strategy.fsdp.reshard_ranks.reset();
    strategy.reshard_after_forward = false;
    CHECK(make_plan(one).program ==
          make_plan(job_of(small_decoder(), strategy, sixteen_bit(2 * 8))).program);
}

TEST_CASE("units kept near are gathered over few ranks in backward")
{
    Strategy strategy = sharded(3, 8);
    strategy.fsdp.reshard_ranks = 4;
    strategy.fsdp.unit_layers = GENERATE(1, 2);
    const Plan plan = make_plan(job_of(small_decoder(), strategy, sixteen_bit(2 * 8)));
    REQUIRE(flaws(plan.program) == std::vector<std::string>{});
    strategy.fsdp.reshard_ranks.reset();
    const Plan whole = make_plan(job_of(small_decoder(), strategy, sixteen_bit(2 * 8)));
    const double near = volume(plan, 0, all_gather, GroupKind::shard).bytes;
    const double far = volume(plan, 0, all_gather, GroupKind::dp).bytes;
    CHECK(near + far == volume(whole, 0, all_gather, GroupKind::dp).bytes);
    CHECK(near > 0.3 * far);
}
