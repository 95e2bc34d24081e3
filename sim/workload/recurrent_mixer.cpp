#include "sim/workload/recurrent_mixer.h"

#include "sim/workload/layer_parts.h"

#include <algorithm>

namespace trainyard {
namespace {

// What kinds of recurrent mixer differ in.
struct MixerTraits {
    bool whole_gate = false;   // a gate as wide as the values, projected with them
    bool narrow_gates = false; // gate and decay come through a matrix as narrow as a head
    int scalars = 0;           // numbers per head of values and token: step, decay, write strength
    bool delta_rule = false;   // what a key held before is removed from the state
    bool normed_by_head = false;
    bool recomputes = false; // backward makes the convolution's output and the core's again
    int launches = 0;        // kernels of the core forward
    int launches_backward = 0;
};

MixerTraits traits_of(MixerKind kind)
{
    switch (kind) {
    case MixerKind::mamba2:
        return {.whole_gate = true,
                .scalars = 1,
                .recomputes = true,
                .launches = 5,
                .launches_backward = 10};
    case MixerKind::gated_delta_net:
        return {.whole_gate = true,
                .scalars = 2,
                .delta_rule = true,
                .normed_by_head = true,
                .launches = 8,
                .launches_backward = 14};
    case MixerKind::kimi_delta_attention:
        return {.narrow_gates = true,
                .scalars = 1,
                .delta_rule = true,
                .normed_by_head = true,
                .launches = 8,
                .launches_backward = 14};
    case MixerKind::lightning_attention:
        return {.whole_gate = true, .launches = 2, .launches_backward = 4};
    case MixerKind::attention:
    case MixerKind::none:
        break;
    }
    return {};
}

// Columns of the projections of so many heads.
struct MixerColumns {
    MixerColumns(const Recurrence& r, const MixerTraits& traits, std::int64_t key_heads,
                 std::int64_t heads)
        : keys(key_heads * r.key_dim),
          values(heads * r.value_dim),
          gate(traits.whole_gate ? values : 0),
          scalars(traits.scalars * heads),
          decay(traits.narrow_gates ? heads * r.key_dim : 0)
    {}

    std::int64_t keys;
    std::int64_t values;
    std::int64_t gate;
    std::int64_t scalars;
    std::int64_t decay; // one per element of a key, through the narrow matrix

    std::int64_t convolved() const { return 2 * keys + values; }
    std::int64_t projected() const { return convolved() + gate + scalars; }
    std::int64_t narrow_gates() const { return decay > 0 ? decay + values : 0; }
};

// The share of one device.
struct RecurrentShape {
    explicit RecurrentShape(const LayerShape& s)
        : recurrence(*s.model.recurrence),
          traits(traits_of(s.model.mixer)),
          key_heads(divided_up(recurrence.key_heads, s.partition.tp)),
          heads(divided_up(recurrence.heads, s.partition.tp)),
          columns(recurrence, traits, key_heads, heads)
    {}

    const Recurrence& recurrence;
    MixerTraits traits;
    std::int64_t key_heads;
    std::int64_t heads;
    MixerColumns columns;
};

// Chunks of C tokens: scores of queries and keys C^2 K, times values C^2 V, keys and values into
// the state C K V, queries of it C K V. A delta rule takes the keys' own products C^2 K, their
// inverse (a third of C^3) times keys and values C^2 (K + V), and reads the state once more C K V.
// Mamba-2 makes scores once per group of heads.
double chunk_products(const RecurrentShape& r)
{
    const double c = r.recurrence.chunk;
    const auto k = static_cast<double>(r.recurrence.key_dim);
    const auto v = static_cast<double>(r.recurrence.value_dim);
    const bool shared_scores = !r.traits.delta_rule;
    const double scores =
        shared_scores ? c * c * k * static_cast<double>(r.key_heads) / static_cast<double>(r.heads)
                      : c * c * k;
    double products = scores + c * c * v + 2 * c * k * v;
    if (r.traits.delta_rule)
        products += c * c * k + c * c * c / 3 + c * c * (k + v) + c * k * v;
    return products;
}

// The core as one product that stands for its kernels' batched ones: per head and chunk C x V, its
// inner size such that the operations are theirs. Backward makes two gradients of each product and
// computes the chunks again. States, which pass between kernels, are written and read once per
// chunk in fp32.
Kernel recurrent_core(const LayerShape& s, const RecurrentShape& r, bool backward)
{
    const Partition& p = s.partition;
    const std::int64_t c = r.recurrence.chunk;
    const std::int64_t v = r.recurrence.value_dim;
    const std::int64_t chunks = divided_up(p.sequence_length, c);
    Kernel kernel;
    kernel.kind = KernelKind::gemm;
    kernel.use = KernelUse::recurrence_core;
    kernel.name = backward ? "recurrence_backward" : "recurrence";
    kernel.precision = s.plain_precision();
    const double inner = chunk_products(r) / static_cast<double>(c * v) * (backward ? 3 : 1);
    kernel.gemm = {c, v, std::max<std::int64_t>(1, static_cast<std::int64_t>(inner + 0.5)),
                   p.micro_batch * divided_up(r.heads, p.cp) * chunks};
    const double states =
        4.0 * static_cast<double>(kernel.gemm.batch * r.recurrence.key_dim * v) * 2;
    const double read =
        static_cast<double>(s.width * s.tokens * (r.columns.convolved() + r.columns.scalars));
    const double result = static_cast<double>(s.width * s.tokens * r.columns.values);
    const double matrices =
        r.traits.delta_rule ? static_cast<double>(2 * s.width * s.tokens * r.heads * c) : 0;
    kernel.bytes =
        Bytes(static_cast<std::uint64_t>((backward ? 3 : 1) * (read + result + matrices + states)));
    kernel.launches = backward ? r.traits.launches_backward : r.traits.launches;
    return kernel;
}

// All-to-all of b s/c tokens: each rank gets its part of the heads for all tokens of the group, or
// the reverse.
void add_exchange(WorkBuilder& builder, std::string_view name, std::int64_t columns)
{
    const LayerShape& s = builder.shape();
    if (s.partition.cp == 1)
        return;
    const Bytes bytes(static_cast<std::uint64_t>(s.width * s.tokens * columns));
    const auto exchange = [&](const char* suffix) {
        return Communication{CollectiveKind::all_to_all, GroupKind::cp, bytes,
                             std::string(name) + suffix, 0};
    };
    builder.exchange(exchange(""), exchange("_gradient"));
}

void add_projections(WorkBuilder& builder, const RecurrentShape& r)
{
    const LayerShape& s = builder.shape();
    builder.linear({"mixer_input",
                    {s.tokens, r.columns.projected(), s.hidden},
                    KernelUse::recurrence,
                    LinearCut::columns});
    if (!r.traits.narrow_gates)
        return;
    const std::int64_t narrow = r.recurrence.key_dim + r.recurrence.value_dim;
    builder.linear({"mixer_gate_down", {s.tokens, narrow, s.hidden}, KernelUse::recurrence});
    builder.linear({"mixer_gate_up",
                    {s.tokens, r.columns.narrow_gates(), r.recurrence.value_dim},
                    KernelUse::recurrence});
}

} // namespace

std::vector<ParameterTensor> recurrent_parameters(const Transformer& model)
{
    const Recurrence& r = *model.recurrence;
    const MixerTraits traits = traits_of(model.mixer);
    const MixerColumns columns(r, traits, r.key_heads, r.heads);
    const auto h = static_cast<double>(model.hidden);
    std::vector<ParameterTensor> tensors;
    const auto matrix = [&](std::string_view name, double rows, std::int64_t wide, Cut cut) {
        const auto to = static_cast<double>(wide);
        tensors.push_back({name, rows * to, cut, true, 1, rows, to, 1, false, r.key_heads});
    };
    const auto vector = [&](std::string_view name, std::int64_t elements, Cut cut) {
        tensors.push_back({.name = name,
                           .elements = static_cast<double>(elements),
                           .cut = cut,
                           .most_parts = r.key_heads});
    };
    matrix("mixer_keys", h, 2 * columns.keys, Cut::kv_heads);
    matrix("mixer_values", h, columns.values + columns.gate + columns.scalars, Cut::heads);
    if (traits.narrow_gates) {
        const auto narrow = static_cast<double>(r.value_dim);
        matrix("mixer_gate_down", h, r.key_dim + r.value_dim, Cut::whole);
        matrix("mixer_gate_up", narrow, columns.narrow_gates(), Cut::heads);
    }
    if (r.convolution > 0) {
        // Mamba-2's has a bias.
        const int numbers = r.convolution + (model.mixer == MixerKind::mamba2 ? 1 : 0);
        vector("mixer_key_convolution", 2 * columns.keys * numbers, Cut::kv_heads);
        vector("mixer_value_convolution", columns.values * numbers, Cut::heads);
    }
    // Decay and step's bias of each head (Kimi delta attention: the bias of each key element);
    // Mamba-2 passes a share of the values by.
    if (model.mixer == MixerKind::mamba2)
        vector("mixer_decay", 3LL * r.heads, Cut::heads);
    else if (traits.delta_rule)
        vector("mixer_decay", r.heads + std::max<std::int64_t>(r.heads, columns.decay), Cut::heads);
    if (traits.normed_by_head)
        vector("mixer_result_norm", r.value_dim, Cut::whole);
    else
        vector("mixer_result_norm", columns.values, Cut::heads);
    tensors.push_back({"mixer_output", static_cast<double>(columns.values) * h, Cut::heads, true, 1,
                       static_cast<double>(columns.values), h, 1, true, r.key_heads});
    return tensors;
}

double recurrent_flops_per_token(const Transformer& model)
{
    const Recurrence& r = *model.recurrence;
    const double reads = traits_of(model.mixer).delta_rule ? 3 : 2;
    return 2 * reads * static_cast<double>(r.key_dim * r.value_dim) * r.heads;
}

double recurrent_state_numbers(const Transformer& model)
{
    const Recurrence& r = *model.recurrence;
    const MixerColumns columns(r, traits_of(model.mixer), r.key_heads, r.heads);
    const double taps = std::max(0, r.convolution - 1);
    return static_cast<double>(r.heads * r.key_dim * r.value_dim) +
           taps * static_cast<double>(columns.convolved());
}

void add_recurrent_mixer(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    const RecurrentShape r(s);
    const auto once = [&](std::int64_t columns) {
        return static_cast<double>(s.width * s.tokens * columns);
    };
    add_projections(builder, r);
    add_exchange(builder, "mixer_heads", r.columns.convolved() + r.columns.scalars);
    if (r.recurrence.convolution > 0)
        builder.pass({"short_convolution", 2 * once(r.columns.convolved()),
                      3 * once(r.columns.convolved()), KernelUse::recurrence});
    builder.step({recurrent_core(s, r, false)}, {recurrent_core(s, r, true)});
    add_exchange(builder, "mixer_tokens", r.columns.values);
    builder.pass({"mixer_gated_norm", 3 * once(r.columns.values), 5 * once(r.columns.values),
                  KernelUse::recurrence, true});
    Linear output{"mixer_output",
                  {s.tokens, s.hidden, r.columns.values},
                  KernelUse::recurrence,
                  LinearCut::rows};
    output.cast = CastSource::memory;
    builder.linear(output);
}

// Projections' results, the convolution's (unless made again), the triangular inverses of a delta
// rule, the core's result and what the last product reads.
std::vector<SavedTensor> recurrent_saved(const LayerShape& s)
{
    const RecurrentShape r(s);
    std::vector<SavedTensor> tensors;
    const auto keep = [&](std::string_view name, std::int64_t columns) {
        if (columns > 0)
            tensors.push_back({name, s.tokens * columns, s.width});
    };
    keep("mixer_projected", r.columns.projected() + r.columns.narrow_gates());
    if (!r.traits.recomputes) {
        if (r.recurrence.convolution > 0)
            keep("mixer_convolved", r.columns.convolved());
        keep("mixer_result", r.columns.values);
    }
    if (r.traits.delta_rule)
        keep("chunk_inverses", r.heads * r.recurrence.chunk);
    return tensors;
}

} // namespace trainyard
