#include "tests/catch.h"
#include "tests/unit/workload/models.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

// Megatron 22B: s 2048, b 4, h 6144, a 64, t 8 (Korthikanti 2022, table 3).
struct Megatron22B {
    Transformer model = gpt(6144, 48, 64);
    Partition p = partition(2048, 4);
    double sbh = 2048.0 * 4 * 6144;
    double square = 5.0 * 64 * 2048 * 2048 * 4; // s b h (5 a s/h) = 5 a s^2 b

    Megatron22B()
    {
        p.tp = 8;
        p.kernels.attention = AttentionKernel::unfused;
    }
    SavedActivations saved() const { return work(model, dense_layer, p).saved; }
};

} // namespace

TEST_CASE("a GPT layer with tensor and sequence parallelism keeps s b h (34 + 5 a s/h) / t bytes")
{
    Megatron22B m;
    m.p.sequence_parallel = true;
    CHECK(value(m.saved().none) == (m.sbh * 34 + m.square) / 8);
    CHECK(value(m.saved().selective) == m.sbh * 34 / 8);
    CHECK(value(m.saved().full) == m.sbh * 2 / 8);
}

TEST_CASE("inputs of products kept as they were gathered are 4 s b h bytes, and not gathered again")
{
    Megatron22B m;
    m.p.sequence_parallel = true;
    m.p.kernels.keeps_gathered_inputs = true;
    CHECK(value(m.saved().none) == (m.sbh * 30 + m.square) / 8 + 4 * m.sbh);
    CHECK(value(m.saved().full) == m.sbh * 2 / 8);
    std::vector<std::string> gathered;
    for (const WorkItem& item : work(m.model, dense_layer, m.p).backward)
        if (const auto* gather = std::get_if<Communication>(&item))
            if (gather->kind == CollectiveKind::all_gather)
                gathered.push_back(gather->name);
    CHECK(gathered ==
          std::vector<std::string>{"mlp_down_gradient_gather", "attention_output_gradient_gather"});
}

TEST_CASE("without sequence parallelism a GPT layer keeps s b h (10 + 24/t + 5 a s/(h t)) bytes")
{
    Megatron22B m;
    CHECK(value(m.saved().none) == m.sbh * 10 + (m.sbh * 24 + m.square) / 8);
    CHECK(value(m.saved().selective) == m.sbh * (10 + 24.0 / 8));
    CHECK(value(m.saved().full) == m.sbh * 2);
}

TEST_CASE("flash attention keeps one fp32 number per query and head in place of the square")
{
    Megatron22B m;
    m.p.kernels.attention = AttentionKernel::flash2;
    const double log_sum_exp = 4.0 * 4 * 2048 * 64 / 8;
    CHECK(value(m.saved().none) == m.sbh * (10 + 24.0 / 8) + log_sum_exp);
    CHECK(m.saved().selective == m.saved().none);
}

TEST_CASE("context parallelism divides what a layer keeps, the square of scores included")
{
    Megatron22B m;
    const double whole = value(m.saved().none);
    m.p.cp = 4;
    CHECK(value(m.saved().none) == whole / 4);
}

TEST_CASE("fused attention across context-parallel ranks keeps queries, keys and values twice")
{
    const Transformer llama = llama_70b();
    Partition p = partition(8192);
    const double whole = value(work(llama, dense_layer, p).saved.none);
    p.cp = 4;
    const double copies = 2.0 * (64 + 2 * 8) * 128;
    CHECK(value(work(llama, dense_layer, p).saved.none) == whole / 4 + 8192 / 4 * copies);
}

TEST_CASE("a Llama layer keeps 2 (4 h + (2 a + 2 g) d + 3 f) bytes per token and the log-sum-exp")
{
    const Transformer llama = llama_70b();
    const Partition p = partition(8192);
    const double per_token = 2.0 * (4 * 8192 + (2 * 64 + 2 * 8) * 128 + 3 * 28672) + 4.0 * 64;
    CHECK(value(work(llama, dense_layer, p).saved.none) == 8192 * per_token);
}

TEST_CASE("with fp8 the inputs of matrix products are kept in one byte")
{
    const Transformer llama = llama_70b();
    Partition p = partition(8192);
    const double wide = value(work(llama, dense_layer, p).saved.none);
    p.precision = Precision::fp8;
    // Inputs of qkv and up (h each) and of down (f) shrink by a byte; the attention's result is
    // kept in both forms.
    const double narrow = wide - 8192.0 * (2 * 8192 + 28672) + 8192.0 * 64 * 128;
    CHECK(value(work(llama, dense_layer, p).saved.none) == narrow);
}

TEST_CASE("an MoE layer keeps the dispatched tokens of its experts in place of the MLP's")
{
    const Transformer moe = mixtral();
    Partition p = partition(4096);
    p.ep = 8;
    const double tokens = 4096;
    const double attention = 2.0 * (4 * 4096 + (2 * 32 + 2 * 8) * 128) + 4.0 * 32;
    const double experts = 2 * 2.0 * (4096 + 3 * 14336) + 4.0 * 8; // k = 2 copies of 2 bytes
    CHECK(value(work(moe, moe_layer, p).saved.none) == tokens * (attention + experts));
}
