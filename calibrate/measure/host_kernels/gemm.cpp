#include "calibrate/measure/host_kernels/gemm.h"

#include <algorithm>
#include <cstring>

namespace trainyard {
namespace {

// A tile of c stays in registers while depth runs; blocks of b stay in the first, of a in the
// second cache.
constexpr std::size_t depth_block = 256;
constexpr std::size_t row_block = 240; // a multiple of every tile's rows
constexpr std::size_t column_block = 2048;
constexpr std::size_t line = 16; // floats in a cache line

struct Panel {
    const float* left;  // [depth][rows of a tile]
    const float* right; // [depth][columns of a tile]
    std::size_t depth;
    float* out;
    std::size_t stride; // of out
    std::size_t rows;   // what of the tile lies inside c
    std::size_t columns;
};

// Compiled once for every instruction set, by being inlined into functions that name theirs.
template <int lanes, int tile_rows, int tile_vectors>
struct Tile {
    static constexpr std::size_t rows = tile_rows;
    static constexpr std::size_t columns = static_cast<std::size_t>(lanes) * tile_vectors;

    using Vector
        [[gnu::vector_size(lanes * sizeof(float)), gnu::aligned(sizeof(float)), gnu::may_alias]] =
            float;

    [[gnu::always_inline]] static inline void run(const Panel& panel)
    {
        Vector sums[tile_rows][tile_vectors] = {};
        const float* left = panel.left;
        const float* right = panel.right;
        for (std::size_t d = 0; d < panel.depth; ++d, left += rows, right += columns) {
            Vector b[tile_vectors];
#pragma GCC unroll 8
            for (int v = 0; v < tile_vectors; ++v)
                b[v] = *reinterpret_cast<const Vector*>(right + v * lanes);
#pragma GCC unroll 16
            for (int r = 0; r < tile_rows; ++r)
#pragma GCC unroll 8
                for (int v = 0; v < tile_vectors; ++v)
                    sums[r][v] += left[r] * b[v];
        }
        for (std::size_t r = 0; r < panel.rows; ++r) {
            const float* sum = reinterpret_cast<const float*>(sums[r]);
            float* out = panel.out + r * panel.stride;
            for (std::size_t c = 0; c < panel.columns; ++c)
                out[c] += sum[c];
        }
    }
};

// Copies rows x columns at `from` into strips of `strip` columns, filled up with zeros.
void pack_columns(const float* from, std::size_t stride, std::size_t rows, std::size_t columns,
                  std::size_t strip, float* to)
{
    for (std::size_t first = 0; first < columns; first += strip) {
        const std::size_t here = std::min(strip, columns - first);
        for (std::size_t r = 0; r < rows; ++r, to += strip) {
            std::copy_n(from + r * stride + first, here, to);
            std::fill(to + here, to + strip, 0.0f);
        }
    }
}

// Four rows of four, transposed; `from` and `to` are apart.
void transpose_four(const float* from, std::size_t stride, float* to, std::size_t strip)
{
    using Four [[gnu::vector_size(16), gnu::aligned(sizeof(float)), gnu::may_alias]] = float;
    const auto row = [&](std::size_t r) {
        return *reinterpret_cast<const Four*>(from + r * stride);
    };
    const auto put = [&](std::size_t c, Four values) {
        *reinterpret_cast<Four*>(to + c * strip) = values;
    };
    const Four low_01 = __builtin_shufflevector(row(0), row(1), 0, 4, 1, 5);
    const Four low_23 = __builtin_shufflevector(row(2), row(3), 0, 4, 1, 5);
    const Four high_01 = __builtin_shufflevector(row(0), row(1), 2, 6, 3, 7);
    const Four high_23 = __builtin_shufflevector(row(2), row(3), 2, 6, 3, 7);
    put(0, __builtin_shufflevector(low_01, low_23, 0, 1, 4, 5));
    put(1, __builtin_shufflevector(low_01, low_23, 2, 3, 6, 7));
    put(2, __builtin_shufflevector(high_01, high_23, 0, 1, 4, 5));
    put(3, __builtin_shufflevector(high_01, high_23, 2, 3, 6, 7));
}

// The same of strips of `strip` rows, transposed. Line by line of a cache: strides that lines of
// one place in the cache have (powers of two) would drive each other out.
void pack_rows(const float* from, std::size_t stride, std::size_t rows, std::size_t columns,
               std::size_t strip, float* to)
{
    for (std::size_t first = 0; first < rows; first += strip) {
        const std::size_t here = std::min(strip, rows - first);
        for (std::size_t begin = 0; begin < columns; begin += line) {
            const std::size_t end = std::min(begin + line, columns);
            const std::size_t fours = end - begin == line ? here / 4 * 4 : 0; // rows of them
            for (std::size_t r = 0; r < fours; r += 4)
                for (std::size_t c = begin; c < end; c += 4)
                    transpose_four(from + (first + r) * stride + c, stride, to + c * strip + r,
                                   strip);
            for (std::size_t r = fours; r < here; ++r)
                for (std::size_t c = begin; c < end; ++c)
                    to[c * strip + r] = from[(first + r) * stride + c];
        }
        for (std::size_t c = 0; c < columns; ++c)
            std::fill(to + c * strip + here, to + (c + 1) * strip, 0.0f);
        to += columns * strip;
    }
}

struct PackedBlocks {
    const float* left;
    const float* right;
    std::size_t rows, columns, depth;
    float* out;
    std::size_t stride;
};

template <class T>
[[gnu::always_inline]] inline void multiply_blocks(const PackedBlocks& blocks)
{
    for (std::size_t column = 0; column < blocks.columns; column += T::columns)
        for (std::size_t row = 0; row < blocks.rows; row += T::rows)
            T::run({.left = blocks.left + row * blocks.depth,
                    .right = blocks.right + column * blocks.depth,
                    .depth = blocks.depth,
                    .out = blocks.out + row * blocks.stride + column,
                    .stride = blocks.stride,
                    .rows = std::min(T::rows, blocks.rows - row),
                    .columns = std::min(T::columns, blocks.columns - column)});
}

struct Kernel {
    std::string_view name;
    std::size_t tile_rows;
    std::size_t tile_columns;
    void (*multiply)(const PackedBlocks&);
};

template <class T>
constexpr Kernel kernel_of(std::string_view name, void (*function)(const PackedBlocks&))
{
    static_assert(row_block % T::rows == 0 && column_block % T::columns == 0);
    return {name, T::rows, T::columns, function};
}

// Sixteen registers of four floats (SSE2), or thirty-two (Neon).
using BaselineTile = Tile<4, 6, 2>;
void multiply_baseline(const PackedBlocks& blocks)
{
    multiply_blocks<BaselineTile>(blocks);
}

#if defined(__x86_64__)
using Avx2Tile = Tile<8, 6, 2>;
[[gnu::target("avx2,fma")]] void multiply_avx2(const PackedBlocks& blocks)
{
    multiply_blocks<Avx2Tile>(blocks);
}

using Avx512Tile = Tile<16, 12, 2>;
[[gnu::target("avx512f,fma")]] void multiply_avx512(const PackedBlocks& blocks)
{
    multiply_blocks<Avx512Tile>(blocks);
}
#endif

Kernel best_kernel()
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return kernel_of<Avx512Tile>("avx512", multiply_avx512);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return kernel_of<Avx2Tile>("avx2", multiply_avx2);
#endif
    return kernel_of<BaselineTile>("baseline", multiply_baseline);
}

const Kernel& kernel()
{
    static const Kernel best = best_kernel();
    return best;
}

std::size_t rounded_up(std::size_t value, std::size_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

struct Block {
    std::size_t row;
    std::size_t column;
    std::size_t rows;
    std::size_t columns;
};

// A block of a in strips of a tile's rows.
void pack_left(const Matrix& a, const MatrixSizes& shape, const Block& block, float* to)
{
    if (a.order == MatrixOrder::rows)
        pack_rows(a.elements + block.row * shape.k + block.column, shape.k, block.rows,
                  block.columns, kernel().tile_rows, to);
    else
        pack_columns(a.elements + block.column * shape.m + block.row, shape.m, block.columns,
                     block.rows, kernel().tile_rows, to);
}

// A block of b in strips of a tile's columns.
void pack_right(const Matrix& b, const MatrixSizes& shape, const Block& block, float* to)
{
    if (b.order == MatrixOrder::rows)
        pack_columns(b.elements + block.row * shape.n + block.column, shape.n, block.rows,
                     block.columns, kernel().tile_columns, to);
    else
        pack_rows(b.elements + block.column * shape.k + block.row, shape.k, block.columns,
                  block.rows, kernel().tile_columns, to);
}

} // namespace

GemmSpace::GemmSpace(const MatrixSizes& shape)
    : left_(rounded_up(std::min(shape.m, row_block), kernel().tile_rows) *
            std::min(shape.k, depth_block)),
      right_(rounded_up(std::min(shape.n, column_block), kernel().tile_columns) *
             std::min(shape.k, depth_block))
{}

void multiply(const MatrixSizes& shape, const Matrix& a, const Matrix& b, float* c,
              GemmSpace& space)
{
    const auto [m, n, k] = shape;
    std::memset(c, 0, m * n * sizeof(float));
    for (std::size_t column = 0; column < n; column += column_block) {
        const std::size_t columns = std::min(column_block, n - column);
        for (std::size_t d = 0; d < k; d += depth_block) {
            const std::size_t depth = std::min(depth_block, k - d);
            pack_right(b, shape, {d, column, depth, columns}, space.right_.data());
            for (std::size_t row = 0; row < m; row += row_block) {
                const std::size_t rows = std::min(row_block, m - row);
                pack_left(a, shape, {row, d, rows, depth}, space.left_.data());
                kernel().multiply({.left = space.left_.data(),
                                   .right = space.right_.data(),
                                   .rows = rows,
                                   .columns = columns,
                                   .depth = depth,
                                   .out = c + row * n + column,
                                   .stride = n});
            }
        }
    }
}

std::string_view vector_instructions()
{
    return kernel().name;
}

} // namespace trainyard
