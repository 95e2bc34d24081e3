#pragma once

// Kernels, each as a function that queues it. Sizes in bytes; memory is aligned to 16 bytes.

#include "calibrate/measure/nccl/pattern.h"

#include <cuda_runtime_api.h>

#include <cstddef>

namespace trainyard {

cudaError_t queue_empty(cudaStream_t stream);

cudaError_t queue_fill(std::byte* memory, const DataPattern& pattern, cudaStream_t stream);

// Adds to `*wrong` the elements that differ from `pattern`.
cudaError_t queue_check(const std::byte* memory, const DataPattern& pattern,
                        unsigned long long* wrong, cudaStream_t stream);

// Adds to `*wrong` the bytes in which the two differ.
cudaError_t queue_compare(const std::byte* one, const std::byte* other, std::uint64_t size,
                          unsigned long long* wrong, cudaStream_t stream);

// These move whole vectors of 16 bytes; `blocks` of 256 threads each stride over the memory.
cudaError_t queue_read(const std::byte* from, std::uint64_t size, int blocks, unsigned* sink,
                       cudaStream_t stream);
cudaError_t queue_write(std::byte* to, std::uint64_t size, int blocks, cudaStream_t stream);
cudaError_t queue_copy(std::byte* to, const std::byte* from, std::uint64_t size, int blocks,
                       cudaStream_t stream);

// What queue_write leaves in each 32-bit word.
inline constexpr unsigned written_word = 0x5A17C3E9u;
cudaError_t queue_check_written(const std::byte* memory, std::uint64_t size,
                                unsigned long long* wrong, cudaStream_t stream);

// Row-major c[m][n] = a[m][k] x b[n][k] transposed, `batch` of them one behind the other.
struct GemmOperands {
    const std::byte* a = nullptr;
    const std::byte* b = nullptr;
    const std::byte* c = nullptr;
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    std::int64_t batch = 1;
    ElementType type = ElementType::float32; // of a and b; c has the same, of 8 bits bfloat16
};

// Works out `samples` elements of c anew, spread over all of it, and adds to `*wrong` those that
// are further off than rounding explains. Of 8 bits a and b must hold signs (PatternKind): then c
// is the exact sum, rounded once.
cudaError_t queue_check_gemm(const GemmOperands& operands, int samples, unsigned long long* wrong,
                             cudaStream_t stream);

} // namespace trainyard
