// Which strategy and training a record means.

#include "sim/study/record_model.h"
#include "sim/study/record_software.h"
#include "sim/study/record_strategy.h"
#include "tests/catch.h"
#include "tests/unit/study/measured_llama.h"

#include <numeric>

using namespace trainyard;
using namespace trainyard::test;

namespace {

RecordStrategy strategy(const MeasuredRecord& record)
{
    const auto model = model_of(record, software_of(record).family);
    REQUIRE(model.has_value());
    const Model& built = std::get<Model>(model->model);
    const auto made =
        strategy_of(record, software_of(record), &std::get<Transformer>(built.architecture));
    INFO((made ? std::string() : made.error()));
    REQUIRE(made.has_value());
    return *made;
}

} // namespace

TEST_CASE("replicas that the GPUs contradict are refused, not replaced")
{
    MeasuredRecord record = llama_on_64_h100();
    record.parallel.dp = 4;
    CHECK(strategy(record).strategy.dp == 4);
    record.parallel.dp = 8;
    const auto model = model_of(record, software_of(record).family);
    const auto& built = std::get<Model>(model->model);
    const auto made =
        strategy_of(record, software_of(record), &std::get<Transformer>(built.architecture));
    REQUIRE_FALSE(made.has_value());
    CHECK_THAT(made.error(), ContainsSubstring("dp 8 contradicts 64 GPUs"));
}

TEST_CASE("what a strategy leaves open follows the framework's habit")
{
    const RecordStrategy made = strategy(llama_on_64_h100());
    CHECK(made.strategy.dp == 4);
    CHECK(made.strategy.sequence_parallel == true);
    CHECK_FALSE(made.strategy.overlap.tp.has_value()); // the software class knows
    CHECK(assumed(made.assumptions, "overlap of TP not stated"));
    CHECK(made.recompute_to_fit);
    CHECK(assumed(made.assumptions, "sequence parallelism not stated: on"));

    MeasuredRecord old = llama_on_64_h100();
    old.framework = "Megatron-LM";
    old.source.date = "2021";
    const RecordStrategy of_2021 = strategy(old);
    CHECK(of_2021.strategy.sequence_parallel == false);
    CHECK(of_2021.training.recompute == Recompute::full);
    CHECK(assumed(of_2021.assumptions, "recompute not stated: full"));
}

TEST_CASE("a stated value is never replaced by a habit")
{
    MeasuredRecord record = llama_on_64_h100();
    record.recompute = "none";
    record.parallel.sequence_parallel = false;
    record.overlap.dp = false;
    record.gradient_type = "fp32";
    const RecordStrategy made = strategy(record);
    CHECK(made.training.recompute == Recompute::none);
    CHECK_FALSE(made.recompute_to_fit);
    CHECK(made.strategy.sequence_parallel == false);
    CHECK(made.strategy.overlap.dp == false);
    CHECK(made.training.fp32_gradients == true);
}

TEST_CASE("BERT's sparse 512-token sequences come in bins since 2021, its 128-token ones are full")
{
    MeasuredRecord record = llama_on_64_h100();
    record.model.architecture = "encoder";
    record.task = "pretrain";
    record.framework = "PyTorch DDP";
    record.source.date = "2021-11 container";
    record.parallel = {};
    record.sequence_length = 512;
    // Half of the tokens are padding; bins of 64 leave half a bin of it.
    CHECK(strategy(record).training.sequence_length == 256 + 32);
    CHECK(assumed(strategy(record).assumptions, "padded to bins of 64 tokens: 288"));
    record.source.date = "2020";
    CHECK(strategy(record).training.sequence_length == 512);
    record.source.date = "2021";
    record.task = "finetune";
    CHECK(strategy(record).training.sequence_length == 512);
    record.task = "pretrain";
    record.sequence_length = 128;
    CHECK(strategy(record).training.sequence_length == 128);
    record.sequence_length = 512;
    record.model.architecture = "dense-decoder"; // packed
    CHECK(strategy(record).training.sequence_length == 512);
}

TEST_CASE("FSDP that keeps parameters through backward is stage 3 without a second gather")
{
    MeasuredRecord record = llama_on_64_h100();
    record.framework = "llm-foundry / Composer FSDP";
    record.parallel = {};
    record.parallel.zero_stage = 2;
    const RecordStrategy made = strategy(record);
    CHECK(made.strategy.zero == 3);
    CHECK(made.strategy.reshard_after_forward == false);
}

TEST_CASE("a batch that no number of micro-batches makes is rounded and said so")
{
    MeasuredRecord record = llama_on_64_h100();
    record.parallel.vpp.reset();
    record.global_batch = 130; // on 4 replicas
    const RecordStrategy made = strategy(record);
    CHECK(made.training.global_batch % 4 == 0);
    CHECK(assumed(made.assumptions, "for 130"));
}

TEST_CASE("sizes that do not divide the GPUs are refused")
{
    MeasuredRecord record = llama_on_64_h100();
    record.parallel.cp = 3;
    const auto model = model_of(record, FrameworkFamily::megatron_2024);
    const auto made =
        strategy_of(record, software_of(record),
                    &std::get<Transformer>(std::get<Model>(model->model).architecture));
    REQUIRE_FALSE(made.has_value());
    CHECK_THAT(made.error(), ContainsSubstring("4 x 4 x 3"));
}

TEST_CASE("layers that do not divide make room for embedding and head")
{
    CHECK(uneven_stage_layers(80, 16).empty());
    // 126 + 2 over 8 stages: 16 each, the outer two one less.
    CHECK(uneven_stage_layers(126, 8) == std::vector<int>{15, 16, 16, 16, 16, 16, 16, 15});
    CHECK(uneven_stage_layers(31, 4) == std::vector<int>{8, 8, 8, 7});
    for (int layers = 9; layers < 40; ++layers)
        for (int stages = 2; stages <= 8; ++stages) {
            const std::vector<int> uneven = uneven_stage_layers(layers, stages);
            INFO(layers << " over " << stages);
            if (uneven.empty())
                CHECK(layers % stages == 0);
            else
                CHECK(std::accumulate(uneven.begin(), uneven.end(), 0) == layers);
        }
}

TEST_CASE("a schedule that a record names is taken where it runs the record's sizes")
{
    // 64 GPUs: tp 4, pp 4, so dp 4 and 32 micro-batches.
    MeasuredRecord record = llama_on_64_h100();
    record.parallel.vpp = 1;
    record.parallel.schedule = "DualPipe";
    CHECK(strategy(record).strategy.schedule == "dualpipe");
    record.parallel.schedule = "zero bubble (ZB-H2)";
    CHECK(strategy(record).strategy.schedule == "zb-h2");
    record.parallel.schedule = "ZBV"; // needs two chunks
    const RecordStrategy other = strategy(record);
    CHECK(other.strategy.schedule == "1f1b");
    CHECK(assumed(other.assumptions, "schedule ZBV: as 1F1B"));
    record.parallel.vpp = 2;
    CHECK(strategy(record).strategy.schedule == "zb-v");
}

TEST_CASE("fine-tuning with NeMo trains the fused matrix's adapters on packed samples")
{
    MeasuredRecord record = llama_on_64_h100();
    record.framework = "NeMo 24.07 (Megatron-Core)";
    record.task = "lora";
    const RecordStrategy made = strategy(record);
    REQUIRE(made.training.lora);
    CHECK(made.training.lora->targets == std::vector{AdapterTarget::linear_qkv});
    REQUIRE(made.training.packing);
    CHECK(assumed(made.assumptions, "packed samples"));
    record.task = "pretrain";
    CHECK_FALSE(strategy(record).training.lora);
    CHECK_FALSE(strategy(record).training.packing);
}

TEST_CASE("blocks of scales are the tensor cores' on Blackwell and of 128 on Hopper")
{
    MeasuredRecord record = llama_on_64_h100();
    record.precision = "mxfp8";
    CHECK(strategy(record).training.precision == Precision::fp8_block);
    record.hardware.gpu = record.hardware.gpu_family = "B200";
    CHECK(strategy(record).training.precision == Precision::mxfp8);
    record.precision = "nvfp4";
    CHECK(strategy(record).training.precision == Precision::nvfp4);
}

TEST_CASE("what the recipe of a mixture says is simulated")
{
    MeasuredRecord record = llama_on_64_h100();
    record.model.architecture = "moe-decoder";
    record.model.experts = 8;
    record.model.experts_per_token = 2;
    record.model.expert_ffn = 4096;
    record.parallel.ep = 4;
    record.recipe.moe_dispatcher = "hybridep";
    record.recipe.expert_overlap = true;
    record.recipe.cuda_graphs = "transformer_engine";
    record.recipe.cuda_graph_scope = {"attn", "moe_router", "moe_preprocess"};
    record.recipe.fused_grouped_mlp = true;
    const RecordStrategy made = strategy(record);
    CHECK(made.strategy.experts.dispatcher == Dispatcher::hybridep);
    CHECK_FALSE(made.strategy.experts.capacity_factor);
    CHECK(made.strategy.overlap.ep == (made.strategy.pp == 1 || made.strategy.vpp > 1));
    const SoftwareChoice software = software_of(record).choice;
    CHECK(software.cuda_graphs);
    CHECK(software.graphed_parts ==
          std::vector<GraphedPart>{GraphedPart::attention, GraphedPart::router});
    CHECK(software.fused_experts);

    record.recipe.cuda_graphs = "full_iteration";
    record.recipe.cuda_graph_scope = {"whole"};
    record.recipe.moe_dispatcher = "carrier pigeons";
    record.flags = {"token-drop"};
    CHECK(software_of(record).choice.cuda_graphs);
    CHECK(software_of(record).choice.graphed_parts.empty());
    const RecordStrategy dropping = strategy(record);
    CHECK(dropping.strategy.experts.capacity_factor == 1.0);
    CHECK(assumed(dropping.assumptions, "carrier pigeons"));
    record.recipe.cuda_graphs = "none";
    CHECK_FALSE(software_of(record).choice.cuda_graphs);
}
