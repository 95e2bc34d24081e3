#include "calibrate/measure/plan/kernels.h"

#include <algorithm>

namespace trainyard {
namespace {

constexpr std::uint64_t mebi = std::uint64_t{1} << 20;

ElementType usual_type(const KernelRange& range)
{
    return range.on_cpu ? ElementType::float32 : ElementType::bfloat16;
}

LocalWork gemm(std::int64_t m, std::int64_t n, std::int64_t k, ElementType type)
{
    LocalWork out;
    out.kind = LocalKind::gemm;
    out.m = m;
    out.n = n;
    out.k = k;
    out.type = type;
    return out;
}

LocalWork moving(LocalKind kind, Bytes size)
{
    LocalWork out;
    out.kind = kind;
    out.size = size;
    return out;
}

} // namespace

std::vector<LocalWork> gemm_shapes(const KernelRange& range)
{
    std::vector<std::int64_t> rows{1, 128, 1024, 4096, 16384};
    std::vector<std::int64_t> others{1024, 4096, 8192, 16384};
    if (range.on_cpu) {
        rows = {1, 16, 64, 256, 1024};
        others = {64, 256, 1024, 4096};
    }
    if (range.quick) {
        rows = range.on_cpu ? std::vector<std::int64_t>{16, 64, 256, 1024}
                            : std::vector<std::int64_t>{128, 4096, 16384};
        others = range.on_cpu ? std::vector<std::int64_t>{64, 256, 1024}
                              : std::vector<std::int64_t>{1024, 4096, 8192};
    }
    std::vector<ElementType> types{usual_type(range)};
    if (!range.on_cpu && !range.quick)
        types = {ElementType::bfloat16, ElementType::float16, ElementType::float32,
                 ElementType::float8_e4m3};
    std::vector<LocalWork> out;
    for (const ElementType type : types)
        for (const std::int64_t m : rows) {
            if (type == ElementType::float8_e4m3 && m % 16 != 0)
                continue; // cuBLASLt has none
            for (const std::int64_t n : others)
                for (const std::int64_t k : others)
                    out.push_back(gemm(m, n, k, type));
        }
    return out;
}

std::vector<LocalWork> memory_sizes(const KernelRange& range)
{
    std::vector<std::uint64_t> sizes = range.on_cpu ? std::vector<std::uint64_t>{1, 16, 128}
                                                    : std::vector<std::uint64_t>{1, 16, 256, 1024};
    if (range.quick)
        sizes = {sizes[sizes.size() - 2]};
    std::vector<LocalKind> kinds{LocalKind::memory_read, LocalKind::memory_write,
                                 LocalKind::memory_copy};
    if (range.on_cpu)
        kinds.push_back(LocalKind::memory_add);
    else
        kinds.insert(kinds.end(), {LocalKind::host_to_device, LocalKind::device_to_host});
    std::vector<LocalWork> out;
    for (const std::uint64_t size : sizes)
        for (const LocalKind kind : kinds)
            out.push_back(moving(kind, Bytes(size * mebi)));
    return out;
}

std::vector<LocalWork> launch_kinds()
{
    std::vector<LocalWork> out;
    for (const LocalKind kind :
         {LocalKind::launch, LocalKind::launch_queued, LocalKind::launch_graph, LocalKind::issue})
        out.push_back(moving(kind, Bytes(0)));
    return out;
}

std::vector<LocalWork> attention_shapes(const KernelRange& range)
{
    std::vector<LocalWork> out;
    if (range.on_cpu)
        return out;
    for (const LocalKind kind : {LocalKind::attention_forward, LocalKind::attention_backward})
        for (const std::int64_t head : {64, 128})
            for (const std::int64_t tokens : {2048, 8192}) {
                LocalWork work;
                work.kind = kind;
                work.m = tokens;
                work.n = 32;
                work.k = head;
                work.batch = std::max<std::int64_t>(1, 8192 / tokens);
                work.type = usual_type(range);
                out.push_back(work);
            }
    return out;
}

std::vector<LocalWork> overlap_kernels(const KernelRange& range)
{
    if (range.on_cpu)
        return {gemm(64, 1024, 1024, usual_type(range)), gemm(1024, 1024, 64, usual_type(range)),
                moving(LocalKind::memory_add, Bytes(16 * mebi))};
    return {gemm(8192, 8192, 8192, usual_type(range)),
            moving(LocalKind::memory_copy, Bytes(1024 * mebi))};
}

std::vector<CollectiveWork> overlap_collectives(const KernelRange& range)
{
    CollectiveWork work;
    work.type = usual_type(range);
    std::vector<CollectiveWork> out;
    if (range.on_cpu) {
        work.buffers = Buffers::in_place;
        for (const std::uint64_t size : {1, 4, 16}) {
            work.size = Bytes(size * mebi);
            out.push_back(work);
        }
        return out;
    }
    work.size = Bytes(64 * mebi);
    for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather}) {
        work.collective = kind;
        out.push_back(work);
    }
    return out;
}

} // namespace trainyard
