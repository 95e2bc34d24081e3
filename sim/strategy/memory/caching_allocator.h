#pragma once

// PyTorch's caching allocator for CUDA devices (c10/cuda/CUDACachingAllocator.cpp, PyTorch 2.1 to
// 2.10): what it asks the device for, and what of that nobody uses.
//
//   A request is rounded up to 512 B. Up to 1 MiB it is served from the pool of small blocks, whose
//   segments are of 2 MiB; else from that of large ones: segments of 20 MiB for requests below 10
//   MiB, of the request rounded up to 2 MiB above.
//   The smallest free block that is large enough is taken (of several the one at the lowest
//   address), and cut when more than 1 MiB (small pool: at least 512 B) would be left; a freed
//   block joins its free neighbours. Pools are per stream. When the device has no room, free
//   segments go back to it and the request is tried again. With max_split_size set, larger blocks
//   are never cut, serve only requests that leave less than 20 MiB of them unused, and go back to
//   the device first. With expandable segments a pool is one range of addresses that grows by 2 MiB
//   (large: 20 MiB) at a time, any remainder is cut off, and only the range's free end goes back to
//   the device (PyTorch also unmaps pages inside).

#include "sim/base/quantity.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace trainyard {

struct AllocatorOptions {
    std::int64_t device_bytes = 0; // that the allocator may ask for; 0: without limit
    bool expandable_segments = false;
    std::int64_t max_split_size = 0; // 0: without limit

    bool operator==(const AllocatorOptions&) const = default;
};

struct AllocatorTotals {
    std::int64_t allocated = 0; // in blocks in use, what rounding adds included
    std::int64_t reserved = 0;  // in segments
    int segments = 0;

    bool operator==(const AllocatorTotals&) const = default;
};

class CachingAllocator {
public:
    using Handle = std::uint32_t; // of a block in use

    explicit CachingAllocator(AllocatorOptions options = {}) : options_(options) {}

    // Sizes that may be asked for: taken in together they cost less than one by one. Before the
    // first request of the stream.
    void expect(std::span<const std::int64_t> bytes, int stream = 0);

    // None when the device has no room even after everything unused has been given back. A request
    // of no bytes takes the smallest block.
    std::optional<Handle> allocate(std::int64_t bytes, int stream = 0);
    void free(Handle handle);
    // Gives unused segments back to the device (torch.cuda.empty_cache).
    void release_cached();

    const AllocatorTotals& now() const { return now_; }
    const AllocatorTotals& peak() const { return peak_; } // of each by itself
    int retries() const { return retries_; } // times that everything unused was given back

    std::int64_t address(Handle handle) const { return blocks_[handle].address; }

private:
    static constexpr std::uint32_t none = 0xffffffff;

    struct Block {
        std::int64_t address = 0;
        std::int64_t bytes = 0;
        std::uint32_t previous = none; // of the same segment, by address
        std::uint32_t next = none;
        std::uint32_t pool = 0;
        bool used = false;
    };
    struct FreeBlock {
        std::int64_t bytes = 0;
        std::int64_t address = 0;
        std::uint32_t block = none;
    };
    // By size, then address. Sizes recur: each is found by a hash, keeps its place when no block
    // has it, and the next that some block has is found by its bit.
    class FreeBlocks {
    public:
        // The smallest that is large enough; no block when there is none.
        FreeBlock smallest(std::int64_t bytes);
        FreeBlock largest() const;                       // likewise
        std::uint32_t take_smallest(std::int64_t bytes); // and erases it
        void insert(const FreeBlock& block);
        void erase(const FreeBlock& block);
        std::vector<FreeBlock> all() const;           // smallest first
        void expect(std::vector<std::int64_t> sizes); // while it knows none

    private:
        struct Place {
            std::int64_t address;
            std::uint32_t block;
        };
        struct Size {
            std::int64_t bytes;
            std::vector<Place> places; // the highest address first
        };
        struct Slot {
            std::int64_t bytes = 0; // 0: nothing here
            std::uint32_t rank = 0;
        };

        std::size_t rank_of(std::int64_t bytes);
        std::size_t smallest_rank(std::int64_t bytes); // behind the last: there is none
        void mark(std::size_t rank);
        std::size_t add_size(std::int64_t bytes);
        void forget_empty_sizes();
        void size_table();
        void rebuild_table();
        std::size_t slot_of(std::int64_t bytes) const; // its own, or the free one where it would be

        std::vector<Size> sizes_;           // ascending
        std::vector<std::uint64_t> filled_; // a bit for each size
        std::vector<Slot> table_;           // a power of two of them, half of them free at least
        int hash_shift_ = 0;                // what is left of a hash numbers them
    };
    struct Pool {
        int stream = 0;
        bool small = false;
        FreeBlocks free;
        std::uint32_t tail = none; // expandable: the last block of the range
        std::int64_t base = 0;     // expandable: where the range begins
    };

    Pool& pool_of(std::int64_t rounded, int stream);
    void add_pool(std::size_t place, int stream, bool small);
    std::uint32_t take_free_block(Pool& pool, std::int64_t rounded);
    // Cuts off what is beyond the request: the new block, in no list yet.
    std::uint32_t cut(std::uint32_t block, std::int64_t rounded);
    std::uint32_t take_from_device(Pool& pool, std::int64_t rounded);
    std::uint32_t grow(Pool& pool, std::int64_t rounded);
    bool room_for(std::int64_t bytes) const;
    bool release_oversize(const Pool& pool, std::int64_t rounded);
    void release(Pool& pool, const FreeBlock& segment);
    bool may_cut(const Pool& pool, std::int64_t rounded, std::int64_t left) const;
    std::uint32_t new_block();
    void join(std::uint32_t block, std::uint32_t next);
    FreeBlock entry(std::uint32_t block) const;
    void count_segment(std::int64_t bytes, int segments);

    AllocatorOptions options_;
    std::vector<Block> blocks_;
    std::vector<std::uint32_t> spare_; // of blocks_
    std::vector<Pool> pools_;
    std::vector<std::uint32_t> pool_numbers_; // by stream, large and small; `none`: not yet
    AllocatorTotals now_;
    AllocatorTotals peak_;
    std::int64_t frontier_ = 0; // addresses given out by the device
    int retries_ = 0;
};

} // namespace trainyard
