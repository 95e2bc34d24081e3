#include "gui/tests/random_rows.h"

#include "sim/base/random.h"

namespace trainyard::gui::test {

TimelineData random_rows(std::size_t rows, std::uint32_t count, std::uint64_t seed)
{
    TimelineData data;
    Random random(seed);
    data.slices.resize(rows * count);
    data.names = {"a", "b", "c"};
    std::uint32_t at = 0;
    for (std::size_t r = 0; r < rows; ++r) {
        SimTime time(random.integer(0, 1000));
        data.rows.push_back({at, count, static_cast<std::uint32_t>(r)});
        data.tracks.push_back({.name = "row " + std::to_string(r),
                               .end = static_cast<std::uint32_t>(r + 1),
                               .row = static_cast<std::uint32_t>(r),
                               .lane = make_id<LaneId>(r),
                               .stream = StreamId{1}});
        for (const std::uint32_t end = at + count; at < end; ++at) {
            // Now and then a long one, or a long wait.
            const std::int64_t scale = random.integer(0, 20) == 0 ? 100'000 : 1000;
            time += SimTime(random.integer(0, 2) == 0 ? random.integer(0, scale) : 0);
            data.slices.start[at] = time;
            time += SimTime(random.integer(1, scale));
            data.slices.end[at] = time;
            data.slices.kind[at] =
                static_cast<TimeKind>(random.integer(0, std::int64_t{time_kind_count} - 1));
            data.slices.name[at] = static_cast<std::uint32_t>(random.integer(0, 2));
            data.slices.record[at] = at;
        }
        data.whole.to = std::max(data.whole.to, time);
    }
    return data;
}

} // namespace trainyard::gui::test
