#include "sim/workload/encoder_work.h"

#include "sim/workload/layer_parts.h"

#include <algorithm>

namespace trainyard {
namespace {

const Encoder& encoder_of(const Transformer& whole, const LayerKind& kind)
{
    return whole.encoders[static_cast<std::size_t>(kind.encoder)];
}

// Width of what cross attention reads: projected, the model's.
std::int64_t source_width(const Transformer& whole)
{
    const Encoder& last = whole.encoders.back();
    return last.projects ? whole.hidden : last.hidden;
}

AttentionShape cross_shape(const LayerShape& s)
{
    AttentionShape shape = attention_shape(s);
    shape.query_length = divided_up(s.partition.sequence_length, s.partition.cp);
    shape.key_length = source_tokens(s.whole);
    shape.heads = s.heads;
    shape.kv_heads = s.kv_heads;
    shape.window = 0;
    shape.causal = false;
    shape.seen_share = 1;
    if (shape.kernel == AttentionKernel::unfused)
        shape.kernel = AttentionKernel::flash2;
    return shape;
}

Kernel cross_kernel(const LayerShape& s, bool backward)
{
    Kernel kernel = fused_attention(s, cross_shape(s), backward);
    kernel.name = backward ? "cross_attention_backward" : "cross_attention";
    return kernel;
}

} // namespace

std::vector<ParameterTensor> encoder_end_tensors(const Transformer& whole, const LayerKind& kind)
{
    const Encoder& encoder = encoder_of(whole, kind);
    const auto h = static_cast<double>(encoder.hidden);
    std::vector<ParameterTensor> tensors;
    if (encoder.input_elements > 0) {
        tensors.push_back(
            matrix("input", {static_cast<double>(encoder.input_elements), h}, Cut::whole));
        tensors.push_back({"input_bias", h});
    }
    if (encoder.positions > 0)
        tensors.push_back({"positions", static_cast<double>(encoder.positions) * h});
    tensors.push_back(norm_tensor(encoder.norm, h));
    if (encoder.projects)
        tensors.push_back(matrix("projection", {h, static_cast<double>(whole.hidden)}, Cut::whole));
    return tensors;
}

LayerWork encoder_ends_work(const LayerShape& s)
{
    const Encoder& encoder = encoder_of(s.whole, s.kind);
    WorkBuilder builder(s);
    const double once = static_cast<double>(s.width * s.split_tokens * s.hidden);
    if (encoder.input_elements > 0)
        builder.linear(
            {"input", {s.split_tokens, s.hidden, encoder.input_elements}, KernelUse::embedding});
    else
        builder.pass({"source_embedding", once, once, KernelUse::embedding});
    add_norm(builder, "encoder_norm", KernelUse::embedding);
    if (encoder.projects)
        builder.linear(
            {"projection", {s.split_tokens, s.whole.hidden, s.hidden}, KernelUse::embedding});
    LayerWork work;
    work.forward = builder.forward();
    work.backward = builder.backward();
    set_parameters(work, s);
    const std::int64_t inputs = encoder.input_elements > 0
                                    ? s.width * s.split_tokens * encoder.input_elements
                                    : 8 * s.split_tokens;
    work.tensors = {{.name = "input", .bytes = inputs, .use = TensorUse::input},
                    {.name = "encoder_norm_input",
                     .bytes = s.width * s.split_tokens * s.hidden,
                     .use = TensorUse::input,
                     .kept_until = "encoder_norm_backward"},
                    {.name = "output_gradient",
                     .bytes = s.width * s.split_tokens * s.hidden,
                     .use = TensorUse::gradient}};
    if (s.whole.cross_attention) // read again by every layer that attends to it
        work.tensors.push_back(
            {.name = "cross_source",
             .bytes = s.width * s.split_tokens * (encoder.projects ? s.whole.hidden : s.hidden)});
    work.saved = kept_bytes(work.tensors);
    work.output = boundary_bytes(s);
    return work;
}

std::int64_t source_tokens(const Transformer& whole)
{
    std::int64_t tokens = 0;
    for (const Encoder& encoder : whole.encoders)
        tokens += encoder.tokens;
    return tokens;
}

std::vector<ParameterTensor> cross_attention_tensors(const Transformer& whole,
                                                     const Transformer& model)
{
    const auto h = static_cast<double>(model.hidden);
    const auto source = static_cast<double>(source_width(whole));
    const auto q = static_cast<double>(model.heads * model.head_dim);
    const auto kv = static_cast<double>(model.kv_heads * model.head_dim);
    std::vector<ParameterTensor> tensors;
    tensors.push_back(norm_tensor(model.norm, h));
    tensors.push_back(matrix("cross_query", {h, q}, Cut::heads));
    ParameterTensor keys =
        of_key_heads(matrix("cross_key_value", {source, 2 * kv}, Cut::kv_heads), model.kv_heads);
    keys.of_source = true;
    tensors.push_back(keys);
    tensors.push_back(matrix("cross_output", {q, h, 1, true}, Cut::heads));
    if (model.attention_bias || model.linear_bias) {
        tensors.push_back({"cross_query_bias", q, Cut::heads});
        tensors.push_back(
            of_key_heads({"cross_key_value_bias", 2 * kv, Cut::kv_heads}, model.kv_heads));
        tensors.push_back({"cross_output_bias", h});
    }
    return tensors;
}

double cross_attention_flops(const Transformer& whole, const Transformer& model,
                             double sequence_length)
{
    return 4 * static_cast<double>(model.head_dim * model.heads) * sequence_length *
           static_cast<double>(source_tokens(whole));
}

void add_cross_attention(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    const std::int64_t q = s.heads * s.head_dim;
    const std::int64_t source = s.partition.micro_batch * source_tokens(s.whole);
    add_norm(builder, "cross_norm", KernelUse::attention);
    builder.linear(
        {"cross_query", {s.tokens, q, s.hidden}, KernelUse::attention, LinearCut::columns});
    builder.linear({"cross_key_value",
                    {source, 2 * s.kv_heads * s.head_dim, source_width(s.whole)},
                    KernelUse::attention});
    builder.step({cross_kernel(s, false)}, {cross_kernel(s, true)});
    Linear output{"cross_output", {s.tokens, s.hidden, q}, KernelUse::attention, LinearCut::rows};
    output.cast = CastSource::memory;
    builder.linear(output);
    add_residual(builder, "cross_residual", KernelUse::attention);
}

std::vector<SavedTensor> cross_attention_saved(const LayerShape& s)
{
    const std::int64_t h = s.split_tokens * s.hidden;
    const std::int64_t q = s.tokens * s.heads * s.head_dim;
    const std::int64_t source = s.partition.micro_batch * source_tokens(s.whole);
    return {{"cross_norm_input", h, s.width, false, !s.has_mixer()},
            {"cross_query_input", h, s.width},
            {"cross_query", q, s.width},
            {"cross_key_value", source * 2 * s.kv_heads * s.head_dim, s.width},
            {"cross_result", q, s.width}};
}

} // namespace trainyard
