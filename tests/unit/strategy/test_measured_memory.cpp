// The memory replay against peaks that torch.cuda.max_memory_allocated() and
// max_memory_reserved() reported on 8 x B200
// (tests/validation/records/b200_megatron_single_node.json: SimuMax v1.2's published measurements,
// Megatron-LM with Transformer Engine's fused cross-entropy, distributed optimizer, fp32
// gradients).

#include "sim/base/files.h"
#include "sim/base/json.h"
#include "sim/strategy/memory.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace trainyard;
using namespace trainyard::literals;

namespace {

constexpr const char* records_file = "tests/validation/records/b200_megatron_single_node.json";

int integer(const Json& object, const char* key)
{
    return static_cast<int>(object.find(key)->as_integer());
}

// "MLA (q_lora 1536, kv_lora 512, qk 128+64, v 128)": DeepSeek-V2's.
LatentAttention latent_attention(const Json& model)
{
    REQUIRE(model.find("attention")->as_string() ==
            "MLA (q_lora 1536, kv_lora 512, qk 128+64, v 128)");
    return {1536, 512, 128, 64, 128};
}

Transformer transformer_of(const Json& model)
{
    Transformer t;
    t.hidden = integer(model, "hidden");
    t.layers = integer(model, "layers");
    t.heads = integer(model, "heads");
    t.kv_heads = integer(model, "kv_heads");
    t.ffn = integer(model, "ffn");
    t.vocabulary = integer(model, "vocab");
    if (model.find("attention") != nullptr) {
        t.latent = latent_attention(model);
        t.head_dim = t.latent->head_dim();
    } else {
        t.head_dim = integer(model, "head_dim");
    }
    if (model.find("experts") != nullptr) {
        t.moe = MixtureOfExperts{.experts = integer(model, "experts"),
                                 .experts_per_token = integer(model, "topk"),
                                 .expert_ffn = integer(model, "moe_ffn"),
                                 .shared_expert_ffn = integer(model, "shared_expert_ffn")};
        t.moe->leading_dense_layers = t.layers - integer(model, "moe_layers");
    }
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
    request.strategy.ep = integer(parallel, "ep");
    request.strategy.dp = integer(parallel, "dp");
    request.strategy.zero = integer(parallel, "zero_stage");
    request.strategy.sequence_parallel = parallel.find("sequence_parallel")->as_bool();
    request.strategy.overlap.dp = false;
    request.strategy.overlap.tp = false;
    request.strategy.overlap.pp = false;
    request.software.kernels.attention = AttentionKernel::cudnn;
    request.software.kernels.loss = LossKernel::in_place;
    request.software.spare_weight_gradients = true;
    request.devices = integer(record, "n_gpus");
    return request;
}

// The fullest rank of each stage; ranks of a stage are neighbours.
std::vector<double> measured_bytes(const Json& record, const char* what)
{
    const auto stages = static_cast<std::size_t>(integer(*record.find("parallel"), "pp"));
    const Json::Object& ranks = record.find("measured")->find(what)->members();
    std::vector<double> fullest(stages, 0);
    for (const auto& [rank, mebibytes] : ranks) {
        double& stage = fullest[std::stoul(rank) * stages / ranks.size()];
        stage = std::max(stage, mebibytes.as_double() * 1048576);
    }
    return fullest;
}

std::string family_of(const JobRequest& request)
{
    if (request.model.is_moe())
        return request.strategy.pp > 1 ? "moe with pp" : "moe";
    if (request.strategy.cp > 1)
        return "cp";
    return request.strategy.pp > 1 ? "pp" : "dense tp";
}

struct Errors {
    double allocated = 0; // sums of |estimate / measured - 1|
    double reserved = 0;
    int count = 0;

    void add(double allocated_error, double reserved_error)
    {
        allocated += std::abs(allocated_error);
        reserved += std::abs(reserved_error);
        ++count;
    }
};

// cuBLAS's workspace on Blackwell; what is outside the allocator is not measured here.
constexpr DeviceMemory measured_device{.matrix_library = 32_MiB};

} // namespace

TEST_CASE("replayed peaks on 8 x B200 lie near those measured, allocated and reserved")
{
    const Checked<Json> records = parse_json(read_file(records_file), records_file);
    REQUIRE(records);
    Errors fullest;
    std::map<std::string, Errors> families;
    for (const Json& record : records->items()) {
        CAPTURE(record.find("id")->as_string());
        const JobRequest request = request_of(record);
        const Checked<Job> job = resolve(request);
        REQUIRE(job);
        const MemoryEstimate estimate = estimate_memory(*job, measured_device);
        const auto allocated = measured_bytes(record, "rank_allocated_MiB");
        const auto reserved = measured_bytes(record, "rank_reserved_MiB");
        REQUIRE(allocated.size() == estimate.stages.size());
        const auto fullest_stage = std::ranges::max_element(allocated) - allocated.begin();
        CHECK(estimate.fullest_stage == fullest_stage);
        for (std::size_t stage = 0; stage < allocated.size(); ++stage) {
            const AllocatorTotals& peak = estimate.stages[stage].allocator->peak;
            const double allocated_error =
                static_cast<double>(peak.allocated) / allocated[stage] - 1;
            const double reserved_error = static_cast<double>(peak.reserved) / reserved[stage] - 1;
            CAPTURE(stage);
            CHECK(std::abs(allocated_error) < 0.025);
            CHECK(std::abs(reserved_error) < 0.06);
            families[family_of(request)].add(allocated_error, reserved_error);
            if (static_cast<std::ptrdiff_t>(stage) == fullest_stage)
                fullest.add(allocated_error, reserved_error);
        }
    }
    CHECK(fullest.count == 22);
    CHECK(fullest.allocated / fullest.count < 0.005);
    CHECK(fullest.reserved / fullest.count < 0.035);
    // What each family must keep.
    const std::map<std::string, std::pair<double, double>> bars = {{"dense tp", {0.005, 0.03}},
                                                                   {"pp", {0.005, 0.035}},
                                                                   {"cp", {0.005, 0.045}},
                                                                   {"moe", {0.01, 0.05}},
                                                                   {"moe with pp", {0.02, 0.04}}};
    CHECK(families.size() == bars.size());
    for (const auto& [name, errors] : families) {
        CAPTURE(name);
        CHECK(errors.allocated / errors.count < bars.at(name).first);
        CHECK(errors.reserved / errors.count < bars.at(name).second);
    }
}
