#include "tests/unit/study/jobs/importing.h"

#include <fmt/core.h>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

JobImportOptions options()
{
    return with_model(on_h100(1), "llama-2-7b");
}

ImportedJob config(const std::string& text)
{
    return imported(JobKind::deepspeed, text, options());
}

} // namespace

TEST_CASE("any two of DeepSpeed's three batch sizes fix the third")
{
    // 8 GPUs: 64 = 2 x 4 x 8
    for (
        const char* text :
        {R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2})",
         R"({"train_batch_size": 64, "gradient_accumulation_steps": 4})",
         R"({"train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4})",
         R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4})"})
    {
        const ImportedJob job = config(text);
        CHECK(job.job.training.global_batch == 64);
        CHECK(job.job.training.micro_batch == 2);
        CHECK(job.job.micro_batches() == 4);
    }
}

TEST_CASE("DeepSpeed's batch sizes that contradict each other are refused with the one that fits")
{
    const Diagnostic problem =
        refusal_of(JobKind::deepspeed,
                   "{\n\"train_batch_size\": 64, \"train_micro_batch_size_per_gpu\": 2,\n"
                   "\"gradient_accumulation_steps\": 8}",
                   options());
    CHECK(problem.line == 2);
    CHECK(problem.message.find("2 x gradient_accumulation_steps 8 x 8 replicas = 128") !=
          std::string::npos);
    CHECK(problem.hint.starts_with("train_batch_size 128 fits"));
}

TEST_CASE("DeepSpeed's buckets are elements: bytes follow from the format of the gradients")
{
    const auto strategy = [](int stage, const std::string& more) {
        return config(fmt::format(R"({{"train_batch_size": 8, "bf16": {{"enabled": true}}, {}
            "zero_optimization": {{"stage": {}, "reduce_bucket_size": 3e8}}}})",
                                  more, stage))
            .job.strategy;
    };
    // 3e8 elements of 2 bytes, or of 4
    CHECK(strategy(0, R"("data_types": {"grad_accum_dtype": "bf16"},)").bucket_cap ==
          Bytes(600'000'000));
    CHECK(strategy(0, "").bucket_cap == Bytes(1'200'000'000)); // kept in fp32
    CHECK(strategy(0, R"("communication_data_type": "fp32",)").bucket_cap == Bytes(1'200'000'000));
    CHECK(strategy(2, "").sharding.reduce_bucket == 300'000'000);
    CHECK(strategy(2, "").zero == 2);
}

TEST_CASE("DeepSpeed's gradients are in the wider of the formats they are kept and summed in")
{
    const auto wide = [](const std::string& more) {
        return config(R"({"train_batch_size": 8, "bf16": {"enabled": true},)" + more +
                      R"("zero_optimization": {"stage": 1}})")
            .job.training.fp32_gradients;
    };
    CHECK(wide("") == false);
    CHECK(wide(R"("data_types": {"grad_accum_dtype": "fp32"},)") == true);
    CHECK(wide(R"("data_types": {"grad_accum_dtype": "bf16"},)") == false);
    CHECK(
        wide(R"("data_types": {"grad_accum_dtype": "fp32"}, "communication_data_type": "bf16",)") ==
        true);
}

TEST_CASE("DeepSpeed's shard groups and offload are taken over")
{
    const Strategy strategy = config(R"({"train_batch_size": 8, "bf16": {"enabled": true},
        "zero_optimization": {"stage": 3, "mics_shard_size": 4,
                              "offload_optimizer": {"device": "cpu", "pin_memory": true}}})")
                                  .job.strategy;
    CHECK(strategy.shard_group == 4);
    CHECK(strategy.offload.optimizer == OffloadTarget::cpu);
    const ImportedJob old = config(R"({"train_batch_size": 8, "fp16": {"enabled": "true"},
        "zero_optimization": {"stage": 2, "cpu_offload": true}})");
    CHECK(old.job.strategy.offload.optimizer == OffloadTarget::cpu);
    CHECK(old.job.training.precision == Precision::fp16);
    const ImportedJob second = config(R"({"train_batch_size": 8, "fp16": {"enabled": true},
        "zero_optimization": {"stage": 2, "offload_param": {"device": "cpu"}}})");
    CHECK(second.job.strategy.offload.parameters == OffloadTarget::none);
    CHECK(says(second.notes.ignored, "zero_optimization.offload_param.device = \"cpu\": of effect "
                                     "at stage 3 alone"));
}

TEST_CASE("ZeRO stages overlap as DeepSpeed does unless told otherwise")
{
    const auto stage = [](int number, const std::string& more) {
        return config(
                   R"({"train_batch_size": 8, "bf16": {"enabled": true}, "zero_optimization": {)" +
                   more + fmt::format(R"("stage": {}}}}})", number))
            .job.strategy;
    };
    CHECK(stage(1, "").overlap.dp == false);
    CHECK(stage(3, "").overlap.dp == true);
    CHECK(stage(1, R"("overlap_comm": true, )").overlap.dp == true);
    CHECK(stage(3, "").zero == 3);
}

TEST_CASE("values left to DeepSpeed as auto are told")
{
    const ImportedJob job = config(
        R"({"train_batch_size": 8, "gradient_accumulation_steps": "auto", "bf16": {"enabled": "auto"}})");
    CHECK(says(job.notes.assumed, "gradient_accumulation_steps = \"auto\": left to the framework"));
    CHECK(job.job.training.precision == Precision::bf16);
}

TEST_CASE("what a DeepSpeed configuration has besides is listed")
{
    const ImportedJob job = config(R"({"train_batch_size": 8, "gradient_clipping": 1.0,
        "zero_optimization": {"stage": 1, "frobnicate": 3}, "fp16": {"enabled": true, "loss_scale": 0}})");
    CHECK(says(job.notes.ignored, "gradient_clipping = 1.0: of the learning"));
    CHECK(says(job.notes.ignored, "zero_optimization.frobnicate = 3: not known here"));
    CHECK(job.job.training.precision == Precision::fp16);
}

TEST_CASE("a DeepSpeed configuration without what it cannot say is refused with the way out")
{
    CHECK(refusal_of(JobKind::deepspeed, R"({"train_batch_size": 8})", on_h100(1))
              .hint.find("--model") != std::string::npos);
    CHECK(refusal_of(JobKind::deepspeed, R"({"train_batch_size": "many"})", options()).message ==
          "train_batch_size = \"many\": expected a whole number");
    CHECK(refusal_of(
              JobKind::deepspeed,
              R"({"train_batch_size": 8, "fp16": {"enabled": true}, "bf16": {"enabled": true}})",
              options())
              .hint == "enable one of them");
    CHECK(!refusal_of(JobKind::deepspeed, "[1, 2]", options()).message.empty());
    CHECK(!refusal_of(JobKind::deepspeed, "{\"a\": ", options()).message.empty());
}

TEST_CASE("a DeepSpeed configuration that leaves its batch to others has DeepSpeed's own")
{
    for (const char* const text : {"{}", R"({"train_micro_batch_size_per_gpu": "auto"})"}) {
        const ImportedJob job = imported(JobKind::deepspeed, text, options());
        CHECK(job.job.training.micro_batch == 1);
        CHECK(job.job.micro_batches() == 1);
        CHECK(says(job.notes.assumed, "train_micro_batch_size_per_gpu 1, DeepSpeed's default"));
    }
}

TEST_CASE("a format that DeepSpeed leaves to its trainer is that of the switch, by either name")
{
    const auto precision = [](const std::string& formats) {
        return config(R"({"train_batch_size": 8, )" + formats + "}").job.training.precision;
    };
    CHECK(precision(R"("bfloat16": {"enabled": "auto"})") == Precision::bf16);
    CHECK(precision(R"("bfloat16": {"enabled": true})") == Precision::bf16);
    CHECK(precision(R"("fp16": {"enabled": "auto"})") == Precision::fp16);
    CHECK(precision(R"("fp16": {"enabled": "auto"}, "bf16": {"enabled": "auto"})") ==
          Precision::bf16);
    CHECK(precision(R"("fp16": {"enabled": "auto"}, "bf16": {"enabled": false})") ==
          Precision::fp16);
    CHECK(precision(R"("fp16": {"enabled": false})") == Precision::fp32);
}

TEST_CASE("DeepSpeed's autocast and Apex's amp compute in 16 bit on parameters in fp32")
{
    const auto training = [](const std::string& section, int stage) {
        return config(fmt::format(
                          R"({{"train_batch_size": 8, {}, "zero_optimization": {{"stage": {}}}}})",
                          section, stage))
            .job.training;
    };
    const std::string autocast = R"("torch_autocast": {"enabled": true, "dtype": "bfloat16"})";
    CHECK(training(autocast, 3).precision == Precision::bf16);
    CHECK(training(autocast, 3).fp32_gradients == false); // as they are summed
    CHECK(training(autocast, 0).fp32_gradients == true);  // as they are kept
    CHECK(training(R"("torch_autocast": {"enabled": true})", 2).precision == Precision::fp16);
    CHECK(training(R"("torch_autocast": {"enabled": false})", 2).precision == Precision::fp32);
    CHECK(training(R"("amp": {"enabled": true, "opt_level": "O1"})", 0).precision ==
          Precision::fp16);
    CHECK(training(R"("amp": {"enabled": true, "opt_level": "O1"})", 0).fp32_gradients == true);
    CHECK(training(R"("amp": {"enabled": true, "opt_level": "O2"})", 0).fp32_gradients == false);
    CHECK(training(R"("amp": {"enabled": true, "opt_level": "O0"})", 0).precision ==
          Precision::fp32);
    const ImportedJob job = config(R"({"train_batch_size": 8, "amp": {"enabled": true}})");
    CHECK(says(job.notes.assumed, "amp.opt_level O1, Apex's default"));
    CHECK(says(job.notes.assumed, "parameters are kept in fp32 alone"));
}

TEST_CASE("DeepSpeed's first way to ask for ZeRO is stage 1")
{
    const ImportedJob job = config(R"({"train_batch_size": 8, "fp16": {"enabled": true},
        "zero_optimization": true, "allgather_size": 200000000})");
    CHECK(job.job.strategy.zero == 1);
    CHECK(job.job.strategy.sharding.gather_bucket == 200'000'000);
    CHECK(says(job.notes.understood, "zero_optimization = true -> strategy.zero 1"));
    CHECK(config(R"({"train_batch_size": 8, "zero_optimization": false})").job.strategy.zero == 0);
}

TEST_CASE("DeepSpeed keeps gradients in fp32 with bf16 where nothing is sharded")
{
    const auto stage = [](int number, const std::string& format) {
        return config(fmt::format(R"({{"train_batch_size": 8, "{}": {{"enabled": true}},
            "zero_optimization": {{"stage": {}}}}})",
                                  format, number));
    };
    CHECK(stage(0, "bf16").job.training.fp32_gradients == true);
    CHECK(says(stage(0, "bf16").notes.flagged, "bf16 at stage 0"));
    CHECK(stage(0, "fp16").job.training.fp32_gradients == false);
    CHECK(stage(1, "bf16").job.training.fp32_gradients == false);
    CHECK(stage(1, "bf16").notes.flagged.empty());
}

TEST_CASE("reductions of DeepSpeed's stage 3 that stand in the way of compute are flagged")
{
    const auto overlapping = [](int stage) {
        return config(fmt::format(R"({{"train_batch_size": 8, "bf16": {{"enabled": true}},
            "zero_optimization": {{"stage": {}, "overlap_comm": false}}}})",
                                  stage));
    };
    CHECK(says(overlapping(3).notes.flagged, "overlap_comm false"));
    CHECK(overlapping(3).warnings.empty());
    CHECK(overlapping(2).notes.flagged.empty());
    CHECK(overlapping(2).job.strategy.overlap.dp == false);
}

TEST_CASE("traffic and memory that DeepSpeed saves in ways that are not modelled are flagged")
{
    const ImportedJob job = config(R"({"train_batch_size": 8, "bf16": {"enabled": true},
        "zero_optimization": {"stage": 3, "zero_quantized_weights": true,
        "zero_quantized_gradients": true, "zero_quantized_nontrainable_weights": false,
        "offload_optimizer": {"device": "cpu", "ratio": 0.3}}})");
    CHECK(job.notes.flagged.size() == 3);
    CHECK(says(job.notes.flagged, "zero_quantized_weights = true: parameters are gathered"));
    CHECK(says(job.notes.flagged, "zero_quantized_gradients = true"));
    CHECK(says(job.notes.flagged, "offload_optimizer.ratio = 0.3"));
}

TEST_CASE("offload to drives is that to the host, flagged")
{
    const ImportedJob job = config(R"({"train_batch_size": 8, "bf16": {"enabled": true},
        "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "nvme"}}})");
    CHECK(job.job.strategy.offload.optimizer == OffloadTarget::cpu);
    CHECK(says(job.notes.flagged, "drives are not modelled"));
}
