#include "sim/study/jobs/torch/deepspeed.h"

#include "sim/study/jobs/job_readers.h"
#include "sim/study/jobs/job_sizes.h"
#include "sim/study/jobs/named_model.h"
#include "sim/study/jobs/nearest_optimizer.h"
#include "sim/study/jobs/torch/deepspeed_formats.h"
#include "sim/study/problems.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

constexpr std::array settings_aside{
    Aside{of_learning, "optimizer.params scheduler gradient_clipping"},
    Aside{of_numbers, "gradient_predivide_factor prescale_gradients"},
    Aside{"loss scaling: of the learning, not of the time of a step", "amp. fp16."},
    Aside{"of logs, which are not part of a step",
          "steps_per_print wall_clock_breakdown tensorboard wandb flops_profiler comms_logger "
          "dump_state"},
    Aside{"a permission, no setting", "zero_allow_untested_optimizer zero_force_ds_cpu_optimizer"},
    Aside{"of checkpoints", "zero_optimization.stage3_gather_16bit_weights_on_model_save"},
    Aside{"a copy that is not modelled", "zero_optimization.contiguous_gradients"},
    Aside{"a placement that is not modelled", "zero_optimization.round_robin_gradients"},
    Aside{"its default is what is modelled", "zero_optimization.allgather_partitions"},
    Aside{"gathers are modelled layer by layer", "zero_optimization.stage3_"},
    Aside{"of stages 1 and 2", "zero_optimization.allgather_bucket_size"},
    Aside{"of the optimizer's order, not of its time", "zero_optimization.sub_group_size"},
};

// What changes the traffic of ZeRO without a field of a scenario that says so, where it is on.
constexpr std::array unmodelled_traffic{
    Aside{"parameters are gathered in 8 bit, less than modelled", "zero_quantized_weights"},
    Aside{"frozen parameters are kept and gathered in 8 bit, less than modelled",
          "zero_quantized_nontrainable_weights"},
    Aside{"gradients are exchanged in few bits, less than modelled", "zero_quantized_gradients"},
};

class DeepSpeedReader {
public:
    DeepSpeedReader(SettingTree& settings, JobContext& context)
        : settings_(settings),
          context_(context),
          draft_(context.draft),
          training_(context.draft.scenario.training),
          strategy_(context.draft.scenario.strategy)
    {}

    void read()
    {
        std::string& framework = draft_.scenario.software.framework;
        after_trainer_ = framework == "deepspeed";
        framework = "deepspeed";
        parallel_sizes();
        stage();
        read_deepspeed_formats(settings_, draft_, after_trainer_);
        zero();
        optimizer();
        checkpoints();
        batches();
        list_unseen();
        require_model(context_, "settings of DeepSpeed");
    }

private:
    template <class T, class V>
    void take(std::string_view name, T& field, V value, std::string_view place)
    {
        draft_.take(field, std::move(value), place, settings_.origin(name));
    }

    template <class T>
    void take_whole(std::string_view name, T& field, std::string_view place)
    {
        if (const auto value = settings_.whole(name, draft_))
            take(name, field, *value, place);
    }

    void parallel_sizes()
    {
        take_whole("tensor_parallel.autotp_size", strategy_.tp, "strategy.tp");
        take_whole("pipeline.stages", strategy_.pp, "strategy.pp");
        take_whole("sequence_parallel_size", strategy_.cp, "strategy.cp");
        if (strategy_.cp > 1)
            take("sequence_parallel_size", strategy_.context.kind, ContextKind::ulysses,
                 "strategy.context.kind");
    }

    // Until 2020 the section was true, for stage 1, or false.
    void stage()
    {
        constexpr std::string_view section = "zero_optimization";
        const Json* const stated = settings_.root().find(section);
        if (stated == nullptr || !stated->is_bool())
            take_whole("zero_optimization.stage", strategy_.zero, "strategy.zero");
        else if (const auto sharded = settings_.flag(section, draft_))
            take(section, strategy_.zero, *sharded ? 1 : 0, "strategy.zero");
    }

    void zero()
    {
        const std::string at = "zero_optimization.";
        overlap();
        if (strategy_.zero == 1 || strategy_.zero == 2)
            strategy_.sharding.style = ShardingStyle::deepspeed;
        buckets();
        groups();
        offload("offload_optimizer", strategy_.offload.optimizer, "strategy.offload.optimizer");
        if (strategy_.zero == 3 || !settings_.has(at + "offload_param.device"))
            offload("offload_param", strategy_.offload.parameters, "strategy.offload.parameters");
        else
            draft_.ignore(settings_.origin(at + "offload_param.device"),
                          "of effect at stage 3 alone");
        unmodelled();
        // As they were called until 2021.
        older_offload("cpu_offload", strategy_.offload.optimizer, "strategy.offload.optimizer");
        older_offload("cpu_offload_params", strategy_.offload.parameters,
                      "strategy.offload.parameters");
    }

    void overlap()
    {
        constexpr std::string_view name = "zero_optimization.overlap_comm";
        const auto stated = settings_.flag(name, draft_);
        strategy_.overlap.dp = strategy_.zero == 3;
        if (!stated)
            draft_.assume(fmt::format("overlap_comm {}, DeepSpeed's default for stage {}",
                                      strategy_.zero == 3, strategy_.zero));
        else if (*stated || strategy_.zero < 3)
            take(name, strategy_.overlap.dp, *stated, "strategy.overlap.dp");
        else
            draft_.flag(fmt::format("line {}: overlap_comm false: at stage 3 compute then waits "
                                    "for each reduction of gradients; modelled beside compute",
                                    settings_.origin(name).line));
    }

    // Counted in elements.
    void buckets()
    {
        const std::string at = "zero_optimization.";
        ShardingOptions& sharding = strategy_.sharding;
        const auto reduce = settings_.whole(at + "reduce_bucket_size", draft_);
        const bool old = settings_.root().find("allgather_size") != nullptr;
        const std::string gathered = old ? "allgather_size" : at + "allgather_bucket_size";
        const auto gather = settings_.whole(gathered, draft_);
        const auto scatter = settings_.flag(at + "reduce_scatter", draft_);
        const bool cut = strategy_.zero == 1 || strategy_.zero == 2;
        if (cut && reduce)
            take(at + "reduce_bucket_size", sharding.reduce_bucket, *reduce,
                 "strategy.sharding.reduce_bucket");
        if (cut && gather)
            take(gathered, sharding.gather_bucket, *gather, "strategy.sharding.gather_bucket");
        if (cut && scatter)
            take(at + "reduce_scatter", sharding.reduce_scatter, *scatter,
                 "strategy.sharding.reduce_scatter");
        if (strategy_.zero == 3 && reduce)
            draft_.ignore(settings_.origin(at + "reduce_bucket_size"),
                          "stage 3 is modelled layer by layer");
        if (strategy_.zero == 0)
            whole_buckets(reduce);
    }

    // Stage 0 sums gradients in buckets of their own, none of them first.
    void whole_buckets(std::optional<std::int64_t> elements)
    {
        constexpr std::int64_t usual = 500'000'000;
        constexpr std::int64_t most = std::int64_t{1} << 50;
        const std::string name = "zero_optimization.reduce_bucket_size";
        const std::int64_t count = elements.value_or(usual);
        if (count < 1 || count > most) {
            draft_.refuse(settings_.origin(name), "is no size of a bucket", "");
            return;
        }
        const Bytes bucket(static_cast<std::uint64_t>(count) *
                           static_cast<unsigned>(gradient_bytes(training_)));
        if (elements)
            take(name, strategy_.bucket_cap, bucket, "strategy.bucket_cap");
        else
            draft_.assume(fmt::format("buckets of {} elements, DeepSpeed's default", usual));
        strategy_.bucket_cap = strategy_.first_bucket = bucket;
    }

    void groups()
    {
        const std::string at = "zero_optimization.";
        const auto sized = [&](const std::string& name) -> std::optional<std::int64_t> {
            const auto size = settings_.whole(at + name, draft_);
            return size && *size > 1 ? size : std::nullopt;
        };
        if (const auto size = sized("mics_shard_size"))
            take(at + "mics_shard_size", strategy_.shard_group, static_cast<int>(*size),
                 "strategy.shard_group");
        if (const auto size = sized("zero_hpz_partition_size"))
            take(at + "zero_hpz_partition_size", strategy_.fsdp.reshard_ranks,
                 static_cast<int>(*size), "strategy.fsdp.reshard_ranks");
    }

    void offload(const std::string& what, OffloadTarget& field, std::string_view place)
    {
        const std::string name = "zero_optimization." + what + ".device";
        const auto device = settings_.text(name, draft_);
        if (!device || *device == "none")
            return;
        if (*device != "cpu" && *device != "nvme")
            return draft_.refuse(settings_.origin(name), "is not modelled", "cpu or none");
        take(name, field, OffloadTarget::cpu, place);
        if (*device == "nvme")
            draft_.flag(settings_.origin(name),
                        "drives are not modelled, taken as the host's memory: it is slower");
    }

    void unmodelled()
    {
        const std::string at = "zero_optimization.";
        for (const Aside& one : unmodelled_traffic)
            if (const std::string name = at + std::string(one.names);
                settings_.flag(name, draft_).value_or(false))
                draft_.flag(settings_.origin(name), one.why);
        const std::string ratio = at + "offload_optimizer.ratio";
        const Json* const part = settings_.find(ratio);
        if (part != nullptr && part->is_number() && part->as_double() < 1)
            draft_.flag(settings_.origin(ratio),
                        "part of the states stays on the device, modelled all on the host");
    }

    void older_offload(const std::string& what, OffloadTarget& field, std::string_view place)
    {
        const std::string name = "zero_optimization." + what;
        if (settings_.flag(name, draft_).value_or(false))
            take(name, field, OffloadTarget::cpu, place);
    }

    void optimizer()
    {
        const auto type = settings_.text("optimizer.type", draft_);
        if (!type)
            return;
        const auto nearest = nearest_optimizer(*type);
        if (!nearest) {
            draft_.refuse(settings_.origin("optimizer.type"), "is not modelled",
                          "Adam, AdamW, Adafactor, Muon or SGD");
            return;
        }
        take("optimizer.type", training_.optimizer, nearest->optimizer, "training.optimizer");
        if (!nearest->difference.empty())
            draft_.assume(settings_.origin("optimizer.type"), nearest->difference);
    }

    // The model's code decides what is checkpointed; only pipelines state it here.
    void checkpoints()
    {
        const auto interval = settings_.whole("pipeline.activation_checkpoint_interval", draft_);
        if (interval && *interval > 0)
            take("pipeline.activation_checkpoint_interval", training_.recompute, Recompute::full,
                 "training.recompute");
        else if (settings_.has("activation_checkpointing"))
            draft_.ignore(settings_.origin("activation_checkpointing"),
                          "whether activations are recomputed stands in the model's code: --set "
                          "training.recompute=full");
    }

    void batches()
    {
        BatchSizes sizes;
        sizes.all_name = "train_batch_size";
        sizes.micro_name = "train_micro_batch_size_per_gpu";
        sizes.accumulation_name = "gradient_accumulation_steps";
        sizes.all = settings_.whole(sizes.all_name, draft_);
        sizes.micro = settings_.whole(sizes.micro_name, draft_);
        sizes.accumulation = settings_.whole(sizes.accumulation_name, draft_);
        sizes.origin = settings_.origin(sizes.all     ? sizes.all_name
                                        : sizes.micro ? sizes.micro_name
                                                      : sizes.accumulation_name);
        if (sizes.micro)
            sizes.micro_origin = settings_.origin(sizes.micro_name);
        const bool nothing = !sizes.all && !sizes.micro && !sizes.accumulation;
        if (!nothing)
            take_trainers(sizes);
        constexpr std::int64_t trainers_usual = 8;
        sizes.usual_micro = after_trainer_ ? trainers_usual : 1;
        sizes.whose_default = after_trainer_ ? "Hugging Face Trainer's" : "DeepSpeed's";
        // What the trainer's arguments said stands where all is "auto".
        if (!nothing || training_.global_batch == 0)
            settle_batches(sizes, context_);
    }

    // Where it states some of the sizes, the trainer's arguments state the others.
    void take_trainers(BatchSizes& sizes)
    {
        if (!after_trainer_ || training_.global_batch == 0 || (sizes.all && sizes.accumulation))
            return;
        const std::int64_t pass = training_.micro_batch * context_.replicas();
        if (!sizes.all && !sizes.accumulation && pass > 0)
            sizes.accumulation = training_.global_batch / pass;
        if (!sizes.micro) {
            sizes.micro = training_.micro_batch;
            sizes.micro_origin = Origin{0, "the trainer's arguments"};
        }
    }

    void list_unseen()
    {
        const SoughtNames sought = settings_.sought();
        for (const Unseen& unseen : settings_.unseen()) {
            if (const auto why = why_aside(settings_aside, unseen.name))
                draft_.ignore(unseen.origin, *why);
            else
                draft_.ignore_unknown(unseen.origin, unseen.name, sought);
        }
    }

    SettingTree& settings_;
    JobContext& context_;
    JobDraft& draft_;
    Training& training_;
    Strategy& strategy_;
    bool after_trainer_ = false; // whose arguments stand for "auto"
};

} // namespace

void read_deepspeed(SettingTree& settings, JobContext& context)
{
    DeepSpeedReader(settings, context).read();
}

void read_deepspeed_job(const std::string& text, JobContext& context)
{
    JobDraft& draft = context.draft;
    const Checked<Json> json = parse_json(text, draft.file());
    if (!json) {
        append(draft.problems, json.error());
        return;
    }
    if (!json->is_object()) {
        draft.refuse({}, fmt::format("expected an object of settings, found {}", json->kind_name()),
                     "a DeepSpeed configuration, e.g. {\"train_batch_size\": 64}");
        return;
    }
    SettingTree settings(*json);
    read_deepspeed(settings, context);
    constexpr std::string_view length = "training.sequence_length";
    const bool stated = std::any_of(context.options.changes.begin(), context.options.changes.end(),
                                    [&](const Override& change) { return change.field == length; });
    if (stated)
        return;
    const bool fewer = shortened_to_positions(draft);
    draft.assume(fmt::format("sequences of {} tokens{}: a DeepSpeed configuration does not say "
                             "(--set {}=4096 does)",
                             draft.scenario.training.sequence_length,
                             fewer ? ", as many as the model has positions" : "", length));
}

} // namespace trainyard
