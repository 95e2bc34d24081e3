// Layers of a native list: a matrix product (convolutions as the product they amount to) and passes
// over memory, all named as the layer: what it is, a convolution, a dense layer or another, is not
// said.

#include "sim/workload/layer_parts.h"

#include <cmath>

namespace trainyard {
namespace {

// `output`: bytes of the layer's output; a convolution reads about as much as it writes.
Kernel product(const NativeLayer& layer, const GemmShape& shape, Precision precision, double output)
{
    Kernel kernel;
    kernel.kind = KernelKind::gemm;
    kernel.use = KernelUse::convolution;
    kernel.name = layer.name;
    kernel.precision = precision;
    kernel.gemm = shape;
    const double weights =
        static_cast<double>(storage_bytes(precision) * layer.columns * layer.inner);
    kernel.bytes = Bytes(static_cast<std::uint64_t>(weights + 2 * output));
    return kernel;
}

// Tensor cores want channels last. 16-bit recipes keep tensors that way; tensors of 32 bits stay
// channels first, and cuDNN transposes what each convolution reads and writes (a read and a write
// each).
void add_transposes(WorkList& work, const NativeLayer& layer, int convolutions, double output)
{
    constexpr int passes = 4;
    work.emplace_back(memory_kernel(layer.name, convolutions * passes * output,
                                    KernelUse::convolution, 2 * convolutions));
}

} // namespace

LayerWork native_work(const NativeLayer& layer, const Partition& p)
{
    const Precision precision = is_narrow(p.precision) ? Precision::bf16 : p.precision;
    const double width = storage_bytes(precision);
    const auto samples = static_cast<double>(p.micro_batch);
    const double once = width * samples * static_cast<double>(layer.output_elements);

    LayerWork work;
    if (layer.rows > 0) {
        const GemmShape y{layer.rows * p.micro_batch, layer.columns, layer.inner};
        work.forward.emplace_back(product(layer, y, precision, once));
        work.backward.emplace_back(product(layer, {y.m, y.k, y.n}, precision, once));
        Kernel weights = product(layer, {y.n, y.k, y.m}, precision, once);
        weights.for_weights = true;
        work.backward.emplace_back(std::move(weights));
    }
    work.forward.emplace_back(
        memory_kernel(layer.name, layer.memory_passes * once, KernelUse::convolution));
    work.backward.insert(
        work.backward.begin(),
        memory_kernel(layer.name, layer.memory_passes_backward * once, KernelUse::convolution));
    set_launches(work.forward, layer.kernels);
    set_launches(work.backward, layer.kernels_backward);
    if (layer.rows > 0 && precision == Precision::tf32) {
        add_transposes(work.forward, layer, 1, once);
        add_transposes(work.backward, layer, 2, once);
    }

    work.parameters.dense = static_cast<double>(layer.parameters);
    work.trained = work.parameters;
    const auto kept = static_cast<std::uint64_t>(
        std::llround(width * samples * static_cast<double>(layer.activation_elements)));
    work.output = Bytes(static_cast<std::uint64_t>(std::llround(once)));
    work.tensors = native_tensors(Bytes(kept), work.output);
    work.saved = kept_bytes(work.tensors);
    return work;
}

} // namespace trainyard
