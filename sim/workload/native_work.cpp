// Layers of a native list: a matrix product (convolutions as the product they amount to) and passes
// over memory.

#include "sim/workload/layer_parts.h"

#include <cmath>

namespace trainyard {
namespace {

Kernel product(const NativeLayer& layer, std::string suffix, const GemmShape& shape,
               Precision precision)
{
    Kernel kernel;
    kernel.kind = KernelKind::gemm;
    kernel.use = KernelUse::convolution;
    kernel.name = layer.name + suffix;
    kernel.precision = precision;
    kernel.gemm = shape;
    // Weights only: the activations' traffic is in the passes.
    kernel.bytes =
        Bytes(static_cast<std::uint64_t>(storage_bytes(precision) * layer.columns * layer.inner));
    return kernel;
}

} // namespace

LayerWork native_work(const NativeLayer& layer, const Partition& p)
{
    const Precision precision = p.precision == Precision::fp8 ? Precision::bf16 : p.precision;
    const double width = storage_bytes(precision);
    const auto samples = static_cast<double>(p.micro_batch);
    const double once = width * samples * static_cast<double>(layer.output_elements);

    LayerWork work;
    if (layer.rows > 0) {
        const GemmShape y{layer.rows * p.micro_batch, layer.columns, layer.inner};
        work.forward.push_back(product(layer, "", y, precision));
        work.backward.push_back(product(layer, "_input_gradient", {y.m, y.k, y.n}, precision));
        work.backward.push_back(product(layer, "_weight_gradient", {y.n, y.k, y.m}, precision));
    }
    const std::string name = layer.name + "_elementwise";
    work.forward.push_back(memory_kernel(name, layer.memory_passes * once, KernelUse::convolution));
    work.backward.insert(work.backward.begin(),
                         memory_kernel(name + "_backward", layer.memory_passes_backward * once,
                                       KernelUse::convolution));
    set_launches(work.forward, layer.kernels);
    set_launches(work.backward, layer.kernels_backward);

    work.parameters.dense = static_cast<double>(layer.parameters);
    const auto kept = static_cast<std::uint64_t>(
        std::llround(width * samples * static_cast<double>(layer.activation_elements)));
    work.output = Bytes(static_cast<std::uint64_t>(std::llround(once)));
    work.saved = {Bytes(kept), Bytes(kept), work.output};
    return work;
}

} // namespace trainyard
