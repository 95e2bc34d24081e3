#include "sim/study/jobs/torch/trainer_formats.h"

#include "sim/base/words.h"
#include "sim/study/jobs/training_purpose.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

constexpr std::array<std::string_view, 4> transformers_words{
    "--per-device-train-batch-size", "--model-name-or-path", "--pretrained-model-name-or-path",
    "--base-model"};

class TrainerFormats {
public:
    TrainerFormats(Arguments& arguments, JobDraft& draft)
        : arguments_(arguments),
          values_(arguments, draft),
          draft_(draft),
          training_(draft.scenario.training)
    {}

    void precision()
    {
        const std::string mixed = values_.text("--mixed-precision");
        for (const std::string_view other : {"--bf16", "--fp16", "--tf32"})
            values_.on(other); // looked at, whichever says it first
        if (mixed == "fp8" || values_.on("--fp8")) {
            take(mixed == "fp8" ? "--mixed-precision" : "--fp8", training_.precision,
                 Precision::fp8, "training.precision");
            if (values_.on("--fp8-enable-fsdp-float8-all-gather"))
                take("--fp8-enable-fsdp-float8-all-gather", training_.formats.parameter_gather,
                     true, "training.formats.parameter_gather");
        } else if (mixed == "bf16" || mixed == "fp16")
            take("--mixed-precision", training_.precision,
                 mixed == "bf16" ? Precision::bf16 : Precision::fp16, "training.precision");
        else if (values_.on("--pure-bf16")) {
            take("--pure-bf16", training_.precision, Precision::bf16, "training.precision");
            draft_.flag(values_.origin("--pure-bf16"),
                        "parameters and states of the optimizer are in bf16 alone, modelled with "
                        "copies in fp32: they take less memory");
        } else if (values_.on("--bf16"))
            take("--bf16", training_.precision, Precision::bf16, "training.precision");
        else if (values_.on("--fp16"))
            take("--fp16", training_.precision, Precision::fp16, "training.precision");
        else if (values_.on("--tf32"))
            take("--tf32", training_.precision, Precision::tf32, "training.precision");
        else if (loaded_narrow())
            return;
        else if (draft_.settings_elsewhere) {
            training_.precision = Precision::bf16;
            draft_.assume("bf16: the file that may say is not there");
        } else {
            training_.precision = Precision::fp32;
            draft_.assume("fp32: neither --bf16 nor --fp16");
        }
    }

    // Weights that are loaded in 16 bit are computed with and kept so. DeepSpeed-Chat's
    // word is that of the configuration it makes.
    bool loaded_narrow()
    {
        for (const std::string_view name : {"--torch-dtype", "--dtype", "--precision"}) {
            const std::string said = lower_case(values_.text(name));
            const bool brain = said.find("bf16") != std::string::npos ||
                               said.find("bfloat16") != std::string::npos;
            const bool mixed =
                said.find("amp") != std::string::npos || said.find("mixed") != std::string::npos ||
                (name == "--dtype" && draft_.scenario.software.framework == "deepspeed");
            if (!brain && said.find("16") == std::string::npos)
                continue;
            take(name, training_.precision, brain ? Precision::bf16 : Precision::fp16,
                 "training.precision");
            if (!mixed)
                draft_.flag(values_.origin(name),
                            "parameters and states of the optimizer are in 16 bit alone, modelled "
                            "with copies in fp32: they take less memory");
            return true;
        }
        return false;
    }

    // Kernels that make the logits a part at a time, whose gradients take their place.
    void loss()
    {
        std::optional<LossKernel>& kernel = draft_.scenario.software.loss;
        for (const std::string_view name :
             {"--use-liger-kernel", "--enable-liger-kernel", "--use-liger", "--liger-kernel",
              "--liger-fused-linear-cross-entropy", "--cut-cross-entropy",
              "--chunked-cross-entropy"})
            if (values_.on(name) && !kernel) {
                take(name, kernel, LossKernel::in_place, "software.loss");
                draft_.flag(values_.origin(name), "logits are made a part at a time, modelled "
                                                  "whole: they take less memory");
            }
    }

    // Hugging Face's word for it, LLaMA-Factory's, and switches of scripts and axolotl.
    void attention()
    {
        std::optional<AttentionKernel>& kernel = draft_.scenario.software.attention;
        constexpr std::string_view place = "software.attention";
        for (const std::string_view name :
             {"--attn-implementation", "--attn-impl", "--attention-implementation", "--flash-attn"})
        {
            const Argument* const there = arguments_.last(name);
            if (there == nullptr || there->values.empty())
                continue; // a switch
            const std::string said = values_.text(name);
            if (said.find("flash") != std::string::npos || said.starts_with("fa")) {
                take(name, kernel, AttentionKernel::flash2, place);
                if (said.find('3') != std::string::npos)
                    draft_.assume(values_.origin(name), "as FlashAttention 2");
            } else if (said == "flex_attention" || said == "triton")
                take(name, kernel, AttentionKernel::triton, place);
            else if (said == "sdpa" || said == "auto")
                take(name, kernel, AttentionKernel::sdpa, place);
            else if (said == "eager" || said == "disabled" || said == "torch")
                take(name, kernel, AttentionKernel::unfused, place);
        }
        for (const std::string_view name :
             {"--flash-attn", "--flash-attention", "--use-flash-attn", "--use-flash-attention",
              "--use-flash-attention-2", "--use-flash-attn-2"})
            if (!kernel && values_.on(name))
                take(name, kernel, AttentionKernel::flash2, place);
        if (!kernel && values_.on("--sdp-attention"))
            take("--sdp-attention", kernel, AttentionKernel::sdpa, place);
        if (!kernel && is_of_transformers() && !has_encoder()) {
            kernel = AttentionKernel::sdpa;
            draft_.assume("attention by scaled_dot_product_attention (sdpa), the default of "
                          "transformers since 4.36 for models that have it");
        }
    }

    // What only programs with Hugging Face's models say.
    bool is_of_transformers() const
    {
        return std::ranges::any_of(
            transformers_words, [&](std::string_view name) { return arguments_.contains(name); });
    }

    // T5 and its kind compute attention op by op in transformers: their positions are a bias.
    bool has_encoder() const
    {
        const auto* const model =
            draft_.model ? std::get_if<Transformer>(&draft_.model->architecture) : nullptr;
        return model != nullptr && !model->encoders.empty();
    }

private:
    template <class T, class V>
    void take(std::string_view name, T& field, V value, std::string_view place)
    {
        draft_.take(field, std::move(value), place, values_.origin(name));
    }

    Arguments& arguments_;
    ArgumentValues values_;
    JobDraft& draft_;
    Training& training_;
};

} // namespace

void read_trainer_precision(Arguments& arguments, JobDraft& draft)
{
    TrainerFormats(arguments, draft).precision();
}

void read_trainer_kernels(Arguments& arguments, JobDraft& draft)
{
    TrainerFormats formats(arguments, draft);
    formats.attention();
    formats.loss();
}

} // namespace trainyard
