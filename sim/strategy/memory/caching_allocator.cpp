#include "sim/strategy/memory/caching_allocator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

namespace trainyard {

namespace {

// c10/cuda/CUDACachingAllocator.cpp
constexpr std::int64_t min_block = 512;
constexpr std::int64_t small_size = 1 << 20;
constexpr std::int64_t small_buffer = 2 << 20;
constexpr std::int64_t large_buffer = 20 << 20;
constexpr std::int64_t min_large_request = 10 << 20;
constexpr std::int64_t round_large = 2 << 20;
// Apart enough that no range reaches the next.
constexpr std::int64_t address_range = std::int64_t{1} << 44;

std::int64_t rounded_up(std::int64_t bytes, std::int64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

std::int64_t rounded_request(std::int64_t bytes)
{
    return std::max(min_block, rounded_up(bytes, min_block));
}

std::int64_t segment_bytes(std::int64_t rounded)
{
    if (rounded <= small_size)
        return small_buffer;
    return rounded < min_large_request ? large_buffer : rounded_up(rounded, round_large);
}

} // namespace

std::size_t CachingAllocator::FreeBlocks::slot_of(std::int64_t bytes) const
{
    // Sizes are multiples of 512; 2^64 / golden ratio spreads them, best in the upper bits.
    const std::uint64_t hash = static_cast<std::uint64_t>(bytes) * 0x9e3779b97f4a7c15;
    std::size_t at = hash >> hash_shift_;
    while (table_[at].bytes != 0 && table_[at].bytes != bytes)
        at = (at + 1) & (table_.size() - 1);
    return at;
}

std::size_t CachingAllocator::FreeBlocks::rank_of(std::int64_t bytes)
{
    if (!table_.empty())
        if (const Slot& slot = table_[slot_of(bytes)]; slot.bytes == bytes)
            return slot.rank;
    return add_size(bytes);
}

// Seldom called: what it needs is not to burden its callers.
[[gnu::noinline]] std::size_t CachingAllocator::FreeBlocks::add_size(std::int64_t bytes)
{
    if (2 * sizes_.size() >= table_.size())
        forget_empty_sizes();
    const auto at = std::ranges::lower_bound(sizes_, bytes, {}, &Size::bytes);
    const auto rank = static_cast<std::size_t>(at - sizes_.begin());
    sizes_.insert(at, {bytes, {}});
    rebuild_table();
    return rank;
}

void CachingAllocator::FreeBlocks::forget_empty_sizes()
{
    std::erase_if(sizes_, [](const Size& size) { return size.places.empty(); });
    size_table();
}

void CachingAllocator::FreeBlocks::expect(std::vector<std::int64_t> sizes)
{
    std::ranges::sort(sizes);
    const auto again = std::ranges::unique(sizes);
    sizes.erase(again.begin(), again.end());
    for (const std::int64_t bytes : sizes)
        sizes_.push_back({bytes, {}});
    size_table();
    rebuild_table();
}

void CachingAllocator::FreeBlocks::size_table()
{
    table_.resize(std::bit_ceil(std::max<std::size_t>(256, 4 * sizes_.size())));
    hash_shift_ = 64 - std::countr_zero(table_.size());
}

void CachingAllocator::FreeBlocks::rebuild_table()
{
    std::ranges::fill(table_, Slot{});
    filled_.assign(sizes_.size() / 64 + 1, 0);
    for (std::size_t rank = 0; rank < sizes_.size(); ++rank) {
        const Size& size = sizes_[rank];
        table_[slot_of(size.bytes)] = {size.bytes, static_cast<std::uint32_t>(rank)};
        filled_[rank / 64] |= std::uint64_t{!size.places.empty()} << (rank % 64);
    }
}

std::size_t CachingAllocator::FreeBlocks::smallest_rank(std::int64_t bytes)
{
    const std::size_t rank = rank_of(bytes);
    std::size_t word = rank / 64;
    std::uint64_t bits = filled_[word] & (~std::uint64_t{0} << (rank % 64));
    while (bits == 0) {
        if (++word == filled_.size())
            return sizes_.size();
        bits = filled_[word];
    }
    return 64 * word + static_cast<std::size_t>(std::countr_zero(bits));
}

CachingAllocator::FreeBlock CachingAllocator::FreeBlocks::smallest(std::int64_t bytes)
{
    const std::size_t rank = smallest_rank(bytes);
    if (rank == sizes_.size())
        return {};
    const Size& size = sizes_[rank];
    return {size.bytes, size.places.back().address, size.places.back().block};
}

std::uint32_t CachingAllocator::FreeBlocks::take_smallest(std::int64_t bytes)
{
    const std::size_t rank = smallest_rank(bytes);
    if (rank == sizes_.size())
        return none;
    std::vector<Place>& places = sizes_[rank].places;
    const std::uint32_t block = places.back().block;
    places.pop_back();
    mark(rank);
    return block;
}

CachingAllocator::FreeBlock CachingAllocator::FreeBlocks::largest() const
{
    for (auto size = sizes_.rbegin(); size != sizes_.rend(); ++size)
        if (!size->places.empty())
            return {size->bytes, size->places.front().address, size->places.front().block};
    return {};
}

void CachingAllocator::FreeBlocks::insert(const FreeBlock& block)
{
    const std::size_t rank = rank_of(block.bytes);
    filled_[rank / 64] |= std::uint64_t{1} << (rank % 64);
    std::vector<Place>& places = sizes_[rank].places;
    places.emplace_back();
    Place* at = &places.back();
    for (; at != places.data() && at[-1].address < block.address; --at)
        *at = at[-1];
    *at = {block.address, block.block};
}

void CachingAllocator::FreeBlocks::erase(const FreeBlock& block)
{
    const std::size_t rank = rank_of(block.bytes);
    std::vector<Place>& places = sizes_[rank].places;
    Place* const last = &places.back();
    Place* at = last;
    while (at->block != block.block)
        --at;
    for (; at != last; ++at)
        *at = at[1];
    places.pop_back();
    mark(rank);
}

void CachingAllocator::FreeBlocks::mark(std::size_t rank)
{
    const std::uint64_t bit = std::uint64_t{1} << (rank % 64);
    if (sizes_[rank].places.empty())
        filled_[rank / 64] &= ~bit;
}

std::vector<CachingAllocator::FreeBlock> CachingAllocator::FreeBlocks::all() const
{
    std::vector<FreeBlock> blocks;
    for (const Size& size : sizes_)
        for (auto place = size.places.rbegin(); place != size.places.rend(); ++place)
            blocks.push_back({size.bytes, place->address, place->block});
    return blocks;
}

void CachingAllocator::expect(std::span<const std::int64_t> bytes, int stream)
{
    std::array<std::vector<std::int64_t>, 2> sizes; // large and small
    for (const std::int64_t one : bytes) {
        const std::int64_t rounded = rounded_request(one);
        sizes[rounded <= small_size ? 1 : 0].push_back(rounded);
    }
    for (std::vector<std::int64_t>& of_pool : sizes)
        if (!of_pool.empty()) {
            Pool& pool = pool_of(of_pool.front(), stream);
            pool.free.expect(std::move(of_pool));
        }
}

std::optional<CachingAllocator::Handle> CachingAllocator::allocate(std::int64_t bytes, int stream)
{
    const std::int64_t rounded = rounded_request(bytes);
    Pool& pool = pool_of(rounded, stream);
    std::uint32_t block = take_free_block(pool, rounded);
    if (block == none)
        block = take_from_device(pool, rounded);
    if (block == none)
        return std::nullopt;
    const std::int64_t left = blocks_[block].bytes - rounded;
    if (left > 0 && may_cut(pool, rounded, left))
        pool.free.insert(entry(cut(block, rounded)));
    blocks_[block].used = true;
    now_.allocated += blocks_[block].bytes;
    peak_.allocated = std::max(peak_.allocated, now_.allocated);
    return block;
}

std::uint32_t CachingAllocator::cut(std::uint32_t block, std::int64_t rounded)
{
    const std::uint32_t rest = new_block();
    Block& whole = blocks_[block];
    blocks_[rest] = {
        whole.address + rounded, whole.bytes - rounded, block, whole.next, whole.pool, false};
    if (whole.next != none)
        blocks_[whole.next].previous = rest;
    else if (pools_[whole.pool].tail == block)
        pools_[whole.pool].tail = rest;
    whole.next = rest;
    whole.bytes = rounded;
    return rest;
}

void CachingAllocator::free(Handle handle)
{
    assert(blocks_[handle].used);
    std::uint32_t block = handle;
    Pool& pool = pools_[blocks_[block].pool];
    blocks_[block].used = false;
    now_.allocated -= blocks_[block].bytes;
    const std::uint32_t next = blocks_[block].next;
    if (next != none && !blocks_[next].used) {
        pool.free.erase(entry(next));
        join(block, next);
    }
    const std::uint32_t previous = blocks_[block].previous;
    if (previous != none && !blocks_[previous].used) {
        pool.free.erase(entry(previous));
        join(previous, block);
        block = previous;
    }
    pool.free.insert(entry(block));
}

void CachingAllocator::release_cached()
{
    for (Pool& pool : pools_) {
        std::vector<FreeBlock> whole;
        for (const FreeBlock& free : pool.free.all()) {
            const Block& block = blocks_[free.block];
            const bool alone = block.previous == none && block.next == none;
            if (alone || (options_.expandable_segments && pool.tail == free.block))
                whole.push_back(free);
        }
        for (const FreeBlock& segment : whole)
            release(pool, segment);
    }
}

CachingAllocator::Pool& CachingAllocator::pool_of(std::int64_t rounded, int stream)
{
    const bool small = rounded <= small_size;
    const std::size_t place = 2 * static_cast<std::size_t>(stream) + (small ? 1 : 0);
    if (place >= pool_numbers_.size() || pool_numbers_[place] == none)
        add_pool(place, stream, small);
    return pools_[pool_numbers_[place]];
}

[[gnu::noinline]] void CachingAllocator::add_pool(std::size_t place, int stream, bool small)
{
    pool_numbers_.resize(std::max(pool_numbers_.size(), place + 1), none);
    pool_numbers_[place] = static_cast<std::uint32_t>(pools_.size());
    Pool pool;
    pool.stream = stream;
    pool.small = small;
    pool.base = address_range * static_cast<std::int64_t>(pools_.size() + 1);
    pools_.push_back(std::move(pool));
}

std::uint32_t CachingAllocator::take_free_block(Pool& pool, std::int64_t rounded)
{
    if (options_.max_split_size == 0)
        return pool.free.take_smallest(rounded);
    const FreeBlock found = pool.free.smallest(rounded);
    if (found.block == none)
        return none;
    {
        if (rounded < options_.max_split_size && found.bytes >= options_.max_split_size)
            return none;
        if (rounded >= options_.max_split_size && found.bytes >= rounded + large_buffer)
            return none;
    }
    pool.free.erase(found);
    return found.block;
}

std::uint32_t CachingAllocator::take_from_device(Pool& pool, std::int64_t rounded)
{
    if (options_.expandable_segments)
        return grow(pool, rounded);
    const std::int64_t bytes = segment_bytes(rounded);
    if (!room_for(bytes) && !(release_oversize(pool, rounded) && room_for(bytes))) {
        release_cached();
        ++retries_;
        if (!room_for(bytes))
            return none;
    }
    const std::uint32_t block = new_block();
    const auto index = static_cast<std::uint32_t>(&pool - pools_.data());
    blocks_[block] = {frontier_, bytes, none, none, index, false};
    frontier_ += bytes;
    count_segment(bytes, 1);
    return block;
}

// The free end of the range, or a new one behind it, grows to what is asked for.
std::uint32_t CachingAllocator::grow(Pool& pool, std::int64_t rounded)
{
    const bool free_end = pool.tail != none && !blocks_[pool.tail].used;
    const std::int64_t there = free_end ? blocks_[pool.tail].bytes : 0;
    const std::int64_t unit = pool.small ? small_buffer : large_buffer;
    const std::int64_t bytes = rounded_up(rounded - there, unit);
    if (!room_for(bytes)) {
        ++retries_;
        release_cached();
        const bool shrunk = pool.tail == none || blocks_[pool.tail].used;
        const std::int64_t whole = shrunk ? rounded_up(rounded, unit) : bytes;
        if (!room_for(whole))
            return none;
        return grow(pool, rounded);
    }
    count_segment(bytes, pool.tail == none ? 1 : 0);
    if (free_end) {
        pool.free.erase(entry(pool.tail));
        blocks_[pool.tail].bytes += bytes;
        return pool.tail;
    }
    const std::uint32_t block = new_block();
    const std::int64_t address =
        pool.tail == none ? pool.base : blocks_[pool.tail].address + blocks_[pool.tail].bytes;
    const auto index = static_cast<std::uint32_t>(&pool - pools_.data());
    blocks_[block] = {address, bytes, pool.tail, none, index, false};
    if (pool.tail != none)
        blocks_[pool.tail].next = block;
    pool.tail = block;
    return block;
}

bool CachingAllocator::room_for(std::int64_t bytes) const
{
    return options_.device_bytes == 0 || now_.reserved + bytes <= options_.device_bytes;
}

// With max_split_size: one block that is large enough, or several of the largest until as much is
// free.
bool CachingAllocator::release_oversize(const Pool& pool, std::int64_t rounded)
{
    if (options_.max_split_size == 0)
        return false;
    Pool& own = pools_[static_cast<std::size_t>(&pool - pools_.data())];
    const std::int64_t wanted = std::max(rounded, options_.max_split_size);
    if (const FreeBlock enough = own.free.smallest(wanted); enough.block != none) {
        release(own, enough);
        return true;
    }
    std::int64_t released = 0;
    while (released < wanted) {
        const FreeBlock largest = own.free.largest();
        if (largest.block == none || largest.bytes < options_.max_split_size)
            break;
        released += largest.bytes;
        release(own, largest);
    }
    return released >= wanted;
}

void CachingAllocator::release(Pool& pool, const FreeBlock& segment)
{
    const Block block = blocks_[segment.block];
    pool.free.erase(segment);
    if (block.previous != none)
        blocks_[block.previous].next = none;
    if (pool.tail == segment.block)
        pool.tail = block.previous;
    spare_.push_back(segment.block);
    count_segment(-block.bytes, block.previous == none ? -1 : 0);
}

bool CachingAllocator::may_cut(const Pool& pool, std::int64_t rounded, std::int64_t left) const
{
    if (pool.small || options_.expandable_segments)
        return left >= min_block;
    return (options_.max_split_size == 0 || rounded < options_.max_split_size) && left > small_size;
}

std::uint32_t CachingAllocator::new_block()
{
    if (!spare_.empty()) {
        const std::uint32_t block = spare_.back();
        spare_.pop_back();
        return block;
    }
    blocks_.emplace_back();
    return static_cast<std::uint32_t>(blocks_.size() - 1);
}

// `block` takes in the one behind it.
void CachingAllocator::join(std::uint32_t block, std::uint32_t next)
{
    blocks_[block].bytes += blocks_[next].bytes;
    blocks_[block].next = blocks_[next].next;
    if (blocks_[next].next != none)
        blocks_[blocks_[next].next].previous = block;
    Pool& pool = pools_[blocks_[block].pool];
    if (pool.tail == next)
        pool.tail = block;
    spare_.push_back(next);
}

CachingAllocator::FreeBlock CachingAllocator::entry(std::uint32_t block) const
{
    return {blocks_[block].bytes, blocks_[block].address, block};
}

void CachingAllocator::count_segment(std::int64_t bytes, int segments)
{
    now_.reserved += bytes;
    now_.segments += segments;
    peak_.segments = std::max(peak_.segments, now_.segments);
    if (now_.reserved > peak_.reserved)
        peak_.reserved = now_.reserved;
}

} // namespace trainyard
