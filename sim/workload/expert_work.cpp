// A layer's experts: router, permutation, exchange between expert ranks, grouped products.

#include "sim/workload/layer_parts.h"

#include <cmath>

namespace trainyard {
namespace {

Bytes whole(double bytes)
{
    return Bytes(static_cast<std::uint64_t>(std::llround(bytes)));
}

// An exchange takes as long as its fullest rank.
Communication expert_exchange(const LayerShape& s, const ExpertShape& e, std::string name)
{
    const double bytes = static_cast<double>(s.width * e.routed * e.width) * e.network_share *
                         s.partition.expert_imbalance;
    return {CollectiveKind::all_to_all, GroupKind::ep, whole(bytes), std::move(name), 0};
}

// Every rank's tokens to every rank, or sums of results back to the rank of each token.
Communication expert_gather(const LayerShape& s, const ExpertShape& e, CollectiveKind kind,
                            std::string name)
{
    const std::int64_t tokens =
        divided_up(tokens_of_expert_group(s), s.partition.etp) * s.partition.ep;
    return {kind, GroupKind::ep, whole(static_cast<double>(s.width * tokens * e.width)),
            std::move(name), 0};
}

struct Exchange {
    Communication forward;
    Communication backward;
};

Exchange dispatch(const LayerShape& s, const ExpertShape& e)
{
    const std::string name = "expert_dispatch";
    if (e.dispatcher == Dispatcher::all_gather)
        return {expert_gather(s, e, CollectiveKind::all_gather, name),
                expert_gather(s, e, CollectiveKind::reduce_scatter, name + "_backward")};
    return {expert_exchange(s, e, name), expert_exchange(s, e, name + "_backward")};
}

Exchange combination(const LayerShape& s, const ExpertShape& e)
{
    const std::string name = "expert_combine";
    if (e.dispatcher == Dispatcher::all_gather)
        return {expert_gather(s, e, CollectiveKind::reduce_scatter, name),
                expert_gather(s, e, CollectiveKind::all_gather, name + "_backward")};
    return {expert_exchange(s, e, name), expert_exchange(s, e, name + "_backward")};
}

// The exchange, and what may run while it is on its way.
void add_exchange(WorkBuilder& builder, Exchange exchange, const WorkBuilder* beside)
{
    WorkList forward = beside != nullptr ? beside->forward() : WorkList{};
    WorkList backward = beside != nullptr ? beside->backward() : WorkList{};
    if (builder.shape().partition.ep > 1) {
        exchange.forward.needed_after = static_cast<int>(forward.size());
        exchange.backward.needed_after = static_cast<int>(backward.size());
        forward.insert(forward.begin(), exchange.forward);
        backward.insert(backward.begin(), exchange.backward);
    }
    builder.step(std::move(forward), std::move(backward));
}

// Tokens of the ETP group are gathered before the experts and their results reduced after; where it
// is the TP group, shared experts have gathered and reduced them already.
bool gathers_for_experts(const LayerShape& s)
{
    const bool shared = s.model.moe->shared_expert_ffn > 0 && s.partition.etp == s.partition.tp;
    return s.partition.etp > 1 && !shared;
}

Communication group_collective(const LayerShape& s, CollectiveKind kind, std::string name)
{
    const std::int64_t numbers = tokens_of_expert_group(s) * ExpertShape(s).width;
    return {kind, GroupKind::etp, Bytes(static_cast<std::uint64_t>(s.width * numbers)),
            std::move(name), 0};
}

void add_group_gather(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    if (!gathers_for_experts(s))
        return;
    if (ranks_have_own_tokens(s))
        builder.exchange(
            group_collective(s, CollectiveKind::all_gather, "expert_gather"),
            group_collective(s, CollectiveKind::reduce_scatter, "expert_gradient_scatter"));
    else
        builder.step({},
                     {group_collective(s, CollectiveKind::all_reduce, "expert_gradient_reduce")});
}

void add_group_reduce(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    if (!gathers_for_experts(s))
        return;
    if (ranks_have_own_tokens(s))
        builder.exchange(group_collective(s, CollectiveKind::reduce_scatter, "expert_scatter"),
                         group_collective(s, CollectiveKind::all_gather, "expert_gradient_gather"));
    else
        builder.step({group_collective(s, CollectiveKind::all_reduce, "expert_reduce")}, {});
}

// Logits of E experts per token in 16 bit, softmax and choice in fp32.
void add_router(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    const std::int64_t experts = s.model.moe->experts + s.model.moe->identity_experts;
    const GemmShape y{s.split_tokens, experts, s.hidden};
    const auto product = [&](std::string name, const GemmShape& shape) {
        Kernel kernel;
        kernel.kind = KernelKind::gemm;
        kernel.use = KernelUse::router;
        kernel.name = std::move(name);
        kernel.precision = s.plain_precision();
        kernel.gemm = shape;
        kernel.bytes = Bytes(static_cast<std::uint64_t>(
            s.width * (shape.m * shape.k + shape.k * shape.n + shape.m * shape.n)));
        return kernel;
    };
    WorkList backward{product("router_input_gradient", {y.m, y.k, y.n})};
    if (!s.partition.lora) {
        Kernel weights = product("router_weight_gradient", {y.n, y.k, y.m});
        weights.for_weights = true;
        backward.emplace_back(std::move(weights));
    }
    builder.step({product("router", y)}, std::move(backward));
    const double probabilities = static_cast<double>(4 * s.split_tokens * experts);
    builder.pass({"expert_choice", 3 * probabilities, 4 * probabilities, KernelUse::expert});
}

// Between the hidden size and the experts' narrower one, of each token once.
void add_latent(WorkBuilder& builder, std::string_view name, std::int64_t columns,
                std::int64_t inner)
{
    builder.linear({name, {builder.shape().split_tokens, columns, inner}, KernelUse::expert});
}

// Copies of each token in the order of their experts, or that only where they arrive. The host
// waits for the numbers of rows where they follow from the routing.
void add_permute(WorkBuilder& builder, const ExpertShape& e)
{
    const LayerShape& s = builder.shape();
    const double token = static_cast<double>(s.width * e.even * e.width);
    WorkBuilder permute(s);
    const double read = e.arriving_share * token;
    permute.pass({"permute", read + token, read + token, KernelUse::expert});
    WorkList forward = permute.forward();
    if (s.partition.kernels.counts_on_host && !s.partition.experts.capacity_factor)
        std::get<Kernel>(forward.back()).host_waits = true;
    builder.step(std::move(forward), permute.backward());
}

// A grouped product over the local experts.
Linear grouped(const LayerShape& s, const ExpertShape& e, std::string_view name,
               std::int64_t columns, std::int64_t inner)
{
    const KernelStyle& style = s.partition.kernels;
    Linear linear{name, {e.per_expert, columns, inner, e.local_experts}, KernelUse::expert};
    linear.cast = CastSource::memory;
    const bool drops = s.partition.experts.capacity_factor.has_value();
    if (style.expert_launches > 0 && !(style.fused_experts && s.narrow()))
        linear.launches = static_cast<int>(e.local_experts) *
                          (style.expert_launches + (drops ? 0 : style.expert_choice_launches) +
                           (s.narrow() ? style.expert_fp8_launches : 0));
    return linear;
}

// A pass of elementwise kernels that the framework issues for each local expert.
void add_pass_of_each(WorkBuilder& builder, const ExpertShape& e, const MemoryBoundPass& pass,
                      int forward_launches, int backward_launches)
{
    const int experts = static_cast<int>(e.local_experts);
    builder.step(
        {memory_kernel(pass.name, pass.forward_bytes, pass.use, experts * forward_launches)},
        {memory_kernel(std::string(pass.name) + "_backward", pass.backward_bytes, pass.use,
                       experts * backward_launches)});
}

// Forward, each half is read and written, and both by the concatenation; backward reads a half's
// gradient and the half and writes, and concatenates.
void add_clamp(WorkBuilder& builder, const ExpertShape& e)
{
    const LayerShape& s = builder.shape();
    const double inner = static_cast<double>(s.width * e.handled * e.columns);
    builder.pass({"expert_clamp", 8 * inner, 10 * inner, KernelUse::expert});
}

// Per element and in bytes, forward: bias times probability in fp32 (4 written), its sum with the
// result (2 + 4 read, 4 written), the experts' sums side by side (4 and 4), a cast (4 and 2).
// Backward: the gradient to fp32 (2 and 4), its parts to 16 bit (4 and 2) and side by side (2 and
// 2), the products for the bias's and the probability's gradients (4 and 4 each) and their sums (4
// each).
void add_bias(WorkBuilder& builder, const ExpertShape& e)
{
    const double elements = static_cast<double>(e.handled * e.width);
    add_pass_of_each(builder, e, {"expert_bias", 28 * elements, 40 * elements, KernelUse::expert},
                     2, 6);
}

// What the rank's experts do with the tokens they get. Fused, in a narrow format: the first product
// keeps its result and writes the activation's casts, along rows and columns; in backward the
// second's gradient reads what was kept and writes the casts of the first's.
WorkBuilder local_experts(const LayerShape& s, const ExpertShape& e)
{
    WorkBuilder experts(s);
    const double inner = static_cast<double>(s.width * e.handled * e.columns);
    const double u = static_cast<double>(s.up());
    const double stored = static_cast<double>(s.width);
    const double casts = 2 * operand_bytes(s.format);
    const bool fused = s.partition.kernels.fused_experts && s.narrow();
    Linear up = grouped(s, e, "expert_up", s.up() * e.columns, e.width);
    Linear down = grouped(s, e, "expert_down", e.width, e.columns);
    if (fused) {
        up.written = stored + casts / u;
        up.casts_gradient = false;
        down.cast = CastSource::product;
        down.gradient_written = u * (stored + casts);
    }
    experts.linear(up);
    if (s.model.clamped_activation && s.partition.kernels.expert_bias_apart)
        add_clamp(experts, e);
    if (fused)
        experts.step({memory_kernel("expert_activation", 0, KernelUse::expert, 0)},
                     {memory_kernel("expert_activation_backward", 0, KernelUse::expert, 0)});
    else
        experts.pass(
            {"expert_activation", (u + 1) * inner, (2 * u + 1) * inner, KernelUse::expert});
    experts.linear(down);
    if (s.model.mlp_bias && s.partition.kernels.expert_bias_apart)
        add_bias(experts, e);
    return experts;
}

WorkList uneven(WorkList items)
{
    for (WorkItem& item : items)
        if (auto* kernel = std::get_if<Kernel>(&item))
            kernel->uneven = true;
    return items;
}

} // namespace

// Shared experts run before the exchange, or their first product beside the dispatch and their
// second beside the combination.
void add_experts(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    const ExpertShape e(s);
    const double token = static_cast<double>(s.width * e.even * e.width);
    const std::int64_t shared = s.model.moe->shared_expert_ffn;
    const bool beside = shared > 0 && s.partition.experts.overlap_shared;
    WorkBuilder first(s);
    WorkBuilder second(s);
    if (beside) {
        add_mlp_up(first, "shared_mlp", shared);
        add_mlp_down(second, "shared_mlp", shared);
    }

    add_router(builder);
    if (shared > 0 && !beside)
        add_mlp(builder, "shared_mlp", shared);
    if (s.model.moe->latent_width > 0)
        add_latent(builder, "expert_input", e.width, s.hidden);
    add_group_gather(builder);
    add_permute(builder, e);
    add_exchange(builder, dispatch(s, e), beside ? &first : nullptr);
    const WorkBuilder experts = local_experts(s, e);
    builder.step(uneven(experts.forward()), uneven(experts.backward()));
    add_exchange(builder, combination(s, e), beside ? &second : nullptr);
    builder.pass({"unpermute", 2 * token, 2 * token, KernelUse::expert});
    add_group_reduce(builder);
    if (s.model.moe->latent_width > 0)
        add_latent(builder, "expert_result", s.hidden, e.width);
}

} // namespace trainyard
