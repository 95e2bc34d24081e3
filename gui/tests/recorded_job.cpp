#include "gui/tests/recorded_job.h"

#include "sim/base/random.h"
#include "tests/catch.h"

namespace trainyard::gui::test {

std::shared_ptr<const Outcome> recorded_job(std::optional<int> slow_rank)
{
    std::vector<Override> overrides{{"run.fold", "false"}, {"run.steps", "2"}};
    if (slow_rank)
        overrides.push_back({"perturbations", "[{\"device\": " + std::to_string(*slow_rank) +
                                                  ", \"slowdown\": 1.3}]"});
    const auto file = read_scenario_file("scenarios/llama2-7b-tp2-pp2-dp2.json", overrides);
    REQUIRE(file.has_value());
    Session session;
    SimulateRequest request;
    request.record = RecordRequest{[](LaneId) { return true; }, 1};
    auto outcome = session.simulate(*file, request);
    INFO((outcome ? std::string() : render(outcome.error(), "")));
    REQUIRE(outcome.has_value());
    return std::make_shared<const Outcome>(std::move(*outcome));
}

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
