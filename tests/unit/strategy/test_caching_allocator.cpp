// PyTorch's caching allocator: each rule of c10/cuda/CUDACachingAllocator.cpp by itself, then all
// of them against a plain twin on random requests.

#include "sim/strategy/memory/caching_allocator.h"
#include "tests/catch.h"

#include <algorithm>
#include <random>

using namespace trainyard;

namespace {

constexpr std::int64_t KiB = 1024;
constexpr std::int64_t MiB = 1024 * KiB;

// The same allocator with plain lists: every search looks at everything.
class NaiveAllocator {
public:
    struct Piece {
        std::int64_t address, bytes;
        bool used;
        int id;
    };
    struct Segment {
        bool small;
        int stream;
        std::vector<Piece> pieces;
    };

    explicit NaiveAllocator(std::int64_t device) : device_(device) {}

    bool allocate(int id, std::int64_t bytes, int stream)
    {
        const std::int64_t size = std::max<std::int64_t>(512, (bytes + 511) / 512 * 512);
        const bool small = size <= MiB;
        if (place(id, size, small, stream))
            return true;
        const std::int64_t wanted = small ? 2 * MiB
                                    : size < 10 * MiB
                                        ? 20 * MiB
                                        : (size + 2 * MiB - 1) / (2 * MiB) * (2 * MiB);
        if (device_ > 0 && reserved() + wanted > device_)
            std::erase_if(segments_, [](const Segment& s) {
                return s.pieces.size() == 1 && !s.pieces[0].used;
            });
        if (device_ > 0 && reserved() + wanted > device_)
            return false;
        segments_.push_back({small, stream, {{frontier_, wanted, false, -1}}});
        frontier_ += wanted;
        return place(id, size, small, stream);
    }

    void free(int id)
    {
        for (Segment& segment : segments_)
            for (Piece& piece : segment.pieces)
                if (piece.used && piece.id == id)
                    piece.used = false;
        for (Segment& segment : segments_)
            for (std::size_t i = 1; i < segment.pieces.size();)
                if (!segment.pieces[i - 1].used && !segment.pieces[i].used) {
                    segment.pieces[i - 1].bytes += segment.pieces[i].bytes;
                    segment.pieces.erase(segment.pieces.begin() + static_cast<std::ptrdiff_t>(i));
                } else {
                    ++i;
                }
    }

    std::int64_t reserved() const
    {
        std::int64_t sum = 0;
        for (const Segment& segment : segments_)
            for (const Piece& piece : segment.pieces)
                sum += piece.bytes;
        return sum;
    }
    std::int64_t allocated() const
    {
        std::int64_t sum = 0;
        for (const Segment& segment : segments_)
            for (const Piece& piece : segment.pieces)
                sum += piece.used ? piece.bytes : 0;
        return sum;
    }
    std::size_t segments() const { return segments_.size(); }

private:
    bool place(int id, std::int64_t size, bool small, int stream)
    {
        Segment* best = nullptr;
        std::size_t at = 0;
        for (Segment& segment : segments_)
            for (std::size_t i = 0; i < segment.pieces.size(); ++i) {
                const Piece& piece = segment.pieces[i];
                if (segment.small != small || segment.stream != stream || piece.used ||
                    piece.bytes < size)
                    continue;
                if (best == nullptr || piece.bytes < best->pieces[at].bytes ||
                    (piece.bytes == best->pieces[at].bytes &&
                     piece.address < best->pieces[at].address))
                {
                    best = &segment;
                    at = i;
                }
            }
        if (best == nullptr)
            return false;
        const std::int64_t left = best->pieces[at].bytes - size;
        if (small ? left >= 512 : left > MiB) {
            const Piece rest{best->pieces[at].address + size, left, false, -1};
            best->pieces[at].bytes = size;
            best->pieces.insert(best->pieces.begin() + static_cast<std::ptrdiff_t>(at) + 1, rest);
        }
        best->pieces[at].used = true;
        best->pieces[at].id = id;
        return true;
    }

    std::int64_t device_;
    std::int64_t frontier_ = 0;
    std::vector<Segment> segments_;
};

} // namespace

TEST_CASE("small requests share a segment of 2 MiB and are rounded to 512 B")
{
    CachingAllocator allocator;
    REQUIRE(allocator.allocate(1));
    CHECK(allocator.now() == AllocatorTotals{512, 2 * MiB, 1});
    REQUIRE(allocator.allocate(513));
    REQUIRE(allocator.allocate(0));
    CHECK(allocator.now() == AllocatorTotals{512 + 1024 + 512, 2 * MiB, 1});
    REQUIRE(allocator.allocate(MiB)); // at most 1 MiB is small: the segment has room for it
    CHECK(allocator.now() == AllocatorTotals{2048 + MiB, 2 * MiB, 1});
    REQUIRE(allocator.allocate(MiB)); // 1 MiB - 2 KiB is left there
    CHECK(allocator.now() == AllocatorTotals{2048 + 2 * MiB, 4 * MiB, 2});
}

TEST_CASE("requests between 1 and 10 MiB come from segments of 20 MiB, larger ones get their own")
{
    CachingAllocator allocator;
    REQUIRE(allocator.allocate(MiB + 1)); // 1 MiB + 512 B
    CHECK(allocator.now() == AllocatorTotals{MiB + 512, 20 * MiB, 1});
    REQUIRE(allocator.allocate(9 * MiB));
    REQUIRE(
        allocator.allocate(9 * MiB)); // 10 MiB - 512 B is left: not cut, as under 1 MiB would stay
    CHECK(allocator.now() == AllocatorTotals{20 * MiB, 20 * MiB, 1});
    REQUIRE(allocator.allocate(10 * MiB));
    CHECK(allocator.now() == AllocatorTotals{30 * MiB, 30 * MiB, 2});
    REQUIRE(allocator.allocate(11 * MiB)); // rounded up to 12; 1 MiB is not cut off
    CHECK(allocator.now() == AllocatorTotals{42 * MiB, 42 * MiB, 3});
    REQUIRE(allocator.allocate(100 * MiB + 512));
    CHECK(allocator.now().reserved == (42 + 102) * MiB);
    CHECK(allocator.now().allocated == 42 * MiB + 100 * MiB + 512);
}

TEST_CASE("the smallest free block that is large enough is cut, and joins its neighbours again")
{
    CachingAllocator allocator;
    const auto large = *allocator.allocate(100 * MiB);
    const auto small = *allocator.allocate(50 * MiB);
    allocator.free(large);
    allocator.free(small);
    const auto first = *allocator.allocate(40 * MiB); // of the 50
    CHECK(allocator.address(first) == 100 * MiB);
    const auto second = *allocator.allocate(60 * MiB);
    const auto third = *allocator.allocate(40 * MiB); // what is left of the 100
    CHECK(allocator.address(second) == 0);
    CHECK(allocator.address(third) == 60 * MiB);
    CHECK(allocator.now().reserved == 150 * MiB);
    allocator.free(second);
    allocator.free(third);
    REQUIRE(allocator.allocate(100 * MiB));
    CHECK(allocator.now().reserved == 150 * MiB);
}

TEST_CASE("streams do not share blocks")
{
    CachingAllocator allocator;
    allocator.free(*allocator.allocate(64 * MiB, 0));
    REQUIRE(allocator.allocate(64 * MiB, 1));
    CHECK(allocator.now().reserved == 128 * MiB);
    REQUIRE(allocator.allocate(64 * MiB, 0));
    CHECK(allocator.now().reserved == 128 * MiB);
}

TEST_CASE("a full device gets unused segments back before a request fails")
{
    CachingAllocator allocator({.device_bytes = 100 * MiB});
    const auto kept = *allocator.allocate(40 * MiB);
    allocator.free(*allocator.allocate(50 * MiB));
    REQUIRE(allocator.allocate(60 * MiB));
    CHECK(allocator.retries() == 1);
    CHECK(allocator.now() == AllocatorTotals{100 * MiB, 100 * MiB, 2});
    CHECK_FALSE(allocator.allocate(2 * MiB));
    allocator.free(kept);
    // A segment of which a part is in use stays.
    REQUIRE(allocator.allocate(10 * MiB));
    CHECK_FALSE(allocator.allocate(31 * MiB));
    CHECK(allocator.now().reserved == 100 * MiB);
}

TEST_CASE("blocks above max_split_size are never cut")
{
    CachingAllocator allocator({.max_split_size = 100 * MiB});
    allocator.free(*allocator.allocate(200 * MiB));
    REQUIRE(allocator.allocate(50 * MiB)); // not from the 200
    CHECK(allocator.now().reserved == 250 * MiB);
    REQUIRE(allocator.allocate(170 * MiB)); // would leave more than 20 MiB unused
    CHECK(allocator.now().reserved == 420 * MiB);
    REQUIRE(allocator.allocate(185 * MiB)); // all of the 200
    CHECK(allocator.now() == AllocatorTotals{420 * MiB, 420 * MiB, 3});
}

TEST_CASE("expandable segments grow where fixed ones leave holes")
{
    const auto grown = [](bool expandable) {
        CachingAllocator allocator({.expandable_segments = expandable});
        for (int i = 1; i <= 20; ++i) // each a little longer than the one before
            allocator.free(*allocator.allocate(i * 40 * MiB));
        return allocator.now().reserved;
    };
    CHECK(grown(true) == 800 * MiB);
    CHECK(grown(false) == 40 * MiB * 20 * 21 / 2);
}

TEST_CASE("random requests are placed as a plain list of segments places them")
{
    for (unsigned seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const std::int64_t device = seed % 2 == 0 ? 0 : 600 * MiB;
        CachingAllocator allocator({.device_bytes = device});
        NaiveAllocator naive(device);
        std::vector<std::pair<int, CachingAllocator::Handle>> live;
        const auto pick = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
        if (seed % 3 == 0) { // what is expected changes nothing
            std::vector<std::int64_t> sizes(pick(300));
            for (std::int64_t& bytes : sizes)
                bytes = 1 + static_cast<std::int64_t>(pick(2u << pick(26)));
            allocator.expect(sizes, static_cast<int>(pick(2)));
        }
        for (int id = 0; id < 400; ++id) {
            if (!live.empty() && pick(5) < 2) {
                const std::size_t at = pick(static_cast<std::uint32_t>(live.size()));
                allocator.free(live[at].second);
                naive.free(live[at].first);
                live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
            }
            const int shift = static_cast<int>(pick(26));
            const std::int64_t bytes = 1 + static_cast<std::int64_t>(pick(2u << shift));
            const int stream = static_cast<int>(pick(2));
            const auto handle = allocator.allocate(bytes, stream);
            REQUIRE(handle.has_value() == naive.allocate(id, bytes, stream));
            if (handle)
                live.emplace_back(id, *handle);
            REQUIRE(allocator.now().reserved == naive.reserved());
            REQUIRE(allocator.now().allocated == naive.allocated());
            REQUIRE(static_cast<std::size_t>(allocator.now().segments) == naive.segments());
        }
    }
}
