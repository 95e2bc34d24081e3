// Batches, number formats, recompute and optimizer of Megatron-LM's arguments.

#include "sim/base/fields.h"
#include "sim/base/spelling.h"
#include "sim/study/graph_scopes.h"
#include "sim/study/jobs/megatron/megatron.h"
#include "sim/study/jobs/nearest_optimizer.h"

#include <algorithm>

namespace trainyard {
namespace {

class TrainingReader {
public:
    explicit TrainingReader(MegatronReader& reader)
        : reader_(reader),
          values_(reader.values),
          draft_(reader.draft),
          training_(reader.draft.scenario.training)
    {}

    void read()
    {
        batches();
        precision();
        formats();
        gradients();
        buckets();
        recompute();
        optimizer();
        states();
        attention();
    }

private:
    template <class T, class V>
    void take(std::string_view name, T& field, V value, std::string_view place)
    {
        draft_.take(field, std::move(value), place, values_.origin(name));
    }

    void batches()
    {
        sequence();
        values_.take("--micro-batch-size", training_.micro_batch, "training.micro_batch");
        if (!values_.whole("--micro-batch-size"))
            draft_.assume("micro-batch 1: no --micro-batch-size");
        // Its default is one micro-batch per replica: known once the replicas are.
        values_.take("--global-batch-size", training_.global_batch, "training.global_batch");
        // GPT-NeoX's, as DeepSpeed calls them.
        constexpr std::string_view accumulation = "--gradient-accumulation-steps";
        const auto passes = values_.whole(accumulation);
        constexpr std::int64_t most = 1'000'000;
        if (passes && *passes >= 1 && *passes <= most)
            take_accumulation(accumulation, *passes);
        else if (passes)
            draft_.refuse(values_.origin(accumulation), "is no number of micro-batches",
                          "1 to 1000000");
    }

    void take_accumulation(std::string_view name, std::int64_t passes)
    {
        draft_.size.accumulation = passes;
        draft_.understand(values_.origin(name), "micro-batches of a step");
    }

    // The decoder has its own beside that of an encoder. Older releases: --encoder-seq-length;
    // ms-swift: --max-length.
    void sequence()
    {
        for (const std::string_view name :
             {"--decoder-seq-length", "--seq-length", "--encoder-seq-length", "--max-length"})
            if (reader_.arguments.contains(name)) {
                const auto length = values_.whole(name);
                if (length)
                    take(name, training_.sequence_length, *length, "training.sequence_length");
                else
                    values_.refuse_missing(name, "a launch of Megatron-LM has it");
                return;
            }
        const std::string_view positions = "--max-position-embeddings";
        if (const auto rows = values_.whole(positions)) {
            take(positions, training_.sequence_length, *rows, "training.sequence_length");
            draft_.assume("sequences as long as there are positions: no --seq-length");
        } else if (reader_.described)
            values_.refuse_missing("--seq-length", "a launch of Megatron-LM has it");
        else
            draft_.assume(fmt::format("sequences of {} tokens: no argument says (--set "
                                      "training.sequence_length=4096 does)",
                                      training_.sequence_length));
    }

    void precision()
    {
        const std::string fp8 = values_.text("--fp8-format");
        const std::string fp4 = values_.text("--fp4-format");
        if (values_.on("--bf16") && values_.on("--fp16"))
            draft_.refuse(values_.origin("--fp16"), "--bf16 is given too", "keep one of them");
        for (const std::string_view old : {"--fp8-hybrid", "--fp8-e4m3"})
            if (fp8.empty() && values_.on(old))
                take(old, training_.precision, Precision::fp8, "training.precision");
        if (!fp4.empty())
            take("--fp4-format", training_.precision, Precision::nvfp4, "training.precision");
        else if (!fp8.empty())
            take("--fp8-format", training_.precision, fp8_recipe(), "training.precision");
        if (training_.precision != Precision::bf16) {
            values_.on("--bf16");
            values_.on("--fp16");
        } else if (values_.on("--bf16"))
            take("--bf16", training_.precision, Precision::bf16, "training.precision");
        else if (values_.on("--fp16"))
            take("--fp16", training_.precision, Precision::fp16, "training.precision");
        else if (reader_.described) {
            training_.precision = Precision::fp32;
            draft_.assume("fp32: neither --bf16 nor --fp16");
        } else
            draft_.assume("bf16, in which the model is published: neither --bf16 nor --fp16");
    }

    // Parameters in the narrow format, and the layers that stay out of it.
    void formats()
    {
        NumberFormats& formats = training_.formats;
        const bool narrow =
            training_.precision == Precision::fp8 || training_.precision == Precision::fp8_block ||
            training_.precision == Precision::mxfp8 || training_.precision == Precision::nvfp4;
        const bool gathered = values_.on("--fp8-param-gather") || values_.on("--fp4-param-gather");
        const auto first = values_.whole("--num-layers-at-start-in-bf16");
        const auto last = values_.whole("--num-layers-at-end-in-bf16");
        const bool wide_ends = values_.on("--first-last-layers-bf16");
        if (!narrow)
            return;
        formats.parameter_gather = gathered;
        if (!wide_ends)
            return;
        take("--first-last-layers-bf16", formats.first_wide_layers, first.value_or(1),
             "training.formats.first_wide_layers");
        take("--first-last-layers-bf16", formats.last_wide_layers, last.value_or(1),
             "training.formats.last_wide_layers");
    }

    Precision fp8_recipe()
    {
        const std::string recipe = values_.text("--fp8-recipe");
        if (recipe == "mxfp8")
            return Precision::mxfp8;
        return recipe == "blockwise" ? Precision::fp8_block : Precision::fp8;
    }

    // bf16 accumulates and reduces in fp32 unless told otherwise.
    void gradients()
    {
        const bool reduced = values_.on("--grad-reduce-in-bf16");
        const bool asked = values_.on("--accumulate-allreduce-grads-in-fp32");
        const bool wide = !values_.on("--fp16") || training_.precision == Precision::fp32;
        constexpr std::string_view kept = "--main-grads-dtype"; // of a precision-aware optimizer
        const std::string format = values_.text(kept);
        const bool narrow = format == "bf16" || format == "fp16";
        if (narrow && !asked)
            take(kept, training_.fp32_gradients, false, "training.fp32_gradients");
        else if (reduced)
            take("--grad-reduce-in-bf16", training_.fp32_gradients, false,
                 "training.fp32_gradients");
        else if (asked)
            take("--accumulate-allreduce-grads-in-fp32", training_.fp32_gradients, true,
                 "training.fp32_gradients");
        else {
            training_.fp32_gradients = wide;
            if (!values_.on("--deepspeed")) // whose configuration says
                draft_.assume(fmt::format("gradients in {}, Megatron-LM's default",
                                          wide ? "fp32" : "16 bit"));
        }
    }

    // Counted in elements of the gradient buffer.
    void buckets()
    {
        const auto elements = values_.whole("--ddp-bucket-size");
        if (!elements)
            return;
        const int bytes =
            training_.fp32_gradients.value_or(true) ? 4 : storage_bytes(training_.precision);
        constexpr std::int64_t most = std::int64_t{1} << 50;
        if (*elements < 1 || *elements > most)
            draft_.refuse(values_.origin("--ddp-bucket-size"), "is no size of a bucket", "");
        else
            take("--ddp-bucket-size", draft_.scenario.strategy.bucket_cap,
                 Bytes(static_cast<std::uint64_t>(*elements) * static_cast<unsigned>(bytes)),
                 "strategy.bucket_cap");
    }

    void recompute()
    {
        const std::string granularity = values_.text("--recompute-granularity");
        const std::string method = values_.text("--recompute-method");
        const auto layers = values_.whole("--recompute-num-layers");
        if (values_.on("--recompute-activations"))
            take("--recompute-activations", training_.recompute, Recompute::selective,
                 "training.recompute");
        if (values_.on("--checkpoint-activations"))
            take("--checkpoint-activations", training_.recompute, Recompute::full,
                 "training.recompute");
        if (granularity == "selective")
            take("--recompute-granularity", training_.recompute, Recompute::selective,
                 "training.recompute");
        else if (granularity == "full") {
            take("--recompute-granularity", training_.recompute, Recompute::full,
                 "training.recompute");
            // per virtual stage
            if (method == "block" && layers)
                take("--recompute-num-layers", training_.recompute_layers,
                     static_cast<int>(std::min<std::int64_t>(*layers, 100'000)) *
                         draft_.scenario.strategy.vpp,
                     "training.recompute_layers");
            else if (layers && *layers > 1)
                draft_.assume(values_.origin("--recompute-num-layers"),
                              "the input of every layer is kept, not of one in so many");
        } else if (!granularity.empty() && granularity != "none")
            draft_.refuse(values_.origin("--recompute-granularity"), "is no granularity",
                          "full or selective");
        modules();
        experts_alone();
    }

    // Megatron-Core 0.11 has a switch of its own for the layers of experts.
    void experts_alone()
    {
        constexpr std::string_view name = "--moe-layer-recompute";
        if (!values_.on(name))
            return;
        if (training_.recompute == Recompute::full)
            return draft_.understand(values_.origin(name), "part of what is computed again");
        std::vector<RecomputeModule> modules = training_.recompute_modules;
        if (training_.recompute == Recompute::selective && modules.empty())
            modules.push_back(RecomputeModule::core_attn);
        if (std::ranges::find(modules, RecomputeModule::moe) == modules.end())
            modules.push_back(RecomputeModule::moe);
        training_.recompute = Recompute::selective;
        take(name, training_.recompute_modules, modules, "training.recompute_modules");
    }

    void modules()
    {
        if (training_.recompute != Recompute::selective)
            return;
        std::vector<RecomputeModule> modules;
        for (const std::string& name : values_.words("--recompute-modules"))
            if (const auto module = from_name<RecomputeModule>(name);
                module && is_of_megatron(*module))
                modules.push_back(*module);
            else
                draft_.refuse(values_.origin("--recompute-modules"),
                              fmt::format("\"{}\" is no module to recompute", name),
                              suggestion(name, FieldValue<RecomputeModule>::names()));
        if (!modules.empty())
            take("--recompute-modules", training_.recompute_modules, modules,
                 "training.recompute_modules");
    }

    void optimizer()
    {
        const std::string name = values_.text("--optimizer");
        if (name.empty())
            return;
        const auto nearest = nearest_optimizer(name);
        if (!nearest) {
            draft_.refuse(values_.origin("--optimizer"), "is not modelled",
                          "adam, sgd, adafactor or muon");
            return;
        }
        take("--optimizer", training_.optimizer, nearest->optimizer, "training.optimizer");
        if (!nearest->difference.empty())
            draft_.assume(values_.origin("--optimizer"), nearest->difference);
    }

    // States of the optimizer in other formats or places than those that are modelled.
    void states()
    {
        for (const std::string_view name :
             {"--exp-avg-dtype", "--exp-avg-sq-dtype", "--main-params-dtype"})
            if (const std::string format = values_.text(name); !format.empty() && format != "fp32")
                draft_.flag(values_.origin(name),
                            "the state is modelled in fp32, in more memory than it takes");
        if (values_.on("--use-precision-aware-optimizer"))
            draft_.understand(values_.origin("--use-precision-aware-optimizer"),
                              "formats of states where arguments beside it give them");
        constexpr std::string_view fraction = "--optimizer-offload-fraction";
        const auto part = values_.number(fraction);
        if (part && *part < 1 && values_.on("--optimizer-cpu-offload"))
            draft_.flag(values_.origin(fraction),
                        "part of the states stays on the device, modelled all on the host");
    }

    // Bias and activation: of gated MLPs and of others each has a switch of its own.
    void activation()
    {
        const auto* const model =
            draft_.model ? std::get_if<Transformer>(&draft_.model->architecture) : nullptr;
        const bool gated = model != nullptr && model->gated_mlp;
        const std::string_view name = gated ? "--no-bias-swiglu-fusion" : "--no-bias-gelu-fusion";
        if (values_.on(name))
            take(name, draft_.scenario.software.fused_elementwise, false,
                 "software.fused_elementwise");
    }

    void attention()
    {
        std::optional<AttentionKernel>& kernel = draft_.scenario.software.attention;
        const std::string backend = values_.text("--attention-backend");
        if (backend == "flash" || backend == "fused" || backend == "unfused" || backend == "local")
            take("--attention-backend", kernel,
                 backend == "flash"   ? AttentionKernel::flash2
                 : backend == "fused" ? AttentionKernel::cudnn
                                      : AttentionKernel::unfused,
                 "software.attention");
        else if (const std::string_view flash =
                     values_.either("--use-flash-attn", "--use-flash-attn-v2");
                 values_.on(flash))
            take(flash, kernel, AttentionKernel::flash2, "software.attention");
        else if (values_.text("--transformer-impl") == "local")
            take("--transformer-impl", kernel, AttentionKernel::unfused, "software.attention");
        activation();
        if (values_.on("--cross-entropy-loss-fusion"))
            take("--cross-entropy-loss-fusion", draft_.scenario.software.fused_loss, true,
                 "software.fused_loss");
        const std::string graphs = values_.text("--cuda-graph-impl");
        const bool captured = values_.on("--enable-cuda-graph") ||
                              values_.on("--external-cuda-graph") ||
                              (!graphs.empty() && graphs != "none");
        if (!captured)
            return;
        const std::string_view scope = "--cuda-graph-scope";
        const std::vector<std::string> scopes = values_.words(scope);
        for (const std::string& one : scopes)
            if (!is_graph_scope(one))
                draft_.refuse(values_.origin(scope), fmt::format("{} is no scope", one),
                              "attn, mamba, mlp, moe, moe_router, moe_preprocess, full_iteration");
        capture_scopes(draft_.scenario.software, scopes);
        if (!scopes.empty())
            draft_.understand(values_.origin(scope), "software.graphed_parts");
        if (draft_.scenario.software.cuda_graphs)
            draft_.understand(
                values_.origin(graphs.empty()
                                   ? values_.either("--enable-cuda-graph", "--external-cuda-graph")
                                   : "--cuda-graph-impl"),
                "software.cuda_graphs true");
    }

    MegatronReader& reader_;
    ArgumentValues& values_;
    JobDraft& draft_;
    Training& training_;
};

} // namespace

void read_megatron_training(MegatronReader& reader)
{
    TrainingReader(reader).read();
}

} // namespace trainyard
