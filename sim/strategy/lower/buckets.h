#pragma once

// Gradients (or parameters) cut into buckets that are exchanged together.

#include "sim/base/quantity.h"

#include <vector>

namespace trainyard {

struct BucketSizes { // bytes, at least 1
    double first = 1;
    double others = 1;
};

// Filled in the order in which tensors become ready; a tensor may span several buckets, a bucket
// several tensors.
class BucketFill {
public:
    explicit BucketFill(BucketSizes sizes) : sizes_(sizes) {}

    // Sizes of the buckets that these bytes complete.
    std::vector<Bytes> add(double bytes);
    bool empty() const { return filled_ <= 0; }
    // The last, partly filled bucket; 0 when there is none.
    Bytes rest();
    // The next bucket is the first of another round.
    void restart() { any_ = false; }

private:
    BucketSizes sizes_;
    double filled_ = 0;
    bool any_ = false;
};

} // namespace trainyard
