#include "calibrate/backends/cuda/kernels.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <type_traits>

namespace trainyard {

namespace {

constexpr int threads = 256;
constexpr std::uint64_t most_blocks = 65536; // kernels stride over what is more

int blocks_for(std::uint64_t items)
{
    return static_cast<int>(
        std::clamp<std::uint64_t>((items + threads - 1) / threads, 1, most_blocks));
}

__device__ std::uint64_t first_item()
{
    return static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ std::uint64_t item_stride()
{
    return static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
}

template <class T>
__device__ T from_float(float value)
{
    return static_cast<T>(value);
}

template <class T>
__device__ float to_float(T value)
{
    return static_cast<float>(value);
}

// Between -1 and 1; of bytes, all but zero.
template <class T>
__device__ T random_value(std::uint64_t index)
{
    const std::uint64_t bits = mixed_bits(index);
    if constexpr (std::is_same_v<T, std::uint8_t>)
        return static_cast<T>(bits % 255 + 1);
    else
        return from_float<T>(static_cast<float>(bits >> 40) * 0x1p-23f - 1.0f);
}

template <class T>
__global__ void fill(T* memory, DataPattern pattern)
{
    for (std::uint64_t i = first_item(); i < pattern.elements; i += item_stride()) {
        const std::uint64_t index = pattern.first_index + i;
        memory[i] = pattern.kind == PatternKind::random
                        ? random_value<T>(index)
                        : from_float<T>(static_cast<float>(pattern_value(pattern, index)));
    }
}

template <class T>
__global__ void check(const T* memory, DataPattern pattern, unsigned long long* wrong)
{
    unsigned long long bad = 0;
    for (std::uint64_t i = first_item(); i < pattern.elements; i += item_stride()) {
        const auto expected = static_cast<float>(pattern_value(pattern, pattern.first_index + i));
        bad += to_float(memory[i]) == expected ? 0 : 1; // what is no number is wrong too
    }
    if (bad)
        atomicAdd(wrong, bad);
}

__global__ void empty() {}

__global__ void compare(const std::uint8_t* one, const std::uint8_t* other, std::uint64_t size,
                        unsigned long long* wrong)
{
    unsigned long long bad = 0;
    for (std::uint64_t i = first_item(); i < size; i += item_stride())
        bad += one[i] == other[i] ? 0 : 1;
    if (bad)
        atomicAdd(wrong, bad);
}

__global__ void check_words(const unsigned* memory, std::uint64_t words, unsigned expected,
                            unsigned long long* wrong)
{
    unsigned long long bad = 0;
    for (std::uint64_t i = first_item(); i < words; i += item_stride())
        bad += memory[i] == expected ? 0 : 1;
    if (bad)
        atomicAdd(wrong, bad);
}

// Four loads under way per thread keep enough of them outstanding to fill HBM's pipes.
constexpr int unrolled = 4;

// The sum is stored only if it is one value of 2^32, which the compiler cannot know.
__global__ void read(const uint4* from, std::uint64_t vectors, unsigned* sink)
{
    unsigned sum = 0;
    const std::uint64_t stride = item_stride();
    std::uint64_t i = first_item();
    for (; i + (unrolled - 1) * stride < vectors; i += unrolled * stride) {
        uint4 loaded[unrolled];
#pragma unroll
        for (int u = 0; u < unrolled; ++u)
            loaded[u] = __ldcs(from + i + u * stride);
#pragma unroll
        for (int u = 0; u < unrolled; ++u)
            sum ^= loaded[u].x ^ loaded[u].y ^ loaded[u].z ^ loaded[u].w;
    }
    for (; i < vectors; i += stride) {
        const uint4 one = __ldcs(from + i);
        sum ^= one.x ^ one.y ^ one.z ^ one.w;
    }
    if (sum == written_word)
        *sink = sum;
}

__global__ void write(uint4* to, std::uint64_t vectors)
{
    const uint4 value = make_uint4(written_word, written_word, written_word, written_word);
    for (std::uint64_t i = first_item(); i < vectors; i += item_stride())
        to[i] = value;
}

__global__ void copy(uint4* to, const uint4* from, std::uint64_t vectors)
{
    const std::uint64_t stride = item_stride();
    std::uint64_t i = first_item();
    for (; i + (unrolled - 1) * stride < vectors; i += unrolled * stride) {
        uint4 loaded[unrolled];
#pragma unroll
        for (int u = 0; u < unrolled; ++u)
            loaded[u] = __ldcs(from + i + u * stride);
#pragma unroll
        for (int u = 0; u < unrolled; ++u)
            to[i + u * stride] = loaded[u];
    }
    for (; i < vectors; i += stride)
        to[i] = from[i];
}

// One warp works out one element.
template <class T>
__global__ void check_gemm(GemmOperands operands, int samples, float tolerance,
                           unsigned long long* wrong)
{
    const std::int64_t elements = operands.batch * operands.m * operands.n;
    const int sample = static_cast<int>(first_item() / 32);
    const int lane = threadIdx.x % 32;
    if (sample >= samples)
        return;
    const auto at =
        static_cast<std::int64_t>(mixed_bits(sample) % static_cast<std::uint64_t>(elements));
    const std::int64_t matrix = at / (operands.m * operands.n);
    const std::int64_t row = at / operands.n % operands.m;
    const std::int64_t column = at % operands.n;
    const T* a = reinterpret_cast<const T*>(operands.a) + (matrix * operands.m + row) * operands.k;
    const T* b =
        reinterpret_cast<const T*>(operands.b) + (matrix * operands.n + column) * operands.k;
    float sum = 0;
    float size = 0; // of the terms: rounding grows with it
    for (std::int64_t i = lane; i < operands.k; i += 32) {
        const float term = to_float(a[i]) * to_float(b[i]);
        sum += term;
        size += fabsf(term);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xFFFFFFFFu, sum, offset);
        size += __shfl_down_sync(0xFFFFFFFFu, size, offset);
    }
    if (lane != 0)
        return;
    if constexpr (std::is_same_v<T, __nv_fp8_e4m3>) {
        const float exact = to_float(from_float<__nv_bfloat16>(sum));
        if (!(to_float(reinterpret_cast<const __nv_bfloat16*>(operands.c)[at]) == exact))
            atomicAdd(wrong, 1ull);
        return;
    }
    const float given = to_float(reinterpret_cast<const T*>(operands.c)[at]);
    // The result's own rounding, and that of sums in another order.
    const float allowed = tolerance * fabsf(sum) + 1e-5f * size;
    if (!(fabsf(given - sum) <= allowed))
        atomicAdd(wrong, 1ull);
}

// Calls `action` with a null pointer to the element's type.
template <class Action>
cudaError_t with_type(ElementType type, Action action)
{
    switch (type) {
    case ElementType::float32:
        action(static_cast<float*>(nullptr));
        break;
    case ElementType::float16:
        action(static_cast<__half*>(nullptr));
        break;
    case ElementType::bfloat16:
        action(static_cast<__nv_bfloat16*>(nullptr));
        break;
    case ElementType::uint8:
        action(static_cast<std::uint8_t*>(nullptr));
        break;
    case ElementType::float8_e4m3:
        action(static_cast<__nv_fp8_e4m3*>(nullptr));
        break;
    }
    return cudaGetLastError();
}

template <class T>
T* as(std::byte* memory)
{
    return reinterpret_cast<T*>(memory);
}

template <class T>
const T* as(const std::byte* memory)
{
    return reinterpret_cast<const T*>(memory);
}

} // namespace

cudaError_t queue_empty(cudaStream_t stream)
{
    empty<<<1, 1, 0, stream>>>();
    return cudaGetLastError();
}

cudaError_t queue_fill(std::byte* memory, const DataPattern& pattern, cudaStream_t stream)
{
    return with_type(pattern.type, [&](auto* type) {
        using T = std::remove_pointer_t<decltype(type)>;
        fill<T><<<blocks_for(pattern.elements), threads, 0, stream>>>(as<T>(memory), pattern);
    });
}

cudaError_t queue_check(const std::byte* memory, const DataPattern& pattern,
                        unsigned long long* wrong, cudaStream_t stream)
{
    return with_type(pattern.type, [&](auto* type) {
        using T = std::remove_pointer_t<decltype(type)>;
        check<T>
            <<<blocks_for(pattern.elements), threads, 0, stream>>>(as<T>(memory), pattern, wrong);
    });
}

cudaError_t queue_compare(const std::byte* one, const std::byte* other, std::uint64_t size,
                          unsigned long long* wrong, cudaStream_t stream)
{
    compare<<<blocks_for(size), threads, 0, stream>>>(as<std::uint8_t>(one),
                                                      as<std::uint8_t>(other), size, wrong);
    return cudaGetLastError();
}

cudaError_t queue_read(const std::byte* from, std::uint64_t size, int blocks, unsigned* sink,
                       cudaStream_t stream)
{
    read<<<blocks, threads, 0, stream>>>(as<uint4>(from), size / sizeof(uint4), sink);
    return cudaGetLastError();
}

cudaError_t queue_write(std::byte* to, std::uint64_t size, int blocks, cudaStream_t stream)
{
    write<<<blocks, threads, 0, stream>>>(as<uint4>(to), size / sizeof(uint4));
    return cudaGetLastError();
}

cudaError_t queue_copy(std::byte* to, const std::byte* from, std::uint64_t size, int blocks,
                       cudaStream_t stream)
{
    copy<<<blocks, threads, 0, stream>>>(as<uint4>(to), as<uint4>(from), size / sizeof(uint4));
    return cudaGetLastError();
}

cudaError_t queue_check_written(const std::byte* memory, std::uint64_t size,
                                unsigned long long* wrong, cudaStream_t stream)
{
    const std::uint64_t words = size / sizeof(uint4) * 4;
    check_words<<<blocks_for(words), threads, 0, stream>>>(as<unsigned>(memory), words,
                                                           written_word, wrong);
    return cudaGetLastError();
}

cudaError_t queue_check_gemm(const GemmOperands& operands, int samples, unsigned long long* wrong,
                             cudaStream_t stream)
{
    // Half a unit in the last place of the result, doubled.
    const float tolerance = operands.type == ElementType::bfloat16  ? 0x1p-8f
                            : operands.type == ElementType::float16 ? 0x1p-11f
                                                                    : 0x1p-23f;
    return with_type(operands.type, [&](auto* type) {
        using T = std::remove_pointer_t<decltype(type)>;
        check_gemm<T><<<blocks_for(static_cast<std::uint64_t>(samples) * 32), threads, 0, stream>>>(
            operands, samples, tolerance, wrong);
    });
}

} // namespace trainyard
