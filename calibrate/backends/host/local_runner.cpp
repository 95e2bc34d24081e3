#include "calibrate/backends/host/local_runner.h"

#include "calibrate/measure/backend/backend.h"
#include "calibrate/measure/host_kernels/memory.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

MatrixSizes shape_of(const LocalWork& work)
{
    return {static_cast<std::size_t>(work.m), static_cast<std::size_t>(work.n),
            static_cast<std::size_t>(work.k)};
}

// Elements of the three matrices of one product.
std::size_t elements_of(const MatrixSizes& shape)
{
    return shape.m * shape.k + shape.k * shape.n + shape.m * shape.n;
}

} // namespace

std::string cannot_run_on_cpu(const LocalWork& work)
{
    using enum LocalKind;
    switch (work.kind) {
    case memory_read:
    case memory_write:
    case memory_copy:
    case memory_add:
        return "";
    case gemm:
        if (work.m < 1 || work.n < 1 || work.k < 1 || work.batch < 1)
            return "a matrix product needs m, n, k and a batch of at least 1";
        return work.type == ElementType::float32
                   ? ""
                   : fmt::format("matrix products on the CPU are of float32, not of {}",
                                 to_name(work.type));
    default:
        break;
    }
    return fmt::format("{} needs a GPU", to_name(work.kind));
}

void LocalRunner::prepare(const LocalWork& work)
{
    if (const std::string why = cannot_run_on_cpu(work); !why.empty())
        throw MeasureFailure{FailureKind::refused, why, ""};
    work_ = work;
    next_ = 0;
    space_.reset();
    const bool two_buffers =
        work.kind == LocalKind::memory_copy || work.kind == LocalKind::memory_add;
    std::size_t bytes = work.size.value();
    if (two_buffers)
        bytes += whole_lines(bytes);
    if (work.kind == LocalKind::gemm) {
        bytes = elements_of(shape_of(work)) * static_cast<std::size_t>(work.batch) * sizeof(float);
        space_.emplace(shape_of(work));
    }
    memory_.divide(bytes);
}

void LocalRunner::run_once()
{
    const std::span<std::byte> memory = memory_.part(next_);
    const std::size_t size = work_.size.value();
    next_ = (next_ + 1) % memory_.parts();
    switch (work_.kind) {
    case LocalKind::memory_read:
        read_ += read_memory(memory);
        break;
    case LocalKind::memory_write:
        write_memory(memory, static_cast<std::byte>(0x3c));
        break;
    case LocalKind::memory_copy:
        copy_memory(memory.first(size), memory.last(size));
        break;
    case LocalKind::memory_add:
        add_memory(memory.first(size), memory.last(size));
        break;
    default: {
        const MatrixSizes shape = shape_of(work_);
        auto* matrices = reinterpret_cast<float*>(memory.data());
        for (std::int64_t i = 0; i < work_.batch; ++i, matrices += elements_of(shape)) {
            const float* b = matrices + shape.m * shape.k;
            float* c = matrices + shape.m * shape.k + shape.k * shape.n;
            multiply(shape, {matrices}, {b}, c, *space_);
        }
    }
    }
}

} // namespace trainyard
