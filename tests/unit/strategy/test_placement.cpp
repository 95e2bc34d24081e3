// Where virtual stages lie.

#include "sim/strategy/pipeline/placement.h"
#include "tests/catch.h"

#include <set>

using namespace trainyard;

namespace {

// What holds of any placement: each chunk of a device is one virtual stage, and back.
void check_sound(const StagePlacement& placement)
{
    std::size_t chunks = 0;
    for (int device = 0; device < placement.devices; ++device) {
        const std::vector<VirtualStage> held = chunks_of(placement, device);
        for (std::size_t chunk = 0; chunk < held.size(); ++chunk)
            CHECK(placement.at(held[chunk]) == StagePosition{device, static_cast<int>(chunk)});
        chunks += held.size();
    }
    CHECK(chunks == placement.pipes.size() * static_cast<std::size_t>(placement.virtual_stages()));
}

} // namespace

TEST_CASE("every virtual stage is one chunk of one device")
{
    for (const int p : {1, 2, 3, 4, 7, 8}) {
        for (const int v : {1, 2, 3})
            check_sound(looped_placement(p, v));
        check_sound(folded_placement(p));
        check_sound(opposed_placement(p));
    }
}

TEST_CASE("a loop puts stage k on device k modulo p, a fold turns back, opposed pipes cross")
{
    using Stages = std::vector<VirtualStage>;
    CHECK(chunks_of(looped_placement(4, 2), 1) == Stages{{0, 1}, {0, 5}});
    CHECK(chunks_of(folded_placement(4), 1) == Stages{{0, 1}, {0, 6}});
    CHECK(chunks_of(folded_placement(4), 3) == Stages{{0, 3}, {0, 4}});
    CHECK(chunks_of(opposed_placement(4), 1) == Stages{{0, 1}, {1, 2}});
}

TEST_CASE("head and look-up are apart only where no device holds both ends of a pipe")
{
    CHECK(apart_ends(looped_placement(4, 1)) == std::vector<int>{0, 3});
    CHECK(apart_ends(looped_placement(4, 3)) == std::vector<int>{0, 3});
    CHECK(apart_ends(looped_placement(1, 1)).empty());
    CHECK(apart_ends(folded_placement(4)).empty());
    CHECK(apart_ends(opposed_placement(4)).empty());
}

TEST_CASE("opposed pipes give every device a twin with the same layers")
{
    const StagePlacement placement = opposed_placement(6);
    for (int device = 0; device < 6; ++device)
        CHECK(twins(placement)[static_cast<std::size_t>(device)] ==
              std::vector<int>{std::min(device, 5 - device), std::max(device, 5 - device)});
    CHECK(twins(folded_placement(6))[2] == std::vector<int>{2});
}

TEST_CASE("neighbours are those of the ring, then whoever else messages go to")
{
    CHECK(neighbours(looped_placement(4, 2))[0] == std::vector<int>{3, 1});
    CHECK(neighbours(folded_placement(4))[3] == std::vector<int>{2, 0});
    // 0 -> 2 -> 1 -> 3: the jumps 0-2 and 1-3 are none of the ring.
    const StagePlacement jumping{4, {{{0, 0}, {2, 0}, {1, 0}, {3, 0}}}};
    CHECK(neighbours(jumping)[0] == std::vector<int>{3, 1, 2});
    CHECK(neighbours(jumping)[2] == std::vector<int>{1, 3, 0});
}
