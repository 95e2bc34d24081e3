// Parallel sizes, stages and overlaps of Megatron-LM's arguments.

#include "sim/strategy/pipeline/layout.h"
#include "sim/study/jobs/job_sizes.h"
#include "sim/study/jobs/megatron/megatron.h"
#include "sim/study/jobs/megatron/megatron_layout.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

namespace {

class StrategyReader {
public:
    explicit StrategyReader(MegatronReader& reader)
        : values_(reader.values),
          draft_(reader.draft),
          strategy_(reader.draft.scenario.strategy),
          context_(reader.context),
          layers_(layers_of(reader.draft)),
          pattern_stages_(reader.stage_layers)
    {}

    void read()
    {
        sizes();
        context();
        virtual_stages();
        stages();
        experts();
        sharding();
        overlap();
        if (values_.text("--distributed-backend") == "gloo")
            take("--distributed-backend", strategy_.backend, Backend::gloo, "strategy.backend");
    }

private:
    template <class T, class V>
    void take(std::string_view name, T& field, V value, std::string_view place)
    {
        draft_.take(field, std::move(value), place, values_.origin(name));
    }

    void sizes()
    {
        values_.take("--tensor-model-parallel-size", strategy_.tp, "strategy.tp");
        values_.take("--pipeline-model-parallel-size", strategy_.pp, "strategy.pp");
        values_.take("--context-parallel-size", strategy_.cp, "strategy.cp");
        if (values_.on("--no-pipeline-parallel") && strategy_.pp > 1)
            draft_.flag(values_.origin("--no-pipeline-parallel"),
                        fmt::format("{} stages are stated, and modelled", strategy_.pp));
        const bool sequence = values_.on("--sequence-parallel");
        if (strategy_.tp > 1)
            strategy_.sequence_parallel = sequence;
        if (sequence && strategy_.tp > 1)
            take("--sequence-parallel", strategy_.sequence_parallel, true,
                 "strategy.sequence_parallel");
        else if (sequence)
            draft_.ignore(values_.origin("--sequence-parallel"), "of no effect without TP");
        if (values_.on("--use-tp-pp-dp-mapping"))
            take("--use-tp-pp-dp-mapping", strategy_.rank_order, std::string("tp-cp-pp-dp"),
                 "strategy.rank_order");
    }

    // Transformer Engine exchanges keys and values in a ring unless told otherwise.
    void context()
    {
        const std::string_view name = "--cp-comm-type";
        const std::string type = values_.text(name);
        const auto heads = values_.whole("--hierarchical-context-parallel-sizes");
        if (strategy_.cp == 1)
            return;
        ContextParallel& how = strategy_.context;
        how.kind = ContextKind::ring;
        if (type.empty())
            draft_.assume("keys and values go round a ring (p2p), Megatron-LM's default");
        else if (type == "p2p" || type == "a2a" || type.starts_with("all") || type == "a2a+p2p")
            take(name, how.kind,
                 type == "p2p"    ? ContextKind::ring
                 : type == "a2a"  ? ContextKind::ulysses
                 : type[1] == '2' ? ContextKind::hybrid
                                  : ContextKind::all_gather,
                 "strategy.context.kind");
        else
            draft_.refuse(values_.origin(name), "is no way of context parallelism",
                          "p2p, a2a, allgather or a2a+p2p");
        if (how.kind == ContextKind::hybrid && heads)
            take("--hierarchical-context-parallel-sizes", how.a2a, *heads, "strategy.context.a2a");
    }

    void virtual_stages()
    {
        values_.take("--num-virtual-stages-per-pipeline-rank", strategy_.vpp, "strategy.vpp");
        const auto each = values_.whole("--num-layers-per-virtual-pipeline-stage");
        if (!each)
            return;
        const Origin origin = values_.origin("--num-layers-per-virtual-pipeline-stage");
        const std::int64_t part = *each * strategy_.pp;
        if (layers_ > 0 && (part < 1 || layers_ % part != 0)) {
            draft_.refuse(origin,
                          fmt::format("{} layers do not divide into virtual stages of {} on {} "
                                      "pipeline ranks",
                                      layers_, *each, strategy_.pp),
                          "layers / pipeline size must be a multiple of it");
            return;
        }
        if (layers_ == 0)
            draft_.refuse(origin, "the layers of the model are not known here",
                          "give --num-virtual-stages-per-pipeline-rank");
        else
            draft_.take(strategy_.vpp, layers_ / part, "strategy.vpp", origin);
    }

    void stages()
    {
        std::string layout = values_.text("--pipeline-model-parallel-layout");
        if (layout.size() > 2 && layout.front() == '\'' && layout.back() == '\'')
            layout = layout.substr(1, layout.size() - 2); // Primus reads its values as YAML
        if (!layout.empty()) {
            from_layout(layout);
            return;
        }
        const auto first = values_.whole("--decoder-first-pipeline-num-layers");
        const auto last = values_.whole("--decoder-last-pipeline-num-layers");
        PipelineOptions& pipeline = strategy_.pipeline;
        const bool with_embedding = values_.on("--account-for-embedding-in-pipeline-split");
        const bool with_loss = values_.on("--account-for-loss-in-pipeline-split");
        if (with_embedding && strategy_.pp > 1)
            take("--account-for-embedding-in-pipeline-split", pipeline.account_for_embedding, true,
                 "strategy.pipeline.account_for_embedding");
        if (with_loss && strategy_.pp > 1)
            take("--account-for-loss-in-pipeline-split", pipeline.account_for_loss, true,
                 "strategy.pipeline.account_for_loss");
        values_.take("--microbatch-group-size-per-virtual-pipeline-stage",
                     pipeline.micro_batch_group, "strategy.pipeline.micro_batch_group");
        if (layers_ == 0 || strategy_.pp < 2 || strategy_.pp > layers_)
            return;
        const auto parts = static_cast<int>(pattern_stages_.size());
        if (parts > 0 && parts % strategy_.pp == 0) {
            strategy_.vpp = parts / strategy_.pp;
            strategy_.stage_layers = pattern_stages_;
            draft_.assume("stages as the pattern of the layers cuts them");
            return;
        }
        if (first || last)
            ends_given(first, last);
    }

    // Stages between the ends share what is left; every stage is cut evenly into its virtual ones.
    void ends_given(std::optional<std::int64_t> first, std::optional<std::int64_t> last)
    {
        const std::string_view name =
            first ? "--decoder-first-pipeline-num-layers" : "--decoder-last-pipeline-num-layers";
        const std::int64_t between = strategy_.pp - (first ? 1 : 0) - (last ? 1 : 0);
        const std::int64_t left = layers_ - first.value_or(0) - last.value_or(0);
        if (first.value_or(0) < 0 || last.value_or(0) < 0 || left < 0 ||
            (between == 0 ? left != 0 : left % between != 0))
        {
            draft_.refuse(values_.origin(name),
                          fmt::format("the {} layers that are left do not divide over {} stages",
                                      left, between),
                          "");
            return;
        }
        std::vector<std::int64_t> ranks(static_cast<std::size_t>(strategy_.pp),
                                        between > 0 ? left / between : 0);
        if (first)
            ranks.front() = *first;
        if (last)
            ranks.back() = *last;
        spread(ranks, name);
    }

    void spread(const std::vector<std::int64_t>& ranks, std::string_view name)
    {
        std::vector<int> layers;
        for (int chunk = 0; chunk < strategy_.vpp; ++chunk)
            for (const std::int64_t count : ranks) {
                if (count % strategy_.vpp != 0) {
                    draft_.refuse(values_.origin(name),
                                  fmt::format("{} layers of a rank do not divide into {} virtual "
                                              "stages",
                                              count, strategy_.vpp),
                                  "");
                    return;
                }
                layers.push_back(static_cast<int>(count / strategy_.vpp));
            }
        take(name, strategy_.stage_layers, layers, "strategy.stage_layers");
    }

    void from_layout(const std::string& text)
    {
        const Origin origin = values_.origin("--pipeline-model-parallel-layout");
        const auto stages = parse_layout(text);
        const std::size_t count = stages ? stages->size() : 0;
        if (!stages || strategy_.pp < 1 || count % static_cast<std::size_t>(strategy_.pp) != 0) {
            draft_.refuse(origin,
                          stages
                              ? fmt::format("{} stages on {} pipeline ranks", count, strategy_.pp)
                              : stages.error(),
                          "stages of t (layer), E, L and m, joined by |, a multiple of the "
                          "pipeline size: Et|tt|tt|tL");
            return;
        }
        draft_.take(strategy_.vpp, static_cast<int>(count) / strategy_.pp, "strategy.vpp", origin);
        std::vector<int> layers;
        bool plain = stages->front().embedding && stages->back().loss;
        for (const StageLetters& stage : *stages) {
            layers.push_back(stage.layers);
            plain = plain && stage.prediction_layers == 0;
        }
        if (plain)
            draft_.take(strategy_.stage_layers, layers, "strategy.stage_layers", origin);
        else
            draft_.take(strategy_.pipeline.layout, text, "strategy.pipeline.layout", origin);
    }

    void experts()
    {
        values_.take("--expert-model-parallel-size", strategy_.ep, "strategy.ep");
        const auto* transformer =
            draft_.model ? std::get_if<Transformer>(&draft_.model->architecture) : nullptr;
        const bool moe = transformer != nullptr && transformer->moe.has_value();
        dispatch(moe, moe && transformer->moe->shared_expert_ffn > 0);
        if (values_.whole("--expert-tensor-parallel-size"))
            values_.take("--expert-tensor-parallel-size", strategy_.etp, "strategy.etp");
        else if (moe && strategy_.tp > 1) {
            strategy_.etp = strategy_.tp;
            draft_.assume(fmt::format(
                "experts are cut over tensor-parallel ranks too (etp {}), Megatron-LM's default",
                strategy_.etp));
        }
    }

    void dispatch(bool moe, bool shared)
    {
        constexpr std::string_view deepep = "--moe-enable-deepep";
        // Takes the place of any other, and has none in a model without experts.
        const bool direct = values_.on(deepep) && moe;
        const std::string stated = values_.text("--moe-token-dispatcher-type");
        const std::string_view name = direct ? deepep : "--moe-token-dispatcher-type";
        const std::string type = direct ? "flex" : stated;
        ExpertParallel& experts = strategy_.experts;
        const std::string flex = values_.text("--moe-flex-dispatcher-backend");
        if (!flex.empty() && flex != "deepep" && flex != "hybridep")
            draft_.refuse(values_.origin("--moe-flex-dispatcher-backend"), "is no backend",
                          "deepep or hybridep");
        if (type == "flex" || type == "alltoall" || type == "alltoall_seq" || type == "allgather")
            take(name, experts.dispatcher,
                 type == "flex" ? flex == "hybridep" ? Dispatcher::hybridep : Dispatcher::deepep
                 : type == "allgather" ? Dispatcher::all_gather
                                       : Dispatcher::all_to_all,
                 "strategy.experts.dispatcher");
        else if (!type.empty())
            draft_.refuse(values_.origin(name), "is no dispatcher", "alltoall, allgather or flex");
        else if (moe && strategy_.ep > 1) {
            experts.dispatcher = Dispatcher::all_gather;
            draft_.assume("tokens are gathered by all experts (allgather), Megatron-LM's default");
        }
        const bool overlapped = values_.on("--moe-shared-expert-overlap");
        if (overlapped && !shared)
            draft_.ignore(values_.origin("--moe-shared-expert-overlap"),
                          "of no effect without a shared expert");
        else if (overlapped)
            take("--moe-shared-expert-overlap", experts.overlap_shared, true,
                 "strategy.experts.overlap_shared");
        if (const auto factor = values_.number("--moe-expert-capacity-factor"))
            take("--moe-expert-capacity-factor", experts.capacity_factor, *factor,
                 "strategy.experts.capacity_factor");
    }

    void sharding()
    {
        if (values_.on("--use-distributed-optimizer"))
            take("--use-distributed-optimizer", strategy_.zero, 1, "strategy.zero");
        if (values_.on("--use-torch-fsdp2"))
            take("--use-torch-fsdp2", strategy_.zero, 3, "strategy.zero");
        megatron_fsdp();
        instances();
        if (values_.on("--optimizer-cpu-offload"))
            take("--optimizer-cpu-offload", strategy_.offload.optimizer, OffloadTarget::cpu,
                 "strategy.offload.optimizer");
        if (const auto layers = values_.whole("--cpu-offloading-num-layers"); layers && *layers > 0)
            take("--cpu-offloading-num-layers", strategy_.offload.activation_layers,
                 static_cast<int>(std::min<std::int64_t>(*layers, 100'000)),
                 "strategy.offload.activation_layers");
        if (values_.on("--torch-fsdp2-no-reshard-after-forward"))
            take("--torch-fsdp2-no-reshard-after-forward", strategy_.reshard_after_forward, false,
                 "strategy.reshard_after_forward");
    }

    // Megatron FSDP cuts what its strategy names; "optim_grads" keeps whole parameters.
    void megatron_fsdp()
    {
        constexpr std::string_view name = "--data-parallel-sharding-strategy";
        const bool on = values_.on("--use-megatron-fsdp") || values_.on("--use-custom-fsdp");
        const std::string kind = values_.text(name);
        if (kind.empty())
            return;
        if (!on)
            return draft_.ignore(values_.origin(name), "of no effect without --use-megatron-fsdp");
        take(name, strategy_.zero,
             kind == "optim_grads_params" ? 3
             : kind == "optim_grads"      ? 2
             : kind == "optim"            ? 1
                                          : 0,
             "strategy.zero");
        if (strategy_.zero == 2)
            draft_.assume(values_.origin(name),
                          "gradients and parameters are exchanged as DeepSpeed's stage 2 does");
    }

    // Copies of the optimizer over the data-parallel ranks: HSDP.
    void instances()
    {
        const auto copies = values_.whole("--num-distributed-optimizer-instances");
        if (!copies || *copies == 1)
            return;
        const Origin origin = values_.origin("--num-distributed-optimizer-instances");
        const std::int64_t ranks = std::int64_t{context_.replicas()} * strategy_.cp;
        if (*copies < 1 || ranks == 0 || ranks % *copies != 0)
            draft_.refuse(origin, fmt::format("does not divide {} data-parallel ranks", ranks), "");
        else
            draft_.take(strategy_.shard_group, static_cast<int>(ranks / *copies),
                        "strategy.shard_group", origin);
    }

    void overlap()
    {
        const bool reduce = values_.on("--overlap-grad-reduce");
        const bool gather = values_.on("--overlap-param-gather");
        strategy_.overlap.dp = reduce || strategy_.zero == 3;
        if (reduce)
            take("--overlap-grad-reduce", strategy_.overlap.dp, true, "strategy.overlap.dp");
        if (strategy_.zero == 1)
            strategy_.sharding.overlap_param_gather = gather && reduce;
        if (strategy_.zero == 1 && gather && reduce)
            take("--overlap-param-gather", strategy_.sharding.overlap_param_gather, true,
                 "strategy.sharding.overlap_param_gather");
        else if (gather)
            draft_.ignore(values_.origin("--overlap-param-gather"),
                          "of no effect without a distributed optimizer and --overlap-grad-reduce");
        if (values_.on("--overlap-moe-expert-parallel-comm"))
            take("--overlap-moe-expert-parallel-comm", strategy_.overlap.ep, true,
                 "strategy.overlap.ep");
        const bool asked = values_.on("--tp-comm-overlap");
        const bool tensor = asked && strategy_.sequence_parallel == true;
        if (asked && !tensor && strategy_.tp > 1)
            draft_.ignore(values_.origin("--tp-comm-overlap"),
                          "Megatron-LM refuses it without --sequence-parallel");
        if (strategy_.tp > 1)
            strategy_.overlap.tp = tensor;
        if (tensor && strategy_.tp > 1)
            take("--tp-comm-overlap", strategy_.overlap.tp, true, "strategy.overlap.tp");
        // Megatron-LM overlaps sends and receives in interleaved schedules only.
        const bool blocking = values_.on("--no-overlap-p2p-communication");
        if (strategy_.pp < 2)
            return;
        strategy_.overlap.pp = strategy_.vpp > 1 && !blocking;
        if (blocking)
            take("--no-overlap-p2p-communication", strategy_.overlap.pp, false,
                 "strategy.overlap.pp");
    }

    ArgumentValues& values_;
    JobDraft& draft_;
    Strategy& strategy_;
    JobContext& context_;
    int layers_;
    const std::vector<int>& pattern_stages_; // of a hybrid model, as its pattern cuts it
};

} // namespace

void read_megatron_strategy(MegatronReader& reader)
{
    StrategyReader(reader).read();
}

} // namespace trainyard
