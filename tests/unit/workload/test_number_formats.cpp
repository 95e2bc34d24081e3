#include "sim/workload/number_format.h"
#include "tests/catch.h"
#include "tests/unit/workload/models.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

LayerWork layer_in(Precision precision, const LayerKind& kind = dense_layer)
{
    Partition p = partition(8192);
    p.precision = precision;
    return work(llama_70b(), kind, p);
}

double product_bytes(const WorkList& items)
{
    double sum = 0;
    for (const Kernel& kernel : kernels(items))
        if (kernel.kind == KernelKind::gemm)
            sum += static_cast<double>(kernel.bytes.value());
    return sum;
}

// Elements of Llama 3 70B's layer: inputs of its four products, and their matrices.
constexpr double tokens = 8192;
constexpr double inputs = tokens * (8192 + 8192 + 8192 + 28672);
constexpr double matrices = 8192.0 * 128 * (2 * 64 + 2 * 8) + 3.0 * 8192 * 28672;
constexpr double results = tokens * (10240 + 8192 + 2 * 28672 + 8192);

} // namespace

TEST_CASE("operands of products carry their scales")
{
    // 16 elements of nvfp4 take 8 bytes and one fp8 scale: 4.5 bits each.
    CHECK(operand_bytes(Precision::nvfp4) * 16 == 9);
    CHECK(operand_bytes(Precision::mxfp8) * 32 == 33);
    CHECK(operand_bytes(Precision::fp8_block) * 128 == 132);
    CHECK(operand_bytes(Precision::bf16) == 2);
    for (const Precision p :
         {Precision::fp8, Precision::fp8_block, Precision::mxfp8, Precision::nvfp4}) {
        const double expected = operand_bytes(p) * (inputs + matrices) + 2 * results;
        CHECK_THAT(product_bytes(layer_in(p).forward), WithinRel(expected, 1e-12));
    }
}

TEST_CASE("a narrow format changes no operation, only the units and the casts")
{
    const LayerWork wide = layer_in(Precision::bf16);
    for (const Precision p :
         {Precision::fp8, Precision::fp8_block, Precision::mxfp8, Precision::nvfp4}) {
        const LayerWork narrow = layer_in(p);
        CHECK(gemm_flops(narrow.forward) == gemm_flops(wide.forward));
        CHECK(gemm_flops(narrow.backward) == gemm_flops(wide.backward));
        CHECK(attention_flops(narrow.forward) == attention_flops(wide.forward));
        for (const Kernel& kernel : kernels(narrow.backward))
            if (kernel.kind == KernelKind::gemm)
                CHECK(kernel.precision == p);
    }
}

TEST_CASE("casts write each input twice, and nvfp4 reads it three times")
{
    const double wide = memory_bytes(layer_in(Precision::bf16).forward);
    const double attention_result = tokens * 8192;
    const auto casts = [&](Precision p) { return memory_bytes(layer_in(p).forward) - wide; };
    // The attention's result is read again; the kernels before the other products write their
    // casts.
    CHECK(casts(Precision::fp8) == 2 * inputs + 2 * attention_result);
    CHECK(casts(Precision::mxfp8) == 2 * (33.0 / 32) * inputs + 2 * attention_result);
    // A tensor's largest value comes first: read for it, and once for each direction.
    CHECK(casts(Precision::nvfp4) == (2 * 0.5625 + 3 * 2) * inputs);
}

TEST_CASE("the inputs of narrow products are kept as casts")
{
    const auto kept = [](Precision p) {
        return static_cast<double>(layer_in(p).saved.none.value());
    };
    // Inputs of three products shrink; the attention's result is kept in both forms.
    const double cast = tokens * (2 * 8192 + 28672);
    const double result = tokens * 8192;
    for (const Precision p :
         {Precision::fp8, Precision::fp8_block, Precision::mxfp8, Precision::nvfp4}) {
        const double bytes = operand_bytes(p);
        CHECK(kept(p) - kept(Precision::bf16) == (bytes - 2) * cast + bytes * result);
    }
}

TEST_CASE("a layer kept wide runs and stores as in 16 bit")
{
    LayerKind kind = dense_layer;
    kind.wide = true;
    CHECK(layer_in(Precision::nvfp4, kind).forward == layer_in(Precision::bf16).forward);
    CHECK(layer_in(Precision::nvfp4, kind).saved.none == layer_in(Precision::bf16).saved.none);
}
