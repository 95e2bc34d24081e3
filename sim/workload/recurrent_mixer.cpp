#include "sim/workload/recurrent_mixer.h"

#include "sim/workload/layer_parts.h"
#include "sim/workload/recurrent_core.h"

#include <algorithm>

namespace trainyard {
namespace {

enum class MixerCore : std::uint8_t { state_space_duality, delta_rule, lightning, scan, none };
enum class ResultNorm : std::uint8_t { whole, by_head, none };

// What kinds of recurrent mixer differ in.
struct MixerTraits {
    MixerCore core = MixerCore::none;
    SequenceKernel scan = SequenceKernel::none; // what the core was timed as
    SequenceKernel convolution = SequenceKernel::cuda_convolution;
    bool keys = true;          // projected from the input, with queries
    int gates = 0;             // as wide as the values, projected with them
    bool narrow_decay = false; // decay comes through a matrix as narrow as a head
    bool narrow_gate = false;  // so does a gate
    int scalars = 0;           // numbers per head of values and token: step, decay, write strength
    bool block_gates = false;  // two gates per value from a block of the values per head
    ResultNorm norm = ResultNorm::whole;
    bool biased = false; // projections
    bool biased_convolution = false;
    bool recomputes = false; // backward makes the convolution's output again
    int launches = 0;        // kernels of the core forward
    int launches_backward = 0;
};

MixerTraits traits_of(const Transformer& model)
{
    switch (model.mixer) {
    case MixerKind::mamba:
        return {.core = MixerCore::scan,
                .keys = false,
                .gates = 1,
                .norm = ResultNorm::none,
                .biased_convolution = true,
                .recomputes = true};
    case MixerKind::rg_lru:
        return {.core = MixerCore::scan,
                .keys = false,
                .gates = 1,
                .block_gates = true,
                .norm = ResultNorm::none,
                .biased = true,
                .biased_convolution = true};
    case MixerKind::short_convolution:
        return {.core = MixerCore::none, .keys = false, .gates = 2, .norm = ResultNorm::none};
    case MixerKind::mamba2:
        return {.core = MixerCore::state_space_duality,
                .gates = 1,
                .scalars = 1,
                .biased_convolution = true,
                .recomputes = true};
    case MixerKind::gated_delta_net:
        return {.core = MixerCore::delta_rule,
                .scan = SequenceKernel::gated_delta_rule,
                .convolution = SequenceKernel::fused_convolution,
                .gates = 1,
                .scalars = 2,
                .norm = ResultNorm::by_head,
                .launches = 8,
                .launches_backward = 14};
    case MixerKind::kimi_delta_attention:
        return {.core = MixerCore::delta_rule,
                .scan = SequenceKernel::kimi_delta_rule,
                .convolution = SequenceKernel::split_convolutions,
                .gates = model.recurrence->whole_gate ? 1 : 0,
                .narrow_decay = true,
                .narrow_gate = !model.recurrence->whole_gate,
                .scalars = 1,
                .norm = ResultNorm::by_head,
                .launches = 8,
                .launches_backward = 14};
    case MixerKind::lightning_attention:
        return {.core = MixerCore::lightning, .gates = 1, .launches = 2, .launches_backward = 4};
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
        : keys(traits.keys ? key_heads * r.key_dim : 0),
          values(heads * r.value_dim),
          gate(traits.gates * values),
          scalars(traits.scalars * heads),
          decay(traits.narrow_decay ? heads * r.key_dim : 0),
          narrow_gate(traits.narrow_gate ? values : 0)
    {}

    std::int64_t keys;
    std::int64_t values;
    std::int64_t gate;
    std::int64_t scalars;
    std::int64_t decay; // one per element of a key, through the narrow matrix
    std::int64_t narrow_gate;

    std::int64_t convolved() const { return 2 * keys + values; }
    std::int64_t projected() const { return convolved() + gate + scalars; }
    std::int64_t narrow_gates() const { return decay + narrow_gate; }
};

// Width of the narrow matrix that gates and decay come through: of a key for decay, of a value for
// the gate.
std::int64_t narrow_width(const Recurrence& r, const MixerTraits& traits)
{
    return (traits.narrow_decay ? r.key_dim : 0) + (traits.narrow_gate ? r.value_dim : 0);
}

// Columns of what Mamba-1 makes of the convolution's result: the latent of the steps, B and C.
std::int64_t selected_columns(const Recurrence& r)
{
    return r.step_rank > 0 ? r.step_rank + 2 * r.key_heads * r.key_dim : 0;
}

// The share of one device.
struct RecurrentShape {
    explicit RecurrentShape(const LayerShape& s)
        : recurrence(*s.model.recurrence),
          traits(traits_of(s.model)),
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
    if (r.columns.narrow_gates() == 0)
        return;
    builder.linear({"mixer_gate_down",
                    {s.tokens, narrow_width(r.recurrence, r.traits), s.hidden},
                    KernelUse::recurrence});
    builder.linear({"mixer_gate_up",
                    {s.tokens, r.columns.narrow_gates(), r.recurrence.value_dim},
                    KernelUse::recurrence});
}

// An elementwise scan: reads values, steps (or gates) and what is shared by heads, writes results;
// backward reads them, the result's gradient and the states' again.
void add_scan(WorkBuilder& builder, const RecurrentShape& r)
{
    const LayerShape& s = builder.shape();
    const std::int64_t shared = 2 * r.key_heads * r.recurrence.key_dim;
    const double once = static_cast<double>(s.width * s.tokens * (3 * r.columns.values + shared));
    builder.pass({"recurrence", once, 2.5 * once, KernelUse::recurrence});
}

// From the convolution's result: Mamba-1's steps, B and C, of all heads, summed over TP; the
// block-diagonal gates of a real-gated unit.
void add_selection(WorkBuilder& builder, const RecurrentShape& r)
{
    const LayerShape& s = builder.shape();
    const std::int64_t values = r.columns.values;
    if (const std::int64_t selected = selected_columns(r.recurrence); selected > 0) {
        builder.linear({"mixer_selection", {s.tokens, selected, values}, KernelUse::recurrence});
        if (s.tensor_parallel) {
            const Bytes bytes(static_cast<std::uint64_t>(s.width * s.tokens * selected));
            const auto reduce = [&](const char* name) {
                return Communication{CollectiveKind::all_reduce, GroupKind::tp, bytes, name, 0};
            };
            builder.exchange(reduce("mixer_selection_reduce"),
                             reduce("mixer_selection_gradient_reduce"));
        }
        builder.linear(
            {"mixer_steps", {s.tokens, values, r.recurrence.step_rank}, KernelUse::recurrence});
    }
    if (r.traits.block_gates)
        builder.linear({"mixer_gates",
                        {s.tokens, r.recurrence.value_dim, r.recurrence.value_dim, 2 * r.heads},
                        KernelUse::recurrence});
}

// The part of a core on one device: whole sequences, the group's part of the heads.
ChunkedCore chunked_core(const LayerShape& s, const RecurrentShape& r)
{
    const Partition& p = s.partition;
    return {.batch = p.micro_batch,
            .length = p.sequence_length,
            .heads = divided_up(r.heads, p.cp),
            .key_heads = divided_up(r.key_heads, p.cp),
            .key_dim = r.recurrence.key_dim,
            .value_dim = r.recurrence.value_dim,
            .chunk = r.recurrence.chunk,
            .width = s.width,
            .precision = s.plain_precision(),
            .launches = r.traits.launches,
            .launches_backward = r.traits.launches_backward};
}

void add_core(WorkBuilder& builder, const RecurrentShape& r)
{
    const ChunkedCore core = chunked_core(builder.shape(), r);
    const auto add = [&](CoreWork work) {
        builder.step(std::move(work.forward), std::move(work.backward));
    };
    switch (r.traits.core) {
    case MixerCore::state_space_duality:
        return add(mamba2_core(core));
    case MixerCore::delta_rule:
        return add(delta_core(core, r.traits.scan));
    case MixerCore::lightning:
        return add(lightning_core(core));
    case MixerCore::scan:
        return add_scan(builder, r);
    case MixerCore::none:
        break;
    }
}

// Backward reads its input and the result's gradient and writes one; some make the result again
// first.
void add_convolution(WorkBuilder& builder, const RecurrentShape& r)
{
    const LayerShape& s = builder.shape();
    if (r.recurrence.convolution == 0)
        return;
    const double once = static_cast<double>(s.width * s.tokens * r.columns.convolved());
    const double passes = r.traits.recomputes ? 5 : 3;
    Kernel there = memory_kernel("short_convolution", 2 * once, KernelUse::recurrence);
    const int heads_over = r.traits.core == MixerCore::none ? 1 : s.partition.cp;
    there.sequence = {.kernel = r.traits.convolution,
                      .batch = s.partition.micro_batch,
                      .length =
                          divided_up(s.partition.sequence_length, s.partition.cp / heads_over),
                      .channels = divided_up(r.columns.convolved(), heads_over)};
    Kernel back = memory_kernel("short_convolution_backward", passes * once, KernelUse::recurrence,
                                r.traits.recomputes ? 2 : 1);
    back.sequence = there.sequence;
    back.sequence.traffic = passes / 2;
    builder.step({there}, {back});
}

// Where values have more heads than keys, a delta rule's queries and keys are copied to each.
void add_key_copies(WorkBuilder& builder, const RecurrentShape& r)
{
    if (r.traits.core != MixerCore::delta_rule || r.heads == r.key_heads)
        return;
    const LayerShape& s = builder.shape();
    const double bytes = static_cast<double>(s.width * s.tokens * 2 * r.recurrence.key_dim *
                                             (r.key_heads + r.heads));
    builder.pass({"mixer_key_copies", bytes, bytes, KernelUse::recurrence});
}

// Cores take one sequence after the other: a copy each way where tokens of several lie beside each
// other.
void add_transpose(WorkBuilder& builder, std::string_view name, std::int64_t columns)
{
    const LayerShape& s = builder.shape();
    if (!s.partition.kernels.sequence_first || s.partition.micro_batch == 1)
        return;
    const double bytes = 2 * static_cast<double>(s.width * s.tokens * columns);
    builder.pass({name, bytes, bytes, KernelUse::recurrence});
}

// Learned numbers of the recurrence itself: Mamba-1 has a decay per element of its states and a
// share of each value that passes by, Mamba-2 decay, step's bias and share of each head; delta
// rules decay and its bias per head (Kimi delta attention: the bias of each key element); a
// real-gated unit a decay per value.
std::int64_t decay_numbers(const Transformer& model, const MixerColumns& columns)
{
    const Recurrence& r = *model.recurrence;
    switch (model.mixer) {
    case MixerKind::mamba:
        return columns.values * (r.key_dim + 1);
    case MixerKind::mamba2:
        return 3LL * r.heads;
    case MixerKind::gated_delta_net:
    case MixerKind::kimi_delta_attention:
        return r.heads + std::max<std::int64_t>(r.heads, columns.decay);
    case MixerKind::rg_lru:
        return columns.values;
    default:
        return 0;
    }
}

} // namespace

std::vector<ParameterTensor> recurrent_parameters(const Transformer& model)
{
    const Recurrence& r = *model.recurrence;
    const MixerTraits traits = traits_of(model);
    const MixerColumns columns(r, traits, r.key_heads, r.heads);
    const auto h = static_cast<double>(model.hidden);
    std::vector<ParameterTensor> tensors;
    const auto cut = [&](ParameterTensor tensor) {
        if (tensor.elements > 0)
            tensors.push_back(of_key_heads(tensor, r.key_heads));
    };
    const auto add_matrix = [&](std::string_view name, double rows, std::int64_t wide, Cut by) {
        cut(matrix(name, {rows, static_cast<double>(wide)}, by));
    };
    const auto vector = [&](std::string_view name, std::int64_t elements, Cut by) {
        cut({.name = name, .elements = static_cast<double>(elements), .cut = by});
    };
    const auto values = static_cast<double>(columns.values);
    add_matrix("mixer_keys", h, 2 * columns.keys, Cut::kv_heads);
    add_matrix("mixer_values", h, columns.values + columns.gate + columns.scalars, Cut::heads);
    add_matrix("mixer_gate_down", h, narrow_width(r, traits), Cut::whole);
    add_matrix("mixer_gate_up", static_cast<double>(r.value_dim), columns.narrow_gates(),
               Cut::heads);
    const int taps = r.convolution + (r.convolution > 0 && traits.biased_convolution ? 1 : 0);
    vector("mixer_key_convolution", 2 * columns.keys * taps, Cut::kv_heads);
    vector("mixer_value_convolution", columns.values * taps, Cut::heads);
    if (selected_columns(r) > 0) {
        cut(matrix("mixer_selection", {values, static_cast<double>(selected_columns(r)), 1, true},
                   Cut::heads));
        add_matrix("mixer_steps", static_cast<double>(r.step_rank), columns.values, Cut::heads);
        vector("mixer_step_bias", columns.values, Cut::heads);
    }
    if (traits.block_gates) {
        const auto block = static_cast<double>(r.value_dim);
        cut(matrix("mixer_gates", {block, block, 2.0 * r.heads}, Cut::heads));
        vector("mixer_gate_bias", 2 * columns.values, Cut::heads);
    }
    vector("mixer_decay", decay_numbers(model, columns), Cut::heads);
    if (traits.norm == ResultNorm::by_head)
        vector("mixer_result_norm", r.value_dim, Cut::whole);
    else if (traits.norm == ResultNorm::whole)
        vector("mixer_result_norm", columns.values, Cut::heads);
    cut(matrix("mixer_output", {values, h, 1, true}, Cut::heads));
    if (traits.biased) {
        vector("mixer_bias", columns.projected(), Cut::heads);
        vector("mixer_output_bias", model.hidden, Cut::whole);
    }
    return tensors;
}

double recurrent_flops_per_token(const Transformer& model)
{
    const Recurrence& r = *model.recurrence;
    if (traits_of(model).core == MixerCore::none)
        return 0;
    const double reads = traits_of(model).core == MixerCore::delta_rule ? 3 : 2;
    return 2 * reads * static_cast<double>(r.key_dim * r.value_dim) * r.heads;
}

double recurrent_state_numbers(const Transformer& model)
{
    const Recurrence& r = *model.recurrence;
    const MixerColumns columns(r, traits_of(model), r.key_heads, r.heads);
    const double taps = std::max(0, r.convolution - 1);
    const bool carries = traits_of(model).core != MixerCore::none;
    return (carries ? static_cast<double>(r.heads * r.key_dim * r.value_dim) : 0) +
           taps * static_cast<double>(columns.convolved());
}

void add_recurrent_mixer(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    const RecurrentShape r(s);
    const auto once = [&](std::int64_t columns) {
        return static_cast<double>(s.width * s.tokens * columns);
    };
    const bool carries = r.traits.core != MixerCore::none;
    add_projections(builder, r);
    if (carries)
        add_transpose(builder, "mixer_sequences", r.columns.projected());
    if (carries)
        add_exchange(builder, "mixer_heads", r.columns.convolved() + r.columns.scalars);
    add_convolution(builder, r);
    add_selection(builder, r);
    add_key_copies(builder, r);
    add_core(builder, r);
    if (carries)
        add_exchange(builder, "mixer_tokens", r.columns.values);
    if (carries)
        add_transpose(builder, "mixer_positions", r.columns.values);
    const int gate = r.traits.core == MixerCore::state_space_duality ? 0 : 1; // in the scan
    builder.pass({"mixer_gated_norm", (2 + gate) * once(r.columns.values),
                  (3 + 2 * gate) * once(r.columns.values), KernelUse::recurrence, true});
    Linear output{"mixer_output",
                  {s.tokens, s.hidden, r.columns.values},
                  KernelUse::recurrence,
                  LinearCut::rows};
    output.cast = CastSource::memory;
    builder.linear(output);
}

// Projections' results, the convolution's (unless made again), the triangular inverses of a delta
// rule and the core's result; of a scan that gates it before and after the gate.
std::vector<SavedTensor> recurrent_saved(const LayerShape& s)
{
    const RecurrentShape r(s);
    std::vector<SavedTensor> tensors;
    const auto keep = [&](std::string_view name, std::int64_t columns) {
        if (columns > 0)
            tensors.push_back({name, s.tokens * columns, s.width});
    };
    keep("mixer_projected", r.columns.projected() + r.columns.narrow_gates());
    if (!r.traits.recomputes && r.recurrence.convolution > 0)
        keep("mixer_convolved", r.columns.convolved());
    keep("mixer_result", r.columns.values);
    if (r.traits.core == MixerCore::state_space_duality)
        keep("mixer_gated_result", r.columns.values);
    keep("mixer_selected", selected_columns(r.recurrence));
    if (r.recurrence.step_rank > 0)
        keep("mixer_steps", r.columns.values);
    if (r.traits.block_gates)
        keep("mixer_gates", 2 * r.columns.values);
    if (r.traits.core == MixerCore::delta_rule)
        keep("chunk_inverses", r.heads * r.recurrence.chunk);
    return tensors;
}

} // namespace trainyard
