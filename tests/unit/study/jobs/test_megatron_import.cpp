#include "sim/strategy/pipeline/layout.h"
#include "sim/study/jobs/megatron/megatron_layout.h"
#include "tests/unit/study/jobs/importing.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

// Llama 2 7B on eight GPUs.
const std::string seven_billion = R"(
export CUDA_DEVICE_MAX_CONNECTIONS=1
TP=2
MODEL="--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --ffn-hidden-size 11008
  --swiglu --normalization RMSNorm --position-embedding-type rope --disable-bias-linear
  --untie-embeddings-and-output-weights --vocab-size 32000
  --attention-dropout 0 --hidden-dropout 0"
torchrun --nproc_per_node 8 pretrain_gpt.py $MODEL --seq-length 4096 --micro-batch-size 1 \
  --global-batch-size 64 --tensor-model-parallel-size $TP --bf16 --use-distributed-optimizer \
)";

ImportedJob with_arguments(const std::string& more)
{
    return imported(JobKind::megatron, seven_billion + more, on_h100(1));
}

} // namespace

TEST_CASE("Megatron-LM's sizes of a model give the model")
{
    const ImportedJob job = with_arguments("");
    const Transformer& model = model_of(job);
    CHECK(model.layers == 32);
    CHECK(model.hidden == 4096);
    CHECK(model.kv_heads == 32);
    CHECK(model.head_dim == 128);
    CHECK(model.ffn == 11008);
    CHECK(model.gated_mlp);
    CHECK(model.norm == NormKind::rms_norm);
    CHECK(model.position == PositionKind::rotary);
    CHECK(!model.linear_bias);
    CHECK(!model.tied_embeddings);
    CHECK(!model.dropout);
    // 6.7 billion: the parameters of Llama 2 7B
    CHECK_THAT(count_parameters(job.job.model).total, Catch::Matchers::WithinRel(6.738e9, 1e-3));
}

TEST_CASE("Megatron-LM's parallel sizes and batches give the strategy")
{
    const ImportedJob job =
        with_arguments("--sequence-parallel --overlap-grad-reduce --overlap-param-gather");
    CHECK(job.job.strategy.tp == 2);
    CHECK(job.job.dp() == 4);
    CHECK(job.job.strategy.zero == 1);
    CHECK(job.job.strategy.sequence_parallel == true);
    CHECK(job.job.strategy.overlap.dp == true);
    CHECK(job.job.training.global_batch == 64);
    CHECK(job.job.training.precision == Precision::bf16);
    CHECK(job.job.training.fp32_gradients == true); // bf16 reduces in fp32 unless told otherwise
    CHECK(job.scenario.scenario.environment.at("CUDA_DEVICE_MAX_CONNECTIONS") == "1");
    const ImportedJob offloads = with_arguments("--cpu-offloading-num-layers 4");
    CHECK(offloads.job.strategy.offload.activation_layers == 4);
}

TEST_CASE("overlap of tensor parallelism goes with sequence parallelism alone")
{
    const ImportedJob both = with_arguments("--sequence-parallel --tp-comm-overlap");
    CHECK(both.job.strategy.overlap.tp == true);
    const ImportedJob alone = with_arguments("--tp-comm-overlap");
    CHECK(alone.job.strategy.overlap.tp == false);
    CHECK(says(alone.notes.ignored,
               "--tp-comm-overlap: Megatron-LM refuses it without --sequence-parallel"));
}

TEST_CASE("every understood setting is told with its line")
{
    const ImportedJob job = with_arguments("");
    CHECK(says(job.notes.understood, "line 4: --num-layers 32 -> model.layers 32"));
    CHECK(says(job.notes.understood, "line 9: --tensor-model-parallel-size 2 -> strategy.tp 2"));
}

TEST_CASE("unknown arguments are listed and never refused")
{
    const ImportedJob job = with_arguments("--lr 1e-4 --frobnicate 3 --wandb-project x");
    CHECK(says(job.notes.ignored, "--lr 1e-4: of the learning"));
    CHECK(says(job.notes.ignored, "--frobnicate 3: not known here"));
}

TEST_CASE("an unknown argument that looks like a known one is a warning at its line")
{
    const ImportedJob job = with_arguments("--context-paralell-size 2 --frobnicate 3");
    REQUIRE(job.warnings.size() == 1);
    CHECK(job.warnings.front().line == 10);
    CHECK(job.warnings.front().message == "--context-paralell-size 2: not known here");
    CHECK(job.warnings.front().hint == "did you mean --context-parallel-size?");
    // The warning says it; among what is left out it would be lost.
    CHECK(!says(job.notes.ignored, "--context-paralell-size"));
    CHECK(with_arguments("--expert-model-parallel-sizes 4").warnings.front().hint ==
          "did you mean --expert-model-parallel-size?");
    // What has no part in a step warns of nothing.
    CHECK(with_arguments("--lr-wramup 3").warnings.empty());
}

TEST_CASE("a size that must be there and stands in a variable that nothing sets names the variable")
{
    const std::string script =
        "python pretrain_gpt.py --num-layers $LAYERS --hidden-size 512 --num-attention-heads 8 "
        "--seq-length $(wc -l < x) --position-embedding-type rope --micro-batch-size 1";
    const Diagnostic unset = refusal_of(JobKind::megatron, script, on_h100(1));
    CHECK(unset.message == "--num-layers ${LAYERS}: the variable LAYERS is not set");
    CHECK(unset.hint == "--define LAYERS=VALUE sets it");
    CHECK(refusal_about("--seq-length", JobKind::megatron, script, on_h100(1)).hint ==
          "write the value in its place");
}

TEST_CASE("a size whose variable nothing sets is refused, for the default would be another job")
{
    const std::string unset = seven_billion + "--context-parallel-size $CP";
    CHECK(refusal_of(JobKind::megatron, unset, on_h100(1)).hint == "--define CP=VALUE sets it");
    CHECK(says(with_arguments("--lr $LR").notes.ignored, "--lr ${LR}: of the learning"));
    JobImportOptions options = on_h100(1);
    options.defined["CP"] = "2";
    CHECK(imported(JobKind::megatron, seven_billion + "--context-parallel-size $CP", options)
              .job.strategy.cp == 2);
}

TEST_CASE("defaults of Megatron-LM are filled in and told")
{
    // swiglu without a size: 4 h 2/3 down to a multiple of 64: 4 x 4096 x 2 / 3 = 10922 -> 10880
    const ImportedJob job =
        imported(JobKind::megatron,
                 "python pretrain_gpt.py --num-layers 4 --hidden-size 4096 --num-attention-heads "
                 "32 --swiglu "
                 "--seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 2 --fp16",
                 on_h100(1));
    CHECK(model_of(job).ffn == 10880);
    CHECK(model_of(job).vocabulary == 50257);
    CHECK(model_of(job).position == PositionKind::learned);
    CHECK(model_of(job).dropout);
    CHECK(job.job.training.global_batch == 16); // one micro-batch of 2 on each of 8 replicas
    CHECK(job.job.training.fp32_gradients == false);
    CHECK(says(job.notes.assumed, "GPT-2's"));
}

TEST_CASE("a precision-aware optimizer says in which format it keeps gradients")
{
    const auto wide = [](const std::string& more) {
        return imported(JobKind::megatron,
                        "python pretrain_gpt.py --num-layers 4 --hidden-size 4096 "
                        "--num-attention-heads 32 --seq-length 1024 --max-position-embeddings 1024 "
                        "--micro-batch-size 2 --bf16 --use-distributed-optimizer " +
                            more,
                        on_h100(1))
            .job.training.fp32_gradients;
    };
    CHECK(wide("") == true);
    CHECK(wide("--use-precision-aware-optimizer --main-grads-dtype bf16") == false);
    CHECK(wide("--use-precision-aware-optimizer --main-grads-dtype fp32") == true);
}

TEST_CASE("states of an optimizer in other formats or places than modelled are flagged")
{
    const ImportedJob job =
        with_arguments("--use-precision-aware-optimizer --exp-avg-dtype bf16 --exp-avg-sq-dtype "
                       "fp32 --optimizer-cpu-offload --optimizer-offload-fraction 0.5");
    CHECK(job.notes.flagged.size() == 2);
    CHECK(says(job.notes.flagged, "--exp-avg-dtype bf16: the state is modelled in fp32"));
    CHECK(says(job.notes.flagged, "--optimizer-offload-fraction 0.5: part of the states stays"));
    CHECK(with_arguments("--optimizer-cpu-offload --optimizer-offload-fraction 1.0")
              .notes.flagged.empty());
}

TEST_CASE("layers that skip the window see all keys")
{
    const std::string window = "--window-size 127,0 --window-attn-skip-freq ";
    const Transformer every_fourth = model_of(with_arguments(window + "4"));
    CHECK(every_fourth.sliding_window == 128);
    for (int layer = 0; layer < every_fourth.layers; ++layer)
        CHECK(has_window(every_fourth, layer) == ((layer + 1) % 4 != 0));
    const Transformer listed = model_of(with_arguments(window + "'[0]*2+[1]*30'"));
    CHECK_FALSE(has_window(listed, 1));
    CHECK(has_window(listed, 2));
    CHECK(has_window(listed, 31));
    CHECK(refusal_of(JobKind::megatron, seven_billion + window + "[1,0]", on_h100(1)).message ==
          "--window-attn-skip-freq [1,0]: is no list with a number for each layer");
}

TEST_CASE("Megatron FSDP shards what its strategy names, and nothing where it is off")
{
    const auto strategy = [](const std::string& kind) {
        return with_arguments("--use-megatron-fsdp --data-parallel-sharding-strategy " + kind);
    };
    CHECK(strategy("no_shard").job.strategy.zero == 0);
    CHECK(strategy("optim").job.strategy.zero == 1);
    CHECK(strategy("optim_grads").job.strategy.zero == 2); // parameters stay whole
    CHECK(strategy("optim_grads_params").job.strategy.zero == 3);
    CHECK_FALSE(says(strategy("optim_grads_params").notes.ignored, "of no effect"));
    const ImportedJob off = with_arguments("--data-parallel-sharding-strategy optim_grads_params");
    CHECK(off.job.strategy.zero == 1);
    CHECK(says(off.notes.ignored, "of no effect without --use-megatron-fsdp"));
}

TEST_CASE("fusions that are switched off are told as what they are")
{
    const ImportedJob job = with_arguments("--no-bias-swiglu-fusion --no-bias-dropout-fusion "
                                           "--transformer-impl local");
    CHECK(job.scenario.scenario.software.fused_elementwise == false);
    CHECK(job.scenario.scenario.software.attention == AttentionKernel::unfused);
    CHECK(says(job.notes.ignored, "--no-bias-dropout-fusion: modelled with the fused kernel"));
    // Of MLPs without a gate.
    CHECK_FALSE(with_arguments("--no-bias-gelu-fusion")
                    .scenario.scenario.software.fused_elementwise.has_value());
    const ImportedJob flash = with_arguments("--transformer-impl local --use-flash-attn");
    CHECK(flash.scenario.scenario.software.attention == AttentionKernel::flash2);
    CHECK(says(flash.notes.ignored, "--transformer-impl local: kernels beside attention are"));
}

TEST_CASE("experts are cut over tensor-parallel ranks unless an argument says otherwise")
{
    const std::string experts = "--num-experts 8 --moe-router-topk 2 --expert-model-parallel-size ";
    CHECK(with_arguments(experts + "2").job.strategy.etp == 2);
    CHECK(with_arguments(experts + "2 --expert-tensor-parallel-size 1").job.strategy.etp == 1);
    CHECK(model_of(with_arguments(experts + "4 --moe-layer-freq '([0]*2+[1]*30)'"))
              .moe->leading_dense_layers == 2);
}

TEST_CASE("virtual stages come from either of their two arguments")
{
    // 32 layers on 4 ranks in virtual stages of 2: 4 each
    const std::string pipeline = "--pipeline-model-parallel-size 4 ";
    CHECK(with_arguments(pipeline + "--num-layers-per-virtual-pipeline-stage 2").job.strategy.vpp ==
          4);
    CHECK(with_arguments(pipeline + "--num-virtual-stages-per-pipeline-rank 4").job.strategy.vpp ==
          4);
    CHECK(with_arguments(pipeline + "--num-virtual-stages-per-pipeline-rank 4")
              .job.strategy.overlap.pp == true);
    CHECK(with_arguments(pipeline).job.strategy.overlap.pp ==
          false); // 1F1B does not overlap its messages
}

TEST_CASE("uneven stages come from the ends, from what is counted and from a layout")
{
    const std::string pipeline = "--pipeline-model-parallel-size 4 ";
    CHECK(with_arguments(pipeline + "--decoder-first-pipeline-num-layers 7 "
                                    "--decoder-last-pipeline-num-layers 5")
              .job.strategy.stage_layers == std::vector<int>{7, 10, 10, 5});
    CHECK(with_arguments(pipeline + "--pipeline-model-parallel-layout 'Et*7|(t*9|)*2t*7L'")
              .job.strategy.stage_layers == std::vector<int>{7, 9, 9, 7});
}

TEST_CASE("contradictions are refused at the line of their argument")
{
    const Diagnostic tp =
        refusal_about("--tensor-model-parallel-size 3: ", JobKind::megatron,
                      seven_billion + "--tensor-model-parallel-size 3", on_h100(1));
    CHECK(tp.line == 10);
    CHECK(tp.file == "job");
    CHECK(tp.hint.find("sizes that work here: 1, 2, 4, 8") != std::string::npos);
    CHECK(refusal_of(JobKind::megatron, seven_billion + "--optimizer rprop", on_h100(1)).hint ==
          "adam, sgd, adafactor or muon");
    CHECK(refusal_of(JobKind::megatron, "", on_h100(1)).message.find("starts a training") !=
          std::string::npos);
    CHECK(refusal_of(JobKind::megatron, seven_billion, {}).message.find("which GPUs") !=
          std::string::npos);
}

TEST_CASE("a test's YAML and a bare list of arguments say the same as the script")
{
    const ImportedJob yaml = imported(JobKind::megatron, R"(ENV_VARS:
  CUDA_DEVICE_MAX_CONNECTIONS: 1
MODEL_ARGS:
  --num-layers: 12
  --hidden-size: 512
  --num-attention-heads: 8
  --seq-length: 1024
  --max-position-embeddings: 1024
  --micro-batch-size: 4
  --global-batch-size: 32
  --bf16: true
  --sequence-parallel: false
)",
                                      on_h100(1));
    const ImportedJob list = imported(JobKind::megatron,
                                      "--num-layers 12\n--hidden-size 512\n"
                                      "--num-attention-heads 8\n--seq-length 1024\n"
                                      "--max-position-embeddings 1024\n--micro-batch-size 4\n"
                                      "--global-batch-size 32\n--bf16\n",
                                      on_h100(1));
    CHECK(yaml.job == list.job);
    CHECK(yaml.scenario.scenario.environment.size() == 1);
}

TEST_CASE("patterns expand as in Python")
{
    CHECK(number_pattern("([0]*3+[1]*2)*2") == std::vector<int>{0, 0, 0, 1, 1, 0, 0, 0, 1, 1});
    CHECK(!number_pattern("[1]*100000"));
    CHECK(!number_pattern("import os"));
}

TEST_CASE("a layout written for stages reads back as these stages")
{
    for (const std::vector<int>& layers :
         {std::vector<int>{3, 4, 4, 4, 3}, {0, 1, 1, 1, 0}, {2, 2}, {7}, {1, 2, 3, 3, 3, 2, 2, 1}})
    {
        const auto stages = parse_layout(layout_text(layers));
        REQUIRE(stages);
        std::vector<int> back;
        for (const StageLetters& stage : *stages)
            back.push_back(stage.layers);
        CHECK(back == layers);
        CHECK(stages->front().embedding);
        CHECK(stages->back().loss);
    }
}

TEST_CASE("sizes that cannot be read are told once, at their line, and not as missing")
{
    const auto first_of = [](const std::string& layers) {
        const std::string text = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers " +
                                 layers +
                                 " --hidden-size 512 --num-attention-heads 8 --seq-length 512 "
                                 "--vocab-size 32000 --position-embedding-type rope";
        StageMemos memos;
        const Checked<ImportedJob> job =
            import_job(JobKind::megatron, text, "job", on_h100(1), memos);
        REQUIRE(!job);
        REQUIRE(job.error().size() == 1);
        CHECK(job.error().front().line == 1);
        return job.error().front().message;
    };
    CHECK(first_of("-32") == "--num-layers -32: -32 is too small");
    CHECK(first_of("many") == "--num-layers many: expected a whole number");
    CHECK(first_of("99999999999999999999") ==
          "--num-layers 99999999999999999999: is beyond any size");
}

TEST_CASE(
    "two formats of the parameters are refused, and learned positions are as long as a sequence")
{
    const Diagnostic both = refusal_of(JobKind::megatron, seven_billion + "--fp16", on_h100(1));
    CHECK(both.message == "--fp16: --bf16 is given too");
    CHECK(both.hint == "keep one of them");
    const std::string learned =
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 4 --hidden-size 512 "
        "--num-attention-heads 8 --seq-length 512 --vocab-size 32000";
    const ImportedJob job = imported(JobKind::megatron, learned, on_h100(1));
    CHECK(model_of(job).max_positions == 512);
    CHECK(says(job.notes.assumed, "as many learned positions as a sequence has tokens"));
}

TEST_CASE("a loop over known words starts its launch for each, the last is read, the others named")
{
    const ImportedJob job =
        imported(JobKind::megatron,
                 "go() {\n" + seven_billion + "--tensor-model-parallel-size $1\n}\n" +
                     "for TP in 1 2; do go $TP; done\n",
                 on_h100(1));
    CHECK(job.job.strategy.tp == 2);
    CHECK(says(job.notes.assumed, "the script has others on lines"));
}

TEST_CASE(
    "the branch of a case that its word matches is read, and one that is not known lists them")
{
    const std::string sizes =
        "case $SIZE in\n  7b|7B) L=32 ;;\n  13*) L=40 ;;\n  *) L=2 ;;\nesac\n"
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers $L "
        "--hidden-size 1024 --num-attention-heads 8 --seq-length 512 --bf16\n";
    const auto layers = [&](const std::string& size) {
        return model_of(imported(JobKind::megatron, "SIZE=" + size + "\n" + sizes, on_h100(1)))
            .layers;
    };
    CHECK(layers("7B") == 32);
    CHECK(layers("13B-chat") == 40);
    CHECK(layers("tiny") == 2);
    const Diagnostic unknown = refusal_of(JobKind::megatron, sizes, on_h100(1));
    CHECK(unknown.hint.find("a case of ${SIZE} was not decided; its branches: 7b|7B, 13*, *") !=
          std::string::npos);
}

TEST_CASE("a tokenizer by the name of a shipped model has its vocabulary")
{
    const ImportedJob job = imported(JobKind::megatron,
                                     "--num-layers 2 --hidden-size 512 --num-attention-heads 8 "
                                     "--seq-length 512 --tokenizer-type HuggingFaceTokenizer "
                                     "--tokenizer-model meta-llama/Llama-3.1-8B",
                                     on_h100(1));
    CHECK(model_of(job).vocabulary == 128256);
}

TEST_CASE("a place of a template that is not filled in is named")
{
    for (const char* const place : {"{{ layers }}", "<FILL>"})
        CHECK(refusal_about("--num-layers", JobKind::megatron,
                            "--num-layers '" + std::string(place) +
                                "' --hidden-size 512 --num-attention-heads 8 --seq-length 512",
                            on_h100(1))
                  .message.find(std::string(place) + " is a place of a template") !=
              std::string::npos);
}

TEST_CASE("an optimizer that is not modelled is taken as the nearest, with the difference")
{
    const ImportedJob mix = with_arguments("--optimizer ademamix --distributed-timeout-minutes 45");
    CHECK(mix.job.training.optimizer == Optimizer::adam);
    CHECK(says(mix.notes.assumed, "it keeps three states a parameter"));
    CHECK(mix.scenario.scenario.software.timeout == Seconds(2700));
}

TEST_CASE("Mamba, hybrids and T5 are read as layers of their kinds")
{
    const std::string sizes = " --hidden-size 512 --num-attention-heads 8 --seq-length 512 --bf16 ";
    const auto read = [&](const std::string& text) {
        return imported(JobKind::megatron, "torchrun --nproc_per_node 8 " + text + sizes,
                        on_h100(1));
    };
    const ImportedJob cut = read("pretrain_hybrid.py --hybrid-layer-pattern 'MM-|M*-' "
                                 "--pipeline-model-parallel-size 2");
    CHECK(model_of(cut).layers == 6);
    CHECK(model_of(cut).pattern.at(4) == "attention");
    CHECK(cut.job.strategy.stage_layers == std::vector<int>{3, 3});
    // 24 layers, 2 of them attention, 12 MLPs: 10 are left to Mamba.
    const ImportedJob ratios = read("pretrain_mamba.py --num-layers 24 --hybrid-attention-ratio "
                                    "0.08 --hybrid-mlp-ratio 0.5 --position-embedding-type none");
    const auto& pattern = model_of(ratios).pattern;
    CHECK(std::count(pattern.begin(), pattern.end(), "mamba") == 10);
    CHECK(std::count(pattern.begin(), pattern.end(), "attention") == 2);
    const ImportedJob t5 = read("pretrain_t5.py --encoder-num-layers 6 --decoder-num-layers 4 "
                                "--max-position-embeddings 512");
    CHECK(model_of(t5).layers == 4);
    REQUIRE(model_of(t5).encoders.size() == 1);
    CHECK(model_of(t5).encoders.front().layers == 6);
    CHECK(
        refusal_of(JobKind::megatron, "torchrun pretrain_vlm.py --num-layers 4" + sizes, on_h100(1))
            .message.find("a vision encoder") != std::string::npos);
}

TEST_CASE("a GPU is known by its whole number")
{
    JobImportOptions options = on_h100(1);
    options.cluster.gpu = "h1000";
    const Diagnostic unknown = refusal_of(JobKind::megatron, seven_billion, options);
    CHECK(unknown.message == "--gpu h1000: not among the known devices");
    for (const char* known : {"H100-SXM5-80GB", "a100_40gb", "GB200 (NVL72)", "rtx4090"}) {
        options.cluster.gpu = known;
        options.cluster.gpus_per_node = 4;
        CHECK_NOTHROW(imported(JobKind::torchrun,
                               "torchrun --nproc_per_node 4 train.py "
                               "--per_device_train_batch_size 1",
                               with_model(options, "models/llama-3.1-8b/config.json")));
    }
}

TEST_CASE("modules that Megatron-Core recomputes are those of the scenario")
{
    const std::string selective = "--recompute-granularity selective --recompute-modules ";
    const ImportedJob job = with_arguments(selective + "layernorm mlp");
    const Training& training = job.scenario.scenario.training;
    CHECK(training.recompute == Recompute::selective);
    CHECK(training.recompute_modules ==
          std::vector{RecomputeModule::layernorm, RecomputeModule::mlp});
    CHECK(with_arguments("--recompute-modules mlp").scenario.scenario.training.recompute ==
          Recompute::none);
    const Diagnostic problem =
        refusal_of(JobKind::megatron, seven_billion + selective + "lm_head", on_h100(1));
    CHECK(problem.message.ends_with("\"lm_head\" is no module to recompute"));
    CHECK(refusal_of(JobKind::megatron, seven_billion + selective + "per_op", on_h100(1))
              .message.ends_with("\"per_op\" is no module to recompute"));
}

TEST_CASE("Megatron-DeepSpeed shards as the configuration that its script writes")
{
    const std::string text =
        "C=$OUT/ds.json\ncat <<EOT > $C\n{\"zero_optimization\": {\"stage\": 1}, "
        "\"train_micro_batch_size_per_gpu\": 2, \"bf16\": {\"enabled\": true}}\nEOT\n"
        "deepspeed --num_gpus 8 pretrain_gpt.py --deepspeed --deepspeed_config $C "
        "--tensor-model-parallel-size 2 --num-layers 8 --hidden-size 1024 "
        "--num-attention-heads 16 --num-key-value-heads 4 --normalization rmsnorm "
        "--seq-length 4_096 --max-position-embeddings 4_096 --micro-batch-size 2 "
        "--global-batch-size 16 --bf16\n";
    const ImportedJob job = imported(JobKind::megatron, text, on_h100(1));
    CHECK(job.job.strategy.zero == 1);
    CHECK(job.scenario.scenario.software.framework == "deepspeed");
    CHECK(job.job.training.sequence_length == 4096);
    CHECK(job.job.training.global_batch == 16);
    CHECK(model_of(job).kv_heads == 4);
    CHECK(model_of(job).norm == NormKind::rms_norm);
    CHECK(model_of(job).vocabulary % 256 == 0);
    // Where it does not write one, the argument says.
    const std::string stated = text.substr(text.find("deepspeed --num_gpus"));
    CHECK(imported(JobKind::megatron, stated.substr(0, stated.size() - 1) + " --zero-stage 2\n",
                   on_h100(1))
              .job.strategy.zero == 2);
}

TEST_CASE("norms of latent attention are those of the latents")
{
    const ImportedJob job = imported(
        JobKind::megatron,
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 1024 "
        "--num-attention-heads 16 --seq-length 512 --position-embedding-type rope "
        "--micro-batch-size 1 --multi-latent-attention --qk-layernorm --disable-bias-linear "
        "--swiglu --normalization RMSNorm --bf16\n",
        on_h100(1));
    CHECK(model_of(job).latent.has_value());
    CHECK(!model_of(job).qk_norm);
}

TEST_CASE("a provider of a model with an image encoder is refused like its program")
{
    const Diagnostic refused = refusal_of(
        JobKind::megatron,
        "MODEL_ARGS:\n  --num-layers: 8\n  --hidden-size: 1024\n  --num-attention-heads: 16\n"
        "  --seq-length: 512\n  --micro-batch-size: 1\n  --model-provider: llava_vlm\n",
        on_h100(1));
    CHECK(refused.message.find("a vision encoder") != std::string::npos);
}

TEST_CASE("a slip of a name that is there too is a warning")
{
    const ImportedJob job = imported(
        JobKind::megatron,
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 1024 "
        "--num-attention-heads 16 --seq-length 512 --max-position-embeddings 512 "
        "--micro-batch-size 1 --tensor-model-parallel-size 2 --tensor-model-paralel-size 4 "
        "--bf16\n",
        on_h100(1));
    CHECK(job.job.strategy.tp == 2);
    REQUIRE(!job.warnings.empty());
    CHECK(job.warnings.front().hint ==
          "did you mean --tensor-model-parallel-size, which is there too?");
}

TEST_CASE("adapters of Megatron-Bridge and of ms-swift have their own defaults")
{
    const auto lora = [](const std::string& words) {
        return imported(JobKind::megatron,
                        "torchrun --nproc_per_node 8 run.py --micro-batch-size 1 --bf16 "
                        "--seq-length 512 --recompute-granularity selective " +
                            words,
                        with_model(on_h100(1), "llama-2-7b"))
            .job.training.lora;
    };
    using enum AdapterTarget;
    CHECK(lora("--peft_scheme lora") == Lora{32, {linear_qkv, o_proj, linear_fc1, down_proj}});
    CHECK(lora("--train_type lora --lora_rank 8 --target_modules linear_proj q_proj") ==
          Lora{8, {o_proj, q_proj}});
    CHECK(!lora("--train_type full --lora_rank 8"));
    CHECK(!lora(""));
}

TEST_CASE("a decoder behind an encoder of images has a length of its own")
{
    const ImportedJob job = imported(JobKind::megatron,
                                     "torchrun --nproc_per_node 8 examples/multimodal/train.py "
                                     "--seq-length 256 --decoder-seq-length 2048 "
                                     "--micro-batch-size 1 --bf16\n",
                                     with_model(on_h100(1), "llama-2-7b"));
    CHECK(job.job.training.sequence_length == 2048);
}

TEST_CASE("values of a test's YAML are words of a command line")
{
    const ImportedJob job = imported(
        JobKind::megatron,
        "MODEL_ARGS:\n  --num-layers: 8\n  --hidden-size: 1024\n  --num-attention-heads: 16\n"
        "  --seq-length: 512\n  --position-embedding-type: rope\n  --micro-batch-size: 1\n"
        "  --context-parallel-size: 4\n  --cp-comm-type: a2a+p2p\n"
        "  --hierarchical-context-parallel-sizes: 2 2\n  --bf16: true\n",
        on_h100(1));
    CHECK(job.job.strategy.context.kind == ContextKind::hybrid);
    CHECK(job.job.strategy.context.a2a == 2);
}

TEST_CASE("a published model may be started with other layers, on as many GPUs as its experts need")
{
    const auto run = [](const std::string& words) {
        JobImportOptions options;
        options.cluster.gpu = "h100";
        return imported(JobKind::megatron,
                        "export NNODES=1\nexport EXP=conf/qwen3_30B_A3B-pretrain.yaml\n"
                        "bash run.sh --micro_batch_size 1 --global_batch_size 256 --seq_length 512 "
                        "--pipeline_model_parallel_size 2 --expert_model_parallel_size 16 " +
                            words,
                        options);
    };
    CHECK(model_of(run("--num_layers 48")).layers == 48);
    const ImportedJob fewer = run("--num_layers 12");
    CHECK(model_of(fewer).layers == 12);
    CHECK(model_of(fewer).moe->experts == 128);
    CHECK(fewer.job.world() == 32);
    CHECK(std::any_of(fewer.notes.flagged.begin(), fewer.notes.flagged.end(),
                      [](const std::string& note) {
                          return note.find("fewer than its experts need") != std::string::npos;
                      }));
}

TEST_CASE("a vocabulary that no argument states is the program's, or what its file is called")
{
    const auto vocabulary = [](const std::string& program, const std::string& more) {
        return model_of(imported(JobKind::megatron,
                                 "torchrun --nproc_per_node 8 " + program +
                                     " --num-layers 4 --hidden-size 256 --num-attention-heads 4 "
                                     "--seq-length 512 --max-position-embeddings 512 "
                                     "--micro-batch-size 1 --global-batch-size 8 --bf16 " +
                                     more,
                                 on_h100(1)))
            .vocabulary;
    };
    CHECK(vocabulary("pretrain_gpt.py", "") == 50257);
    CHECK(vocabulary("pretrain_bert.py", "") == 30522);
    CHECK(vocabulary("pretrain_bert.py", "--tokenizer-type BertWordPieceCase") == 28996);
    CHECK(vocabulary("pretrain_gpt.py", "--tokenizer-type SentencePieceTokenizer "
                                        "--tokenizer-model /data/words_2_256k.model") == 256000);
    CHECK(vocabulary("pretrain_gpt.py", "--tokenizer-type Llama2Tokenizer --tokenizer-model "
                                        "${HOME_DIR}/tokenizer-100k.ver3.0b1.model") == 100000);
    CHECK(vocabulary("pretrain_gpt.py", "--tokenizer-type Llama2Tokenizer --tokenizer-model "
                                        "/data/4k/bank16k2/8192k/tokenizer.model") == 32000);
    CHECK(vocabulary("pretrain_gpt.py", "--tokenizer-model words_64k --vocab-size 512") == 512);
}

TEST_CASE("Python alone in a world of one has one GPU")
{
    const auto ranks = [](const std::string& script) {
        JobImportOptions options = on_h100(1);
        options.cluster.nodes.reset();
        options.cluster.gpus_per_node.reset();
        return imported(JobKind::megatron,
                        script + " pretrain_gpt.py --num-layers 4 --hidden-size 256 "
                                 "--num-attention-heads 4 --seq-length 512 --micro-batch-size 1 "
                                 "--max-position-embeddings 512 --global-batch-size 8 --bf16\n",
                        options)
            .job.strategy.dp;
    };
    CHECK(ranks("RANK=0\nWORLD_SIZE=1\npython") == 1);
    CHECK(ranks("WORLD_SIZE=${WORLD_SIZE:-1}\npython") == 1);
    CHECK(ranks("python") == 8);
    CHECK(ranks("WORLD_SIZE=1\nsrun python") == 8);
    CHECK(ranks("WORLD_SIZE=1\ntorchrun --nproc_per_node 4") == 4);
}

TEST_CASE("a list of one in a test of Megatron-LM is that one, and a layout may be quoted twice")
{
    const ImportedJob job = imported(
        JobKind::megatron,
        "MODEL_ARGS:\n  --num-layers: 8\n  --hidden-size: 1024\n  --num-attention-heads: 16\n"
        "  --seq-length: 1024\n  --max-position-embeddings: 1024\n  --micro-batch-size: 1\n"
        "  --global-batch-size: 8\n  --bf16: true\n  --recompute-granularity: selective\n"
        "  --recompute-modules: \"[core_attn]\"\n  --pipeline-model-parallel-size: 2\n"
        "  --pipeline-model-parallel-layout: \"'Et*3|t*5,L'\"\n",
        on_h100(1));
    CHECK(job.job.training.recompute_modules == std::vector{RecomputeModule::core_attn});
    CHECK(job.job.strategy.pp == 2);
    CHECK(says(job.notes.understood, "'Et*3|t*5,L'"));
}
