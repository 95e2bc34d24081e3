#include "sim/study/jobs/structured_text.h"
#include "sim/study/jobs/torch/python_settings.h"
#include "sim/study/jobs/torch/torchtitan.h"
#include "tests/unit/study/jobs/importing.h"

#include <fmt/core.h>

#include <numeric>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

const std::string eight_billion = R"([model]
name = "llama3"
flavor = "8B"
[training]
local_batch_size = 1
seq_len = 8192
[activation_checkpoint]
mode = "none"
)";

std::string repeated(std::string_view text, int times)
{
    std::string out;
    for (int i = 0; i < times; ++i)
        out += text;
    return out;
}

ImportedJob with_sections(const std::string& more, int nodes = 1)
{
    return imported(JobKind::torchtitan, eight_billion + more, on_h100(nodes));
}

} // namespace

TEST_CASE("a configuration in Python is read as its keyword arguments say")
{
    const std::string registry = R"py(from torchtitan.config import (
    TrainingConfig,
)

def llama3_debug() -> Trainer.Config:
    return Trainer.Config(model_spec=model_registry("debugmodel"), training=TrainingConfig(seq_len=64))

def llama3_70b() -> Trainer.Config:
    """def other(): of seventy billion."""
    steps = 10 * 100
    return Trainer.Config(
        model_spec=model_registry("70B"),  # the sizes
        model_converters=Containers.Config(converters=[Float8LinearConverter.Config(fqns=["a)"])]),
        training=TrainingConfig(local_batch_size=2, seq_len=8_192, steps=steps),
        parallelism=ParallelismConfig(tensor_parallel_degree=8),
    )

def llama3_70b_long():
    config = llama3_70b()
    config.training.seq_len = 16384
    config.compile = CompileConfig(enable=True)
    return config
)py";
    CHECK(recognise_job(registry) == JobKind::torchtitan);
    CHECK(refusal_of(JobKind::torchtitan, registry, on_h100(1)).hint ==
          "--define config=NAME takes one of llama3_debug, llama3_70b, llama3_70b_long");
    JobImportOptions options = on_h100(2);
    options.defined["config"] = "llama3_70b_long";
    const ImportedJob job = imported(JobKind::torchtitan, registry, options);
    CHECK(job.job.model.name == "llama3-70B");
    CHECK(job.job.training.sequence_length == 16384);
    CHECK(job.job.training.micro_batch == 2);
    CHECK(job.job.training.precision == Precision::fp8);
    CHECK(job.job.strategy.tp == 8);
    CHECK(says(job.notes.understood, "line 20: training.seq_len = 16384"));
    const ImportedJob single =
        imported(JobKind::torchtitan,
                 "from torchtitan.trainer import Trainer\ndefault_config = Trainer.Config(\n"
                 "    model=ModelConfig(name='llama3', flavor='8B'),\n"
                 "    training=TrainingConfig(local_batch_size=1, seq_len=8192),\n)\n",
                 on_h100(1));
    CHECK(single.job.model.name == "llama3-8B");
    CHECK(single.job.training.sequence_length == 8192);
}

TEST_CASE("a configuration in Python may start from one that stands further down")
{
    const std::string registry = R"py(from torchtitan.trainer import Trainer

def llama3_compiled() -> Trainer.Config:
    config = llama3_long()
    config.compile = CompileConfig(enable=True)
    return config

def llama3_long() -> Trainer.Config:
    config = llama3_base()
    config.training.seq_len = 16384
    return config

def llama3_base() -> Trainer.Config:
    return Trainer.Config(
        model_spec=model_registry("8B"),
        training=TrainingConfig(local_batch_size=1, seq_len=8192),
        activation_checkpoint=FullAC.Config(),
    )
)py";
    JobImportOptions options = on_h100(1);
    options.defined["config"] = "llama3_compiled";
    const ImportedJob job = imported(JobKind::torchtitan, registry, options);
    CHECK(job.scenario.scenario.software.framework == "torchtitan");
    CHECK(job.job.training.sequence_length == 16384);
    CHECK(job.job.training.recompute == Recompute::full);
    options.defined["config"] = "llama3_70b";
    const Diagnostic problem = refusal_of(JobKind::torchtitan, registry, options);
    CHECK(problem.message == "holds no configuration llama3_70b");
    CHECK(problem.hint ==
          "--define config=NAME takes one of llama3_compiled, llama3_long, llama3_base");
    // Functions that call each other in a ring end too.
    CHECK(python_settings("def a():\n    return b(x=1)\ndef b():\n    return a(x=1)\n").size() ==
          2);
}

TEST_CASE("what torchtitan's registry of models is told beside the flavor counts")
{
    const std::string registry = R"py(from torchtitan.trainer import Trainer
TAIL = 0.15

def deepseek_v3_16b_hybridep() -> Trainer.Config:
    return Trainer.Config(
        model_spec=model_registry(
            "16B",
            attn_backend="flex",
            moe_comm_backend="hybridep",
            non_blocking_capacity_factor=1.0,
            num_mtp_layers=1,
        ),
        training=TrainingConfig(local_batch_size=1, seq_len=4096),
        parallelism=ParallelismConfig(expert_parallel_degree=8),
        activation_checkpoint=FullAC.Config(),
    )

def llama3_8b_adapted() -> Trainer.Config:
    config = llama3_8b()
    config.model_spec = model_registry("8B", converters=[
        Float8LinearConverter.Config(emulate=True),
        LoRAConverter.Config(rank=16, target_modules=["wq", "wo"]),
    ])
    return config

def llama3_8b_nvfp4() -> Trainer.Config:
    config = llama3_8b()
    fqns = nvfp4_bf16_tail_fqns(n_layers, TAIL)
    config.model_spec = model_registry("8B", converters=[NVFP4LinearConverter.Config(fqns=fqns)])
    return config

def llama3_8b() -> Trainer.Config:
    return Trainer.Config(
        model_spec=model_registry("8B"),
        training=TrainingConfig(local_batch_size=1, seq_len=4096),
        activation_checkpoint=FullAC.Config(),
    )
)py";
    const auto job = [&](const std::string& name) {
        JobImportOptions options = on_h100(1);
        options.defined["config"] = name;
        return imported(JobKind::torchtitan, registry, options);
    };
    const ImportedJob experts = job("deepseek_v3_16b_hybridep");
    CHECK(experts.job.strategy.experts.dispatcher == Dispatcher::hybridep);
    CHECK(experts.scenario.scenario.software.attention == AttentionKernel::triton);
    CHECK(model_of(experts).prediction_layers == 1);
    CHECK(says(experts.notes.ignored, "line 10: model_spec.non_blocking_capacity_factor = 1.0"));
    const ImportedJob adapted = job("llama3_8b_adapted");
    REQUIRE(adapted.job.training.lora.has_value());
    CHECK(adapted.job.training.lora->rank == 16);
    CHECK(adapted.job.training.lora->targets.size() == 2);
    CHECK(adapted.job.training.precision == Precision::fp8);
    CHECK(says(adapted.notes.flagged, "Float8LinearConverter.emulate = true: products are"));
    // 15 % of 32 layers.
    CHECK(job("llama3_8b_nvfp4").job.training.formats.last_wide_layers == 5);
}

TEST_CASE("classes that a configuration in Python calls say what they do")
{
    const std::string registry = R"py(from torchtitan.trainer import Trainer

def sft_qwen3_8b() -> Trainer.Config:
    model_spec = model_registry("8B", converters=[MXFP8LinearConverter.Config(compiled=True)])
    return Trainer.Config(
        model_spec=model_spec,
        training=TrainingConfig(local_batch_size=1, seq_len=4096),
        activation_checkpoint=FullAC.Config(),
    )

def qwen3_8b_by_op() -> Trainer.Config:
    config = sft_qwen3_8b()
    config.activation_checkpoint = SelectiveAC.Config()
    config.model_spec = model_registry("8B", converters=[Float8LinearConverter.Config()])
    config.parallelism = ParallelismConfig(tensor_parallel_degree=2)
    config.compile = CompileConfig(enable=True, enable_async_tensor_parallel=True)
    return config

def qwen35_122b_a10b() -> Trainer.Config:
    return Trainer.Config(
        model_spec=model_registry("122B-A10B"),
        training=TrainingConfig(local_batch_size=1, seq_len=4096),
    )

def qwen35_4b() -> Trainer.Config:
    return Trainer.Config(
        model_spec=model_registry("4B"),
        training=TrainingConfig(local_batch_size=1, seq_len=4096),
    )
)py";
    JobImportOptions options = on_h100(1);
    const auto config = [&](const std::string& name) {
        options.defined["config"] = name;
        return imported(JobKind::torchtitan, registry, options);
    };
    const ImportedJob full = config("sft_qwen3_8b");
    CHECK(full.job.model.name == "qwen3-8B");
    CHECK(full.job.training.precision == Precision::mxfp8);
    CHECK(full.job.training.recompute == Recompute::full);
    CHECK_FALSE(full.job.training.recompute_layers.has_value());
    const ImportedJob by_op = config("qwen3_8b_by_op");
    CHECK(by_op.job.training.precision == Precision::fp8);
    CHECK(by_op.job.training.recompute == Recompute::selective);
    CHECK(by_op.job.strategy.overlap.tp == true);
    // Another family, whose name goes on with a number: shipped, or not known.
    CHECK(config("qwen35_122b_a10b").scenario.scenario.model.path == "qwen3.5-122b-a10b");
    options.defined["config"] = "qwen35_4b";
    CHECK(refusal_of(JobKind::torchtitan, registry, options)
              .message.ends_with("qwen35_4b 4B is no model known here"));
}

TEST_CASE("Python that is cut, or names itself again and again, ends")
{
    std::string doubling = "a = C(x=1)\n";
    for (int i = 0; i < 64; ++i)
        doubling += "a = C(x=a, y=a)\n";
    CHECK(!python_settings(doubling).empty());
    for (const std::string& text :
         {std::string("a = C(x=[1, {'b': (2"), "a = C(" + repeated("x=C(", 10'000),
          std::string(")\na = 'b"), std::string("def"), std::string("a ="), std::string("return"),
          std::string("a = C(x=)])\nb = C(y=2)")})
        python_settings(text);
}

TEST_CASE("TOML and YAML nested without end are refused with their line")
{
    const std::string key = repeated("a.", 20'000) + "a";
    for (const std::string& deep :
         {key + " = 1\n", "[" + key + "]\n", "[[" + key + "]]\n", "a = " + repeated("[", 20'000),
          "a = " + repeated("{a=", 20'000), "a = {" + key + " = 1}\n"})
    {
        const Checked<Json> read = parse_toml("\n" + deep, "job.toml");
        REQUIRE(!read);
        CHECK(read.error().front().line == 2);
        CHECK_THAT(read.error().front().message, ContainsSubstring("deep"));
    }
    for (const std::string& deep : {repeated("[", 20'000), repeated("{a: ", 20'000)}) {
        const Checked<Json> read = parse_yaml("a:\n  " + deep, "job.yaml");
        REQUIRE(!read);
        CHECK(read.error().front().line == 2);
        CHECK_THAT(read.error().front().message, ContainsSubstring("deep"));
    }
    // Dots in strings, comments and numbers make no tables.
    const std::string dots(1'000, '.');
    CHECK(parse_toml("a = \"" + dots + "\" # " + dots + "\nb = \"\"\"\n" + dots + "\"\"\"\nc = [" +
                         repeated("1.5, ", 1'000) + "]\n",
                     "job.toml"));
}

TEST_CASE("a TOML or YAML file of many keys has each of them, with its line")
{
    std::string toml;
    std::string yaml;
    for (int i = 0; i < 50'000; ++i) {
        toml += fmt::format("k{} = {}\n", i, i);
        yaml += fmt::format("k{}: {}\n", i, i);
    }
    for (const Checked<Json>& read : {parse_toml(toml, "job.toml"), parse_yaml(yaml, "job.yaml")}) {
        REQUIRE(read);
        REQUIRE(read->members().size() == 50'000);
        const Json* const last = read->find("k49999");
        REQUIRE(last != nullptr);
        CHECK(last->as_integer() == 49'999);
        CHECK(last->line() == 50'000);
    }
}

TEST_CASE("torchtitan's flavors are the published models")
{
    const ImportedJob job = with_sections("");
    CHECK(model_of(job).hidden == 4096);
    // 8.03 billion parameters
    CHECK_THAT(count_parameters(job.job.model).total, Catch::Matchers::WithinRel(8.03e9, 1e-3));
    for (const auto& [family, flavor, billions] : {std::tuple("llama3", "70B", 70.55),
                                                   {"llama3", "405B", 405.85},
                                                   {"llama3_ft", "8b", 8.03},
                                                   {"llama2", "13B", 13.02},
                                                   {"llama", "70B", 68.98},
                                                   {"llama4", "17bx16e", 107.77},
                                                   {"deepseek_v3", "16B", 15.71},
                                                   {"deepseek_v3", "671B", 671.03},
                                                   {"qwen3", "8B", 8.19},
                                                   {"qwen3", "32B", 32.76},
                                                   {"qwen3", "30B-A3B", 30.53},
                                                   {"qwen3", "235B-A22B", 235.1}})
    {
        const TitanFlavor* known = find_titan_flavor(family, flavor);
        REQUIRE(known != nullptr);
        CHECK_THAT(count_parameters(Model{"", known->model}).total,
                   Catch::Matchers::WithinRel(billions * 1e9, 2e-3));
    }
}

TEST_CASE("torchtitan shards over what is left, and counts its batch per replica")
{
    const ImportedJob job = with_sections("");
    CHECK(job.job.strategy.zero == 3);
    CHECK(job.job.dp() == 8);
    CHECK(job.job.training.global_batch == 8); // one local batch on each of 8 replicas
    const ImportedJob accumulated = with_sections("[parallelism]\ntensor_parallel_degree = 4\n"
                                                  "enable_async_tensor_parallel = true\n");
    CHECK(accumulated.job.strategy.tp == 4);
    CHECK(accumulated.job.strategy.overlap.tp == true);
    CHECK(accumulated.job.strategy.sequence_parallel == true);
    CHECK(accumulated.job.dp() == 2);
}

TEST_CASE("torchtitan's replicas without shards are DDP")
{
    const ImportedJob job = with_sections("[parallelism]\ndata_parallel_replicate_degree = 8\n"
                                          "data_parallel_shard_degree = 1\n");
    CHECK(job.job.strategy.zero == 0);
    CHECK(job.job.dp() == 8);
}

TEST_CASE("a JSON dump says the same as the TOML")
{
    const ImportedJob json = imported(JobKind::torchtitan,
                                      R"({"model_spec": {"name": "llama3", "flavor": "8B"},
        "training": {"local_batch_size": 1, "seq_len": 8192},
        "activation_checkpoint": {"mode": "none"}})",
                                      on_h100(1));
    CHECK(json.job == with_sections("").job);
}

TEST_CASE("torchtitan's compiled and eager runs are of different classes")
{
    CHECK(with_sections("[compile]\nenable = true\n").job.software.name == "torch-compile-fsdp");
    CHECK(with_sections("").job.software.name == "fsdp-eager");
}

TEST_CASE("torchtitan's loss is compiled with the model, unless the list of components says not")
{
    const auto loss = [](const std::string& more) {
        return with_sections(more).job.software.kernels.loss;
    };
    CHECK(loss("") == LossKernel::log_softmax);
    CHECK(loss("[compile]\nenable = true\n") == LossKernel::fused);
    CHECK(loss("[compile]\nenable = true\ncomponents = [\"model\"]\n") == LossKernel::log_softmax);
    CHECK(loss("[compile]\nenable = true\ncomponents = [\"model\", \"loss\"]\n") ==
          LossKernel::fused);
    const Job loss_alone = with_sections("[compile]\nenable = true\ncomponents = [\"loss\"]\n").job;
    CHECK(loss_alone.software.name == "fsdp-eager");
    CHECK(loss_alone.software.kernels.loss == LossKernel::fused);
}

TEST_CASE("torchtitan recomputes by op or by layer")
{
    const auto training = [](const std::string& option) {
        std::string text = eight_billion;
        text.replace(text.find("\"none\""), 6, "\"selective\"\n" + option);
        return imported(JobKind::torchtitan, text, on_h100(1)).job.training;
    };
    const Training by_op = training("selective_ac_option = \"op\"");
    CHECK(by_op.recompute == Recompute::selective);
    CHECK(by_op.recompute_modules == std::vector{RecomputeModule::per_op});
    const Training by_layer = training("selective_ac_option = \"2\"");
    CHECK(by_layer.recompute == Recompute::full);
    CHECK(by_layer.recompute_layers == 16);
}

TEST_CASE("torchtitan divides layers so that embedding and head count as layers")
{
    // 32 + 1 + 1 = 34 over 4: 9 9 8 8, less the embedding and the head
    CHECK(titan_stage_layers(32, 4, 1, 1) == std::vector<int>{8, 9, 8, 7});
    CHECK(titan_stage_layers(32, 4, 0, 0) == std::vector<int>{8, 8, 8, 8});
    const std::vector<int> many = titan_stage_layers(126, 16, 1, 1);
    CHECK(std::accumulate(many.begin(), many.end(), 0) == 126);
}

TEST_CASE("torchtitan's refusals name the setting")
{
    const JobImportOptions eight = on_h100(1);
    CHECK(refusal_of(JobKind::torchtitan, "[model]\nflavor = \"9B\"\n", eight).line == 2);
    const Diagnostic shards =
        refusal_of(JobKind::torchtitan,
                   eight_billion + "[parallelism]\ndata_parallel_shard_degree = 3\n", eight);
    CHECK(shards.message.find("1 x 3 (replicate x shard)") != std::string::npos);
    CHECK(refusal_of(JobKind::torchtitan, "[model\n", eight).line == 1);
    CHECK(!refusal_of(JobKind::torchtitan, "", eight).message.empty());
}

TEST_CASE("torchtitan's unknown settings are listed")
{
    const ImportedJob job =
        with_sections("[parallelism]\nfrobnicate = 3\n[metrics]\nlog_freq = 10\n");
    CHECK(says(job.notes.ignored, "parallelism.frobnicate = 3: not known here"));
    CHECK(says(job.notes.ignored, "metrics.log_freq = 10: no part of a step's time"));
}

TEST_CASE("a diffusion model is refused, whatever model is given beside")
{
    const std::string flux = "[model]\nname = \"flux\"\nflavor = \"flux-dev\"\n";
    const Diagnostic refused =
        refusal_of(JobKind::torchtitan, flux, with_model(on_h100(1), "llama-2-7b"));
    CHECK(refused.line == 2);
    CHECK(refused.message.find("a diffusion model") != std::string::npos);
}

TEST_CASE("a flavor with words beside a known one's is of its sizes, one with numbers is not")
{
    CHECK(nearest_titan_flavor("llama3", "8B_flex")->flavor == "8B");
    CHECK(nearest_titan_flavor("qwen3", "opt-30B-A3B")->flavor == "30B-A3B");
    CHECK(nearest_titan_flavor("llama3", "debugmodel_flex_attn")->flavor == "debugmodel");
    CHECK(nearest_titan_flavor("llama3", "8B_16layers") == nullptr);
    CHECK(nearest_titan_flavor("llama3", "18B") == nullptr);
    const ImportedJob job = imported(
        JobKind::torchtitan, "[model]\nname = \"llama3\"\nflavor = \"8B_flex\"\n", on_h100(1));
    CHECK(says(job.notes.assumed, "line 3: model.flavor = \"8B_flex\": of the sizes of llama3 8B"));
}

TEST_CASE("a flavor that is a published model's name is that model")
{
    const ImportedJob job = imported(JobKind::torchtitan,
                                     "[model]\nname = \"deepseek_v2\"\nflavor = "
                                     "\"deepseek-ai/DeepSeek-V2-Lite\"\n",
                                     on_h100(1));
    CHECK(job.scenario.scenario.model.path == "deepseek-v2-lite");
}

TEST_CASE("what makes the optimizer and the loss of a configuration in Python says which they are")
{
    const std::string text = "from torchtitan.trainer import Trainer\n"
                             "def llama3_8b() -> Trainer.Config:\n"
                             "    return Trainer.Config(\n"
                             "        model_spec=model_registry('8B'),\n"
                             "        loss=ChunkedLossWrapper.Config(loss_fn=Loss.Config(n=1)),\n"
                             "        optimizer=dist_adamw(lr=1.0),\n"
                             "        training=TrainingConfig(seq_len=512),\n    )\n";
    const ImportedJob job = imported(JobKind::torchtitan, text, on_h100(1));
    CHECK(job.scenario.scenario.software.loss == LossKernel::in_place);
    CHECK(says(job.notes.flagged, "logits are made a part at a time"));
    CHECK(says(job.notes.assumed, "attention by scaled_dot_product_attention"));
    std::string muon = text;
    muon.replace(muon.find("dist_adamw"), 10, "dist_muon");
    // Muon needs whole matrices, which FSDP cuts.
    CHECK(refusal_of(JobKind::torchtitan, muon, on_h100(1)).message.starts_with("optimizer.name"));
    std::string groups = text;
    groups.replace(groups.find("dist_adamw(lr=1.0)"), 18,
                   "Optimizers.Config(param_groups=[Group(optimizer_name='AdamW')])");
    CHECK(imported(JobKind::torchtitan, groups, on_h100(1)).job.training.optimizer ==
          Optimizer::adam);
}

TEST_CASE("a configuration that another file's function makes or changes is told")
{
    const std::string base = "from torchtitan.trainer import Trainer\n"
                             "def llama3_8b() -> Trainer.Config:\n"
                             "    return Trainer.Config(model_spec=model_registry('8B'),\n"
                             "        training=TrainingConfig(local_batch_size=3))\n";
    const std::string wrapped = "def llama3_other() -> Trainer.Config:\n"
                                "    config = to_graph_trainer(llama3_8b(), registry)\n"
                                "    config.training.seq_len = 512\n    return config\n";
    JobImportOptions options = on_h100(1);
    options.defined["config"] = "llama3_other";
    const ImportedJob job = imported(JobKind::torchtitan, base + wrapped, options);
    CHECK(job.job.training.micro_batch == 3);
    CHECK(job.job.training.sequence_length == 512);
    CHECK(says(job.notes.flagged, "to_graph_trainer() is not in this file"));
    const std::string alone =
        "from torchtitan.trainer import Trainer\n" + wrapped + "unused = Trainer.Config()\n";
    CHECK(refusal_of(JobKind::torchtitan, alone, options).message ==
          "llama3_other begins with llama3_8b(), which is not in this file");
}
