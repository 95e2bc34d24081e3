// Cores that take a sequence in chunks: their operations, and the bytes of the kernels that run
// them.

#include "sim/workload/recurrent_core.h"
#include "tests/catch.h"
#include "tests/unit/workload/models.h"

#include <algorithm>

using namespace trainyard;

namespace {

// 4,096 tokens of 64 heads of 64 in 8 groups, state 128, chunks of 128.
ChunkedCore core_of_groups()
{
    return {.batch = 1,
            .length = 4096,
            .heads = 64,
            .key_heads = 8,
            .key_dim = 128,
            .value_dim = 64,
            .chunk = 128};
}

ChunkedCore core_of_heads()
{
    return {.batch = 2,
            .length = 2048,
            .heads = 32,
            .key_heads = 16,
            .key_dim = 128,
            .value_dim = 128,
            .chunk = 64,
            .launches = 8,
            .launches_backward = 14};
}

double bytes_of(const WorkList& items)
{
    double sum = 0;
    for (const WorkItem& item : items)
        sum += static_cast<double>(std::get<Kernel>(item).bytes.value());
    return sum;
}

const Kernel& kernel_named(const WorkList& items, std::string_view name)
{
    const auto found = std::ranges::find_if(
        items, [&](const WorkItem& item) { return std::get<Kernel>(item).name == name; });
    REQUIRE(found != items.end());
    return std::get<Kernel>(*found);
}

} // namespace

TEST_CASE("Mamba-2's kernels together execute the dual form's operations")
{
    const ChunkedCore core = core_of_groups();
    const double c = 128, k = 128, v = 64, h = 64, g = 8;
    const double state = 2 * k * v * h, square = 2 * c * v * h, scores = 2 * c * k * g;
    // Into the state and out of it, the square of a chunk, scores of each group.
    CHECK_THAT(hardware_flops(mamba2_core(core).forward).value(),
               WithinRel(4096 * (2 * state + square + scores), 1e-12));
    // States again, their gradient, those of values (through the state and the square), keys,
    // queries; the square's and the decay's; scores again and two gradients of them.
    CHECK_THAT(hardware_flops(mamba2_core(core).backward).value(),
               WithinRel(4096 * (5 * state + 3 * square + 3 * scores), 1e-12));
}

TEST_CASE("Mamba-2's states and scores cross memory in fp32 between its kernels")
{
    const CoreWork work = mamba2_core(core_of_groups());
    // Per token: 64 heads x 64 x 128 in fp32 / 128 tokens; scores 8 x 128 in fp32.
    const double states = 4096 * 16384.0, scores = 4096 * 4096.0;
    const double values = 4096 * 8192.0, groups = 4096 * 2048.0, steps = 4096 * 256.0;
    CHECK(bytes_of({kernel_named(work.forward, "state_passing")}) == 1.5 * states);
    CHECK(bytes_of({kernel_named(work.forward, "chunk_states")}) ==
          values + groups + 2 * steps + states);
    CHECK(bytes_of({kernel_named(work.forward, "recurrence")}) ==
          scores + 4 * values + 2 * steps + groups + states / 2);
    // About 100 kB a token and layer forward, between three and four times that backward.
    CHECK_THAT(bytes_of(work.forward) / 4096, WithinRel(105e3, 0.05));
    CHECK(bytes_of(work.backward) > 3 * bytes_of(work.forward));
    CHECK(bytes_of(work.backward) < 4 * bytes_of(work.forward));
}

TEST_CASE("a delta rule moves what its kernels read and write, twice that and more backward")
{
    const ChunkedCore core = core_of_heads();
    // In bf16, keys and values of 128, chunks of 64, a state of 128 x 128 per chunk: 7 keys, 6
    // values, 6 rows of squares, 2 shares of a state; backward 20, 15, 2 and 4.
    const double gated = delta_rule_bytes(core, SequenceKernel::gated_delta_rule, false);
    CHECK(gated == 2 * (7 * 128 + 6 * 128 + 6 * 64 + 2 * 256));
    CHECK(delta_rule_bytes(core, SequenceKernel::gated_delta_rule, true) ==
          2 * (20 * 128 + 15 * 128 + 2 * 64 + 4 * 256));
    // A decay for each element of a key is fp32.
    CHECK(delta_rule_bytes(core, SequenceKernel::kimi_delta_rule, false) >= gated + 5 * 4 * 128);
    const CoreWork work = delta_core(core, SequenceKernel::gated_delta_rule);
    const Kernel& there = kernel_named(work.forward, "recurrence");
    const Kernel& back = kernel_named(work.backward, "recurrence_backward");
    CHECK(static_cast<double>(there.bytes.value()) == 2 * 2048 * 32 * gated);
    CHECK(there.sequence.traffic == 1);
    CHECK_THAT(back.sequence.traffic, WithinRel(bytes_of({back}) / bytes_of({there}), 1e-9));
    CHECK(back.sequence.chains == 2);
}

TEST_CASE("tokens that lie side by side are copied for a core, those of one sequence are not")
{
    Transformer t = test::llama_70b();
    t.mixer = MixerKind::mamba2;
    t.recurrence =
        Recurrence{.key_heads = 8, .heads = 64, .key_dim = 128, .value_dim = 64, .convolution = 4};
    const Model model{"m", t};
    Partition p;
    p.sequence_length = 1024;
    const auto kernels = [&](std::int64_t sequences, bool first) {
        p.micro_batch = sequences;
        p.kernels.sequence_first = first;
        return layer_work(model, layers_of(model)[1], p).forward.size();
    };
    CHECK(kernels(1, true) == kernels(1, false));
    CHECK(kernels(4, true) == kernels(4, false) + 2);
}
