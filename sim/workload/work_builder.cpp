#include "sim/workload/work_builder.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace trainyard {
namespace {

Bytes whole_bytes(double bytes)
{
    return Bytes(static_cast<std::uint64_t>(std::llround(bytes)));
}

std::string joined(std::string_view name, std::string_view suffix)
{
    return std::string(name) + std::string(suffix);
}

// The layer's matrices run in the narrow format; logits do not.
bool runs_narrow(const LayerShape& shape, KernelUse use)
{
    return shape.narrow() && use != KernelUse::head;
}

Communication tp_collective(CollectiveKind kind, const LayerShape& shape, const Linear& linear,
                            std::string_view suffix)
{
    const std::int64_t columns = linear.exchanged > 0 ? linear.exchanged : shape.hidden;
    return {kind, GroupKind::tp,
            Bytes(static_cast<std::uint64_t>(shape.width * shape.tokens * columns)),
            joined(linear.name, suffix), 0};
}

} // namespace

Kernel gemm_kernel(std::string name, const GemmShape& shape, KernelUse use, Precision precision,
                   const GemmWidths& widths)
{
    Kernel kernel;
    kernel.kind = KernelKind::gemm;
    kernel.use = use;
    kernel.name = std::move(name);
    kernel.precision = precision;
    kernel.gemm = shape;
    const auto operands = static_cast<double>(shape.m * shape.k + shape.k * shape.n);
    const auto result = static_cast<double>(shape.m * shape.n);
    kernel.bytes = whole_bytes(static_cast<double>(shape.batch) *
                               (widths.operand * operands + widths.result * result));
    return kernel;
}

Kernel memory_kernel(std::string_view name, double bytes, KernelUse use, int launches)
{
    Kernel kernel;
    kernel.use = use;
    kernel.name = name;
    kernel.bytes = whole_bytes(bytes);
    kernel.launches = launches;
    return kernel;
}

void append(WorkList& to, WorkList from)
{
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

void WorkBuilder::step(WorkList forward, WorkList backward)
{
    append(forward_, std::move(forward));
    backward_.push_back(std::move(backward));
}

void WorkBuilder::pass(const MemoryBoundPass& pass)
{
    const auto kernels = [&](std::string_view name, double bytes) {
        WorkList list;
        if (bytes > 0) {
            Kernel kernel = memory_kernel(name, bytes, pass.use);
            kernel.norm = pass.norm;
            list.emplace_back(std::move(kernel));
        }
        return list;
    };
    step(kernels(pass.name, pass.forward_bytes),
         kernels(joined(pass.name, "_backward"), pass.backward_bytes));
}

void WorkBuilder::exchange(const Communication& forward, const Communication& backward)
{
    step({forward}, {backward});
}

void WorkBuilder::gather_input(const Linear& linear)
{
    if (shape_.sequence_parallel)
        forward_.push_back(
            tp_collective(CollectiveKind::all_gather, shape_, linear, "_input_gather"));
}

// Backward of y = x A with A [k x n]: dx = dy A^T [m x n][n x k], dA = x^T dy [k x m][m x n]. Cut
// by columns, dx is a partial sum and, with sequence parallelism, x (where kept in shards) is
// gathered again beside the first product; cut by rows, dy is gathered with sequence parallelism.
WorkList WorkBuilder::gradients(const Linear& linear) const
{
    const bool narrow = runs_narrow(shape_, linear.use);
    const Precision precision = narrow ? shape_.format : shape_.plain_precision();
    const GemmShape& y = linear.shape;
    const GemmShape dx{y.m, y.k, y.n, y.batch};
    const GemmShape da{y.n, y.k, y.m, y.batch};
    const double operand = operand_bytes(precision);
    const double stored = static_cast<double>(shape_.width);
    const bool columns = linear.cut == LinearCut::columns && shape_.tensor_parallel;
    const bool rows = linear.cut == LinearCut::rows && shape_.tensor_parallel;
    const bool frozen = shape_.partition.lora.has_value();
    const bool needs_input = !frozen || !linear.adapted.empty();

    WorkList items;
    if (rows && shape_.sequence_parallel)
        items.push_back(
            tp_collective(CollectiveKind::all_gather, shape_, linear, "_gradient_gather"));
    if (narrow && linear.casts_gradient)
        items.push_back(cast(joined(linear.name, "_gradient_cast"),
                             static_cast<double>(y.m * y.n * y.batch), CastSource::memory,
                             linear.use));
    if (columns && shape_.kept_tokens < shape_.tokens && needs_input) {
        Communication again =
            tp_collective(CollectiveKind::all_gather, shape_, linear, "_input_gather_again");
        again.needed_after = 1; // hidden by the product that follows
        again.for_weights = true;
        items.push_back(again);
    }
    items.push_back(
        gemm_kernel(joined(linear.name, "_input_gradient"), dx, linear.use, precision,
                    {operand, linear.gradient_written > 0 ? linear.gradient_written : stored}));
    std::get<Kernel>(items.back()).launches = linear.launches;
    append(items, adapters_backward(shape_, linear));
    if (columns) {
        const auto kind =
            shape_.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
        Communication reduce = tp_collective(kind, shape_, linear, "_input_gradient_reduce");
        if (shape_.partition.kernels.tp_beside_weight_gradient && !frozen)
            reduce.needed_after = 1;
        items.push_back(reduce);
    }
    if (!frozen) {
        const auto gradient = static_cast<double>(shape_.partition.weight_gradient_bytes);
        Kernel product = gemm_kernel(joined(linear.name, "_weight_gradient"), da, linear.use,
                                     precision, {operand, gradient});
        product.for_weights = true;
        product.launches = linear.launches;
        items.emplace_back(std::move(product));
    }
    return items;
}

// Written twice: for the product and, along the other direction, for the weight gradient.
Kernel WorkBuilder::cast(std::string name, double elements, CastSource source, KernelUse use) const
{
    const Precision format = shape_.format;
    const bool reads = source == CastSource::memory || !casts_beside_producer(format);
    const double read = reads ? cast_reads(format) * static_cast<double>(shape_.width) : 0;
    return memory_kernel(name, (read + 2 * operand_bytes(format)) * elements, use);
}

void WorkBuilder::linear(const Linear& linear)
{
    const bool narrow = runs_narrow(shape_, linear.use);
    const Precision precision = narrow ? shape_.format : shape_.plain_precision();
    const GemmShape& y = linear.shape;
    if (linear.cut == LinearCut::columns)
        gather_input(linear);
    if (narrow && linear.cast != CastSource::product)
        forward_.push_back(cast(joined(linear.name, "_cast"),
                                static_cast<double>(y.m * y.k * y.batch), linear.cast, linear.use));
    forward_.push_back(
        gemm_kernel(std::string(linear.name), y, linear.use, precision,
                    {operand_bytes(precision),
                     linear.written > 0 ? linear.written : static_cast<double>(shape_.width)}));
    std::get<Kernel>(forward_.back()).launches = linear.launches;
    append(forward_, adapters_forward(shape_, linear));
    if (linear.cut == LinearCut::rows && shape_.tensor_parallel)
        forward_.push_back(tp_collective(shape_.sequence_parallel ? CollectiveKind::reduce_scatter
                                                                  : CollectiveKind::all_reduce,
                                         shape_, linear, "_reduce"));
    backward_.push_back(gradients(linear));
}

WorkList WorkBuilder::backward() const
{
    WorkList all;
    for (auto part = backward_.rbegin(); part != backward_.rend(); ++part)
        append(all, *part);
    return all;
}

int launches(const WorkList& items)
{
    int sum = 0;
    for (const WorkItem& item : items)
        if (const auto* kernel = std::get_if<Kernel>(&item))
            sum += kernel->launches;
    return sum;
}

void set_launches(WorkList& items, int target)
{
    std::vector<Kernel*> flexible;
    for (WorkItem& item : items)
        if (auto* kernel = std::get_if<Kernel>(&item))
            if (kernel->kind == KernelKind::memory_bound)
                flexible.push_back(kernel);
    if (flexible.empty())
        return;
    int missing = target - launches(items);
    for (auto kernel = flexible.rbegin(); missing < 0 && kernel != flexible.rend(); ++kernel) {
        const int fused = std::min((*kernel)->launches, -missing);
        (*kernel)->launches -= fused;
        missing += fused;
    }
    for (std::size_t i = 0; missing > 0; ++i, --missing)
        ++flexible[i % flexible.size()]->launches;
}

} // namespace trainyard
