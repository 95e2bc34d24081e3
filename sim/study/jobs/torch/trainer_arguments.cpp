#include "sim/study/jobs/torch/trainer_arguments.h"

#include "sim/base/fields.h"
#include "sim/base/words.h"
#include "sim/study/jobs/adapter_arguments.h"
#include "sim/study/jobs/class_model.h"
#include "sim/study/jobs/job_sizes.h"
#include "sim/study/jobs/named_model.h"
#include "sim/study/jobs/nearest_optimizer.h"
#include "sim/study/jobs/torch/trainer_formats.h"
#include "sim/study/jobs/training_purpose.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

class TrainerReader {
public:
    TrainerReader(Arguments& arguments, JobContext& context, TrainerFor framework)
        : arguments_(arguments),
          values_(arguments, context.draft),
          context_(context),
          draft_(context.draft),
          training_(context.draft.scenario.training),
          strategy_(context.draft.scenario.strategy),
          framework_(framework)
    {}

    void read()
    {
        model();
        flag_purpose(values_, draft_);
        draft_.scenario.software.framework =
            framework_ == TrainerFor::deepspeed ? "deepspeed" : "torch-ddp";
        read_trainer_precision(arguments_, draft_);
        sharding();
        parallel_sizes();
        recompute();
        read_trainer_kernels(arguments_, draft_);
        lengths();
        batches();
        optimizer();
        read_adapters(arguments_, draft_, {});
        buckets();
        const SoughtNames sought = arguments_.sought();
        for (const Argument& argument : arguments_.unseen()) {
            const Origin origin{argument.line, argument.text()};
            if (const auto why = trainer_aside(argument.name))
                draft_.ignore(origin, *why);
            else
                draft_.tell_unknown(origin, argument.name, sought);
        }
        if (framework_ == TrainerFor::torch)
            require_model(context_, "the arguments");
    }

private:
    template <class T, class V>
    void take(std::string_view name, T& field, V value, std::string_view place)
    {
        draft_.take(field, std::move(value), place, values_.origin(name));
    }

    // By a path or by Hugging Face's name.
    void model()
    {
        constexpr std::array<std::string_view, 13> names{"--model-name-or-path",
                                                         "--model-name",
                                                         "--base-model",
                                                         "--base-model-name-or-path",
                                                         "--pretrained-model-name-or-path",
                                                         "--model-path",
                                                         "--model-id",
                                                         "--model-id-or-path",
                                                         "--model",
                                                         "--pretrained-model",
                                                         "--pretrained-model-path",
                                                         "--hf-model-name",
                                                         "--model-config-path"};
        // Where it may lie else.
        constexpr std::array<std::string_view, 5> places{"--pretrain", "--model-dir", "--init-ckpt",
                                                         "--checkpoint-dir", "--ckpt-dir"};
        // Of one that starts from random weights, and ms-swift's word.
        constexpr std::array<std::string_view, 3> classes{"--config-name", "--config-path",
                                                          "--model-type"};
        // ms-swift's --model_name is what the trained one shall be called: one that is known goes
        // before one that is not.
        std::string_view chosen;
        std::string_view unset;
        bool known = false;
        const auto consider = [&](std::string_view name) {
            if (known || !arguments_.has(name))
                return;
            const std::string value = values_.last_of_path(name);
            known = !shipped_model_named(value).empty();
            if (known || (chosen.empty() && !value.empty()))
                chosen = name;
            if (value.empty() && unset.empty())
                unset = name;
        };
        for (const std::string_view name : names)
            consider(name);
        for (const std::string_view name : places)
            if (arguments_.contains(name))
                consider(name);
        // Random weights of a class, in the sizes of another model's configuration.
        if (arguments_.contains("--model-type") && arguments_.has("--config-name"))
            consider("--config-name");
        const bool nameless = chosen.empty() && unset.empty();
        const Origin type = values_.origin("--model-type");
        if (nameless && take_class_model(values_.text("--model-type"),
                                         values_.text("--config-overrides"), type, context_))
            return;
        for (const std::string_view name : classes)
            if (nameless && !shipped_model_named(values_.last_of_path(name)).empty())
                consider(name);
        if (nameless && chosen.empty() && arguments_.contains("--model-type"))
            chosen = "--model-type"; // refused as one that is not known
        if (!chosen.empty())
            take_named_model(values_.last_of_path(chosen), values_.origin(chosen), context_);
        else if (!unset.empty())
            refuse_unset_model(unset);
        if (arguments_.has("--config-overrides"))
            draft_.flag(values_.origin("--config-overrides"),
                        "sizes of the model itself are not read: it is as it is called");
    }

    void refuse_unset_model(std::string_view name)
    {
        if (draft_.model || draft_.scenario.model.given())
            return;
        const std::size_t before = draft_.problems.size();
        values_.refuse_unknown(name);
        draft_.model_refused = draft_.problems.size() > before;
    }

    // "--fsdp full_shard", or a switch alone.
    std::string_view fsdp_option()
    {
        std::string_view option = values_.either("--fsdp", "--fsdp.sharding-strategy");
        for (const std::string_view name : {"--use-fsdp", "--enable-fsdp"})
            if (!arguments_.contains(option) && values_.on(name))
                option = name;
        return option;
    }

    // --fsdp "full_shard auto_wrap"; OLMo's --fsdp.sharding_strategy=FULL_SHARD
    void sharding()
    {
        std::string& framework = draft_.scenario.software.framework;
        const bool compiled = values_.on("--torch-compile");
        const std::string_view option = fsdp_option();
        const Argument* fsdp = arguments_.find(option);
        std::string said;
        if (fsdp != nullptr)
            for (const std::string& value : fsdp->values)
                said += " " + lower_case(value);
        for (const std::string_view strategy : {"--fsdp-sharding-strategy", "--sharding-strategy"})
            if (fsdp != nullptr)
                said += " " + lower_case(values_.text(strategy));
        const auto says = [&](std::string_view word) {
            return said.find(word) != std::string::npos;
        };
        const bool alone = fsdp != nullptr && (fsdp->values.empty() || says("true"));
        if (alone || (fsdp != nullptr && option != "--fsdp" && !says("shard")))
            said += " full_shard"; // a switch
        if (says("full_shard") || says("shard_grad_op") || says("hybrid_shard")) {
            framework = "torch-fsdp";
            take(option, strategy_.zero, 3, "strategy.zero");
            if (values_.on("--no-reshard-after-forward"))
                take("--no-reshard-after-forward", strategy_.reshard_after_forward, false,
                     "strategy.reshard_after_forward");
            if (says("shard_grad_op"))
                take(option, strategy_.reshard_after_forward, false,
                     "strategy.reshard_after_forward");
            if (says("hybrid_shard_zero2"))
                strategy_.reshard_after_forward = false;
            if (says("hybrid_shard") && draft_.size.gpus_per_node)
                take(option, strategy_.shard_group, *draft_.size.gpus_per_node,
                     "strategy.shard_group");
            const bool whole = values_.on("--fsdp-cpu-offload");
            const bool apart = values_.on("--fsdp-offload") || whole;
            if (says("offload") || apart) {
                take(whole   ? "--fsdp-cpu-offload"
                     : apart ? "--fsdp-offload"
                             : option,
                     strategy_.offload.parameters, OffloadTarget::cpu,
                     "strategy.offload.parameters");
                strategy_.offload.optimizer = OffloadTarget::cpu;
            }
        } else if (framework_ == TrainerFor::torch)
            draft_.assume("data parallel with DDP: no --fsdp, no DeepSpeed configuration");
        if (compiled && framework_ == TrainerFor::torch)
            take("--torch-compile", framework, std::string("torch-compile-fsdp"),
                 "software.framework");
    }

    // As ColossalAI and DeepSpeed's examples call them.
    void parallel_sizes()
    {
        const auto size = [&](std::initializer_list<std::string_view> names, int& field,
                              std::string_view place) {
            for (const std::string_view name : names)
                values_.take(name, field, place);
        };
        size({"--tp-size", "--tensor-parallel-size", "--tensor-model-parallel-size", "--tp",
              "--model-parallel-size"},
             strategy_.tp, "strategy.tp");
        size({"--pp-size", "--pipeline-parallel-size", "--pipeline-model-parallel-size", "--pp",
              "--pipe-parallel-size"},
             strategy_.pp, "strategy.pp");
        size({"--ep-size", "--expert-parallel-size", "--expert-model-parallel-size"}, strategy_.ep,
             "strategy.ep");
        size({"--sp-size", "--sequence-parallel-size", "--sequence-parallel-degree",
              "--context-parallel-size"},
             strategy_.cp, "strategy.cp");
        // axolotl's context parallelism is ring attention.
        if (strategy_.cp > 1)
            strategy_.context.kind = arguments_.contains("--context-parallel-size") ||
                                             arguments_.contains("--sequence-parallel-degree")
                                         ? ContextKind::ring
                                         : ContextKind::ulysses;
        shards();
        workers();
        if (framework_ == TrainerFor::torch)
            values_.take("--zero-stage", strategy_.zero, "strategy.zero");
    }

    // axolotl's copies and shards of FSDP.
    void shards()
    {
        const auto copies = values_.whole("--dp-replicate-size");
        const auto shards = values_.whole("--dp-shard-size");
        constexpr std::int64_t most = 1'000'000;
        if (!shards || *shards < 1 || *shards > most || copies.value_or(1) < 1 ||
            copies.value_or(1) > most)
            return;
        draft_.size.replicas = *shards * copies.value_or(1) * strategy_.ep; // experts' beside them
        if (copies.value_or(1) > 1 && *shards > 1)
            take("--dp-shard-size", strategy_.shard_group, *shards * strategy_.cp,
                 "strategy.shard_group");
    }

    // LLaMA-Factory's workers of Ray have a GPU each.
    void workers()
    {
        constexpr std::string_view name = "--ray-num-workers";
        const auto gpus = values_.whole(name);
        constexpr std::int64_t most = 1'000'000;
        const std::int64_t replica = std::int64_t{strategy_.tp} * strategy_.pp * strategy_.cp;
        if (!gpus || *gpus < 1 || *gpus > most || replica < 1)
            return;
        if (*gpus % replica != 0)
            return draft_.refuse(values_.origin(name),
                                 fmt::format("a replica takes {} GPUs", replica),
                                 "a multiple of them");
        draft_.size.replicas = *gpus / replica;
        draft_.understand(values_.origin(name), fmt::format("{} GPUs", *gpus));
    }

    void recompute()
    {
        for (const std::string_view name :
             {"--gradient-checkpointing", "--use-gradient-checkpointing",
              "--enable-gradient-checkpointing", "--gradient-checkpoint", "--grad-checkpoint",
              "--grad-checkpointing", "--activation-checkpointing",
              "--use-activation-checkpointing", "--enable-activation-checkpointing"})
            if (values_.on(name))
                return take(name, training_.recompute, Recompute::full, "training.recompute");
    }

    void lengths()
    {
        for (const std::string_view name :
             {"--max-seq-length", "--max-length", "--block-size", "--model-max-length",
              "--seq-length", "--seq-len", "--cutoff-len", "--sequence-len", "--max-seq-len",
              "--context-length", "--sequence-length", "--max-sequence-length", "--max-len",
              "--max-source-length"})
            if (const auto length = values_.whole(name)) {
                const std::int64_t answer =
                    name == "--max-source-length"
                        ? values_.whole("--max-target-length").value_or(0) // of a decoder alone
                        : 0;
                take(name, training_.sequence_length, *length + answer, "training.sequence_length");
                return;
            }
        const bool fewer = shortened_to_positions(draft_);
        draft_.assume(fmt::format("sequences of {} tokens{}: no argument says (--set "
                                  "training.sequence_length=4096 does)",
                                  training_.sequence_length,
                                  fewer ? ", as many as the model has positions" : ""));
    }

    bool take_micro(std::string_view name, BatchSizes& sizes)
    {
        const auto size = sizes.micro ? std::nullopt : values_.whole(name);
        if (!size)
            return false;
        sizes.micro = size;
        sizes.micro_name = name;
        return true;
    }

    void batches()
    {
        BatchSizes sizes;
        sizes.all_name = "--global-batch-size";
        for (const std::string_view name : {"--global-train-batch-size", "--effective-batch-size"})
            sizes.all_name = std::string(values_.either(sizes.all_name, name));
        sizes.micro_name = "--per-device-train-batch-size";
        sizes.accumulation_name = "--gradient-accumulation-steps";
        for (const std::string_view name : {"--accumulation-steps", "--grad-acc"})
            sizes.accumulation_name = std::string(values_.either(sizes.accumulation_name, name));
        for (const std::string_view name :
             {"--per-device-train-batch-size", "--train-micro-batch-size-per-gpu",
              "--micro-train-batch-size", "--micro-batch-size", "--per-gpu-train-batch-size",
              "--device-train-microbatch-size", "--batch-size-per-gpu", "--per-device-batch-size",
              "--train-bsz-per-gpu"})
            take_micro(name, sizes);
        // Of all GPUs in a pass, as verl's first releases have it.
        constexpr std::string_view of_all = "--micro-batch-size-of-all-gpus";
        const auto together = sizes.micro ? std::nullopt : values_.whole(of_all);
        if (const int replicas = together ? context_.replicas() : 0; replicas > 0) {
            sizes.micro = std::max<std::int64_t>(1, *together / replicas);
            sizes.micro_name = of_all;
        }
        // Beside one of a pass it is that of a step.
        const bool beside_micro = sizes.micro_name.find("micro") != std::string::npos;
        for (const std::string_view name :
             {"--batch-size", "--train-batch-size", "--batch-size-training"})
            if (sizes.micro && !arguments_.contains(sizes.all_name) && arguments_.contains(name) &&
                (beside_micro ||
                 (name == "--train-batch-size" && !arguments_.contains(sizes.accumulation_name))))
                sizes.all_name = name;
            else if (!sizes.micro && take_micro(name, sizes))
                draft_.assume(values_.origin(name), "of each GPU");
        sizes.all = values_.whole(sizes.all_name);
        constexpr std::int64_t usual = 8;
        sizes.usual_micro = usual;
        sizes.whose_default = "Hugging Face Trainer's";
        sizes.accumulation = values_.whole(sizes.accumulation_name);
        sizes.origin = values_.origin(sizes.micro ? sizes.micro_name : sizes.all_name);
        // DeepSpeed's configuration may state them.
        if (framework_ == TrainerFor::torch || sizes.all || sizes.micro || sizes.accumulation)
            settle_batches(sizes, context_);
    }

    void optimizer()
    {
        const std::string_view option = values_.either("--optim", "--optimizer");
        const std::string name = values_.text(option);
        if (values_.on("--use-muon"))
            return take("--use-muon", training_.optimizer, Optimizer::muon, "training.optimizer");
        if (name.empty())
            return;
        const auto nearest = nearest_optimizer(name);
        if (!nearest) {
            draft_.refuse(values_.origin(option), "is not modelled",
                          "adamw_torch, adafactor, muon or sgd");
            return;
        }
        take(option, training_.optimizer, nearest->optimizer, "training.optimizer");
        if (!nearest->difference.empty())
            draft_.assume(values_.origin(option), nearest->difference);
    }

    void buckets()
    {
        const auto size = values_.whole("--ddp-bucket-cap-mb");
        if (size && *size >= 1 && *size <= 1'000'000)
            take("--ddp-bucket-cap-mb", strategy_.bucket_cap,
                 Bytes(static_cast<std::uint64_t>(*size) << 20), "strategy.bucket_cap");
        if (values_.on("--ddp-find-unused-parameters"))
            take("--ddp-find-unused-parameters", strategy_.ddp.find_unused_parameters, true,
                 "strategy.ddp.find_unused_parameters");
    }

    Arguments& arguments_;
    ArgumentValues values_;
    JobContext& context_;
    JobDraft& draft_;
    Training& training_;
    Strategy& strategy_;
    TrainerFor framework_;
};

} // namespace

void read_trainer_arguments(Arguments& arguments, JobContext& context, TrainerFor framework)
{
    TrainerReader(arguments, context, framework).read();
}

} // namespace trainyard
