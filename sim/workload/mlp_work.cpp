// Norms, residuals and the dense MLP.

#include "sim/workload/layer_parts.h"

namespace trainyard {

// Forward reads x and writes y; backward reads x and dy and writes dx.
void add_norm(WorkBuilder& builder, std::string_view name, KernelUse use)
{
    const LayerShape& s = builder.shape();
    const double once = static_cast<double>(s.width * s.split_tokens * s.hidden);
    builder.pass({name, 2 * once, 3 * once, use, true});
}

// Forward reads the block's output (bias added on the way) and the residual and writes their sum;
// dropout writes a mask of one byte per element. Backward is as much, and dropout reads its mask
// and writes its own gradient.
void add_residual(WorkBuilder& builder, std::string_view name, KernelUse use)
{
    const LayerShape& s = builder.shape();
    const double elements = static_cast<double>(s.split_tokens * s.hidden);
    const double width = static_cast<double>(s.width);
    const double mask = s.model.dropout ? 1 : 0;
    builder.pass({name, (3 * width + mask) * elements, (3 * width + mask * (1 + width)) * elements,
                  use, true});
}

void add_mlp_up(WorkBuilder& builder, std::string_view name, std::int64_t ffn)
{
    const LayerShape& s = builder.shape();
    const std::int64_t f = s.columns(ffn);
    const std::string prefix(name);
    const std::string up = prefix + "_up";
    const std::string activation = prefix + "_activation";
    const double once = static_cast<double>(s.width * s.tokens * f);
    const double unfused = s.partition.kernels.fused_elementwise ? 0 : 2;
    const double u = static_cast<double>(s.up());

    const LinearCut cut = s.model.parallel_blocks ? LinearCut::none : LinearCut::columns;
    const AdaptedColumns adapted(s);
    Linear first{up, {s.tokens, s.up() * f, s.hidden}, KernelUse::mlp, cut};
    first.adapted = adapted.up;
    builder.linear(first);
    // Forward reads u and writes one; backward reads u and one gradient and writes u.
    builder.pass(
        {activation, (u + 1 + unfused) * once, (2 * u + 1 + unfused) * once, KernelUse::mlp});
}

void add_mlp_down(WorkBuilder& builder, std::string_view name, std::int64_t ffn)
{
    const LayerShape& s = builder.shape();
    const std::string down = std::string(name) + "_down";
    Linear second{down, {s.tokens, s.hidden, s.columns(ffn)}, KernelUse::mlp, LinearCut::rows};
    second.adapted = AdaptedColumns(s).down;
    builder.linear(second);
}

void add_mlp(WorkBuilder& builder, std::string_view name, std::int64_t ffn)
{
    add_mlp_up(builder, name, ffn);
    add_mlp_down(builder, name, ffn);
}

} // namespace trainyard
