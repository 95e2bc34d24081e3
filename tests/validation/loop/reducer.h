#pragma once

// Gradients summed over all ranks: in buckets beside backward, or all at once after it.

#include "tests/validation/loop/group.h"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace trainyard::loop {

// Bytes after which a bucket is full.
struct BucketLimits {
    std::size_t first = 1 << 20;
    std::size_t others = 25 << 20;
};

// Where buckets of float elements end, for tensors in the order in which gradients come: a tensor
// lies in one bucket, and a bucket is full when it reaches its limit (PyTorch's
// compute_bucket_assignment_by_size, in torch/csrc/distributed/c10d/reducer.cpp).
std::vector<std::size_t> bucket_ends(const std::vector<std::size_t>& tensor_sizes,
                                     const BucketLimits& limits);

class Reducer {
public:
    // With limits: bucket by bucket, in a thread of its own. Without: all in finish().
    Reducer(Group& group, std::span<float> gradients, const std::vector<std::size_t>& tensor_sizes,
            const std::optional<BucketLimits>& limits);
    Reducer(const Reducer&) = delete;
    Reducer& operator=(const Reducer&) = delete;
    ~Reducer();

    // The first `count` gradients are final.
    void made(std::size_t count);

    // Returns when all gradients are sums over the ranks. Throws what a collective threw.
    void finish();

    std::size_t buckets() const { return ends_.size(); }
    std::uint64_t bytes() const { return bytes_; } // reduced so far; between steps

private:
    void serve();
    void reduce(std::size_t bucket);

    Group& group_;
    std::span<float> gradients_;
    std::vector<std::size_t> ends_;
    std::uint64_t bytes_ = 0;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t ready_ = 0; // buckets whose gradients are final
    std::size_t done_ = 0;  // and summed
    bool stop_ = false;
    std::exception_ptr failure_;
    std::thread thread_;
};

} // namespace trainyard::loop
