// Lanes pinned, hidden and ordered, passes above their ops, the overview and
// counters: without a window.

#include "gui/tests/recorded_job.h"
#include "gui/timeline/counters.h"
#include "gui/timeline/pass_rows.h"
#include "tests/catch.h"

#include <algorithm>
#include <map>

using namespace trainyard;
using namespace trainyard::gui;
using namespace trainyard::gui::test;

namespace {

TimelineData ordered(const RecordedRun& run, LaneOrder order)
{
    const RecordedRun* one = &run;
    return make_timeline_data({&one, 1}, {}, order);
}

// Four ranks of one stream each.
TimelineData four_ranks()
{
    TimelineData data;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        data.tracks.push_back({.kind = TrackKind::rank,
                               .name = "rank " + std::to_string(rank),
                               .end = rank * 2 + 2,
                               .rank = RankId{rank}});
        data.tracks.push_back({.name = "compute",
                               .parent = rank * 2,
                               .end = rank * 2 + 2,
                               .depth = 1,
                               .rank = RankId{rank}});
    }
    return data;
}

std::vector<std::uint32_t> tracks_of(const TrackLayout& layout)
{
    std::vector<std::uint32_t> tracks;
    for (const Line& line : layout.lines())
        tracks.push_back(line.track);
    return tracks;
}

std::vector<std::string> names_of(const TimelineData& data, TrackKind kind)
{
    std::vector<std::string> names;
    for (const Track& track : data.tracks)
        if (track.kind == kind)
            names.push_back(track.name);
    return names;
}

using Tracks = std::vector<std::uint32_t>;

} // namespace

TEST_CASE("a pinned lane is shown once, at the top, with what hangs in it")
{
    const TimelineData data = four_ranks();
    TrackLayout layout(data);
    layout.set_pinned(4, true);
    layout.set_pinned(7, true); // a stream alone
    CHECK(tracks_of(layout) == Tracks{4, 5, 7, 0, 1, 2, 3, 6});
    CHECK(layout.line_of(7) == 2);
    CHECK(layout.lines()[3].y == 3 * layout.line_height());
    layout.set_open(6, false); // its stream stays at the top
    CHECK(tracks_of(layout) == Tracks{4, 5, 7, 0, 1, 2, 3, 6});
    layout.set_pinned(4, false);
    layout.set_pinned(7, false);
    CHECK(tracks_of(layout) == Tracks{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("a hidden lane comes back when it is looked for, and the last one stays")
{
    const TimelineData data = four_ranks();
    TrackLayout layout(data);
    layout.hide(0);
    layout.hide(5);
    CHECK(tracks_of(layout) == Tracks{2, 3, 4, 6, 7});
    CHECK(layout.hidden_count() == 2);
    CHECK_FALSE(layout.line_of(1));
    layout.reveal(1);
    CHECK(tracks_of(layout) == Tracks{0, 1, 2, 3, 4, 6, 7});
    layout.show_hidden();
    CHECK(layout.lines().size() == 8);
    for (const std::uint32_t rank : {0U, 2U, 4U, 6U})
        layout.hide(rank);
    CHECK(tracks_of(layout) == Tracks{6, 7});
}

TEST_CASE("another order of the same ranks keeps what is pinned, hidden and folded")
{
    const TimelineData data = four_ranks();
    TrackLayout layout(data);
    layout.set_pinned(2, true);
    layout.hide(6);
    layout.set_open(4, false);
    TimelineData reversed = data;
    for (std::uint32_t t = 0; t < 8; ++t) {
        reversed.tracks[t] = data.tracks[6 - t / 2 * 2 + t % 2];
        reversed.tracks[t].end = t / 2 * 2 + 2;
        if (t % 2 == 1)
            reversed.tracks[t].parent = t - 1;
    }
    TrackLayout now(reversed);
    now.adopt(layout);
    // Ranks 3, 2, 1, 0: 1 is pinned, 3 hidden, 2 folded.
    CHECK(tracks_of(now) == Tracks{4, 5, 2, 6, 7});
}

TEST_CASE("the streams of many ranks start folded, those of one do not")
{
    const RecordedRun run(recorded_job());
    const TimelineData data = ordered(run, LaneOrder::stage);
    const TrackLayout layout(data);
    CHECK(layout.lines().size() == 10); // two stages, eight ranks
    TimelineData one = four_ranks();
    CHECK(TrackLayout(one).lines().size() == 8);
}

TEST_CASE("ranks are grouped by stage, by node, or lie by idle time, the idlest first")
{
    const RecordedRun run(recorded_job(5));
    CHECK(names_of(ordered(run, LaneOrder::stage), TrackKind::group) ==
          std::vector<std::string>{"stage 0", "stage 1"});
    CHECK(names_of(ordered(run, LaneOrder::rank), TrackKind::rank).front() == "rank 0");
    const TimelineData idle = ordered(run, LaneOrder::idle);
    CHECK(names_of(idle, TrackKind::group).empty());
    double last = 1;
    for (const Track& track : idle.tracks) {
        if (track.kind != TrackKind::rank)
            continue;
        double own = 0;
        double whole = 0;
        for (std::uint32_t i = idle.rows[track.row].first; i < idle.rows[track.row].end(); ++i) {
            const double length = as_double(idle.slices.end[i] - idle.slices.start[i]);
            whole += length;
            own += class_of(idle.slices.kind[i]) == TimeClass::idle ? length : 0;
        }
        CHECK(own / whole <= last);
        last = own / whole;
    }
    // The slow rank waits least.
    CHECK(names_of(idle, TrackKind::rank).back() == "rank 5");
}

TEST_CASE("passes cover the compute ops of their micro-batch, and layers lie in passes")
{
    const RecordedRun run(recorded_job());
    const TimelineData data = ordered(run, LaneOrder::rank);
    std::uint32_t passes = nothing;
    std::uint32_t layers = nothing;
    std::uint32_t compute = nothing;
    for (std::uint32_t t = 0; t < data.tracks[0].end || passes == nothing; ++t) {
        if (data.tracks[t].name == "passes")
            passes = data.tracks[t].row;
        else if (data.tracks[t].name == "layers")
            layers = data.tracks[t].row;
        else if (data.tracks[t].name == "compute")
            compute = data.tracks[t].row;
    }
    REQUIRE(passes != nothing);
    REQUIRE(layers != nothing);
    // Every op of a micro-batch is in the pass of its name.
    const SliceRow& ops = data.rows[compute];
    const SliceRow& parents = data.rows[passes];
    CHECK(parents.count < ops.count / 4);
    for (std::uint32_t i = ops.first; i < ops.end(); ++i) {
        const OpRecord& record = run.graph.records()[data.slices.record[i]];
        const std::uint32_t pass = data.slice_at(parents, record.start);
        REQUIRE(pass != nothing);
        REQUIRE(data.slices.end[pass] >= record.end);
        if (record.micro_batch == BlockUse::no_index)
            continue;
        const Phase phase = run.graph.program().labels[record.label.value].phase;
        const std::string word = phase == Phase::forward ? "forward " : "backward ";
        REQUIRE(data.names[data.slices.name[pass]] == word + std::to_string(record.micro_batch));
    }
    const SliceRow& inner = data.rows[layers];
    CHECK(inner.count > parents.count);
    for (std::uint32_t i = inner.first; i < inner.end(); ++i) {
        const std::uint32_t pass = data.slice_at(parents, data.slices.start[i]);
        REQUIRE(pass != nothing);
        CHECK(data.slices.end[pass] >= data.slices.end[i]);
    }
}

TEST_CASE("the overview's columns add up to the time of all ranks")
{
    const TimelineModel model({recorded_job()});
    REQUIRE(model.overview.size() == 1024);
    std::array<double, time_kind_count> seen{};
    for (const Bucket& column : model.overview)
        for (std::size_t k = 0; k < time_kind_count; ++k)
            seen[k] += column.shares[k] / 255.0 / 1024.0;
    std::array<double, time_kind_count> times{};
    double ranks = 0;
    for (const Track& track : model.data.tracks) {
        if (track.kind != TrackKind::rank)
            continue;
        ++ranks;
        const SliceRow& row = model.data.rows[track.row];
        for (std::uint32_t i = row.first; i < row.end(); ++i)
            times[static_cast<std::size_t>(model.data.slices.kind[i])] +=
                as_double(model.data.slices.end[i] - model.data.slices.start[i]);
    }
    // Kinds that take less than half of a column among them.
    for (std::size_t k = 0; k < time_kind_count; ++k)
        CHECK_THAT(seen[k],
                   WithinAbs(times[k] / ranks / as_double(model.data.whole.length()), 0.004));
}

TEST_CASE("the overview's window moves, and each of its ends alone, inside the step")
{
    const TimeScale band{{SimTime(0), SimTime(1'000'000'000)}, 100, 1000};
    const TimeRange sight{SimTime(200'000'000), SimTime(400'000'000)};
    const OverviewWindow window = window_of(band, sight);
    CHECK(window == OverviewWindow{300, 500});
    CHECK(grip_at(window, 301) == OverviewGrip::left);
    CHECK(grip_at(window, 499) == OverviewGrip::right);
    CHECK(grip_at(window, 400) == OverviewGrip::middle);
    CHECK(grip_at(window, 700) == OverviewGrip::outside);
    CHECK(dragged(band, sight, OverviewGrip::middle, 100) ==
          TimeRange{SimTime(300'000'000), SimTime(500'000'000)});
    CHECK(dragged(band, sight, OverviewGrip::middle, -900) ==
          TimeRange{SimTime(0), SimTime(200'000'000)});
    CHECK(dragged(band, sight, OverviewGrip::left, -50) ==
          TimeRange{SimTime(150'000'000), SimTime(400'000'000)});
    CHECK(dragged(band, sight, OverviewGrip::right, -900) ==
          TimeRange{SimTime(200'000'000), SimTime(201'000'000)});
    CHECK(centred(band, sight, 1000) == TimeRange{SimTime(800'000'000), SimTime(1'000'000'000)});
    // A moment is wide enough to be held.
    const OverviewWindow narrow = window_of(band, {SimTime(999'999'000), SimTime(1'000'000'000)});
    CHECK(narrow.right - narrow.left == least_overview_window);
    CHECK(narrow.right <= 1100);
}

TEST_CASE("counters say what the run itself does")
{
    const auto outcome = recorded_job();
    const auto model = std::make_shared<const TimelineModel>(std::vector{outcome});
    CounterSource source(model);
    CounterRequest request;
    request.kinds.assign(counter_kinds.begin(), counter_kinds.end());
    request.range = model->data.whole;
    request.rank = RankId{3};
    CHECK(source.series(request, nullptr, {}).size() == 2); // links are to come
    const LinkSums sums = link_sums(outcome, {});
    const std::vector<CounterSeries> all = source.series(request, &sums, {});
    REQUIRE(all.size() >= 3);
    const CounterSeries& memory = all[0];
    CHECK(memory.name == "memory, rank 3");
    const MemoryCurve curve = memory_curve(*outcome, outcome->binding->lane_of[3]);
    CHECK(*std::ranges::max_element(memory.values) ==
          static_cast<double>(curve.points[curve.peak].bytes));
    // Compute: the time of all compute ops over that of all ranks.
    double busy = 0;
    double ranks = 0;
    for (const Track& track : model->data.tracks)
        if (track.name == "compute") {
            ++ranks;
            const SliceRow& row = model->data.rows[track.row];
            for (std::uint32_t i = row.first; i < row.end(); ++i)
                busy += as_double(model->data.slices.end[i] - model->data.slices.start[i]);
        }
    double mean = 0;
    for (const double value : all[1].values)
        mean += value / static_cast<double>(all[1].values.size());
    CHECK_THAT(mean, WithinRel(busy / ranks / as_double(model->data.whole.length()), 1e-9));
    // Links: the bytes of all of the kind.
    const LinkLoads loads(outcome);
    for (const CounterSeries& series : all) {
        if (series.kind != CounterKind::nvlink && series.kind != CounterKind::nic)
            continue;
        const LinkKind kind = series.kind == CounterKind::nvlink ? LinkKind::nvlink : LinkKind::nic;
        double bytes = 0;
        for (std::size_t i = 0; i < outcome->topology->link_count(); ++i)
            if (outcome->topology->link(make_id<LinkId>(i)).kind == kind)
                bytes += loads.bytes(make_id<LinkId>(i), request.range.from, request.range.to);
        double counted = 0;
        for (const double value : series.values)
            counted += value * to_seconds(request.range.length()).value() / 1024;
        CHECK_THAT(counted, WithinAbs(bytes, bytes * 1e-3 + 1));
    }
    CHECK(memory.at(request.range.from) == memory.values.front());
    CHECK_FALSE(memory.at(request.range.to));
}
