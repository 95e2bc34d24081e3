// Words of Megatron-LM's older releases and of its forks.

#include "tests/unit/study/jobs/importing.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

// A small decoder on eight GPUs.
const std::string small_decoder =
    " --num-layers 8 --hidden-size 1024 --num-attention-heads 16 "
    "--seq-length 512 --max-position-embeddings 512 --micro-batch-size 2 "
    "--global-batch-size 64 --bf16 ";

ImportedJob started(const std::string& program, const std::string& more)
{
    return imported(JobKind::megatron,
                    "torchrun --nproc_per_node 8 " + program + small_decoder + more, on_h100(1));
}

ImportedJob with_words(const std::string& more)
{
    return started("pretrain_gpt.py", more);
}

} // namespace

TEST_CASE("an unknown argument that names a part of a step is flagged, not one of the ignored")
{
    const ImportedJob job = with_words("--triangle-attn --deepnorm --checkpoint-in-cpu "
                                       "--untie-odd-layers --moe-frobnicate 3 --frobnicate 3");
    for (const char* const name : {"--triangle-attn", "--deepnorm", "--checkpoint-in-cpu",
                                   "--untie-odd-layers", "--moe-frobnicate 3"})
    {
        CHECK(says(job.notes.flagged, name));
        CHECK(!says(job.notes.ignored, name));
    }
    CHECK(says(job.notes.ignored, "--frobnicate 3: not known here"));
    const ImportedJob trainer = as_recognised(
        "torchrun --nproc_per_node 8 train.py --model_name_or_path gpt2 --bf16 --lora_alpha 3 "
        "--per_device_train_batch_size 1 --tiled_mlp true --mixed_precision bf16\n");
    CHECK(says(trainer.notes.flagged, "--tiled-mlp true"));
    CHECK(says(trainer.notes.ignored, "--lora-alpha 3: of the learning"));
    CHECK(!says(trainer.notes.ignored, "--bf16"));
}

TEST_CASE("arguments that are known to change neither time nor memory stay ignored")
{
    const ImportedJob job = with_words(
        "--save-checkpoint-every 5 --ckpt-format torch --dist-ckpt-strictness log_all "
        "--layernorm-epsilon 1e-5 --init-method-std 0.02 --verify-checkpoint --use-checkpoint-args "
        "--override-lr-scheduler --no-decay-norm-bias --no-query-key-layer-scaling "
        "--mtp-loss-scaling-factor 0.1 --log-batch-size-to-tensorboard --rampup-batch-size 8 8 9 "
        "--use-fused-rmsnorm --DDP-impl local");
    CHECK(job.notes.flagged.empty());
    CHECK(says(job.notes.ignored, "--no-decay-norm-bias: of the learning"));
    CHECK(says(job.notes.ignored, "--rampup-batch-size 8 8 9: of the first steps"));
}

TEST_CASE("recompute has other names in older releases and forks")
{
    const ImportedJob uniform = with_words("--activations-checkpoint-method uniform");
    CHECK(uniform.job.training.recompute == Recompute::full);
    CHECK(!uniform.job.training.recompute_layers);
    CHECK(says(uniform.notes.understood,
               "--activations-checkpoint-method uniform -> training.recompute full"));
    const ImportedJob block = with_words("--activations-checkpoint-method block "
                                         "--activations-checkpoint-num-layers 3 "
                                         "--distribute-checkpointed-activations");
    CHECK(block.job.training.recompute == Recompute::full);
    CHECK(block.job.training.recompute_layers == 3);
    CHECK(says(block.notes.flagged, "--distribute-checkpointed-activations"));
    const std::string experts = "--num-experts 4 --moe-layer-recompute ";
    using enum RecomputeModule;
    CHECK(with_words(experts).job.training.recompute_modules == std::vector{moe});
    CHECK(
        with_words(experts + "--recompute-granularity selective").job.training.recompute_modules ==
        std::vector{core_attn, moe});
    CHECK(with_words(experts + "--recompute-granularity full --recompute-method uniform")
              .job.training.recompute == Recompute::full);
}

TEST_CASE("the first releases say model-parallel and batch of a replica")
{
    const ImportedJob job =
        imported(JobKind::megatron,
                 "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 1024 "
                 "--num-attention-heads 16 --seq-length 512 --max-position-embeddings 512 --fp16 "
                 "--model-parallel-size 2 --batch-size 4 --warmup .01 --checkpoint-activations\n",
                 on_h100(1));
    CHECK(job.job.strategy.tp == 2);
    CHECK(job.job.training.micro_batch == 4);
    CHECK(job.job.training.global_batch == 16);
    CHECK(job.warnings.empty());
    // Beside today's name it says nothing.
    const ImportedJob both = with_words("--batch-size 16");
    CHECK(both.job.training.micro_batch == 2);
    CHECK(says(both.notes.ignored, "--batch-size 16: --micro-batch-size says so"));
}

TEST_CASE("heads that share their keys are stated in several words")
{
    CHECK(model_of(with_words("--attention-head-type multiquery")).kv_heads == 1);
    CHECK(model_of(with_words("--attention-head-type multihead")).kv_heads == 16);
    CHECK(model_of(with_words("--num-attention-heads-kv 4")).kv_heads == 4);
}

TEST_CASE("positions that are not learned are not taken for learned ones")
{
    const auto position = [](const std::string& word) {
        return model_of(with_words("--position-embedding-type " + word)).position;
    };
    CHECK(position("rotary") == PositionKind::rotary);
    CHECK(position("alibi") == PositionKind::none);
    CHECK(position("absolute") == PositionKind::learned);
    CHECK(model_of(with_words("--no-position-embedding")).position == PositionKind::none);
    const ImportedJob unknown = with_words("--position-embedding-type sinusoid");
    CHECK(says(unknown.notes.flagged, "--position-embedding-type sinusoid: not known here"));
}

TEST_CASE("forks say norm, activation, ties and biases in words of their own")
{
    const Transformer llama = model_of(with_words("--use-rms-norm --no-tie-embed-logits --no-bias "
                                                  "--glu-activation swiglu"));
    CHECK(llama.norm == NormKind::rms_norm);
    CHECK(llama.gated_mlp);
    CHECK(llama.activation == Activation::silu);
    CHECK(llama.ffn == 4096);
    CHECK(!llama.tied_embeddings);
    CHECK(!llama.linear_bias);
    const Transformer other =
        model_of(with_words("--layernorm-type rmsnorm --activation-func-type swiglu"));
    CHECK(other.norm == NormKind::rms_norm);
    CHECK(other.gated_mlp);
    CHECK(model_of(with_words("--glu-activation geglu")).activation == Activation::gelu);
    CHECK(says(with_words("--glu-activation own").notes.flagged, "not known here: GELU"));
    CHECK(model_of(with_words("--embed-layernorm")).embedding_norm);
}

TEST_CASE("a vocabulary is what an argument or a tokenizer states before it is GPT-2's")
{
    const auto words = [](const std::string& more) {
        return model_of(with_words(more)).vocabulary;
    };
    CHECK(words("--pad-vocab-size-to 250880 --tokenizer-name-or-path /data/x") == 250880);
    CHECK(words("--tokenizer-name-or-path meta-llama/Llama-3.1-8B") == 128256);
    CHECK(words("--tokenizer-name-or-path /data/tokenizer_llama2/") == 32000);
    CHECK(words("--tokenizer-file /data/byte-bpe-49152/tokenizer.json") == 49152);
    CHECK(words("--vocab-size 100 --padded-vocab-size 128") == 128);
    const ImportedJob unknown = with_words("--tokenizer-type Own --tokenizer-model /data/own");
    CHECK(says(unknown.notes.flagged, "--tokenizer-model /data/own: its vocabulary is not known"));
    CHECK(!says(unknown.notes.assumed, "no argument states it"));
    CHECK(says(with_words("").notes.assumed, "GPT-2's: no argument states it"));
}

TEST_CASE("context parallelism has other names in forks")
{
    const ImportedJob ulysses = with_words("--ds-sequence-parallel-size 4");
    CHECK(ulysses.job.strategy.cp == 4);
    CHECK(ulysses.job.strategy.context.kind == ContextKind::ulysses);
    const auto kind = [](const std::string& word) {
        return with_words("--context-parallel-size 4 --context-parallel-algo " + word)
            .job.strategy.context.kind;
    };
    CHECK(kind("ulysses_cp_algo") == ContextKind::ulysses);
    CHECK(kind("megatron_cp_algo") == ContextKind::ring);
    CHECK(kind("hybrid_cp_algo --ulysses-degree-in-cp 2") == ContextKind::hybrid);
}

TEST_CASE("MindSpeed's words for dense layers in front and for shared experts")
{
    const Transformer model = model_of(
        with_words("--num-experts 8 --moe-intermediate-size 256 --n-shared-experts 2 "
                   "--first-k-dense-replace 1 --moe-layer-freq 1 --expert-model-parallel-size 2"));
    REQUIRE(model.moe);
    CHECK(model.moe->expert_ffn == 256);
    CHECK(model.moe->shared_expert_ffn == 512);
    CHECK(model.moe->leading_dense_layers == 1);
}

TEST_CASE("an overlapped distributed optimizer is a distributed optimizer")
{
    const ImportedJob job = with_words("--overlapped-distributed-optimizer");
    CHECK(job.job.strategy.zero == 1);
    CHECK(job.job.strategy.overlap.dp == true);
}

TEST_CASE("linear attention takes the place of all but every n-th layer")
{
    const std::string delta = "--experimental-attention-variant gated_delta_net "
                              "--linear-key-head-dim 64 --linear-value-head-dim 64 "
                              "--linear-num-key-heads 8 --linear-num-value-heads 16 ";
    const ImportedJob job = with_words(delta + "--linear-attention-freq 4 --attention-output-gate");
    const Transformer& model = model_of(job);
    REQUIRE(model.layer_forms.size() == 2);
    CHECK(model.layer_forms.front().mixer == MixerKind::gated_delta_net);
    CHECK(model.layer_forms.front().recurrence ==
          Recurrence{.key_heads = 8, .heads = 16, .key_dim = 64, .value_dim = 64});
    CHECK(model.pattern == std::vector<std::string>{"linear", "linear", "linear", "full"});
    CHECK(model.attention_gate);
    const ImportedJob listed = with_words(delta + "--linear-attention-freq [1]*6+[0]*2");
    CHECK(model_of(listed).pattern.size() == 8);
    CHECK(model_of(listed).pattern.at(6) == "full");
    CHECK(says(with_words("--experimental-attention-variant other").notes.flagged, "not modelled"));
    CHECK(refusal_of(JobKind::megatron,
                     "torchrun --nproc_per_node 8 pretrain_gpt.py" + small_decoder + delta,
                     on_h100(1))
              .message.find("--linear-attention-freq") != std::string::npos);
}

TEST_CASE("the kind of a model is told by whole words of its program's file name")
{
    for (const char* const program :
         {"/home/albert/pretrain_gpt.py", "/data/gpt5/pretrain_gpt.py", "/x/hybrid/pretrain_gpt.py",
          "/home/vision-team/pretrain_gpt.py", "pretrain_gpt_restrict.py"})
    {
        const Transformer model = model_of(started(program, ""));
        CHECK(model.causal);
        CHECK(model.encoders.empty());
        CHECK(model.pattern.empty());
    }
    CHECK(!model_of(started("/x/pretrain_bert.py", "")).causal);
    CHECK(model_of(started("/x/pretrain_t5.py", "")).encoders.size() == 1);
    for (const char* const program : {"pretrain_vit.py", "pretrain_biencoder.py",
                                      "pretrain_vision_dino.py", "pretrain_inpaint.py"})
        CHECK(refusal_of(JobKind::megatron,
                         "torchrun --nproc_per_node 8 " + std::string(program) + small_decoder,
                         on_h100(1))
                  .message.find("which the arguments do not describe") != std::string::npos);
}

TEST_CASE("a program of LLaMA builds its layers where the arguments describe none")
{
    const ImportedJob job = started("/x/pretrain_llama.py", "--ffn-hidden-size 2816");
    const Transformer& model = model_of(job);
    CHECK(model.gated_mlp);
    CHECK(model.norm == NormKind::rms_norm);
    CHECK(model.position == PositionKind::rotary);
    CHECK(!model.tied_embeddings);
    CHECK(says(job.notes.assumed, "LLaMA's norms, gates and positions"));
    const Transformer said = model_of(started("pretrain_llama.py", "--normalization RMSNorm"));
    CHECK(!said.gated_mlp);
    CHECK(said.tied_embeddings);
}

TEST_CASE("embeddings count as a layer at each end where stages are cut by both")
{
    const std::string method = "--pp-partition-method 'type:transformer|embedding' ";
    const ImportedJob cut = imported(
        JobKind::megatron,
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 6 --hidden-size 1024 "
        "--num-attention-heads 16 --seq-length 512 --max-position-embeddings 512 "
        "--micro-batch-size 1 --global-batch-size 8 --pipeline-model-parallel-size 4 --bf16 " +
            method,
        on_h100(1));
    CHECK(cut.job.strategy.pp == 4);
    CHECK(cut.job.strategy.pipeline.account_for_embedding);
    CHECK(cut.job.strategy.pipeline.account_for_loss);
    CHECK(with_words(method).job.strategy.pp == 1);
    CHECK(says(with_words("--pp-partition-method parameters").notes.flagged, "parameters"));
    CHECK(says(with_words("--pp-partition-method type:transformer").notes.understood, "anyway"));
}
