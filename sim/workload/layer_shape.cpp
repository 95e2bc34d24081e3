#include "sim/workload/layer_shape.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

std::int64_t divided_up(std::int64_t amount, std::int64_t parts)
{
    return (amount + parts - 1) / parts;
}

namespace {

std::optional<Partition> encoder_partition(const Transformer& model, const LayerKind& kind,
                                           const Partition& partition)
{
    if (kind.encoder < 0)
        return std::nullopt;
    Partition own = partition;
    own.sequence_length = model.encoders[static_cast<std::size_t>(kind.encoder)].tokens;
    own.documents.clear();
    return own;
}

} // namespace

LayerShape::LayerShape(const Transformer& all, const LayerKind& layer, const Partition& cut)
    : whole(all),
      of_kind(all, layer),
      model(*of_kind),
      kind(layer),
      of_encoder(encoder_partition(all, layer, cut)),
      partition(of_encoder ? *of_encoder : cut),
      hidden(model.hidden),
      head_dim(model.head_dim),
      value_dim(model.value_dim())
{
    const Partition& p = partition;
    tensor_parallel = p.tp > 1;
    sequence_parallel = p.sequence_parallel && tensor_parallel;
    tokens = p.micro_batch * divided_up(p.sequence_length, p.cp);
    split_tokens = sequence_parallel ? divided_up(tokens, p.tp) : tokens;
    kept_tokens = p.kernels.keeps_gathered_inputs ? tokens : split_tokens;
    heads = divided_up(model.heads, p.tp);
    kv_heads = divided_up(model.kv_heads, p.tp);
    width = storage_bytes(p.precision);
    format = is_narrow(p.precision) && kind.wide ? Precision::bf16 : p.precision;
}

std::int64_t LayerShape::columns(std::int64_t ffn) const
{
    return divided_up(ffn, partition.tp);
}

std::int64_t LayerShape::cast_bytes(std::int64_t elements) const
{
    return std::llround(operand_bytes(format) * static_cast<double>(elements));
}

Bytes LayerShape::token_bytes() const
{
    return Bytes(static_cast<std::uint64_t>(width * tokens * hidden));
}

bool ranks_have_own_tokens(const LayerShape& s)
{
    return s.sequence_parallel || s.partition.tp == 1;
}

std::int64_t tokens_of_expert_group(const LayerShape& s)
{
    return ranks_have_own_tokens(s) ? s.split_tokens * s.partition.etp : s.tokens;
}

namespace {

// Nodes on which a token's experts may lie: any of the group's, or as few as the strategy or the
// model's groups of experts, which lie side by side, allow.
int reachable_nodes(const MixtureOfExperts& moe, const Partition& p)
{
    int nodes = p.ep_nodes;
    if (p.experts.node_limit > 0)
        nodes = std::min(nodes, p.experts.node_limit);
    if (moe.groups > 1) {
        const int of_group = (p.ep_nodes + moe.groups - 1) / moe.groups;
        nodes = std::min(nodes, moe.groups_per_token * of_group);
    }
    return nodes;
}

// Places of n, with equally many experts each, that hold some of a token's k; per expert of it. A
// token's experts are k different ones of all.
double copies_per_expert(double places, double experts, double per_token)
{
    double none = 1;
    for (double drawn = 0; drawn < per_token; ++drawn)
        none *= std::max(0.0, experts - experts / places - drawn) / (experts - drawn);
    return places * (1 - none) / per_token;
}

bool copies_at_the_rank(Dispatcher dispatcher)
{
    return dispatcher == Dispatcher::deepep || dispatcher == Dispatcher::hybridep;
}

} // namespace

ExpertShape::ExpertShape(const LayerShape& shape)
{
    const MixtureOfExperts& moe = *shape.model.moe;
    const Partition& p = shape.partition;
    const std::int64_t of_group = tokens_of_expert_group(shape);
    // Without identity experts all of a token's choices are computed.
    const auto computed = [&](std::int64_t tokens) {
        return moe.identity_experts == 0
                   ? tokens * moe.experts_per_token
                   : std::llround(static_cast<double>(tokens) * moe.computed_per_token());
    };
    routed = computed(divided_up(of_group, p.etp));
    local_experts = divided_up(moe.experts, p.ep);
    const double busiest = p.expert_imbalance * static_cast<double>(computed(of_group));
    per_expert = static_cast<std::int64_t>(std::ceil(busiest / static_cast<double>(local_experts)));
    handled = per_expert * local_experts;
    even = divided_up(computed(of_group), local_experts) * local_experts;
    columns = divided_up(moe.expert_ffn, p.etp);
    width = moe.latent_width > 0 ? moe.latent_width : shape.hidden;
    dispatcher = p.experts.dispatcher.value_or(
        p.kernels.one_copy_per_node ? Dispatcher::one_copy_per_node : Dispatcher::all_to_all);
    if (copies_at_the_rank(dispatcher)) {
        arriving_share = copies_per_expert(p.ep, moe.experts, moe.experts_per_token);
        network_share = arriving_share;
    }
    const bool once_per_node =
        dispatcher == Dispatcher::one_copy_per_node || copies_at_the_rank(dispatcher);
    if (once_per_node && p.ep_nodes > 1) {
        const double n = reachable_nodes(moe, p);
        const double k = moe.experts_per_token;
        network_share = n * (1 - std::pow(1 - 1 / n, k)) / k;
    }
}

} // namespace trainyard
