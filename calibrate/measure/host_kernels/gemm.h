#pragma once

// Matrix products on one core: work of a known size for ranks without a GPU.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace trainyard {

// a is m x k, b is k x n; without gaps.
struct MatrixSizes {
    std::size_t m = 0;
    std::size_t n = 0;
    std::size_t k = 0;

    bool operator==(const MatrixSizes&) const = default;
};

enum class MatrixOrder : std::uint8_t { rows, columns }; // whose elements lie side by side

struct Matrix {
    const float* elements = nullptr;
    MatrixOrder order = MatrixOrder::rows;
};

// Space that products need beside their matrices; kept between calls.
class GemmSpace {
public:
    explicit GemmSpace(const MatrixSizes& shape);

private:
    friend void multiply(const MatrixSizes&, const Matrix&, const Matrix&, float*, GemmSpace&);
    std::vector<float> left_;  // a block of a, in the order in which it is read
    std::vector<float> right_; // a block of b
};

// c = a b with the widest vectors that the processor has, in the calling thread. 2 m n k
// operations. Blocks are copied into the order in which registers take them and stay in the caches
// (Goto and van de Geijn, Anatomy of high-performance matrix multiplication, 2008). Sums of
// products are fused and ordered by block: results of different processors differ in the last bits.
// `space` is of at least this shape. c lies by rows.
void multiply(const MatrixSizes& shape, const Matrix& a, const Matrix& b, float* c,
              GemmSpace& space);

// What `multiply` uses here: "avx512", "avx2", "baseline".
std::string_view vector_instructions();

} // namespace trainyard
