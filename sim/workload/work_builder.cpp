#include "sim/workload/work_builder.h"

#include <algorithm>
#include <cmath>

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

struct GemmWidths {
    std::int64_t operand = 2; // bytes per element
    std::int64_t result = 2;
};

Kernel gemm_kernel(std::string name, const GemmShape& shape, KernelUse use, Precision precision,
                   const GemmWidths& widths)
{
    Kernel kernel;
    kernel.kind = KernelKind::gemm;
    kernel.use = use;
    kernel.name = std::move(name);
    kernel.precision = precision;
    kernel.gemm = shape;
    kernel.bytes = Bytes(static_cast<std::uint64_t>(
        shape.batch * (widths.operand * (shape.m * shape.k + shape.k * shape.n) +
                       widths.result * shape.m * shape.n)));
    return kernel;
}

// Casts and transposes exist where a layer's matrices run in fp8; logits do not.
bool runs_in_fp8(const LayerShape& shape, KernelUse use)
{
    return shape.fp8() && use != KernelUse::head;
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

Kernel memory_kernel(std::string_view name, double bytes, KernelUse use, int launches)
{
    Kernel kernel;
    kernel.use = use;
    kernel.name = name;
    kernel.bytes = whole_bytes(bytes);
    kernel.launches = launches;
    return kernel;
}

void WorkBuilder::step(WorkList forward, WorkList backward)
{
    for (WorkItem& item : forward)
        forward_.push_back(std::move(item));
    backward_.push_back(std::move(backward));
}

void WorkBuilder::pass(std::string_view name, double forward_bytes, double backward_bytes,
                       KernelUse use, int launches)
{
    WorkList forward;
    WorkList backward;
    if (forward_bytes > 0)
        forward.push_back(memory_kernel(name, forward_bytes, use, launches));
    if (backward_bytes > 0)
        backward.push_back(memory_kernel(joined(name, "_backward"), backward_bytes, use, launches));
    step(std::move(forward), std::move(backward));
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
// by columns, dx is a partial sum and, with sequence parallelism, x (kept in shards) is gathered
// again beside the first product; cut by rows, dy is gathered with sequence parallelism.
WorkList WorkBuilder::gradients(const Linear& linear) const
{
    const bool fp8 = runs_in_fp8(shape_, linear.use);
    const Precision precision = fp8 ? Precision::fp8 : shape_.plain_precision();
    const GemmShape& y = linear.shape;
    const GemmShape dx{y.m, y.k, y.n, y.batch};
    const GemmShape da{y.n, y.k, y.m, y.batch};
    const std::int64_t operand = fp8 ? 1 : shape_.width;
    const bool columns = linear.cut == LinearCut::columns && shape_.tensor_parallel;
    const bool rows = linear.cut == LinearCut::rows && shape_.tensor_parallel;
    const bool frozen = shape_.partition.lora.has_value();

    WorkList items;
    if (rows && shape_.sequence_parallel)
        items.push_back(
            tp_collective(CollectiveKind::all_gather, shape_, linear, "_gradient_gather"));
    if (fp8)
        items.push_back(memory_kernel(joined(linear.name, "_gradient_cast"),
                                      static_cast<double>((shape_.width + 2) * y.m * y.n * y.batch),
                                      linear.use));
    if (columns && shape_.sequence_parallel && !frozen) {
        Communication again =
            tp_collective(CollectiveKind::all_gather, shape_, linear, "_input_gather_again");
        again.needed_after = 1; // hidden by the product that follows
        again.for_weights = true;
        items.push_back(again);
    }
    items.push_back(gemm_kernel(joined(linear.name, "_input_gradient"), dx, linear.use, precision,
                                {operand, shape_.width}));
    if (columns) {
        const auto kind =
            shape_.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
        Communication reduce = tp_collective(kind, shape_, linear, "_input_gradient_reduce");
        if (shape_.partition.kernels.tp_beside_weight_gradient && !frozen)
            reduce.needed_after = 1;
        items.push_back(reduce);
    }
    if (!frozen) {
        Kernel product = gemm_kernel(joined(linear.name, "_weight_gradient"), da, linear.use,
                                     precision, {operand, shape_.partition.weight_gradient_bytes});
        product.for_weights = true;
        items.emplace_back(std::move(product));
    }
    return items;
}

void WorkBuilder::linear(const Linear& linear)
{
    const bool fp8 = runs_in_fp8(shape_, linear.use);
    const GemmShape& y = linear.shape;
    if (linear.cut == LinearCut::columns)
        gather_input(linear);
    if (fp8) {
        // Written twice, as it is and transposed for the weight gradient.
        const std::int64_t read = linear.cast == CastSource::memory ? shape_.width : 0;
        forward_.push_back(memory_kernel(joined(linear.name, "_cast"),
                                         static_cast<double>((read + 2) * y.m * y.k * y.batch),
                                         linear.use));
    }
    forward_.push_back(gemm_kernel(std::string(linear.name), y, linear.use,
                                   fp8 ? Precision::fp8 : shape_.plain_precision(),
                                   {fp8 ? 1 : shape_.width, shape_.width}));
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
        all.insert(all.end(), part->begin(), part->end());
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
