// How what a record leaves open is filled in.

#include "sim/cost/software_choice.h"
#include "sim/study/record_machine.h"
#include "sim/study/record_model.h"
#include "sim/study/record_software.h"
#include "sim/study/record_strategy.h"
#include "tests/catch.h"

#include <algorithm>
#include <numeric>

using namespace trainyard;

namespace {

MeasuredRecord llama_on_64_h100()
{
    MeasuredRecord record;
    record.id = "llama";
    record.quality = "A";
    record.framework = "NeMo 24.07 (Megatron-Core)";
    record.hardware = {"H100-SXM5-80GB", "H100", 8, 8, "InfiniBand NDR", 400.0};
    record.gpus = 64;
    record.model.name = "llama";
    record.model.architecture = "dense-decoder";
    record.model.hidden = 8192;
    record.model.layers = 80;
    record.model.heads = 64;
    record.model.kv_heads = 8;
    record.model.ffn = 28672;
    record.model.vocabulary = 32000;
    record.model.gated_mlp = true;
    record.sequence_length = 4096;
    record.global_batch = 128;
    record.micro_batch = 1;
    record.precision = "bf16";
    record.parallel.tp = 4;
    record.parallel.pp = 4;
    record.parallel.vpp = 5;
    record.step_time = 5.0;
    return record;
}

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

bool assumed(const std::vector<std::string>& assumptions, std::string_view part)
{
    return std::any_of(assumptions.begin(), assumptions.end(), [&](const std::string& text) {
        return text.find(part) != std::string::npos;
    });
}

} // namespace

TEST_CASE("years are found in dates and releases, not in other numbers")
{
    CHECK(year_in("2024-06-05") == 2024);
    CHECK(year_in("NeMo 24.07") == 2024);
    CHECK(year_in("releases 25.09 .. 26.08 (2025-09 .. 2026-08)") == 2025);
    CHECK(year_in("2021-04 (arXiv:2104.04473)") == 2021);
    CHECK(year_in("Transformer Engine 2.11, CUDA 13.1, 12048 GPUs, 0.25.01") == 0);
    CHECK(year_in("") == 0);
}

TEST_CASE("the framework's name and age choose its family")
{
    MeasuredRecord record;
    const auto family = [&](const char* framework, const char* date) {
        record.framework = framework;
        record.source.date = date;
        return software_of(record).family;
    };
    CHECK(family("Megatron-LM", "2021-04") == FrameworkFamily::megatron_2021);
    CHECK(family("Megatron-LM", "2024-04") == FrameworkFamily::megatron_2024);
    CHECK(family("Megatron-LM", "2025-04") == FrameworkFamily::megatron_2025);
    CHECK(family("Megatron-DeepSpeed", "2022") == FrameworkFamily::megatron_2021);
    CHECK(family("Megatron-Bridge (NeMo 25.09 container)", "") == FrameworkFamily::megatron_2025);
    CHECK(family("NeMo 24.07 (Megatron-Core)", "") == FrameworkFamily::megatron_2024);
    CHECK(family("MaxText (JAX)", "2024") == FrameworkFamily::jax);
    CHECK(family("torchtitan", "2024-12") == FrameworkFamily::torch_fsdp_compiled);
    CHECK(family("PyTorch FSDP1 + torch.compile", "") == FrameworkFamily::torch_fsdp_compiled);
    CHECK(family("llm-foundry / Composer FSDP", "") == FrameworkFamily::torch_fsdp);
    CHECK(family("PyTorch DDP", "2021") == FrameworkFamily::torch_ddp);
}

TEST_CASE("an unknown framework is taken for eager FSDP and the assumption is stated")
{
    MeasuredRecord record;
    record.framework = "SomethingNew 3";
    const RecordSoftware software = software_of(record);
    CHECK(software.family == FrameworkFamily::torch_fsdp);
    CHECK(assumed(software.assumptions, "SomethingNew"));
    CHECK(assumed(software.assumptions, "no date"));
}

TEST_CASE("a record runs the class that a scenario of its framework and year would run")
{
    MeasuredRecord record;
    for (const char* framework : {"Megatron-DeepSpeed", "NeMo", "Colossal-AI", "XLA", "Horovod",
                                  "DDP + compile", "KempnerForge", "DeepSpeed"})
        for (const int year : {2021, 2023, 2024, 2026}) {
            record.framework = framework;
            record.source.date = std::to_string(year);
            INFO(framework << " " << year);
            CHECK(software_of(record).choice.framework ==
                  software_class_for(framework, record.source.date).name);
        }
}

TEST_CASE("on A100 the code of 2023 is that of the year before")
{
    MeasuredRecord record;
    record.framework = "Megatron-LM";
    record.source.date = "2023-08";
    record.hardware.gpu = "A100-SXM4-80GB";
    CHECK(software_of(record).family == FrameworkFamily::megatron_2021);
    record.hardware.gpu = "H100-SXM5-80GB";
    CHECK(software_of(record).family == FrameworkFamily::megatron_2024);
}

TEST_CASE("old Megatron runs unfused attention, newer stacks fused kernels")
{
    MeasuredRecord record = llama_on_64_h100();
    CHECK(software_of(record).choice.attention == AttentionKernel::cudnn);
    record.framework = "Megatron-LM";
    record.source.date = "2021";
    CHECK(software_of(record).choice.attention == AttentionKernel::unfused);
    record.framework = "torchtitan";
    record.source.date = "2024-12";
    CHECK(software_of(record).choice.attention == AttentionKernel::sdpa);
    record.source.date = "2025-06";
    CHECK(software_of(record).choice.attention == AttentionKernel::sdpa_cudnn);
}

TEST_CASE("a machine is the usual node of its GPU with what the record says of it")
{
    MeasuredRecord record = llama_on_64_h100();
    const auto machine = machine_of(record);
    REQUIRE(machine.has_value());
    CHECK(machine->devices == 64);
    CHECK(machine->topology.find("nodes")->as_integer() == 8);
    CHECK(machine->topology.find("node")->find("preset")->as_string() == "dgx-h100");
    CHECK(machine->topology.find("fabric")->find("network")->as_string() == "ib_ndr");
    CHECK(machine->assumptions.empty());

    record.hardware.nic_gbps_per_gpu.reset();
    CHECK(assumed(machine_of(record)->assumptions, "NIC not stated: 400 Gb/s"));

    record.gpus = 2; // of a node of eight
    CHECK(machine_of(record)->devices == 8);
    CHECK(machine_of(record)->topology.find("fabric") == nullptr);
    CHECK(machine_of(record)->assumptions.empty());
}

TEST_CASE("a rack of NVL72 keeps its NVLink domain across trays")
{
    MeasuredRecord record = llama_on_64_h100();
    record.hardware = {"GB200 (NVL72)", "GB200", 4, 72, "InfiniBand NDR", 400.0};
    const auto machine = machine_of(record);
    REQUIRE(machine.has_value());
    CHECK(machine->topology.find("nodes")->as_integer() == 16);
    const Json& node = *machine->topology.find("node");
    CHECK(node.find("nvlink")->find("domain")->as_integer() == 72);
}

TEST_CASE("a job beyond one rack takes as many GPUs of each, so that groups stay inside")
{
    MeasuredRecord record = llama_on_64_h100();
    record.hardware = {"GB200 (NVL72)", "GB200", 4, 72, "InfiniBand NDR", 400.0};
    record.gpus = 256;
    const auto machine = machine_of(record);
    REQUIRE(machine.has_value());
    const Json& node = *machine->topology.find("node");
    CHECK(node.find("nvlink")->find("domain")->as_integer() == 64);
    CHECK(assumed(machine->assumptions, "64 GPUs of each rack of 72"));
    record.gpus = 144;
    CHECK(machine_of(record)->topology.find("node")->find("nvlink")->find("domain")->as_integer() ==
          72);
}

TEST_CASE("GPUs that no table of ours has met are still known, or refused by name")
{
    MeasuredRecord record = llama_on_64_h100();
    const auto device = [&](const char* gpu) {
        record.hardware.gpu = gpu;
        record.hardware.gpu_family.clear();
        const auto machine = machine_of(record);
        return machine ? machine->topology.find("node")->find("device")->as_string()
                       : machine.error();
    };
    CHECK(device("NVIDIA H800") == "h800_sxm_80");
    CHECK(device("H20-96GB") == "h20_sxm_96");
    CHECK(device("GH200 96GB HBM3") == "gh200_96");
    CHECK(device("H100 PCIe 80GB") == "h100_pcie_80");
    CHECK(device("A100-SXM4-40GB") == "a100_sxm4_40");
    CHECK(device("A100-SXM-80GB") == "a100_sxm4_80");
    CHECK(device("H200-141GB") == "h200_sxm_141");
    CHECK(device("GB300 (NVL72)") == "gb300_279");
    CHECK(device("AMD Instinct MI300X") == "mi300x");
    CHECK_THAT(device("Gaudi 3"), ContainsSubstring("Gaudi 3"));
}

TEST_CASE("a missing feed-forward size is solved from the parameter count")
{
    MeasuredRecord record = llama_on_64_h100();
    // 80 layers of h (2 a + 2 g) d + 3 h f, and embedding and logits of V h each.
    record.model.parameters = 80 * (8192.0 * 128 * 144 + 3 * 8192.0 * 28672) + 2 * 32000.0 * 8192;
    record.model.ffn.reset();
    const auto model = model_of(record, FrameworkFamily::megatron_2024);
    REQUIRE(model.has_value());
    const auto& transformer = std::get<Transformer>(std::get<Model>(model->model).architecture);
    CHECK(transformer.ffn == 28672);
    CHECK(assumed(model->assumptions, "28672"));
}

TEST_CASE("a model that cannot be built says what is missing")
{
    MeasuredRecord record = llama_on_64_h100();
    const auto why = [&] { return model_of(record, FrameworkFamily::jax).error(); };
    record.model.hidden.reset();
    record.sequence_length.reset();
    CHECK(why() == "hidden size, sequence length not stated");
    record = llama_on_64_h100();
    record.model.architecture = "moe-decoder";
    CHECK_THAT(why(), ContainsSubstring("experts"));
    record.model.architecture = "diffusion";
    CHECK_THAT(why(), ContainsSubstring("diffusion"));
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

TEST_CASE("latent attention is read from a record's words")
{
    MeasuredRecord record = llama_on_64_h100();
    record.model.attention = "MLA (q_lora 1536, kv_lora 512, qk 128+64, v 128)";
    const auto made = model_of(record, FrameworkFamily::megatron_2025);
    REQUIRE(made);
    const auto& model = std::get<Transformer>(std::get<Model>(made->model).architecture);
    CHECK(model.latent == LatentAttention{1536, 512, 128, 64, 128});
    CHECK(model.head_dim == 192);
    record.model.attention = "MLA";
    CHECK(model_of(record, FrameworkFamily::megatron_2025).error() ==
          "ranks and head sizes of latent attention not stated");
}
