#include "sim/workload/kernel.h"

namespace trainyard {

double visible_pairs(double queries, double keys, const AttentionMask& mask)
{
    const double window = static_cast<double>(mask.window);
    if (mask.window > 0 && window < keys)
        return queries * (mask.causal ? window - window * window / (2 * keys) : window);
    return mask.causal ? queries * keys / 2 : queries * keys;
}

double document_pairs(const std::vector<std::int64_t>& lengths, const AttentionMask& mask)
{
    double pairs = 0;
    for (const std::int64_t length : lengths)
        pairs += visible_pairs(static_cast<double>(length), static_cast<double>(length), mask);
    return pairs;
}

std::vector<std::int64_t> attention_pieces(const std::vector<std::int64_t>& documents,
                                           std::int64_t sequence_length, std::int64_t chunk)
{
    if (chunk == 0 || (documents.empty() && chunk >= sequence_length))
        return documents;
    std::vector<std::int64_t> pieces;
    const auto cut = [&](std::int64_t length) {
        for (; length > chunk; length -= chunk)
            pieces.push_back(chunk);
        pieces.push_back(length);
    };
    if (documents.empty())
        cut(sequence_length);
    for (const std::int64_t document : documents)
        cut(document);
    return pieces;
}

namespace {

double attention_flops(const AttentionShape& shape)
{
    const double queries = static_cast<double>(shape.query_length);
    const double keys = static_cast<double>(shape.key_length);
    const double pairs = shape.skips_masked
                             ? visible_pairs(queries, keys, {shape.causal, shape.window})
                             : queries * keys;
    const double seen = shape.skips_masked ? pairs * shape.seen_share : pairs;
    const std::int64_t products = shape.backward ? 3 * shape.head_dim + 2 * shape.value_dim
                                                 : shape.head_dim + shape.value_dim;
    return 2 * static_cast<double>(shape.batch * shape.heads) * seen *
           static_cast<double>(products);
}

} // namespace

Flops hardware_flops(const Kernel& kernel)
{
    switch (kernel.kind) {
    case KernelKind::gemm:
        return Flops(2 * static_cast<double>(kernel.gemm.m) * static_cast<double>(kernel.gemm.n) *
                     static_cast<double>(kernel.gemm.k) * static_cast<double>(kernel.gemm.batch));
    case KernelKind::attention:
        return Flops(attention_flops(kernel.attention));
    case KernelKind::memory_bound:
        break;
    }
    return Flops(0);
}

Flops hardware_flops(const WorkList& items)
{
    Flops sum(0);
    for (const WorkItem& item : items)
        if (const auto* kernel = std::get_if<Kernel>(&item))
            sum += hardware_flops(*kernel);
    return sum;
}

template <>
std::vector<EnumName<SequenceKernel>> enum_names<SequenceKernel>()
{
    return {{SequenceKernel::none, "none"},
            {SequenceKernel::gated_delta_rule, "gated_delta_rule"},
            {SequenceKernel::kimi_delta_rule, "kimi_delta_rule"},
            {SequenceKernel::fused_convolution, "fused_convolution"},
            {SequenceKernel::split_convolutions, "split_convolutions"},
            {SequenceKernel::cuda_convolution, "cuda_convolution"}};
}

const std::string& name_of(const WorkItem& item)
{
    return std::visit([](const auto& what) -> const std::string& { return what.name; }, item);
}

} // namespace trainyard
