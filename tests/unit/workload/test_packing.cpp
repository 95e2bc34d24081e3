#include "tests/catch.h"
#include "tests/unit/workload/models.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("packed documents see d^2/2 pairs each")
{
    const std::vector<std::int64_t> lengths{4096, 2048, 1024, 1024};
    const double pairs = (4096.0 * 4096 + 2048.0 * 2048 + 2 * 1024.0 * 1024) / 2;
    CHECK(document_pairs(lengths, {true, 0}) == pairs);
    CHECK(document_pairs(lengths, {false, 0}) == 2 * pairs);

    Partition p = partition(8192, 2);
    const LayerWork whole = work(llama_70b(), dense_layer, p);
    p.documents = lengths;
    const LayerWork packed = work(llama_70b(), dense_layer, p);
    CHECK(attention_flops(packed.forward) == 2 * 4 * 64 * 128 * pairs);
    CHECK(attention_flops(packed.backward) == 2.5 * attention_flops(packed.forward));
    // Products and passes over tokens are those of the whole sequence.
    CHECK(gemm_flops(packed.forward) == gemm_flops(whole.forward));
    CHECK(memory_bytes(packed.backward) == memory_bytes(whole.backward));
    CHECK(model_flops_per_sequence(Model{"", llama_70b()}, 8192, lengths).value() ==
          model_flops_per_sequence(Model{"", llama_70b()}, 8192).value() -
              3 * 80 * 4 * 64 * 128 * (8192.0 * 8192 / 2 - pairs));
}

TEST_CASE("one document is the whole sequence, and context parallelism divides documents too")
{
    Partition p = partition(8192);
    const LayerWork whole = work(llama_70b(), dense_layer, p);
    p.documents = {8192};
    CHECK(work(llama_70b(), dense_layer, p).forward == whole.forward);
    p.documents = {2048, 2048, 2048, 2048};
    const LayerWork packed = work(llama_70b(), dense_layer, p);
    CHECK(attention_flops(packed.forward) == attention_flops(whole.forward) / 4);
    p.cp = 4;
    CHECK(4 * attention_flops(work(llama_70b(), dense_layer, p).forward) ==
          attention_flops(packed.forward));
}

TEST_CASE("unfused attention multiplies the whole square whatever it holds")
{
    Partition p = partition(4096);
    p.kernels.attention = AttentionKernel::unfused;
    const LayerWork whole = work(gpt(4096, 2, 32), dense_layer, p);
    p.documents = {2048, 2048};
    CHECK(work(gpt(4096, 2, 32), dense_layer, p).forward == whole.forward);
}

TEST_CASE("a window wider than a document changes nothing in it")
{
    CHECK(document_pairs({1024, 1024}, {true, 4096}) == 1024.0 * 1024);
    // Of 4096 tokens each past the first 1024 sees 1024 keys.
    CHECK(document_pairs({4096}, {true, 1024}) == 1024.0 * 4096 - 1024.0 * 1024 / 2);
}
