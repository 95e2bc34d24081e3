#pragma once

// Builds the work of a layer step by step: each step says what happens forward and what its
// backward is; backward runs the steps in reverse.

#include "sim/workload/layer_shape.h"

#include <string_view>

namespace trainyard {

// How a matrix is cut by TP: by columns (its input is whole: gathered or copied before, its input's
// gradient reduced after) or by rows (its output is reduced after).
enum class LinearCut : std::uint8_t { none, columns, rows };

// How a matrix product comes by its narrow input.
enum class CastSource : std::uint8_t {
    producer, // the kernel before writes the cast too, where the format allows it
    memory,   // its 16-bit input is read again
    product   // the product before writes it in place of its result (Linear::written)
};

struct Linear {
    std::string_view name;
    GemmShape shape; // forward
    KernelUse use;
    LinearCut cut = LinearCut::none;
    CastSource cast = CastSource::producer;
    int launches = 1;           // of the product and of each of its gradients
    bool casts_gradient = true; // in a narrow format; else the product before it in backward does
    // Bytes that the product and its input's gradient write, per element; 0: as they are stored.
    double written = 0;
    double gradient_written = 0;
    std::int64_t exchanged = 0; // columns of the tensor that TP gathers or reduces; 0: hidden size
    std::vector<std::int64_t> adapted = {}; // columns of the result each adapter beside it makes
};

// A memory-bound kernel each way.
struct MemoryBoundPass {
    std::string_view name;
    double forward_bytes; // that it moves; none: no kernel
    double backward_bytes;
    KernelUse use;
    bool norm = false; // or a residual sum
};

class WorkBuilder {
public:
    explicit WorkBuilder(const LayerShape& shape) : shape_(shape) {}

    void step(WorkList forward, WorkList backward);

    // y = x A and its two gradients, with casts to narrow formats and TP collectives.
    void linear(const Linear& linear);

    void pass(const MemoryBoundPass& pass);

    // A collective forward and its counterpart backward.
    void exchange(const Communication& forward, const Communication& backward);

    WorkList forward() const { return forward_; }
    WorkList backward() const;

    const LayerShape& shape() const { return shape_; }

private:
    void gather_input(const Linear& linear);
    WorkList gradients(const Linear& linear) const;
    Kernel cast(std::string name, double elements, CastSource source, KernelUse use) const;

    const LayerShape& shape_;
    WorkList forward_;
    std::vector<WorkList> backward_; // in forward order
};

struct GemmWidths {
    double operand = 2; // bytes per element
    double result = 2;
};

Kernel gemm_kernel(std::string name, const GemmShape& shape, KernelUse use, Precision precision,
                   const GemmWidths& widths);
Kernel memory_kernel(std::string_view name, double bytes, KernelUse use, int launches = 1);

void append(WorkList& to, WorkList from);

// Makes the launches of the kernels add up to `target` by counting more, or none, for memory-bound
// kernels: frameworks split these into several kernels or fuse them with their neighbours. Matrix
// products and attention keep theirs.
void set_launches(WorkList& items, int target);

int launches(const WorkList& items);

// What the adapters beside a matrix add to its product and to the gradients.
WorkList adapters_forward(const LayerShape& shape, const Linear& linear);
WorkList adapters_backward(const LayerShape& shape, const Linear& linear);

} // namespace trainyard
