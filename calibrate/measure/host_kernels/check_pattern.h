#pragma once

// Data whose sums are exact in every type, so that a result is right or wrong, never near.

#include "calibrate/measure/backend/work.h"

#include <cstdint>
#include <span>
#include <vector>

namespace trainyard {

// What element `i` of every contributor's buffer holds: integers that hide neither a shift nor a
// mix-up of elements for long. `round` makes other data of every check.
class CheckPattern {
public:
    // Of data that are moved.
    CheckPattern(ElementType type, std::uint32_t round);

    // Of data of which those of `contributors` are summed: every partial sum is an integer that the
    // type holds. (Bytes do not wrap around: Open MPI 4.1 stops at 255 where vectors add them.)
    CheckPattern(ElementType type, std::uint32_t round, int contributors);

    // Elements `first`, `first` + 1, ... of a contributor. Whole elements.
    void fill(std::span<std::byte> memory, int contributor, std::uint64_t first) const;

    // How many elements of `memory` are not what `fill` gives.
    std::int64_t wrong(std::span<const std::byte> memory, int contributor,
                       std::uint64_t first) const;

    // How many are not the sum over all contributors.
    std::int64_t wrong_sums(std::span<const std::byte> memory, std::uint64_t first) const;

private:
    std::uint32_t residue(std::uint64_t index) const;
    std::uint32_t value(int contributor, std::uint32_t residue) const;
    // By residue, encoded.
    std::vector<std::uint32_t> contribution(int contributor) const;
    std::int64_t differing(std::span<const std::byte> memory, std::uint64_t first,
                           const std::vector<std::uint32_t>& expected) const;

    ElementType type_;
    std::uint32_t round_;
    int contributors_;
    std::uint32_t values_; // elements are below it
};

} // namespace trainyard
