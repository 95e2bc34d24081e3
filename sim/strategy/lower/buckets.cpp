#include "sim/strategy/lower/buckets.h"

#include <utility>

namespace trainyard {

std::vector<Bytes> BucketFill::add(double bytes)
{
    std::vector<Bytes> complete;
    filled_ += bytes;
    if (end_ == BucketEnd::whole) {
        if (filled_ >= (any_ ? sizes_.others : sizes_.first)) {
            complete.push_back(rest());
            any_ = true;
        }
        return complete;
    }
    for (double size = any_ ? sizes_.others : sizes_.first; filled_ >= size; size = sizes_.others) {
        complete.push_back(scaled(Bytes(1), size));
        filled_ -= size;
        any_ = true;
    }
    return complete;
}

Bytes BucketFill::rest()
{
    return scaled(Bytes(1), std::exchange(filled_, 0.0));
}

} // namespace trainyard
