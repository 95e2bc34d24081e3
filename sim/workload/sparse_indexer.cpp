#include "sim/workload/sparse_indexer.h"

#include "sim/workload/layer_parts.h"

#include <algorithm>

namespace trainyard {
namespace {

std::int64_t query_inputs(const LayerShape& s)
{
    const bool latent = s.model.latent && s.model.latent->q_lora_rank > 0;
    return latent ? s.model.latent->q_lora_rank : s.hidden;
}

// Queries of this rank against `keys` keys each.
Kernel scores(const LayerShape& s, std::string name, std::int64_t keys, int products)
{
    const SparseIndexer& indexer = *s.model.indexer;
    const Partition& p = s.partition;
    const std::int64_t queries = divided_up(p.sequence_length, p.cp);
    Kernel kernel;
    kernel.kind = KernelKind::gemm;
    kernel.use = KernelUse::attention_square;
    kernel.name = std::move(name);
    kernel.precision = s.format;
    kernel.gemm = {queries, std::max<std::int64_t>(1, keys), products * indexer.head_dim,
                   p.micro_batch * indexer.heads};
    const std::int64_t inputs = (queries * indexer.heads + p.sequence_length) * indexer.head_dim;
    constexpr std::int64_t sum_written_and_read = 8;
    kernel.bytes = Bytes(static_cast<std::uint64_t>(
        p.micro_batch * (products * s.width * inputs + sum_written_and_read * queries * keys)));
    kernel.launches = 2;
    return kernel;
}

} // namespace

void add_sparse_indexer(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    const SparseIndexer& indexer = *s.model.indexer;
    const Partition& p = s.partition;
    const std::int64_t columns = indexer.heads * indexer.head_dim;
    builder.linear({"indexer_query", {s.tokens, columns, query_inputs(s)}, KernelUse::attention});
    builder.linear({"indexer_key",
                    {s.tokens, indexer.head_dim + indexer.heads, s.hidden},
                    KernelUse::attention});
    const std::int64_t keys = p.sequence_length / s.model.key_compression;
    const std::int64_t seen = s.model.causal ? keys / 2 : keys;
    const auto chosen = static_cast<std::int64_t>(
        s.model.picked_keys(static_cast<double>(p.sequence_length)) + 0.5);
    builder.step({scores(s, "indexer_scores", seen, 1)},
                 {scores(s, "indexer_scores_backward", chosen, 3)});
}

std::vector<SavedTensor> indexer_saved(const LayerShape& s)
{
    const SparseIndexer& indexer = *s.model.indexer;
    const std::int64_t keys = s.partition.sequence_length / s.model.key_compression;
    const std::int64_t chosen = std::min(indexer.keys_per_query, keys);
    return {{"indexer_query", s.tokens * indexer.heads * indexer.head_dim, s.width},
            {"indexer_key", s.tokens * (indexer.head_dim + indexer.heads), s.width},
            {"chosen_keys", s.tokens * chosen, 4}};
}

double indexer_flops(const SparseIndexer& indexer, double pairs)
{
    return 2 * pairs * static_cast<double>(indexer.heads * indexer.head_dim);
}

} // namespace trainyard
