#include "gui/tests/random_rows.h"
#include "gui/timeline/slice_search.h"
#include "gui/timeline/time_text.h"
#include "tests/catch.h"

#include <algorithm>
#include <map>

using namespace trainyard;
using namespace trainyard::gui;
using namespace trainyard::gui::test;

TEST_CASE("a search finds every slice with the text in its name, whatever the case")
{
    TimelineData data = random_rows(3, 400, 4);
    data.names = {"tp All-Gather", "mlp", "gather"};
    const SearchMatches matches = find_slices(data, "GATHER");
    std::vector<std::uint32_t> known;
    for (std::uint32_t i = 0; i < data.slices.size(); ++i)
        if (data.slices.name[i] != 1)
            known.push_back(i);
    CHECK(matches.slices == known);
    REQUIRE(matches.first.size() == 4);
    for (std::size_t row = 0; row < 3; ++row)
        for (const std::uint32_t slice : matches.of(row))
            CHECK(data.row_of_slice(slice) == row);
    CHECK(find_slices(data, "").slices.empty());
    CHECK(find_slices(data, "nowhere").slices.empty());
}

TEST_CASE("stepping goes through all matches in time, then begins anew")
{
    const TimelineData data = random_rows(3, 50, 8);
    const SearchMatches matches = find_slices(data, "b");
    REQUIRE(matches.slices.size() > 20);
    std::vector<std::uint32_t> order = matches.slices;
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::pair(data.slices.start[a], a) < std::pair(data.slices.start[b], b);
    });
    std::uint32_t at = nothing;
    for (const std::uint32_t slice : order) {
        at = step_to_match(data, matches, at, Toward::next);
        REQUIRE(at == slice);
    }
    CHECK(step_to_match(data, matches, at, Toward::next) == order.front());
    CHECK(step_to_match(data, matches, order.front(), Toward::previous) == order.back());
    CHECK(step_to_match(data, find_slices(data, "z"), nothing, Toward::next) == nothing);
}

TEST_CASE("the next of a name is the nearest one on its row")
{
    const TimelineData data = random_rows(2, 60, 2);
    for (std::uint32_t i = 0; i < data.slices.size(); ++i) {
        const std::uint32_t next = same_name(data, i, Toward::next);
        const SliceRow& row = data.rows[data.row_of_slice(i)];
        std::uint32_t known = nothing;
        for (std::uint32_t k = i + 1; k < row.end() && known == nothing; ++k)
            if (data.slices.name[k] == data.slices.name[i])
                known = k;
        REQUIRE(next == known);
        if (next != nothing)
            REQUIRE(same_name(data, next, Toward::previous) == i);
    }
}

TEST_CASE("a stretch of time is summed up by name and kind, cut at its ends")
{
    const TimelineData data = random_rows(3, 500, 6);
    const TimeRange range{data.whole.length() / 3, data.whole.length() / 2};
    std::map<std::pair<std::uint32_t, TimeKind>, std::pair<std::uint64_t, std::int64_t>> known;
    for (const std::uint32_t r : {0U, 2U})
        for (std::uint32_t i = data.rows[r].first; i < data.rows[r].end(); ++i) {
            const SimTime inside =
                std::min(data.slices.end[i], range.to) - std::max(data.slices.start[i], range.from);
            if (inside <= SimTime(0))
                continue;
            auto& [count, total] = known[{data.slices.name[i], data.slices.kind[i]}];
            ++count;
            total += inside.value();
        }
    const auto entries = entries_in(data, range, std::array{0U, 2U});
    REQUIRE(entries.size() == known.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto& [count, total] = known.at({entries[i].name, entries[i].kind});
        CHECK(entries[i].count == count);
        CHECK(entries[i].total == SimTime(total));
        CHECK(data.slices.name[entries[i].example] == entries[i].name);
        if (i > 0)
            CHECK(entries[i - 1].total >= entries[i].total);
    }
}

TEST_CASE("two runs on one axis are summed up apart")
{
    TimelineData data = random_rows(2, 300, 9);
    data.tracks[1].run = 1;
    const std::array rows{0U, 1U};
    std::vector<RangeEntry> both = entries_in(data, data.whole, rows);
    for (const std::uint32_t run : rows) {
        const std::vector<RangeEntry> known = entries_in(data, data.whole, std::array{run});
        REQUIRE(!known.empty());
        for (const RangeEntry& entry : known) {
            CHECK(entry.run == run);
            CHECK(std::erase(both, entry) == 1);
        }
    }
    CHECK(both.empty());
}

TEST_CASE("times are as long as it takes to tell neighbours apart")
{
    CHECK(time_text(SimTime(93'210'400'000)) == "93.2104 ms");
    CHECK(time_text(SimTime(-1'500'000)) == "-1.5 us");
    CHECK(time_text(SimTime(0)) == "0 ps");
    CHECK(moment_text(SimTime(0)) == "the step's beginning");
    CHECK(moment_text(SimTime(93'210'400'000)) == "93.2104 ms into the step");
    CHECK(moment_text(SimTime(-1'500'000)) == "1.5 us before the step");
    const SimTime ms(1'000'000'000);
    CHECK(axis_text(ms * 200, ms * 50, ms * 300) == "200 ms");
    CHECK(axis_text(ms * 200, ms * 50, ms * 1200) == "0.20 s"); // as its neighbours
    CHECK(axis_text(ms * 1200, SimTime(500'000), ms * 1200) == "1.2000000 s");
    CHECK(axis_text(SimTime(0), SimTime(2'000'000), SimTime(8'000'000)) == "0 us");
}
