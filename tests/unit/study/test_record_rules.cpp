// Which software, machine and model a record means, and what fills in what it leaves open.

#include "sim/cost/software_choice.h"
#include "sim/study/record_machine.h"
#include "sim/study/record_model.h"
#include "sim/study/record_software.h"
#include "tests/catch.h"
#include "tests/unit/study/measured_llama.h"

using namespace trainyard;
using namespace trainyard::test;

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
    CHECK(device("8xH100") == "h100_sxm5_80");
    CHECK_THAT(device("Gaudi 3"), ContainsSubstring("Gaudi 3"));
    CHECK_THAT(device("CPU core"), ContainsSubstring("\"usual_node\""));
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
