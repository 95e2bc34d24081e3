#include "sim/workload/layer_parts.h"
#include "sim/workload/passing_tensors.h"
#include "sim/workload/recurrent_mixer.h"
#include "sim/workload/saved_tensors.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

struct Life {
    std::string_view name;
    std::string_view made_by;
    std::string_view until;
    std::string_view kept_until;
};

// Lives of what saved_tensors() lists. A tensor that is not here lives from the begin of forward to
// the end of backward.
constexpr std::array lives = {
    Life{"norm_input", "", "attention_norm", "attention_norm_backward"},
    Life{"qkv_input", "attention_norm", "qkv|attention_q|attention_q_down|attention_kv_down",
         "qkv_input_gradient|qkv_weight_gradient|attention_q_input_gradient|"
         "attention_q_weight_gradient|attention_q_down_input_gradient|"
         "attention_q_down_weight_gradient"},
    Life{"q_latent", "attention_q_down", "attention_q_norm", "attention_q_norm_backward"},
    Life{"q_up_input", "attention_q_norm", "attention_q_up",
         "attention_q_up_input_gradient|attention_q_up_weight_gradient"},
    Life{"kv_latent", "attention_kv_down", "attention_kv_norm", "attention_kv_norm_backward"},
    Life{"kv_up_input", "attention_kv_norm", "attention_kv_up",
         "attention_kv_up_input_gradient|attention_kv_up_weight_gradient"},
    Life{"q", "qkv|qk_norm|rotary|attention_q|attention_q_up", "scores|attention",
         "key_gradient|attention_backward"},
    Life{"k", "qkv|qk_norm|rotary", "scores|attention", "query_gradient|attention_backward"},
    Life{"v", "qkv|rotary", "values|attention", "probability_gradient|attention_backward"},
    Life{"qk_norm_input", "qkv", "qk_norm", "qk_norm_backward"},
    Life{"softmax", "softmax", "softmax|values", "softmax_backward|value_gradient"},
    Life{"softmax_mask", "softmax", "softmax", "softmax_backward"},
    Life{"softmax_dropped", "softmax", "values", "value_gradient"},
    Life{"log_sum_exp", "attention", "attention", "attention_backward"},
    Life{"attention_result", "values|attention", "attention_output",
         "attention_output_input_gradient|attention_output_weight_gradient|attention_backward"},
    Life{"attention_result_cast", "attention_output_cast", "attention_output",
         "attention_output_input_gradient|attention_output_weight_gradient"},
    Life{"context_parallel_copies", "attention", "attention", "attention_backward"},
    Life{"indexer_query", "indexer_query", "indexer_scores", "indexer_scores_backward"},
    Life{"indexer_key", "indexer_key", "indexer_scores", "indexer_scores_backward"},
    Life{"chosen_keys", "indexer_scores", "attention", "indexer_scores_backward"},
    Life{"attention_gate", "qkv", "attention_gate", "attention_gate_backward"},
    Life{"attention_ungated", "values|attention", "attention_gate",
         "attention_gate_backward|attention_backward"},
    Life{"cross_norm_input", "attention_residual", "cross_norm", "cross_norm_backward"},
    Life{"cross_query_input", "cross_norm", "cross_query",
         "cross_query_input_gradient|cross_query_weight_gradient"},
    Life{"cross_query", "cross_query", "cross_attention", "cross_attention_backward"},
    Life{"cross_key_value", "cross_key_value", "cross_attention", "cross_attention_backward"},
    Life{"cross_result", "cross_attention", "cross_output",
         "cross_output_input_gradient|cross_output_weight_gradient|cross_attention_backward"},
    Life{"mixer_input", "attention_norm", "mixer_input|mixer_gate_down",
         "mixer_input_input_gradient|mixer_input_weight_gradient"},
    Life{"mixer_projected", "mixer_input|mixer_gate_up", "mixer_gated_norm",
         "short_convolution_backward|recurrence_backward"},
    Life{"mixer_convolved", "short_convolution", "recurrence", "recurrence_backward"},
    Life{"mixer_selected", "mixer_selection", "recurrence", "recurrence_backward"},
    Life{"mixer_steps", "mixer_steps", "recurrence", "recurrence_backward"},
    Life{"mixer_gates", "mixer_gates", "recurrence", "recurrence_backward"},
    Life{"chunk_inverses", "recurrence", "recurrence", "recurrence_backward"},
    Life{"mixer_result", "recurrence", "mixer_gated_norm",
         "mixer_gated_norm_backward|recurrence_backward"},
    Life{"mixer_gated_result", "recurrence", "mixer_gated_norm", "mixer_gated_norm_backward"},
    Life{"mixer_output_input", "mixer_gated_norm", "mixer_output",
         "mixer_output_input_gradient|mixer_output_weight_gradient"},
    Life{"attention_mask", "attention_residual", "attention_residual",
         "attention_residual_backward"},
    Life{"mlp_norm_input", "attention_residual|cross_residual", "mlp_norm", "mlp_norm_backward"},
    Life{"mlp_input", "mlp_norm", "mlp_up|shared_mlp_up|router|permute",
         "mlp_up_input_gradient|mlp_up_weight_gradient|shared_mlp_up_weight_gradient|"
         "router_input_gradient|router_weight_gradient"},
    Life{"activation_input", "mlp_up|shared_mlp_up", "mlp_activation|shared_mlp_activation",
         "mlp_activation_backward|shared_mlp_activation_backward"},
    Life{"down_input", "mlp_activation|shared_mlp_activation", "mlp_down|shared_mlp_down",
         "mlp_down_input_gradient|mlp_down_weight_gradient|shared_mlp_down_input_gradient|"
         "shared_mlp_down_weight_gradient"},
    Life{"router_probabilities", "expert_choice", "unpermute", "expert_choice_backward"},
    Life{"dispatched", "permute|expert_dispatch", "expert_up",
         "expert_up_input_gradient|expert_up_weight_gradient"},
    Life{"expert_result_input", "unpermute", "expert_result",
         "expert_result_input_gradient|expert_result_weight_gradient"},
    Life{"expert_activation_input", "expert_up", "expert_activation", "expert_activation_backward"},
    Life{"expert_down_input", "expert_activation", "expert_down",
         "expert_down_input_gradient|expert_down_weight_gradient"},
    Life{"mlp_mask", "mlp_residual", "mlp_residual", "mlp_residual_backward"},
};

// `share` of it is made again: all or nothing, see add_kept().
LayerTensor kept_tensor(const SavedTensor& saved, double share, int repetition)
{
    LayerTensor tensor;
    tensor.name = saved.name;
    if (repetition > 1)
        tensor.name += " " + std::to_string(repetition);
    tensor.bytes = saved.elements * saved.width;
    tensor.use = share == 1 ? TensorUse::again : TensorUse::kept;
    if (saved.square)
        tensor.length_power = 2;
    if (saved.layer_input)
        tensor.use = TensorUse::input;
    const auto life = std::ranges::find(lives, saved.name, &Life::name);
    if (life != lives.end()) {
        tensor.made_by = life->made_by;
        tensor.until = life->until;
        tensor.kept_until = life->kept_until;
    }
    return tensor;
}

// A tensor of which a part is made again is two.
void add_kept(LayerTensors& tensors, const LayerShape& shape, const SavedTensor& saved,
              int repetition)
{
    const double share = share_made_again(shape, saved.name);
    LayerTensor tensor = kept_tensor(saved, share, repetition);
    if (share > 0 && share < 1) {
        LayerTensor part = tensor;
        part.name += " made again";
        part.use = TensorUse::again;
        part.bytes = static_cast<std::int64_t>(share * static_cast<double>(tensor.bytes));
        tensor.bytes -= part.bytes;
        tensors.push_back(std::move(part));
    }
    tensors.push_back(std::move(tensor));
}

// The gradient of a residual stream's norm input is the sum of what comes past the block and
// through it: one tensor at a time.
void add_stream(PassingTensors& add, const LayerShape& s)
{
    constexpr std::string_view of_channel = "mlp_down_weight_gradient";
    constexpr std::string_view of_mixer =
        "attention_output_weight_gradient|mixer_output_weight_gradient";
    if (s.model.norms_per_layer < 2 || !s.has_mixer() || !s.has_channel()) {
        add.gradient("output_gradient", add.split(), "", "");
        if (!s.sequence_parallel)
            add.read_for_weights(s.has_channel() ? of_channel : of_mixer);
        return;
    }
    add.gradient("output_gradient", add.split(), "", "mlp_norm_backward");
    if (!s.sequence_parallel)
        add.read_for_weights(of_channel);
    add.gradient("stream_gradient", add.split(), "mlp_norm_backward", "");
    if (!s.sequence_parallel)
        add.read_for_weights(of_mixer);
}

// What the matrices of a block meet, as their products read it.
std::int64_t operand_bytes(const LayerShape& s)
{
    const std::int64_t elements = s.tokens * s.hidden;
    return s.narrow() ? s.cast_bytes(elements) : s.width * elements;
}

struct GatheredInput {
    std::string_view name;
    std::string_view norm;
    std::string_view gather;
    std::string_view product;
    std::string_view again;
    std::string_view weight_gradient;
};

// An input of a product cut by columns passes beside the part of it that is kept: gathered where
// that is the rank's shard, and else the shard.
void add_gathered_input(PassingTensors& add, const LayerShape& s, const GatheredInput& input)
{
    if (s.kept_tokens == s.tokens) {
        add.forward("scattered_" + std::string(input.name), add.split(), input.norm, input.gather);
        return;
    }
    const std::string gathered = "gathered_" + std::string(input.name);
    add.forward(gathered, operand_bytes(s), input.gather, input.product);
    add.gradient(gathered + "_again", operand_bytes(s), input.again, input.weight_gradient);
}

// With sequence parallelism the matrices meet gathered tokens.
void add_gathers(PassingTensors& add, const LayerShape& s)
{
    if (!s.sequence_parallel)
        return;
    add.gradient("gathered_output_gradient", add.whole(), "attention_output_gradient_gather",
                 "attention_output_input_gradient|attention_output_weight_gradient");
    add.read_for_weights("attention_output_weight_gradient");
    if (s.model.latent)
        return;
    add_gathered_input(add, s,
                       {"qkv_input", "attention_norm", "qkv_input_gather", "qkv",
                        "qkv_input_gather_again", "qkv_weight_gradient|qkv_adapter_down_gradient"});
}

// Gradients of the projections' results, and of their input.
void add_projections(PassingTensors& add, const LayerShape& s)
{
    const std::int64_t token = s.width * s.tokens;
    const std::int64_t queries = token * s.heads * s.head_dim;
    const std::int64_t qkv = queries + token * s.key_value_columns();
    std::int64_t projected_bytes = qkv;
    const bool rotates = s.model.position == PositionKind::rotary;
    if (s.model.latent) {
        // Rotary parts of keys are one head's.
        const LatentAttention& latent = *s.model.latent;
        const std::int64_t up = token * s.heads * (latent.qk_nope_head_dim + s.value_dim);
        add.forward("kv_up_output", up, "attention_kv_up", "rotary");
        projected_bytes = queries + up + token * latent.qk_rope_head_dim;
    } else if (rotates && !s.model.qk_norm)
        add.forward("qkv_output", qkv, "qkv", "rotary");
    constexpr std::string_view projected =
        "qkv_input_gradient|qkv_weight_gradient|attention_q_input_gradient|"
        "attention_q_weight_gradient|attention_q_up_input_gradient|attention_q_up_weight_gradient";
    constexpr std::string_view weights =
        "qkv_weight_gradient|attention_q_weight_gradient|attention_q_up_weight_gradient|"
        "attention_kv_up_weight_gradient";
    add.gradient("qkv_gradient", qkv, "query_gradient|attention_backward",
                 rotates ? "rotary_backward" : projected);
    if (rotates)
        add.gradient("projected_gradient", projected_bytes, "rotary_backward", projected);
    add.read_for_weights(weights);
    const bool gathers = s.sequence_parallel && !s.model.latent;
    add.gradient("qkv_input_gradient", gathers ? add.whole() : add.split(),
                 "qkv_input_gradient|attention_q_input_gradient|attention_kv_down_input_gradient",
                 gathers ? "qkv_input_gradient_reduce" : "attention_norm_backward");
    if (gathers)
        add.gradient("scattered_qkv_input_gradient", add.split(), "qkv_input_gradient_reduce",
                     "attention_norm_backward");
}

void add_attention(PassingTensors& add, const LayerShape& s)
{
    add.forward("attention_output", add.whole(), "attention_output",
                s.sequence_parallel ? "attention_output_reduce" : "attention_residual");
    if (s.sequence_parallel)
        add.forward("scattered_attention_output", add.split(), "attention_output_reduce",
                    "attention_residual");
    add.gradient("attention_result_gradient", s.width * s.tokens * s.heads * s.value_dim,
                 "attention_output_input_gradient", "value_gradient|attention_backward");
    add_projections(add, s);
}

void add_core(PassingTensors& add, LayerTensors& tensors, const LayerShape& s)
{
    const Partition& p = s.partition;
    if (p.kernels.attention != AttentionKernel::unfused) {
        // dQ is summed in fp32 (Dao 2023).
        add.gradient("query_gradient_sum", 4 * s.tokens * s.heads * s.head_dim,
                     "attention_backward", "attention_backward");
        return;
    }
    const std::int64_t square =
        s.width * p.micro_batch * s.heads * p.sequence_length * divided_up(p.sequence_length, p.cp);
    add.forward("scores", square, "scores", "softmax");
    tensors.back().length_power = 2;
    add.gradient("probability_gradient", square, "probability_gradient", "softmax_backward");
    tensors.back().length_power = 2;
    add.gradient("score_gradient", square, "softmax_backward", "key_gradient");
    tensors.back().length_power = 2;
}

// The projections' results and their gradients, and what sequence parallelism gathers.
void add_recurrent(PassingTensors& add, const LayerShape& s)
{
    const bool split = s.sequence_parallel;
    const std::int64_t values =
        divided_up(s.model.recurrence->heads * s.model.recurrence->value_dim, s.partition.tp);
    if (split) {
        add_gathered_input(add, s,
                           {"mixer_input", "attention_norm", "mixer_input_input_gather",
                            "mixer_input", "mixer_input_input_gather_again",
                            "mixer_input_weight_gradient"});
        add.gradient("gathered_mixer_output_gradient", add.whole(), "mixer_output_gradient_gather",
                     "mixer_output_input_gradient|mixer_output_weight_gradient");
        add.read_for_weights("mixer_output_weight_gradient");
    }
    add.forward("mixer_output", add.whole(), "mixer_output",
                split ? "mixer_output_reduce" : "attention_residual");
    if (split)
        add.forward("scattered_mixer_output", add.split(), "mixer_output_reduce",
                    "attention_residual");
    add.gradient("mixer_result_gradient", s.width * s.tokens * values,
                 "mixer_output_input_gradient", "recurrence_backward");
    std::int64_t projected = 0;
    for (const SavedTensor& saved : recurrent_saved(s))
        if (saved.name == "mixer_projected")
            projected = saved.elements * saved.width;
    add.gradient("mixer_projected_gradient", projected, "recurrence_backward",
                 "mixer_input_input_gradient|mixer_input_weight_gradient");
    add.read_for_weights("mixer_input_weight_gradient");
    add.gradient("mixer_input_gradient", split ? add.whole() : add.split(),
                 "mixer_input_input_gradient",
                 split ? "mixer_input_input_gradient_reduce" : "attention_norm_backward");
}

void add_mlp(PassingTensors& add, LayerTensors& tensors, const LayerShape& s)
{
    const std::int64_t inner = s.width * s.tokens * s.columns(s.model.ffn);
    const bool split = s.sequence_parallel;
    if (split) {
        add_gathered_input(add, s,
                           {"mlp_input", "mlp_norm", "mlp_up_input_gather", "mlp_up",
                            "mlp_up_input_gather_again",
                            "mlp_up_weight_gradient|mlp_up_adapter_down_gradient"});
        add.gradient("gathered_mlp_output_gradient", add.whole(), "mlp_down_gradient_gather",
                     "mlp_down_input_gradient|mlp_down_weight_gradient");
        add.read_for_weights("mlp_down_weight_gradient");
    }
    add.forward("mlp_output", add.whole(), "mlp_down", split ? "mlp_down_reduce" : "mlp_residual");
    if (split)
        add.forward("scattered_mlp_output", add.split(), "mlp_down_reduce", "mlp_residual");
    if (keeps_unread(s))
        tensors.push_back({.name = "mlp_output kept", .bytes = add.split(), .made_by = "mlp_down"});
    add.gradient("down_input_gradient", inner, "mlp_down_input_gradient",
                 "mlp_activation_backward");
    add.gradient("activation_input_gradient", s.up() * inner, "mlp_activation_backward",
                 "mlp_up_input_gradient|mlp_up_weight_gradient");
    add.read_for_weights("mlp_up_weight_gradient");
    add.gradient("mlp_input_gradient", add.whole(), "mlp_up_input_gradient",
                 split ? "mlp_up_input_gradient_reduce" : "mlp_norm_backward");
    if (split)
        add.gradient("scattered_mlp_input_gradient", add.split(), "mlp_up_input_gradient_reduce",
                     "mlp_norm_backward");
}

void add_experts(PassingTensors& add, const LayerShape& s)
{
    const ExpertShape e(s);
    const std::int64_t tokens = s.width * e.handled * e.width;
    const std::int64_t inner = s.width * e.handled * e.columns;
    add.forward("expert_output", tokens, "expert_down", "expert_combine|unpermute");
    add.gradient("expert_output_gradient", tokens, "unpermute_backward",
                 "expert_down_input_gradient|expert_down_weight_gradient");
    add.read_for_weights("expert_down_weight_gradient");
    add.gradient("expert_down_input_gradient", inner, "expert_down_input_gradient",
                 "expert_activation_backward");
    add.gradient("expert_activation_input_gradient", s.up() * inner, "expert_activation_backward",
                 "expert_up_input_gradient|expert_up_weight_gradient");
    add.read_for_weights("expert_up_weight_gradient");
    add.gradient("dispatched_gradient", tokens, "expert_up_input_gradient", "permute_backward");
}

} // namespace

std::vector<LayerTensor> transformer_tensors(const LayerShape& s)
{
    LayerTensors tensors;
    for (const SavedTensor& saved : saved_tensors(s)) {
        const auto alike = std::ranges::count_if(tensors, [&](const LayerTensor& tensor) {
            return tensor.name.starts_with(saved.name) &&
                   (tensor.name.size() == saved.name.size() ||
                    tensor.name[saved.name.size()] == ' ');
        });
        add_kept(tensors, s, saved, static_cast<int>(alike) + 1);
    }
    PassingTensors add(s, tensors);
    add_stream(add, s);
    if (s.model.is_recurrent()) {
        add_recurrent(add, s);
    } else if (s.has_mixer()) {
        add_gathers(add, s);
        add_attention(add, s);
        add_core(add, tensors, s);
    }
    if (!s.has_channel())
        return tensors;
    if (s.kind.role == LayerKind::Role::moe)
        add_experts(add, s);
    else
        add_mlp(add, tensors, s);
    return tensors;
}

// A layer recomputed in full keeps its input, about as large as its output.
std::vector<LayerTensor> native_tensors(Bytes kept, Bytes output)
{
    const auto all = static_cast<std::int64_t>(kept.value());
    const auto once = static_cast<std::int64_t>(output.value());
    const std::int64_t input = std::min(all, once);
    LayerTensors tensors;
    if (input > 0)
        tensors.push_back({.name = "input", .bytes = input, .use = TensorUse::input});
    if (all > input)
        tensors.push_back({.name = "kept", .bytes = all - input});
    if (once > 0)
        tensors.push_back({.name = "output_gradient", .bytes = once, .use = TensorUse::gradient});
    return tensors;
}

SavedActivations kept_bytes(const std::vector<LayerTensor>& tensors)
{
    SavedActivations kept;
    for (const LayerTensor& tensor : tensors) {
        const Bytes bytes(static_cast<std::uint64_t>(tensor.bytes));
        switch (tensor.use) {
        case TensorUse::input:
            kept.full += bytes;
            [[fallthrough]];
        case TensorUse::kept:
            kept.selective += bytes;
            [[fallthrough]];
        case TensorUse::again:
            kept.none += bytes;
            [[fallthrough]];
        case TensorUse::forward:
        case TensorUse::gradient:
            break;
        }
    }
    return kept;
}

} // namespace trainyard
