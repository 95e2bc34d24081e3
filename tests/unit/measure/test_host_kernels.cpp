#include "calibrate/measure/host_kernels/elements.h"
#include "calibrate/measure/host_kernels/gemm.h"
#include "calibrate/measure/host_kernels/memory.h"
#include "calibrate/measure/host_kernels/own_cores.h"
#include "tests/catch.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

using namespace trainyard;

namespace {

std::vector<float> small_integers(std::size_t count, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<float> values(count);
    for (float& value : values)
        value = static_cast<float>(static_cast<int>(random() % 17) - 8);
    return values;
}

std::vector<float> plain_product(const MatrixSizes& shape, const std::vector<float>& a,
                                 const std::vector<float>& b)
{
    std::vector<float> c(shape.m * shape.n, 0.0f);
    for (std::size_t i = 0; i < shape.m; ++i)
        for (std::size_t d = 0; d < shape.k; ++d)
            for (std::size_t j = 0; j < shape.n; ++j)
                c[i * shape.n + j] += a[i * shape.k + d] * b[d * shape.n + j];
    return c;
}

std::vector<float> transposed(const std::vector<float>& values, std::size_t rows,
                              std::size_t columns)
{
    std::vector<float> out(values.size());
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c)
            out[c * rows + r] = values[r * columns + c];
    return out;
}

} // namespace

TEST_CASE("products of matrices of integers are exact for every shape")
{
    // |sums| <= 64 k < 2^24: float32 holds them whatever the order. Sizes at and beside the borders
    // of tiles (4, 8, 16, 12, 32) and blocks (240 rows, 256 deep, 2048 columns).
    const auto [m, n, k] =
        GENERATE(table<std::size_t, std::size_t, std::size_t>({{1, 1, 1},
                                                               {5, 7, 3},
                                                               {12, 32, 256},
                                                               {13, 33, 257},
                                                               {6, 2049, 2},
                                                               {241, 31, 513},
                                                               {480, 64, 1},
                                                               {100, 100, 100}}));
    const MatrixSizes shape{m, n, k};
    const std::vector<float> a = small_integers(m * k, 1);
    const std::vector<float> b = small_integers(k * n, 2);
    std::vector<float> c(m * n, std::numeric_limits<float>::quiet_NaN());
    GemmSpace space(shape);
    multiply(shape, {a.data()}, {b.data()}, c.data(), space);
    CHECK(c == plain_product(shape, a, b));
}

TEST_CASE("a product does not depend on how its matrices lie in memory")
{
    const auto [m, n, k] = GENERATE(
        table<std::size_t, std::size_t, std::size_t>({{5, 7, 3}, {13, 33, 257}, {241, 2049, 5}}));
    const MatrixSizes shape{m, n, k};
    const std::vector<float> a = small_integers(m * k, 5);
    const std::vector<float> b = small_integers(k * n, 6);
    const std::vector<float> a_columns = transposed(a, m, k);
    const std::vector<float> b_columns = transposed(b, k, n);
    std::vector<float> c(m * n);
    GemmSpace space(shape);
    multiply(shape, {a_columns.data(), MatrixOrder::columns}, {b.data()}, c.data(), space);
    CHECK(c == plain_product(shape, a, b));
    multiply(shape, {a.data()}, {b_columns.data(), MatrixOrder::columns}, c.data(), space);
    CHECK(c == plain_product(shape, a, b));
}

TEST_CASE("a smaller product fits into the space of a larger one")
{
    GemmSpace space({300, 70, 300});
    const MatrixSizes shape{17, 66, 280};
    const std::vector<float> a = small_integers(17 * 280, 3);
    const std::vector<float> b = small_integers(280 * 66, 4);
    std::vector<float> c(17 * 66);
    multiply(shape, {a.data()}, {b.data()}, c.data(), space);
    CHECK(c == plain_product(shape, a, b));
}

TEST_CASE("reading memory reads every byte once")
{
    // The sum of its words changes by the change of any one of them.
    for (const std::size_t size : {0, 1, 7, 8, 63, 64, 200}) {
        std::vector<std::byte> memory(size);
        CHECK(read_memory(memory) == 0);
        for (std::size_t i = 0; i < size; ++i) {
            memory[i] = std::byte{3};
            CHECK(read_memory(memory) == std::uint64_t{3} << 8 * (i % 8));
            memory[i] = std::byte{0};
        }
    }
}

TEST_CASE("what is written or copied is there afterwards")
{
    std::vector<std::byte> from(1001);
    std::vector<std::byte> to(1001);
    write_memory(from, std::byte{7});
    CHECK(from == std::vector<std::byte>(1001, std::byte{7}));
    copy_memory(from, to);
    CHECK(to == from);
}

TEST_CASE("adding memory adds every whole number of it")
{
    // 2 bytes at the end are no number.
    std::vector<std::byte> from(4 * 37 + 2);
    std::vector<std::byte> to = from;
    const auto put = [](std::vector<std::byte>& memory, std::size_t i, float value) {
        std::memcpy(memory.data() + 4 * i, &value, sizeof(value));
    };
    for (std::size_t i = 0; i < 37; ++i) {
        put(from, i, static_cast<float>(i));
        put(to, i, 100.0f);
    }
    to.back() = std::byte{9};
    add_memory(from, to);
    for (std::size_t i = 0; i < 37; ++i) {
        float sum = 0;
        std::memcpy(&sum, to.data() + 4 * i, sizeof(sum));
        CHECK(sum == 100.0f + static_cast<float>(i));
    }
    CHECK(to.back() == std::byte{9});
}

TEST_CASE("every float16 number survives a way to float32 and back")
{
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        if ((bits & 0x7fff) > 0x7c00) // not a number: stays one
            REQUIRE(std::isnan(from_float16(half)));
        else
            REQUIRE(to_float16(from_float16(half)) == half);
    }
    // 1, the largest, the smallest normal and the smallest number, infinity.
    CHECK(from_float16(0x3c00) == 1.0f);
    CHECK(from_float16(0x7bff) == 65504.0f);
    CHECK(from_float16(0x0400) == 0x1p-14f);
    CHECK(from_float16(0x8001) == -0x1p-24f);
    CHECK(from_float16(0xfc00) == -std::numeric_limits<float>::infinity());
}

TEST_CASE("float16 rounds to the nearest and halves to the even number")
{
    // Between two neighbours of float16, a quarter of the way, half and three quarters; neighbours
    // differ by one in their bits, so that the even one has a last bit of 0.
    for (unsigned bits = 0; bits < 0x7bff; ++bits) {
        const auto low = static_cast<std::uint16_t>(bits);
        const auto high = static_cast<std::uint16_t>(bits + 1);
        const double from = from_float16(low);
        const double step = from_float16(high) - from;
        REQUIRE(to_float16(static_cast<float>(from + step / 4)) == low);
        REQUIRE(to_float16(static_cast<float>(from + step / 2)) == (bits % 2 == 0 ? low : high));
        REQUIRE(to_float16(static_cast<float>(from + step * 3 / 4)) == high);
    }
    CHECK(to_float16(65519.996f) == 0x7bff);
    CHECK(to_float16(65520.0f) == 0x7c00); // half a step beyond the largest
    CHECK(to_float16(-1e30f) == 0xfc00);
    CHECK(std::isnan(from_float16(to_float16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST_CASE("bfloat16 is float32's upper half, rounded to the nearest and halves to the even number")
{
    CHECK(from_bfloat16(0x3f80) == 1.0f);
    CHECK(to_bfloat16(1.0f + 0x1p-8f) == 0x3f80);            // a half: down to even
    CHECK(to_bfloat16(1.0f + 0x1p-7f + 0x1p-8f) == 0x3f82);  // up to even
    CHECK(to_bfloat16(1.0f + 0x1p-8f + 0x1p-20f) == 0x3f81); // more than a half
    CHECK(to_bfloat16(std::numeric_limits<float>::max()) == 0x7f80);
    CHECK(std::isnan(from_bfloat16(to_bfloat16(std::bit_cast<float>(0x7f800001u)))));
}

TEST_CASE("elements of every type are summed one by one")
{
    // Lengths beside the width of vectors; the output may be an input.
    for (const std::size_t count : {1, 15, 16, 33}) {
        std::vector<std::uint16_t> half(count, to_float16(1.5f));
        std::vector<std::uint16_t> brain(count, to_bfloat16(1.5f));
        std::vector<float> single(count, 1.5f);
        std::vector<std::uint8_t> byte(count, 200);
        add_elements(ElementType::float16, half.data(), half.data(), half.data(), count);
        add_elements(ElementType::bfloat16, brain.data(), brain.data(), brain.data(), count);
        add_elements(ElementType::float32, single.data(), single.data(), single.data(), count);
        add_elements(ElementType::uint8, byte.data(), byte.data(), byte.data(), count);
        CHECK(half == std::vector<std::uint16_t>(count, to_float16(3.0f)));
        CHECK(brain == std::vector<std::uint16_t>(count, to_bfloat16(3.0f)));
        CHECK(single == std::vector<float>(count, 3.0f));
        CHECK(byte == std::vector<std::uint8_t>(count, 144)); // 400 - 256
    }
}

TEST_CASE("ranks of a host have its cores among them, none twice and none left out")
{
    const std::vector<int> cores{1, 2, 3, 5, 8, 9, 11};
    for (const int ranks : {1, 2, 3, 7}) {
        std::vector<int> all;
        for (int rank = 0; rank < ranks; ++rank) {
            const std::vector<int> own = share_of_cores(cores, rank, ranks);
            CHECK(own.size() >= cores.size() / static_cast<std::size_t>(ranks));
            all.insert(all.end(), own.begin(), own.end());
        }
        CHECK(all == cores);
    }
    CHECK(share_of_cores(cores, 3, 8) == cores); // too few for one each: all share all
}
