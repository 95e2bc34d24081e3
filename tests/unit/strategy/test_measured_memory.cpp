// The memory estimate against peaks that torch.cuda.max_memory_allocated() reported on 8 x B200
// (tests/validation/records/b200_megatron_single_node.json: SimuMax v1.2's published measurements,
// Megatron-LM with Transformer Engine's fused cross-entropy, distributed optimizer, fp32
// gradients). Its DeepSeek-V2 rows use latent attention, which this test does not read.

#include "sim/base/files.h"
#include "sim/base/json.h"
#include "sim/strategy/memory.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>

using namespace trainyard;

namespace {

constexpr const char* records_file = "tests/validation/records/b200_megatron_single_node.json";

int integer(const Json& object, const char* key)
{
    return static_cast<int>(object.find(key)->as_integer());
}

Transformer transformer_of(const Json& model)
{
    Transformer t;
    t.hidden = integer(model, "hidden");
    t.layers = integer(model, "layers");
    t.heads = integer(model, "heads");
    t.kv_heads = integer(model, "kv_heads");
    t.head_dim = integer(model, "head_dim");
    t.ffn = integer(model, "ffn");
    t.vocabulary = integer(model, "vocab");
    return t;
}

JobRequest request_of(const Json& record)
{
    const Json& parallel = *record.find("parallel");
    JobRequest request;
    request.model = {record.find("model")->find("name")->as_string(),
                     transformer_of(*record.find("model"))};
    request.training.sequence_length = integer(record, "seq_len");
    request.training.global_batch = integer(record, "global_batch");
    request.training.micro_batch = integer(record, "micro_batch");
    request.training.fp32_gradients = true;
    request.strategy.tp = integer(parallel, "tp");
    request.strategy.pp = integer(parallel, "pp");
    request.strategy.cp = integer(parallel, "cp");
    request.strategy.dp = integer(parallel, "dp");
    request.strategy.zero = integer(parallel, "zero_stage");
    request.strategy.sequence_parallel = parallel.find("sequence_parallel")->as_bool();
    request.software.kernels.attention = AttentionKernel::cudnn;
    request.software.kernels.loss_in_place = true;
    request.software.spare_weight_gradients = true;
    request.devices = integer(record, "n_gpus");
    return request;
}

// The fullest rank of each stage; ranks of a stage are neighbours.
std::vector<double> measured_bytes(const Json& record)
{
    const auto stages = static_cast<std::size_t>(integer(*record.find("parallel"), "pp"));
    const Json::Object& ranks = record.find("measured")->find("rank_allocated_MiB")->members();
    std::vector<double> fullest(stages, 0);
    for (const auto& [rank, mebibytes] : ranks) {
        double& stage = fullest[std::stoul(rank) * stages / ranks.size()];
        stage = std::max(stage, mebibytes.as_double() * 1048576);
    }
    return fullest;
}

} // namespace

TEST_CASE("estimated peaks on 8 x B200 lie near those measured")
{
    const Checked<Json> records = parse_json(read_file(records_file), records_file);
    REQUIRE(records);
    int stages = 0;
    double error_sum = 0;
    for (const Json& record : records->items()) {
        if (record.find("model")->find("attention") != nullptr)
            continue; // latent attention
        CAPTURE(record.find("id")->as_string());
        const Checked<Job> job = resolve(request_of(record));
        REQUIRE(job);
        const MemoryEstimate estimate = estimate_memory(*job, {});
        const std::vector<double> measured = measured_bytes(record);
        REQUIRE(measured.size() == estimate.stages.size());
        for (std::size_t stage = 0; stage < measured.size(); ++stage) {
            const auto bytes = static_cast<double>(estimate.stages[stage].allocated().value());
            const double error = bytes / measured[stage] - 1;
            CHECK(std::abs(error) < 0.01);
            error_sum += std::abs(error);
            ++stages;
        }
    }
    CHECK(stages == 19); // 16 records, three of them with two stages
    CHECK(error_sum / stages < 0.005);
}
