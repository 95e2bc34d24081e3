// What context, tensor and expert parallelism are asked to do, against the model and one another.

#include "sim/strategy/misfits.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

// Heads of a layer that an all-to-all over `ranks` cannot divide; empty when it can.
std::string heads_refusal(const Transformer& layer, int tp, int ranks)
{
    const int heads = layer.heads / tp;
    const int kv_heads = std::max(1, layer.kv_heads / tp);
    if (heads % ranks != 0)
        return fmt::format("all-to-all over {} ranks does not divide the {} attention heads of a "
                           "rank (tp = {})",
                           ranks, heads, tp);
    if (kv_heads % ranks != 0 && ranks % kv_heads != 0)
        return fmt::format("all-to-all over {} ranks and the {} key/value heads of a rank (tp = "
                           "{}) do not divide each other",
                           ranks, kv_heads, tp);
    return {};
}

class ContextChecks {
public:
    ContextChecks(const Job& job, const Transformer& model)
        : job_(job), model_(model), context_(job.strategy.context), cp_(job.strategy.cp)
    {
        for (const LayerKind& kind : inner_kinds(job.model)) {
            const LayerModel layer(model_, kind);
            if (layer->mixer == MixerKind::attention)
                attending_.push_back(*layer);
        }
    }

    Problems all()
    {
        const bool hybrid = context_.kind == ContextKind::hybrid;
        if (hybrid && cp_ % context_.a2a != 0)
            refuse("/strategy/context/a2a",
                   fmt::format("{} does not divide cp = {}", context_.a2a, cp_),
                   sizes_that_work("sizes of the all-to-all", cp_,
                                   [&](int size) { return cp_ % size == 0; }));
        else if (hybrid || context_.kind == ContextKind::ulysses)
            heads(hybrid ? context_.a2a : cp_);
        if (context_.kind == ContextKind::ring || hybrid)
            ring();
        else if (context_.balance == ContextBalance::contiguous)
            refuse("/strategy/context/balance",
                   fmt::format("{} gives every rank equal work", to_name(context_.kind)),
                   "contiguous parts are of ring and hybrid; leave balance out");
        return problems_;
    }

private:
    void refuse(const char* pointer, std::string message, std::string hint)
    {
        problems_.push_back(refusal(pointer, std::move(message), std::move(hint)));
    }

    // Of the layers of any kind.
    std::string refusal_of(int ranks) const
    {
        std::string why;
        for (const Transformer& layer : attending_)
            if (why.empty())
                why = heads_refusal(layer, job_.strategy.tp, ranks);
        return why;
    }

    void heads(int ranks)
    {
        std::string why = refusal_of(ranks);
        if (why.empty())
            return;
        const auto works = [&](int size) { return refusal_of(size).empty(); };
        if (context_.kind == ContextKind::hybrid)
            refuse("/strategy/context/a2a", std::move(why),
                   sizes_that_work("sizes of the all-to-all", cp_,
                                   [&](int size) { return cp_ % size == 0 && works(size); }));
        else
            refuse("/strategy/cp", std::move(why),
                   sizes_that_work("context parallel sizes", cp_, works) +
                       "; or use a hybrid of all-to-all and ring");
    }

    void ring()
    {
        if (job_.software.kernels.attention == AttentionKernel::unfused)
            refuse("/strategy/context/kind",
                   "rings merge partial results by their log-sum-exp, which unfused attention "
                   "does not keep",
                   "use all_gather or ulysses, or fused attention");
        if (std::ranges::any_of(attending_,
                                [](const Transformer& layer) { return layer.sliding_window > 0; }))
            refuse("/strategy/context/kind", "rings do not know sliding windows",
                   "use all_gather or ulysses");
        const std::int64_t parts = 2 * std::int64_t{cp_};
        if (model_.causal && context_.balance == ContextBalance::zig_zag &&
            job_.training.sequence_length % parts != 0)
            refuse("/strategy/context/balance",
                   fmt::format("{} tokens do not divide into the {} parts of a zig-zag",
                               job_.training.sequence_length, parts),
                   fmt::format("use contiguous parts, or a sequence length that is a multiple of "
                               "{}",
                               parts));
    }

    const Job& job_;
    const Transformer& model_;
    const ContextParallel& context_;
    int cp_;
    std::vector<Transformer> attending_; // layers with attention, as each kind sees the model
    Problems problems_;
};

void check_histogram(const Job& job, Problems& problems)
{
    const ExpertParallel& experts = job.strategy.experts;
    const bool given = !experts.shares.empty();
    const bool wanted = experts.load == ExpertLoad::histogram;
    const bool positive = std::ranges::all_of(experts.shares, [](double s) { return s >= 0; }) &&
                          std::ranges::any_of(experts.shares, [](double s) { return s > 0; });
    if (wanted && static_cast<int>(experts.shares.size()) != job.strategy.ep)
        problems.push_back(refusal(
            "/strategy/experts/shares",
            fmt::format("{} shares for {} expert ranks", experts.shares.size(), job.strategy.ep),
            fmt::format("give {} numbers", job.strategy.ep)));
    else if (wanted && !positive)
        problems.push_back(refusal("/strategy/experts/shares",
                                   "a share of the tokens is negative, "
                                   "or all are zero",
                                   "give how many tokens each rank gets, in any unit"));
    else if (given && !wanted)
        problems.push_back(refusal("/strategy/experts/shares",
                                   fmt::format("the load is {}", to_name(experts.load)),
                                   "set load to \"histogram\", or leave shares out"));
}

void check_experts(const Job& job, const Transformer& model, Problems& problems)
{
    const ExpertParallel& experts = job.strategy.experts;
    const bool copies_once = experts.dispatcher == Dispatcher::one_copy_per_node ||
                             experts.dispatcher == Dispatcher::deepep ||
                             experts.dispatcher == Dispatcher::hybridep;
    if (experts.node_limit > 0 && !copies_once)
        problems.push_back(
            refusal("/strategy/experts/node_limit",
                    "a limit of nodes saves nothing where a token is sent once for "
                    "each expert, or to all ranks",
                    "set dispatcher to \"one_copy_per_node\", \"deepep\" or \"hybridep\""));
    if (experts.overlap_shared && model.moe && model.moe->shared_expert_ffn == 0)
        problems.push_back(refusal("/strategy/experts/overlap_shared",
                                   "the model has no shared experts", "leave it out"));
    check_histogram(job, problems);
}

} // namespace

Problems group_misfits(const Job& job)
{
    Problems problems;
    const auto* model = std::get_if<Transformer>(&job.model.architecture);
    const Strategy& strategy = job.strategy;
    const auto needs = [&](bool stated, const char* pointer, const char* what, const char* hint) {
        if (stated)
            problems.push_back(refusal(pointer, what, hint));
    };
    if (strategy.cp == 1)
        needs(strategy.context != ContextParallel{}, "/strategy/context",
              "there is no context parallelism to shape", "set cp, or leave context out");
    else if (model != nullptr)
        problems = ContextChecks(job, *model).all();
    if (model != nullptr && model->moe) {
        check_experts(job, *model, problems);
    } else {
        ExpertParallel habit;
        habit.dispatcher = strategy.experts.dispatcher;
        needs(strategy.experts != habit, "/strategy/experts", "the model has no experts",
              "leave experts out");
    }
    return problems;
}

} // namespace trainyard
