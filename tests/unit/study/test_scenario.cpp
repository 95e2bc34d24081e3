#include "sim/base/files.h"
#include "sim/study/environment.h"
#include "sim/study/inputs.h"
#include "sim/study/scenario.h"
#include "tests/catch.h"

#include <algorithm>

using namespace trainyard;

namespace {

constexpr std::string_view small_scenario = R"({
  "format": "trainyard.scenario/1",
  "model": "models/gpt2-xl/config.json",
  "training": {"global_batch": 8, "sequence_length": 1024},
  "strategy": {
    "tp": 2
  },
  "topology": "../topologies/h100-1x8.json"
})";

// A scenario in a folder of its own, removed with it.
class TemporaryScenario {
public:
    explicit TemporaryScenario(std::string_view text)
    {
        char name[] = "/tmp/trainyard-scenario-XXXXXX";
        folder_ = ::mkdtemp(name);
        path_ = folder_ / "scenario.json";
        write_file(path_, text);
    }
    ~TemporaryScenario() { std::filesystem::remove_all(folder_); }
    TemporaryScenario(const TemporaryScenario&) = delete;
    TemporaryScenario& operator=(const TemporaryScenario&) = delete;
    std::string path() const { return path_.string(); }

private:
    std::filesystem::path folder_;
    std::filesystem::path path_;
};

std::vector<Override> overrides(std::initializer_list<std::string_view> texts)
{
    std::vector<Override> out;
    for (const std::string_view text : texts)
        out.push_back(parse_override(text).value());
    return out;
}

} // namespace

TEST_CASE("an override sets one field as if the file said so")
{
    const TemporaryScenario file(small_scenario);
    const auto changed = read_scenario_file(
        file.path(),
        overrides({"strategy.tp=4", "training.precision=fp8", "software.framework=nemo"}));
    REQUIRE(changed);
    CHECK(changed->scenario.strategy.tp == 4);
    CHECK(changed->scenario.training.precision == Precision::fp8);
    CHECK(changed->scenario.software.framework == "nemo");
    CHECK(read_scenario_file(file.path())->scenario.strategy.tp == 2);
}

TEST_CASE("an override of a text field is text, also when it looks like a number")
{
    const TemporaryScenario file(small_scenario);
    const auto changed = read_scenario_file(
        file.path(), overrides({"software.version=0.12", "environment.NCCL_MAX_NCHANNELS=2"}));
    REQUIRE(changed);
    CHECK(changed->scenario.software.version == "0.12");
    CHECK(changed->scenario.environment.at("NCCL_MAX_NCHANNELS") == "2");
    CHECK(read_scenario_file(file.path(), overrides({"software.version=\"0.12\""}))->scenario ==
          read_scenario_file(file.path(), overrides({"software.version=0.12"}))->scenario);
    CHECK_FALSE(read_scenario_file(file.path(), overrides({"strategy.bucket_cap=25"})));
}

TEST_CASE("an override inside a number or with an unknown field is refused")
{
    const TemporaryScenario file(small_scenario);
    CHECK_FALSE(read_scenario_file(file.path(), overrides({"strategy.tp.size=4"})));
    const auto unknown = read_scenario_file(file.path(), overrides({"strategy.tensor=4"}));
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().front().message == "unknown key \"tensor\"");
    CHECK_FALSE(parse_override("strategy.tp"));
    CHECK_FALSE(parse_override("=4"));
}

TEST_CASE("null takes a field out, whatever its kind, as if the file did not say it")
{
    const TemporaryScenario file(small_scenario);
    const auto bare = read_scenario_file(
        file.path(), overrides({"strategy.tp=null", "strategy.dp=null", "strategy.offload=null",
                                "training.precision=null", "software.version=null",
                                "environment.NCCL_ALGO=null", "data.workers=null"}));
    REQUIRE(bare);
    Scenario expected = read_scenario_file(file.path())->scenario;
    expected.strategy.tp = Strategy{}.tp;
    CHECK(bare->scenario == expected);
    // What must be there is missed, what does not exist is still unknown.
    CHECK_FALSE(read_scenario_file(file.path(), overrides({"training=null"})));
    CHECK_FALSE(read_scenario_file(file.path(), overrides({"strategy.tensor=null"})));
}

TEST_CASE("a field of a topology or a model in a file changes a copy of that file's content")
{
    const TemporaryScenario file(small_scenario);
    const auto wider =
        read_scenario_file(file.path(), overrides({"topology=h100-8x8-ndr400", "topology.nodes=2",
                                                   "model=gpt2-xl", "model.n_layer=12"}));
    REQUIRE(wider);
    CHECK(wider->scenario.topology.path.empty());
    CHECK(*wider->scenario.topology.value.find("nodes") == Json(2));
    CHECK(*wider->scenario.topology.value.find("node") == Json("dgx-h100"));
    CHECK(*wider->scenario.model.value.find("n_layer") == Json(12));
    CHECK(*wider->scenario.model.value.find("_name_or_path") == Json("openai-community/gpt2-xl"));
    const auto missing =
        read_scenario_file(file.path(), overrides({"topology=h100-1x9", "topology.nodes=2"}));
    REQUIRE_FALSE(missing);
    CHECK(missing.error().front().message == "there is no topology \"h100-1x9\"");
}

TEST_CASE("a field set in a Hugging Face config is one that is read, or the native form's")
{
    const TemporaryScenario file(small_scenario);
    const auto with = [&](const std::string& change) {
        return read_scenario_file(file.path(), overrides({"model=gpt2-xl", change}));
    };
    const auto deeper = with("model.transformer.layers=60");
    REQUIRE(deeper);
    CHECK(*deeper->scenario.model.value.find("transformer")->find("layers") == Json(60));
    CHECK(with("model.num_key_value_heads=5"));
    const auto unread = with("model.layers=60");
    REQUIRE_FALSE(unread);
    CHECK(unread.error().front().message == "a Hugging Face config has no \"layers\"");
    CHECK(unread.error().front().hint == "--set model.transformer.layers=...");
    CHECK_FALSE(with("model.layer_count=60"));
}

TEST_CASE("a path into Hugging Face's cache means the model whose folder it names")
{
    const ScenarioFile none = scenario_in_memory(Scenario{}, data_dir() / "scenarios", "none");
    for (const char* path :
         {"/nowhere/hub/models--Qwen--Qwen3-8B/snapshots/0123abc", "models--Qwen--Qwen3-8B"})
    {
        const Checked<Input> found = find_input(Source{path, {}}, InputKind::model, none);
        REQUIRE(found);
        CHECK(*found->json.find("_name_or_path") == Json("Qwen/Qwen3-8B"));
    }
}

TEST_CASE("a shipped model answers to the name that Hugging Face has for it")
{
    const TemporaryScenario file(small_scenario);
    const ScenarioFile read = *read_scenario_file(file.path());
    const auto published =
        find_input(Source{"meta-llama/Llama-3.1-70B", {}}, InputKind::model, read);
    REQUIRE(published);
    CHECK(published->hash == find_input(Source{"llama-3.1-70b", {}}, InputKind::model, read)->hash);
    for (const char* name : {"openai-community/gpt2-xl", "google-bert/bert-large-uncased",
                             "bert-large-uncased", "Llama-2-7b-hf"})
    {
        INFO(name);
        CHECK(find_input(Source{name, {}}, InputKind::model, read));
    }
    CHECK_FALSE(find_input(Source{"somebody/gpt2-xl", {}}, InputKind::model, read));
    const auto tuned =
        find_input(Source{"meta-llama/Llama-3.1-70B-Instruct", {}}, InputKind::model, read);
    REQUIRE_FALSE(tuned);
    CHECK(tuned.error().front().hint == "did you mean \"meta-llama/Llama-3.1-70B\"?");
}

TEST_CASE("every shipped model and cluster is found by the name it is listed under")
{
    const TemporaryScenario file(small_scenario);
    const ScenarioFile read = *read_scenario_file(file.path());
    for (const InputKind kind : {InputKind::model, InputKind::topology})
        for (const std::string& name : shipped_inputs(kind)) {
            INFO(name);
            CHECK(find_input(Source{name, {}}, kind, read));
        }
}

TEST_CASE("a scenario written out reads back as the same scenario")
{
    const TemporaryScenario file(small_scenario);
    const Scenario scenario = read_scenario_file(file.path())->scenario;
    const TemporaryScenario again(to_text(to_json(scenario)));
    CHECK(read_scenario_file(again.path())->scenario == scenario);
}

TEST_CASE("a problem of a job is shown at the line that gives the field, or its parent")
{
    const TemporaryScenario file(small_scenario);
    const ScenarioFile read = *read_scenario_file(file.path());
    Problems problems{{"", 0, "/strategy/tp", "tp", "", Severity::error},
                      {"", 0, "/strategy/pp", "pp", "", Severity::error},
                      {"other.json", 3, "/strategy/tp", "elsewhere", "", Severity::error}};
    locate(problems, read);
    CHECK(problems[0].line == 6);
    CHECK(problems[1].line == 5);
    CHECK(problems[1].file == file.path());
    CHECK(problems[2].line == 3);
}

TEST_CASE("a problem of a field is its last change's, wherever it is found")
{
    const TemporaryScenario file(small_scenario);
    ScenarioFile read = *read_scenario_file(
        file.path(), overrides({"strategy.tp=1", "training.micro_batch=1", "strategy.tp=2"}));
    Problems problems{{"", 0, "/strategy/tp", "tp", "", Severity::error},
                      {file.path(), 5, "/training/micro_batch", "read", "", Severity::error},
                      {"", 0, "/strategy", "above it", "", Severity::error},
                      {"other.json", 3, "/strategy/tp", "elsewhere", "", Severity::error}};
    locate(problems, read);
    CHECK(problems[0].file == "--set strategy.tp=2");
    CHECK(problems[0].line == 0);
    CHECK(problems[1].file == "--set training.micro_batch=1");
    CHECK(problems[2].file == file.path());
    CHECK(problems[3].file == "other.json");
    CHECK(cited({"model", std::string(100, 'x')}) ==
          "--set model=" + std::string(60, 'x') + " ...");
    CHECK(cited({"run.fold", "false", "--no-fold"}) == "--no-fold");
}

TEST_CASE("a missing file is a problem of the scenario that names it, with the nearest name")
{
    const TemporaryScenario file(small_scenario);
    const ScenarioFile read = *read_scenario_file(file.path());
    CHECK(find_input(Source{"gpt2-xl", {}}, InputKind::model, read));
    CHECK(find_input(Source{"h100-1x8", {}}, InputKind::topology, read));
    const auto missing = find_input(Source{"h100-1x9", {}}, InputKind::topology, read);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().front().pointer == "/topology");
    CHECK(missing.error().front().line == 8);
    CHECK(missing.error().front().hint.find("h100-1x") != std::string::npos);
}

TEST_CASE("launch variables with which a library ends the job are errors, others warnings")
{
    const auto severity = [](const std::string& name,
                             const std::string& value) -> std::optional<Severity> {
        const Problems problems = check_environment({{name, value}});
        return problems.empty() ? std::nullopt : std::optional(problems.front().severity);
    };
    // NCCL says so and takes another number.
    CHECK(severity("NCCL_NTHREADS", "16") == Severity::warning);
    CHECK(severity("NCCL_SOCKET_NTHREADS", "17") == Severity::warning);
    CHECK(severity("NCCL_IB_DISABLE", "true") == Severity::warning);
    CHECK(severity("NCCL_IB_TIMEOUT", "99") == Severity::error); // no queue pair takes it
    CHECK(severity("TORCH_NCCL_ASYNC_ERROR_HANDLING", "yes") == Severity::error);
    for (const char* level : {"0", "3", "5", "SYS", "PXN"})
        CHECK(is_accepted("NCCL_NET_GDR_LEVEL", level));
    CHECK_FALSE(is_accepted("NCCL_P2P_LEVEL", "near"));
    CHECK(severity("NCCL_ALGO", "Rings") == Severity::error);
    CHECK(severity("NCCL_ALGO", "^tree,ring") == Severity::warning); // not followed
    // By collective: taken, not followed.
    CHECK(severity("NCCL_ALGO", "ring;allreduce:tree,collnetdirect") == Severity::warning);
    CHECK(severity("NCCL_PROTO", "allreduce:Simple") == Severity::warning);
    CHECK(severity("NCCL_ALGO", "allreduces:tree") == Severity::error);
    CHECK(severity("NCCL_TIMEOUT", "60") == Severity::warning);
    CHECK(severity("NCCL_DEBUG", "INFO") == std::nullopt);
    CHECK(check_environment({{"NCCL_DEBUGG", "INFO"}}).front().hint ==
          "did you mean \"NCCL_DEBUG\"?");
}
