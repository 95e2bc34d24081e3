#pragma once

// Gradients (or parameters) cut into buckets that are exchanged together.

#include "sim/base/quantity.h"

#include <cstdint>
#include <vector>

namespace trainyard {

struct BucketSizes { // bytes, at least 1
    double first = 1;
    double others = 1;
};

// What becomes of a tensor that is larger than what is left of a bucket.
enum class BucketEnd : std::uint8_t {
    cut,  // the next bucket begins within it
    whole // it is the last of its bucket, which is that much larger
};

// Filled in the order in which tensors become ready.
class BucketFill {
public:
    explicit BucketFill(BucketSizes sizes, BucketEnd end = BucketEnd::cut)
        : sizes_(sizes), end_(end)
    {}

    // Sizes of the buckets that a tensor completes.
    std::vector<Bytes> add(double bytes);
    bool empty() const { return filled_ <= 0; }
    // The last, partly filled bucket; 0 when there is none.
    Bytes rest();
    // The next bucket is the first of another round.
    void restart() { any_ = false; }

private:
    BucketSizes sizes_;
    BucketEnd end_;
    double filled_ = 0;
    bool any_ = false;
};

} // namespace trainyard
