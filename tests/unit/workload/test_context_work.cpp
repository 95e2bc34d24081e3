// What context-parallel ranks exchange and compute around attention.

#include "tests/catch.h"
#include "tests/unit/workload/models.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr std::int64_t length = 8192;

Partition context_partition(int cp, ContextKind kind, int a2a = 1)
{
    Partition p = partition(length);
    p.cp = cp;
    p.context = {.kind = kind, .a2a = a2a};
    return p;
}

double volume(const WorkList& items, GroupKind group)
{
    double sum = 0;
    for (const Communication& c : communications(items, group))
        sum += static_cast<double>(c.bytes.value());
    return sum;
}

} // namespace

TEST_CASE("a ring moves what an all-gather of keys and values moves")
{
    const int cp = GENERATE(2, 4, 8);
    const LayerWork ring = work(llama_70b(), dense_layer, context_partition(cp, ContextKind::ring));
    // c - 1 exchanges of a rank's own part against (c - 1)/c of the whole.
    const double whole = 2 * 2.0 * length * 8 * 128; // K and V, 2 bytes, 8 heads of 128
    CHECK(volume(ring.forward, GroupKind::cp) == (cp - 1.0) / cp * whole);
    CHECK(communications(ring.forward, GroupKind::cp).size() == static_cast<std::size_t>(cp) - 1);
    // Backward: keys and values again and their gradients.
    CHECK(volume(ring.backward, GroupKind::cp) == 2 * (cp - 1.0) / cp * whole);
}

TEST_CASE("a zig-zag ring computes what every rank of a balanced causal sequence computes")
{
    const int cp = GENERATE(2, 4, 8);
    const LayerWork gathered =
        work(llama_70b(), dense_layer, context_partition(cp, ContextKind::all_gather));
    const LayerWork ring = work(llama_70b(), dense_layer, context_partition(cp, ContextKind::ring));
    CHECK(attention_flops(ring.forward) == attention_flops(gathered.forward));
    CHECK(attention_flops(ring.backward) == attention_flops(gathered.backward));
    CHECK(gemm_flops(ring.forward) == gemm_flops(gathered.forward));
}

TEST_CASE("every step of a zig-zag ring is the same work")
{
    const LayerWork ring = work(llama_70b(), dense_layer, context_partition(4, ContextKind::ring));
    for (const Kernel& kernel : kernels(ring.forward))
        if (kernel.kind == KernelKind::attention)
            // 2 x 2 operations x 64 heads x 128 x half the square of a quarter of the tokens.
            CHECK(hardware_flops(kernel).value() == 4.0 * 64 * 128 * 2048 * 2048 / 2);
}

TEST_CASE("in a contiguous ring the last rank sees 2 - 1/c times the mean")
{
    Partition p = context_partition(4, ContextKind::ring);
    const double even = attention_flops(work(llama_70b(), dense_layer, p).forward);
    p.context.balance = ContextBalance::contiguous;
    CHECK(attention_flops(work(llama_70b(), dense_layer, p).forward) == (2 - 0.25) * even);
    // Without a mask there is nothing to balance.
    Transformer bert = llama_70b();
    bert.causal = false;
    const double whole = attention_flops(work(bert, dense_layer, p).forward);
    p.context.balance = ContextBalance::zig_zag;
    CHECK(attention_flops(work(bert, dense_layer, p).forward) == whole);
    CHECK(whole == 2 * even);
}

TEST_CASE("exchanges of a ring run beside the attention of the block before")
{
    const LayerWork ring = work(llama_70b(), dense_layer, context_partition(4, ContextKind::ring));
    for (const WorkList* items : {&ring.forward, &ring.backward})
        for (const Communication& c : communications(*items, GroupKind::cp)) {
            CHECK(c.kind == CollectiveKind::send_receive);
            CHECK(c.needed_after > 0);
        }
}

TEST_CASE("ulysses exchanges queries, keys, values and results: 4/c of a layer's activations")
{
    Transformer model = llama_70b();
    model.kv_heads = model.heads;
    const int cp = GENERATE(2, 8);
    const LayerWork layer = work(model, dense_layer, context_partition(cp, ContextKind::ulysses));
    const double activations = 2.0 * length * 8192;
    CHECK(communication_bytes(layer.forward, GroupKind::cp, CollectiveKind::all_to_all) ==
          4 * activations / cp);
    CHECK(communication_bytes(layer.backward, GroupKind::cp, CollectiveKind::all_to_all) ==
          4 * activations / cp);
}

TEST_CASE("ulysses attends to the whole sequence with its part of the heads")
{
    const LayerWork layer =
        work(llama_70b(), dense_layer, context_partition(4, ContextKind::ulysses));
    for (const Kernel& kernel : kernels(layer.forward))
        if (kernel.kind == KernelKind::attention) {
            CHECK(kernel.attention.query_length == length);
            CHECK(kernel.attention.key_length == length);
            CHECK(kernel.attention.heads == 16);
            CHECK(kernel.attention.kv_heads == 2);
        }
    CHECK(attention_flops(layer.forward) ==
          attention_flops(
              work(llama_70b(), dense_layer, context_partition(4, ContextKind::ring)).forward));
}

TEST_CASE("with fewer key heads than ranks ulysses sends each to several")
{
    // 8 key heads over 16 ranks: 16 are sent and kept.
    const LayerWork layer =
        work(llama_70b(), dense_layer, context_partition(16, ContextKind::ulysses));
    const double token = 2.0 * length / 16 * 128; // bytes of one head of a rank's tokens
    CHECK(volume(layer.forward, GroupKind::cp) == (64 + 16 + 16 + 64) * token);
    const LayerWork ring = work(llama_70b(), dense_layer, context_partition(16, ContextKind::ring));
    CHECK(static_cast<double>(layer.saved.none.value()) -
              static_cast<double>(ring.saved.none.value()) >=
          2 * 8 * token);
}

TEST_CASE("a hybrid exchanges heads inside and sends their keys round")
{
    const LayerWork layer =
        work(llama_70b(), dense_layer, context_partition(8, ContextKind::hybrid, 4));
    const double head = 2.0 * length / 8 * 128; // bytes of one head of a rank's tokens
    CHECK(volume(layer.forward, GroupKind::cp_a2a) == (64 + 8 + 8 + 64) * head);
    // One exchange between 2 ranks of K and V: a quarter of the heads of 4 ranks' tokens.
    CHECK(volume(layer.forward, GroupKind::cp_ring) == 2 * 8 * head);
    CHECK(volume(layer.backward, GroupKind::cp_ring) == 2 * 2 * 8 * head);
    CHECK(attention_flops(layer.forward) ==
          attention_flops(
              work(llama_70b(), dense_layer, context_partition(8, ContextKind::ring)).forward));
}

TEST_CASE("a hybrid over all ranks is ulysses, over one a ring")
{
    const auto flat = [](const LayerWork& layer) {
        std::vector<std::pair<std::string, std::uint64_t>> out;
        for (const WorkList* items : {&layer.forward, &layer.backward})
            for (const WorkItem& item : *items)
                std::visit([&](const auto& i) { out.emplace_back(i.name, i.bytes.value()); }, item);
        return out;
    };
    CHECK(flat(work(llama_70b(), dense_layer, context_partition(4, ContextKind::hybrid, 4))) ==
          flat(work(llama_70b(), dense_layer, context_partition(4, ContextKind::ulysses))));
    CHECK(flat(work(llama_70b(), dense_layer, context_partition(4, ContextKind::hybrid, 1))) ==
          flat(work(llama_70b(), dense_layer, context_partition(4, ContextKind::ring))));
}
