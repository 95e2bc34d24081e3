#include "sim/workload/recurrent_core.h"

namespace trainyard {
namespace {

// Products of a head and chunk with one set of scores per key head.
double shared_products(const ChunkedCore& core)
{
    const auto c = static_cast<double>(core.chunk);
    const auto k = static_cast<double>(core.key_dim);
    const auto v = static_cast<double>(core.value_dim);
    const double sharing = static_cast<double>(core.key_heads) / static_cast<double>(core.heads);
    return c * c * k * sharing + c * c * v + 2 * c * k * v;
}

double delta_products(const ChunkedCore& core)
{
    const auto c = static_cast<double>(core.chunk);
    const auto k = static_cast<double>(core.key_dim);
    const auto v = static_cast<double>(core.value_dim);
    return c * c * k + c * c * v + 2 * c * k * v // as above
           + c * c * k + c * c * c / 3 + c * c * (k + v) + c * k * v;
}

Bytes whole(double bytes)
{
    return Bytes(static_cast<std::uint64_t>(bytes + 0.5));
}

// One product of C x V per head and chunk, its inner size such that the operations are those of
// all.
Kernel joint_kernel(const ChunkedCore& core, double products, double bytes, bool backward)
{
    Kernel kernel;
    kernel.kind = KernelKind::gemm;
    kernel.use = KernelUse::recurrence_core;
    kernel.name = backward ? "recurrence_backward" : "recurrence";
    kernel.precision = core.precision;
    const double inner =
        products / static_cast<double>(core.chunk * core.value_dim) * (backward ? 3 : 1);
    kernel.gemm = {core.chunk, core.value_dim,
                   std::max<std::int64_t>(1, static_cast<std::int64_t>(inner + 0.5)),
                   core.heads * core.chunks()};
    kernel.bytes = whole(bytes);
    kernel.launches = backward ? core.launches_backward : core.launches;
    return kernel;
}

// What Mamba-2's kernels hand each other, in bytes.
struct ScanTensors {
    explicit ScanTensors(const ChunkedCore& core)
        : values(stored(core, core.heads * core.value_dim)),
          groups(stored(core, core.key_heads * core.key_dim)),
          given_steps(stored(core, core.heads)),
          steps(4 * core.tokens() * static_cast<double>(core.heads)),
          scores(4 * static_cast<double>(core.chunks() * core.key_heads * core.chunk * core.chunk)),
          states(4 *
                 static_cast<double>(core.chunks() * core.heads * core.key_dim * core.value_dim)),
          narrow_states(states / 4 * static_cast<double>(core.width))
    {}

    static double stored(const ChunkedCore& core, std::int64_t columns)
    {
        return static_cast<double>(core.width * columns) * core.tokens();
    }

    double values;      // also the gate, results, their gradients
    double groups;      // keys (B) or queries (C) of all groups
    double given_steps; // as projected
    double steps;       // fp32; the sums of decay as many
    double scores;      // fp32
    double states;      // fp32, of each chunk
    double narrow_states;
};

Kernel product(const ChunkedCore& core, std::string_view name, const GemmShape& shape, double bytes)
{
    Kernel kernel;
    kernel.kind = KernelKind::gemm;
    kernel.use = KernelUse::recurrence_core;
    kernel.name = name;
    kernel.precision = core.precision;
    kernel.gemm = shape;
    kernel.bytes = whole(bytes);
    return kernel;
}

Kernel pass(std::string_view name, double bytes, int launches = 1)
{
    return memory_kernel(name, bytes, KernelUse::recurrence_core, launches);
}

struct ScanShapes {
    explicit ScanShapes(const ChunkedCore& core)
        : states{core.value_dim, core.key_dim, core.chunk, core.chunks() * core.heads},
          scores{core.chunk, core.chunk, core.key_dim, core.chunks() * core.key_heads},
          scan{core.chunk, core.value_dim, core.chunk + core.key_dim, core.chunks() * core.heads},
          shared_gradient{core.chunk, core.key_dim, core.value_dim, core.chunks() * core.heads},
          square{core.chunk, core.chunk, core.value_dim, core.chunks() * core.heads},
          from_scores{core.chunk, core.key_dim, core.chunk, 2 * core.chunks() * core.key_heads}
    {}

    GemmShape states;          // values and keys into the state, or its gradient
    GemmShape scores;          // of a group
    GemmShape scan;            // scores times values, queries of the state
    GemmShape shared_gradient; // of keys or queries, through the states
    GemmShape square;          // results' gradient times values
    GemmShape from_scores;     // keys' and queries' gradients
};

WorkList mamba2_forward(const ChunkedCore& core)
{
    const ScanTensors t(core);
    const ScanShapes shapes(core);
    return {
        pass("chunk_steps", t.given_steps + 2 * t.steps),
        product(core, "chunk_states", shapes.states, t.values + t.groups + 2 * t.steps + t.states),
        pass("state_passing", t.states + t.narrow_states),
        product(core, "chunk_scores", shapes.scores, 2 * t.groups + t.scores),
        // Values, gate; results before and after the gate.
        product(core, "recurrence", shapes.scan,
                t.scores + 4 * t.values + 2 * t.steps + t.groups + t.narrow_states)};
}

WorkList mamba2_backward(const ChunkedCore& core)
{
    const ScanTensors t(core);
    const ScanShapes shapes(core);
    return {
        pass("chunk_steps_again", t.given_steps + 2 * t.steps),
        product(core, "chunk_scores_again", shapes.scores, 2 * t.groups + t.scores),
        product(core, "chunk_states_again", shapes.states,
                t.values + t.groups + 2 * t.steps + t.states),
        pass("state_passing_again", 2 * t.states),
        // Values, gate, result and its gradient; gradients of the gate and before it.
        pass("scan_gate_backward", 6 * t.values),
        product(core, "state_gradients", shapes.states, t.values + t.groups + t.steps + t.states),
        pass("state_passing_backward", 2 * t.states + 2 * t.narrow_states),
        product(core, "scan_value_gradient", shapes.scan,
                t.scores + 3 * t.values + 3 * t.steps + t.groups + t.narrow_states),
        // Sums over the heads of a group are fp32.
        product(core, "scan_key_gradient", shapes.shared_gradient,
                t.values + t.narrow_states + 3 * t.groups + 3 * t.steps),
        product(core, "scan_query_gradient", shapes.shared_gradient,
                t.values + t.narrow_states + 3 * t.groups + 2 * t.steps),
        product(core, "score_gradient", shapes.square, 2 * t.values + 2 * t.steps + t.scores),
        product(core, "group_gradients", shapes.from_scores, 2 * (t.scores + 4 * t.groups)),
        product(core, "decay_gradient", shapes.square, 2 * t.values + t.scores + 2 * t.steps),
        // The decay's gradient is turned round, summed and added up by PyTorch.
        pass("recurrence_backward", 13 * t.steps + 2 * t.given_steps, 7)};
}

} // namespace

CoreWork lightning_core(const ChunkedCore& core)
{
    const double states =
        8 * static_cast<double>(core.chunks() * core.heads * core.key_dim * core.value_dim);
    const double columns =
        static_cast<double>(2 * core.key_heads * core.key_dim + 2 * core.heads * core.value_dim);
    const double moved = static_cast<double>(core.width) * core.tokens() * columns + states;
    const double products = shared_products(core);
    return {{joint_kernel(core, products, moved, false)},
            {joint_kernel(core, products, 3 * moved, true)}};
}

double delta_rule_bytes(const ChunkedCore& core, SequenceKernel kernel, bool backward)
{
    const auto w = static_cast<double>(core.width);
    const double k = w * static_cast<double>(core.key_dim);
    const double v = w * static_cast<double>(core.value_dim);
    const double matrix = w * static_cast<double>(core.chunk); // a row of a chunk's square
    const double state = k * static_cast<double>(core.value_dim) / static_cast<double>(core.chunk);
    if (kernel == SequenceKernel::gated_delta_rule) {
        if (!backward)
            // k; solve; k, v -> w, u; k, w, u -> h, v; q, k, v, h -> o.
            return (1 + 2 + 2 + 2) * k + (2 + 2 + 2) * v + 6 * matrix + 2 * state;
        // w, u again; h again; dv inside chunks; dh and dv; dq, dk, dw; through the inverse; sums.
        return (2 + 2 + 2 + 3 + 5 + 3 + 3) * k + (2 + 2 + 2 + 3 + 3 + 3) * v + 2 * matrix +
               4 * state;
    }
    const double decay = 4 * static_cast<double>(core.key_dim); // fp32
    if (!backward)
        // Sums of decay; q, k; solve; k, v -> w, u, k; k, w, u -> h, v; q, v, h -> o.
        return (2 + 3 + 2 + 1) * k + (2 + 2 + 2) * v + (2 + 1 + 1 + 1) * decay + 8 * matrix +
               2 * state;
    // w, u, q, k again; h again; dv and the square's gradient; dh and dv; dq, dk, dw, decay; inside
    // chunks; reversed sums. Gradients of q, k and decay are fp32 until the end.
    return (5 + 2 + 3 + 3 + 2 + 2) * k + (2 + 2 + 3 + 3 + 5) * v + (1 + 4 + 7 + 4) * decay +
           11 * matrix + 4 * state;
}

CoreWork delta_core(const ChunkedCore& core, SequenceKernel kernel)
{
    const double products = delta_products(core);
    const double per_byte = core.tokens() * static_cast<double>(core.heads);
    const double forward = delta_rule_bytes(core, kernel, false);
    const double backward = delta_rule_bytes(core, kernel, true);
    Kernel there = joint_kernel(core, products, per_byte * forward, false);
    Kernel back = joint_kernel(core, products, per_byte * backward, true);
    there.sequence = {.kernel = kernel,
                      .batch = core.batch,
                      .length = core.length,
                      .heads = core.heads,
                      .key_dim = core.key_dim,
                      .value_dim = core.value_dim};
    back.sequence = there.sequence;
    back.sequence.traffic = backward / forward;
    back.sequence.chains = 2; // states again, then their gradients
    return {{there}, {back}};
}

CoreWork mamba2_core(const ChunkedCore& core)
{
    return {mamba2_forward(core), mamba2_backward(core)};
}

} // namespace trainyard
