#pragma once

// The ranks that train together. Each library of collectives is used as a framework would use it,
// not through the back ends that are calibrated: so that these say nothing about themselves.

#include <span>

namespace trainyard::loop {

class Group {
public:
    Group() = default;
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    virtual ~Group() = default;

    virtual int rank() const = 0;
    virtual int ranks() const = 0;

    // Each element becomes its sum, or the largest, over all ranks. Every rank calls them in the
    // same order, one at a time, from any thread. Throws std::exception.
    virtual void sum(std::span<float> values) = 0;
    virtual void largest(std::span<double> values) = 0;
};

} // namespace trainyard::loop
