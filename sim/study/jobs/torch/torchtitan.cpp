#include "sim/study/jobs/torch/torchtitan.h"

#include "sim/base/spelling.h"
#include "sim/base/words.h"
#include "sim/study/jobs/job_readers.h"
#include "sim/study/jobs/job_sizes.h"
#include "sim/study/jobs/named_model.h"
#include "sim/study/problems.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

// Settings without a bearing on a step, by how they begin.
constexpr std::string_view aside_settings =
    "fault_tolerance job profiling profiler metrics checkpoint lr_scheduler validation validator "
    "loss.loss_fn comm debug dataloader tokenizer experimental.custom_import dump_folder "
    "hf_assets_path optimizer. model.tokenizer training.dataset training.steps training.max_norm "
    "training.gc_";

class TitanReader {
public:
    TitanReader(SettingTree& settings, JobContext& context)
        : settings_(settings),
          context_(context),
          draft_(context.draft),
          training_(context.draft.scenario.training),
          strategy_(context.draft.scenario.strategy)
    {}

    void read()
    {
        model();
        software();
        precision();
        parallel_sizes();
        if (has_errors(draft_.problems))
            return;
        read_titan_registry(settings_, draft_);
        read_titan_pipeline(settings_, draft_);
        data_parallel_sizes();
        batches();
        sharding();
        recompute();
        optimizer();
        list_unseen();
    }

private:
    template <class T, class V>
    void take(std::string_view name, T& field, V value, std::string_view place)
    {
        draft_.take(field, std::move(value), place, settings_.origin(name));
    }

    // The first of the names that is there: sections moved between releases.
    std::string first_of(std::initializer_list<std::string_view> names)
    {
        for (const std::string_view name : names)
            if (settings_.has(name))
                return std::string(name);
        return std::string(*names.begin());
    }

    template <class T>
    void take_whole(std::initializer_list<std::string_view> names, T& field, std::string_view place)
    {
        const std::string name = first_of(names);
        if (const auto value = settings_.whole(name, draft_))
            take(name, field, *value, place);
    }

    void model()
    {
        const std::string flavor_name = first_of({"model.flavor", "model_spec.flavor"});
        const auto family =
            settings_.text(first_of({"model.name", "model_spec.name"}), draft_).value_or("llama3");
        const auto flavor = settings_.text(flavor_name, draft_);
        if (family.starts_with("flux")) {
            draft_.refuse(settings_.origin(first_of({"model.name", "model_spec.name"})),
                          "a diffusion model of images is not modelled",
                          "decoders of text are: llama3, llama4, deepseek_v3, qwen3, ...");
            return;
        }
        if (draft_.scenario.model.given() || draft_.model || has_errors(draft_.problems))
            return;
        const auto published = settings_.text("hf_transformers.model", draft_);
        if (published && flavor.value_or("full") == "full") {
            take_named_model(*published, settings_.origin("hf_transformers.model"), context_);
            require_model(context_, "settings of torchtitan");
            return;
        }
        if (!flavor) {
            draft_.refuse({}, "no model flavor is stated",
                          "model.flavor, e.g. \"8B\"; or give the model beside: --model FILE");
            return;
        }
        const TitanFlavor* const known = find_titan_flavor(family, *flavor);
        // A configuration of a family of its own may be called as a published model is.
        const bool shipped = known == nullptr &&
                             plain_name(family).ends_with(plain_name(*flavor)) &&
                             !shipped_model_named(family).empty();
        if (shipped || (known == nullptr && flavor->find('/') != std::string::npos)) {
            take_named_model(shipped ? family : *flavor, settings_.origin(flavor_name), context_);
            require_model(context_, "settings of torchtitan");
            return;
        }
        const TitanFlavor* const nearest =
            known != nullptr ? known : nearest_titan_flavor(family, *flavor);
        if (nearest == nullptr) {
            draft_.refuse(
                settings_.origin(flavor_name),
                fmt::format("{} {} is no model known here", family, *flavor),
                fmt::format("known: {}; give another beside: --model FILE", titan_flavor_names()));
            return;
        }
        if (known == nullptr)
            draft_.assume(settings_.origin(flavor_name),
                          fmt::format("of the sizes of {} {}", nearest->family, nearest->flavor));
        Model out;
        out.name = fmt::format("{}-{}", family, *flavor);
        out.architecture = nearest->model;
        draft_.model = std::move(out);
        draft_.understand(settings_.origin(flavor_name), "model " + draft_.model->name);
    }

    // torchtitan compiles the model and the loss unless the list says otherwise.
    bool compiles(std::string_view component)
    {
        const Json* list = settings_.find("compile.components");
        return list == nullptr || !list->is_array() ||
               std::ranges::any_of(list->items(), [&](const Json& item) {
                   return item.is_string() && item.as_string() == component;
               });
    }

    void software()
    {
        const std::string name = first_of({"compile.enable", "training.compile"});
        const bool compiled = settings_.flag(name, draft_).value_or(false);
        const bool model = compiled && compiles("model");
        const bool loss = compiled && compiles("loss");
        SoftwareChoice& software = draft_.scenario.software;
        software.framework = model ? "torchtitan" : "torch-fsdp";
        if (settings_.has(name))
            take(name, software.framework, software.framework, "software.framework");
        else
            draft_.assume("torch.compile off, torchtitan's default");
        software.version = "2025";
        if (loss != model)
            take("compile.components", software.loss,
                 loss ? LossKernel::fused : LossKernel::log_softmax, "software.loss");
        if (settings_.flag("loss.chunked", draft_).value_or(false)) {
            take("loss.chunked", software.loss, LossKernel::in_place, "software.loss");
            draft_.flag(settings_.origin("loss.chunked"),
                        "logits are made a part at a time, modelled whole: they take less memory");
        }
        if (settings_.has("model_spec.flavor") && !settings_.has("model_spec.attn_backend"))
            draft_.assume("attention by scaled_dot_product_attention, the default of torchtitan's "
                          "registries until 0.3, where it is flex_attention (--set "
                          "software.attention=triton)");
    }

    bool has_converter(std::string_view word)
    {
        bool found = false;
        for (const std::string_view name : {"model.converters", "model_converters.converters"})
            if (const Json* list = settings_.find(name); list && list->is_array())
                for (const Json& item : list->items())
                    found = found || (item.is_string() &&
                                      plain_name(item.as_string()).find(word) != std::string::npos);
        return found;
    }

    void precision()
    {
        const std::string name = "training.mixed_precision_param";
        if (const auto type = settings_.text(name, draft_))
            take(name, training_.precision, *type == "float32" ? Precision::fp32 : Precision::bf16,
                 "training.precision");
        if (const auto type = settings_.text("training.dtype", draft_);
            type == "bfloat16" && !settings_.has(name))
            draft_.flag("training.dtype bfloat16: optimizer states in 16 bit are not modelled, "
                        "taken as those of mixed precision");
        const std::string converters =
            first_of({"model.converters", "model_converters.converters"});
        if (has_converter("nvfp4"))
            take(converters, training_.precision, Precision::nvfp4, "training.precision");
        else if (has_converter("mx"))
            take(converters, training_.precision, Precision::mxfp8, "training.precision");
        else if (has_converter("float8"))
            take(converters, training_.precision, Precision::fp8, "training.precision");
        else if (settings_.flag("float8.enable_float8_linear", draft_).value_or(false))
            take("float8.enable_float8_linear", training_.precision, Precision::fp8,
                 "training.precision");
        training_.fp32_gradients = true;
        if (const auto type = settings_.text("training.mixed_precision_reduce", draft_))
            take("training.mixed_precision_reduce", training_.fp32_gradients,
                 *type == "float32" || training_.precision == Precision::fp32,
                 "training.fp32_gradients");
    }

    void parallel_sizes()
    {
        take_whole({"parallelism.tensor_parallel_degree", "training.tensor_parallel_degree"},
                   strategy_.tp, "strategy.tp");
        take_whole(
            {"parallelism.pipeline_parallel_degree", "experimental.pipeline_parallel_degree"},
            strategy_.pp, "strategy.pp");
        take_whole({"parallelism.context_parallel_degree", "experimental.context_parallel_degree"},
                   strategy_.cp, "strategy.cp");
        const std::string rotation = "parallelism.context_parallel_rotate_method";
        const auto method = settings_.text(rotation, draft_);
        if (method && strategy_.cp > 1)
            take(rotation, strategy_.context.kind,
                 *method == "alltoall" ? ContextKind::ring : ContextKind::all_gather,
                 "strategy.context.kind");
        take_whole({"parallelism.expert_parallel_degree"}, strategy_.ep, "strategy.ep");
        take_whole({"parallelism.expert_tensor_parallel_degree"}, strategy_.etp, "strategy.etp");
        const std::string asynchronous = first_of({"parallelism.enable_async_tensor_parallel",
                                                   "compile.enable_async_tensor_parallel",
                                                   "experimental.enable_async_tensor_parallel"});
        const bool decomposed = settings_.flag(asynchronous, draft_).value_or(false);
        const std::string along = "parallelism.enable_sequence_parallel";
        const bool sequence = settings_.flag(along, draft_).value_or(true);
        if (strategy_.tp < 2)
            return;
        strategy_.overlap.tp = decomposed;
        if (decomposed)
            take(asynchronous, strategy_.overlap.tp, true, "strategy.overlap.tp");
        strategy_.sequence_parallel = sequence;
        if (settings_.has(along))
            take(along, strategy_.sequence_parallel, sequence, "strategy.sequence_parallel");
        else
            draft_.assume("sequence parallelism with TP, torchtitan's default");
    }

    // For a cluster that nothing states.
    void data_parallel_sizes()
    {
        copies_name_ = first_of({"parallelism.data_parallel_replicate_degree",
                                 "training.data_parallel_replicate_degree"});
        shards_name_ =
            first_of({"parallelism.data_parallel_shard_degree",
                      "training.data_parallel_shard_degree", "training.data_parallel_degree"});
        const std::int64_t copies = settings_.whole(copies_name_, draft_).value_or(1);
        const std::int64_t shards = settings_.whole(shards_name_, draft_).value_or(-1);
        constexpr std::int64_t most = 1'000'000;
        if (copies < 1 || copies > most || shards > most)
            return;
        draft_.size.copies = copies;
        if (shards >= 1)
            draft_.size.replicas = copies * shards;
    }

    void sharding()
    {
        const std::int64_t copies = settings_.whole(copies_name_, draft_).value_or(1);
        std::int64_t shards = settings_.whole(shards_name_, draft_).value_or(-1);
        const std::int64_t replicas = context_.replicas();
        if (replicas == 0)
            return; // told elsewhere
        if (copies < 1 || (shards < 1 && shards != -1) || replicas % copies != 0) {
            draft_.refuse(
                settings_.origin(copies < 1 || shards == -1 ? copies_name_ : shards_name_),
                fmt::format("does not divide the {} data-parallel ranks", replicas), "");
            return;
        }
        if (shards == -1)
            shards = replicas / copies;
        if (copies * shards != replicas) {
            draft_.refuse(settings_.origin(shards_name_),
                          fmt::format("{} x {} (replicate x shard) data-parallel ranks, the GPUs "
                                      "make {}",
                                      copies, shards, replicas),
                          "-1 takes what is left; or other GPUs (--gpu, --nodes, --topology)");
            return;
        }
        // FSDP shards over context-parallel ranks too.
        const bool sharded = shards * strategy_.cp > 1;
        draft_.take(strategy_.zero, sharded ? 3 : 0, "strategy.zero",
                    settings_.origin(shards > 1 ? shards_name_ : copies_name_));
        if (sharded && copies > 1)
            draft_.take(strategy_.shard_group, shards * strategy_.cp, "strategy.shard_group",
                        settings_.origin(copies_name_));
        const std::string offload = "training.enable_cpu_offload";
        if (settings_.flag(offload, draft_).value_or(false)) {
            take(offload, strategy_.offload.parameters, OffloadTarget::cpu,
                 "strategy.offload.parameters");
            take(offload, strategy_.offload.optimizer, OffloadTarget::cpu,
                 "strategy.offload.optimizer");
        }
        reshard();
    }

    void reshard()
    {
        const std::string name = first_of(
            {"parallelism.fsdp_reshard_after_forward", "training.fsdp_reshard_after_forward"});
        const std::string policy = settings_.text(name, draft_).value_or("default");
        if (strategy_.zero != 3)
            return;
        if (policy != "default")
            take(name, strategy_.reshard_after_forward, policy == "always",
                 "strategy.reshard_after_forward");
    }

    void batches()
    {
        take_whole({"training.seq_len"}, training_.sequence_length, "training.sequence_length");
        const std::string local_name =
            first_of({"training.local_batch_size", "training.batch_size"});
        const auto local = settings_.whole(local_name, draft_);
        const auto all = settings_.whole("training.global_batch_size", draft_);
        const std::string pass_name = "parallelism.pipeline_parallel_microbatch_size";
        const auto pass = settings_.whole(pass_name, draft_);
        constexpr std::int64_t usual = 8;
        if (!local)
            draft_.assume("local batch of 8 sequences, torchtitan's default");
        BatchSizes sizes;
        sizes.all_name = "global_batch_size";
        sizes.micro_name = "local_batch_size";
        sizes.whose_default = "torchtitan's";
        sizes.accumulation_name = "accumulation";
        sizes.micro = local.value_or(usual);
        if (all && *all > 0)
            sizes.all = all;
        sizes.origin = settings_.origin(sizes.all ? "training.global_batch_size" : local_name);
        if (local)
            sizes.micro_origin = settings_.origin(local_name);
        settle_batches(sizes, context_);
        if (strategy_.pp > 1 && training_.global_batch > 0) {
            training_.micro_batch = std::max<std::int64_t>(1, pass.value_or(1));
            if (pass)
                take(pass_name, training_.micro_batch, *pass, "training.micro_batch");
            else
                draft_.assume("pipeline passes of 1 sequence, torchtitan's default");
        }
    }

    void recompute()
    {
        const std::string name = "activation_checkpoint.mode";
        const auto mode = settings_.text(name, draft_);
        const auto option = settings_.text("activation_checkpoint.selective_ac_option", draft_);
        if (mode == "none")
            take(name, training_.recompute, Recompute::none, "training.recompute");
        else if (mode == "full")
            take(name, training_.recompute, Recompute::full, "training.recompute");
        else if ((!mode || mode == "selective") && option == "op") {
            training_.recompute_modules = {RecomputeModule::per_op};
            take("activation_checkpoint.selective_ac_option", training_.recompute,
                 Recompute::selective, "training.recompute");
        } else if (!mode || mode == "selective") {
            const int every = option && option->size() == 1 && *option >= "1" && *option <= "9"
                                  ? option->front() - '0'
                                  : 2;
            training_.recompute = Recompute::full;
            training_.recompute_layers = layers_recomputed(draft_, every);
            draft_.assume(settings_.origin(name),
                          fmt::format("selective recompute as {} layers of each device in full",
                                      *training_.recompute_layers));
        } else
            draft_.refuse(settings_.origin(name), "is not modelled", "none, selective or full");
    }

    // "AdamW", or those of groups of parameters: Muon leaves the others to Adam anyway.
    void optimizer()
    {
        std::string where = "optimizer.name";
        std::string name = settings_.text(where, draft_).value_or("");
        const Json* const groups = settings_.find("optimizer.param_groups");
        if (name.empty() && groups != nullptr && groups->is_array())
            for (const Json& group : groups->items()) {
                const Json* const said = group.find("optimizer_name");
                if (said == nullptr || !said->is_string() || name.find("Muon") != std::string::npos)
                    continue;
                where = "optimizer.param_groups";
                name = said->as_string();
            }
        if (name.empty())
            return;
        if (name == "Adam" || name == "AdamW")
            take(where, training_.optimizer, Optimizer::adam, "training.optimizer");
        else if (name == "Muon" || name == "DistMuon")
            take(where, training_.optimizer, Optimizer::muon, "training.optimizer");
        else
            draft_.refuse(settings_.origin(where), "is not modelled", "Adam, AdamW or Muon");
    }

    void list_unseen()
    {
        const SoughtNames sought = settings_.sought();
        for (const Unseen& unseen : settings_.unseen()) {
            const std::string_view setting = unseen.name;
            if (any_word(aside_settings,
                         [&](std::string_view start) { return setting.starts_with(start); }))
                draft_.ignore(unseen.origin, "no part of a step's time");
            else
                draft_.ignore_unknown(unseen.origin, unseen.name, sought);
        }
    }

    SettingTree& settings_;
    JobContext& context_;
    JobDraft& draft_;
    Training& training_;
    Strategy& strategy_;
    std::string copies_name_; // as this release calls the replicas and the shards
    std::string shards_name_;
};

} // namespace

void read_torchtitan(SettingTree& settings, JobContext& context)
{
    TitanReader(settings, context).read();
}

} // namespace trainyard
