// Low-rank adapters beside frozen matrices (Hu 2021): their products, parameters and columns.

#include "sim/workload/parameters.h"
#include "sim/workload/work_builder.h"

namespace trainyard {
namespace {

using enum AdapterTarget;

std::string joined(const Linear& linear, std::string_view suffix)
{
    return std::string(linear.name) + std::string(suffix);
}

GemmWidths stored(const LayerShape& shape)
{
    const auto width = static_cast<double>(shape.width);
    return {width, width};
}

GemmWidths gradient(const LayerShape& shape)
{
    return {static_cast<double>(shape.width),
            static_cast<double>(shape.partition.weight_gradient_bytes)};
}

} // namespace

AdaptedColumns::AdaptedColumns(const LayerShape& s)
{
    if (!s.partition.lora)
        return;
    const Lora& lora = *s.partition.lora;
    const auto add = [&](std::vector<std::int64_t>& to, AdapterTarget target,
                         std::int64_t columns) {
        if (lora.has(target))
            to.push_back(columns);
    };
    const std::int64_t q = s.heads * s.head_dim;
    const std::int64_t kv = s.kv_heads * s.head_dim;
    const std::int64_t ffn = s.columns(s.model.ffn);
    add(qkv, q_proj, q);
    add(qkv, k_proj, kv);
    add(qkv, v_proj, kv);
    add(qkv, linear_qkv, q + 2 * kv);
    add(output, o_proj, s.hidden);
    add(up, gate_proj, ffn);
    add(up, up_proj, ffn);
    add(up, linear_fc1, s.up() * ffn);
    add(down, down_proj, s.hidden);
}

// Beside y = x W each adapter adds (x A) B, in 16 bit. What its whole half makes under TP is a part
// of the sum that the matrix's own collective completes. The result is scaled, then added.
WorkList adapters_forward(const LayerShape& s, const Linear& linear)
{
    WorkList items;
    for (const std::int64_t n : linear.adapted) {
        const std::int64_t rank = s.partition.lora->rank;
        const GemmShape& y = linear.shape;
        const auto sum = static_cast<double>((2 + 3) * s.width * y.m * n);
        items.emplace_back(gemm_kernel(joined(linear, "_adapter_down"), {y.m, rank, y.k},
                                       linear.use, s.plain_precision(), stored(s)));
        items.emplace_back(gemm_kernel(joined(linear, "_adapter_up"), {y.m, n, rank}, linear.use,
                                       s.plain_precision(), stored(s)));
        items.emplace_back(memory_kernel(joined(linear, "_adapter_sum"), sum, linear.use, 2));
    }
    return items;
}

// dB = (x A)^T dy, dt = dy B^T, dA = x^T dt, and dt A^T is added to the matrix's dx.
WorkList adapters_backward(const LayerShape& s, const Linear& linear)
{
    WorkList items;
    const auto product = [&](std::string_view name, const GemmShape& shape,
                             const GemmWidths& widths) {
        items.emplace_back(
            gemm_kernel(joined(linear, name), shape, linear.use, s.plain_precision(), widths));
        return &std::get<Kernel>(items.back());
    };
    for (const std::int64_t n : linear.adapted) {
        const std::int64_t rank = s.partition.lora->rank;
        const GemmShape& y = linear.shape;
        const auto sum = static_cast<double>(3 * s.width * y.m * y.k);
        product("_adapter_up_gradient", {n, rank, y.m}, gradient(s))->for_weights = true;
        product("_adapter_inner_gradient", {y.m, rank, n}, stored(s));
        product("_adapter_down_gradient", {rank, y.k, y.m}, gradient(s))->for_weights = true;
        product("_adapter_input_gradient", {y.m, y.k, rank}, stored(s));
        items.emplace_back(memory_kernel(joined(linear, "_adapter_input_sum"), sum, linear.use, 2));
    }
    return items;
}

std::vector<ParameterTensor> adapter_tensors(const Transformer& model, const LayerKind& kind,
                                             const Lora& lora)
{
    std::vector<ParameterTensor> tensors;
    if (kind.role != LayerKind::Role::dense && kind.role != LayerKind::Role::moe)
        return tensors;
    const double r = lora.rank;
    const double h = static_cast<double>(model.hidden);
    const double q = static_cast<double>(model.heads * model.head_dim);
    const double kv = static_cast<double>(model.kv_heads * model.head_dim);
    const double results = static_cast<double>(model.heads * model.value_dim());
    const double ffn = static_cast<double>(model.ffn);
    const double up = model.gated_mlp ? 2 : 1;
    struct Half {
        double elements;
        Cut cut;
    };
    const auto add = [&](AdapterTarget target, Half first, Half second) {
        if (!lora.has(target))
            return;
        tensors.push_back(
            {"adapter_down", r * first.elements, first.cut, true, 1, first.elements, r, 1, true});
        tensors.push_back({"adapter_up", r * second.elements, second.cut, true, 1, r,
                           second.elements, 1, false, model.kv_heads});
    };
    const Half whole{h, Cut::whole};
    add(q_proj, whole, {q, Cut::heads});
    add(k_proj, whole, {kv, Cut::kv_heads});
    add(v_proj, whole, {kv, Cut::kv_heads});
    add(linear_qkv, whole, {q, Cut::heads});
    if (lora.has(linear_qkv))
        tensors.push_back(
            {"adapter_up", 2 * r * kv, Cut::kv_heads, true, 1, r, kv, 2, false, model.kv_heads});
    add(o_proj, {results, Cut::heads}, whole);
    add(gate_proj, whole, {ffn, Cut::columns});
    add(up_proj, whole, {ffn, Cut::columns});
    add(linear_fc1, whole, {up * ffn, Cut::columns});
    add(down_proj, {ffn, Cut::columns}, whole);
    return tensors;
}

} // namespace trainyard
