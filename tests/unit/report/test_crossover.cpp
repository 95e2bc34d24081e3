#include "sim/cost/profile_library.h"
#include "sim/report/compare/crossover.h"
#include "tests/catch.h"

using namespace trainyard;
using namespace trainyard::literals;

namespace {

const CostModel& h100()
{
    static const CostModel model(assemble({"H100", "", {}, "mcore-2025"}).value());
    return model;
}

GroupShape node()
{
    GroupShape shape;
    shape.ranks = shape.ranks_per_domain = shape.ranks_per_node = shape.gpus_per_node = 8;
    shape.nvlink = Bandwidth(450e9);
    shape.nvswitch = shape.in_switch_reduction = true;
    return shape;
}

} // namespace

TEST_CASE("at a crossover the other library becomes faster, to the byte")
{
    const auto stretches =
        faster_by_size(h100(), CollectiveKind::all_reduce, node(), Backend::nccl, Backend::nvshmem);
    REQUIRE(stretches.size() >= 2);
    CHECK(stretches.front() == FasterFrom{1_B, Backend::nvshmem});
    CHECK(stretches.back().backend == Backend::nccl);
    const auto time = [&](Bytes size, Backend backend) {
        return h100().collective(CollectiveKind::all_reduce, size, node(), backend).total;
    };
    for (std::size_t i = 1; i < stretches.size(); ++i) {
        const FasterFrom& now = stretches[i];
        const Backend before = stretches[i - 1].backend;
        CHECK(now.backend != before);
        CHECK(time(now.size, now.backend) < time(now.size, before));
        const Bytes below(now.size.value() - 1);
        CHECK(time(below, before) <= time(below, now.backend));
    }
}

TEST_CASE("a library that always wins has one stretch")
{
    const auto stretches =
        faster_by_size(h100(), CollectiveKind::all_reduce, node(), Backend::gloo, Backend::nccl);
    REQUIRE(stretches.size() == 1);
    CHECK(stretches.front().backend == Backend::nccl);
}

TEST_CASE("crossovers are said in words")
{
    Crossover c{GroupKind::tp,
                CollectiveKind::all_reduce,
                8,
                Backend::nccl,
                Backend::nvshmem,
                {{1_B, Backend::nvshmem}, {128_KiB, Backend::nccl}},
                64_MiB};
    CHECK(crossover_text(c) ==
          "tp all-reduce over 8 ranks: nvshmem up to 131 kB, nccl above; up to 67.1 MB here");
    c.faster = {{1_B, Backend::nccl}};
    CHECK(crossover_text(c) == "tp all-reduce over 8 ranks: nccl is faster than nvshmem at every "
                               "size; up to 67.1 MB here");
}
