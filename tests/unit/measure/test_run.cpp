#include "calibrate/measure/output/jumps.h"
#include "calibrate/measure/output/sweeps.h"
#include "calibrate/measure/run/runner.h"
#include "sim/base/files.h"
#include "sim/base/units.h"
#include "tests/catch.h"
#include "tests/support/folder.h"
#include "tests/unit/measure/forked_ranks.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>

using namespace trainyard;
using Catch::Matchers::Contains;

namespace {

// T(S) = 20 us + S at 1 GB/s, and 300 us more from 256 KiB on: a jump that no coarse grid shows.
double time_of(const TimedWork& work)
{
    const auto* const collective = std::get_if<CollectiveWork>(&work);
    if (collective == nullptr)
        return 1e-3;
    const double size = static_cast<double>(collective->size.value());
    return 20e-6 + size / 1e9 + (size >= 256 * 1024 ? 300e-6 : 0);
}

class ModelCommunicator : public Communicator {
public:
    explicit ModelCommunicator(int rank) : rank_(rank) {}

    void prepare(const TimedWork& work) override
    {
        work_ = work;
        const auto* const collective = std::get_if<CollectiveWork>(&work);
        if (collective == nullptr)
            return;
        if (collective->collective == CollectiveKind::all_to_all)
            throw MeasureFailure{FailureKind::refused, "not today", "ask tomorrow"};
        if (collective->collective == CollectiveKind::broadcast && rank_ == 1)
            throw MeasureFailure{FailureKind::broken, "the cable is out", ""};
    }
    BatchTime run(int ops) override
    {
        // Rank 1 is always the last, by a tenth.
        const auto* const beside = std::get_if<BesideWork>(&work_);
        if (beside != nullptr)
            return {Seconds(2e-3 * ops), beside->repeats >= 10 * ops};
        return {Seconds(time_of(work_) * ops * (rank_ == 1 ? 1 : 0.9)), true};
    }
    std::optional<std::int64_t> wrong_elements() override
    {
        const auto* const collective = std::get_if<CollectiveWork>(&work_);
        if (collective == nullptr)
            return std::nullopt;
        return collective->collective == CollectiveKind::all_gather && rank_ == 0 ? 3 : 0;
    }
    void abort() noexcept override {}

private:
    int rank_;
    TimedWork work_;
};

class ModelBackend : public RankBackend {
public:
    explicit ModelBackend(int rank) : rank_(rank) {}

    BackendFacts facts() const override
    {
        BackendFacts out;
        out.name = "gloo";
        out.device = "a CPU";
        return out;
    }
    std::string cannot(const TimedWork& work) const override
    {
        return std::holds_alternative<PingPongWork>(work) ? "it plays no ping-pong" : "";
    }
    std::unique_ptr<Communicator> join(const GroupSpec&, Rendezvous&) override
    {
        return std::make_unique<ModelCommunicator>(rank_);
    }

private:
    int rank_;
};

struct RunResult {
    MeasuredRun run;
    MeasuredRun read;
};

// A quick run of two ranks over the back end above.
RunResult run_of(const PlanOptions& options, int launches = 1)
{
    const testing::Folder folder;
    RunResult out;
    ForkedRanks ranks(2, [](int rank) { return std::make_unique<ModelBackend>(rank); });
    out.run.backend = "gloo";
    out.run.ranks = facts_of(ranks.coordinator(), 2);
    MeasurePlan plan = plan_of(options, out.run.ranks);
    std::vector<std::string> impossible;
    drop_impossible(ranks.coordinator(), plan, impossible);
    Journal journal(folder.path() / "run.samples.jsonl", out.run);
    for (const std::string& what : impossible) {
        journal.left_out(what);
        out.run.left_out.push_back(what);
    }
    RunnerSetup setup;
    setup.effort = Effort::quick;
    for (setup.launch = 0; setup.launch < launches; ++setup.launch)
        measure(ranks.coordinator(), plan, setup, out.run, journal);
    if (!out.run.points.empty()) // else there is nothing to read
        out.read = read_journal(journal.path()).value();
    return out;
}

MeasuredRun run_of_two()
{
    MeasuredRun out;
    out.backend = "gloo";
    out.ranks = {{{0, 2, 0, 2}, "here", {}}, {{1, 2, 1, 2}, "here", {}}};
    return out;
}

MeasuredPoint some_point()
{
    MeasuredPoint out;
    out.point = {{"both", {0, 1}}, CollectiveWork{}, 0};
    out.batches = {1e-3, 1.1e-3, 1e-3};
    out.estimate = estimate_of(out.batches);
    return out;
}

PlanOptions only(CollectiveKind kind, Bytes most = Bytes(1 << 20))
{
    PlanOptions out;
    out.quick = true;
    out.parts = {PlanPart::collectives};
    out.collectives = {kind};
    out.max_size = most;
    return out;
}

} // namespace

TEST_CASE("a plan is timed as the back end takes, the slowest rank's time counts")
{
    const RunResult result = run_of(only(CollectiveKind::all_reduce));
    REQUIRE_FALSE(result.run.points.empty());
    for (const MeasuredPoint& point : result.run.points) {
        CHECK(point.estimate.median == Approx(time_of(point.point.work)));
        CHECK(point.slowest_rank == 1);
        CHECK(point.slowest_share.value() == 1);
        CHECK(point.wrong.value() == 0);
    }
    CHECK(result.run.creations.size() == 1);
}

TEST_CASE("sizes are added where the curve jumps, until it is known where")
{
    const RunResult result = run_of(only(CollectiveKind::all_reduce));
    std::vector<double> sizes;
    for (const MeasuredPoint& point : result.run.points)
        sizes.push_back(
            static_cast<double>(std::get<CollectiveWork>(point.point.work).size.value()));
    std::sort(sizes.begin(), sizes.end());
    const auto above = std::lower_bound(sizes.begin(), sizes.end(), 256.0 * 1024);
    REQUIRE((above != sizes.begin() && above != sizes.end()));
    CHECK(*above / *(above - 1) < 2); // the grid has a ratio of 8 there
    CHECK(std::adjacent_find(sizes.begin(), sizes.end()) == sizes.end());
}

TEST_CASE("a jump that added sizes cannot resolve is told with where it is")
{
    const RunResult result = run_of(only(CollectiveKind::all_reduce), 2);
    const std::vector<std::string> told = jumps_of(result.run);
    REQUIRE(told.size() == 1); // one curve, whatever the launches
    CHECK_THAT(told.front(), Contains("all_reduce of "));
    // Two gaps miss most, the halves of the last that was split: the jump lies in one of them.
    std::vector<UnresolvedJump> jumps = result.run.jumps;
    std::erase_if(jumps, [](const UnresolvedJump& jump) { return jump.launch != 0; });
    const auto less = [](const UnresolvedJump& a, const UnresolvedJump& b) {
        return a.miss < b.miss;
    };
    REQUIRE(!jumps.empty());
    const double most = std::max_element(jumps.begin(), jumps.end(), less)->miss;
    std::erase_if(jumps, [most](const UnresolvedJump& jump) { return jump.miss < most; });
    REQUIRE(jumps.size() == 2);
    CHECK(jumps.front().from < Bytes(256 << 10));
    CHECK(jumps.back().to >= Bytes(256 << 10));
    CHECK_THAT(told.front(), Contains("between " + to_text(jumps.front().from) + " and " +
                                      to_text(jumps.back().to)));
    CHECK(jumps_of(run_of(only(CollectiveKind::all_reduce, Bytes(64 << 10))).run).empty());
}

TEST_CASE("what a run kept in its journal is what it measured")
{
    const RunResult result = run_of(only(CollectiveKind::all_reduce), 2);
    CHECK(result.read == result.run);
    CHECK(std::any_of(result.run.points.begin(), result.run.points.end(),
                      [](const MeasuredPoint& point) { return point.point.launch == 1; }));
    CHECK(result.run.creations.size() == 2);
}

TEST_CASE("points that are refused are left out alone, those that break end their communicator")
{
    PlanOptions options = only(CollectiveKind::all_to_all);
    const RunResult refused = run_of(options);
    CHECK(refused.run.points.empty());
    REQUIRE_FALSE(refused.run.left_out.empty());
    CHECK_THAT(refused.run.left_out.front(), Contains("not today (ask tomorrow)"));

    const RunResult broken = run_of(only(CollectiveKind::broadcast));
    CHECK(broken.run.points.empty());
    REQUIRE(broken.run.left_out.size() == 2);
    CHECK_THAT(broken.run.left_out[0], Contains("rank 1: the cable is out"));
    CHECK_THAT(broken.run.left_out[1], Contains("the rest of communicator"));
}

TEST_CASE("sizes whose results are wrong are measured, said and in no sweep")
{
    const RunResult result = run_of(only(CollectiveKind::all_gather));
    REQUIRE_FALSE(result.run.points.empty());
    CHECK(result.run.points.front().wrong.value() == 3);
    CHECK_THAT(result.run.points.front().flags.front(), Contains("3 elements"));
    CHECK(collective_sweeps(result.run).empty());
}

TEST_CASE("work that the back end cannot time is left out before anything is timed")
{
    PlanOptions options;
    options.quick = true;
    options.parts = {PlanPart::pairs};
    const RunResult result = run_of(options);
    CHECK(result.run.points.size() == 3); // two ways and both at once
    REQUIRE(result.run.left_out.size() == 1);
    CHECK_THAT(result.run.left_out.front(), Contains("ping-pong 0 - 1 8 B: it plays no ping-pong"));
}

TEST_CASE("what is timed beside another is repeated until the other lasts as long")
{
    PlanOptions options;
    options.quick = true;
    options.parts = {PlanPart::overlap};
    const RunResult result = run_of(options);
    int beside = 0;
    for (const MeasuredPoint& point : result.run.points)
        if (const auto* work = std::get_if<BesideWork>(&point.point.work)) {
            ++beside;
            CHECK(work->repeats >= 10 * point.ops_per_batch);
            CHECK(point.estimate.median == Approx(2e-3));
        }
    // Three all-reduces, three kernels, each timed beside the other; those of which 64 times as
    // many are not ten per op are given up.
    CHECK(beside + static_cast<int>(result.run.left_out.size()) == 18);
    CHECK(beside > 0);
}

TEST_CASE("a sweep has a row per size, as nccl-tests counts and prints it")
{
    const RunResult result = run_of(only(CollectiveKind::all_reduce, Bytes(64 << 10)));
    const std::vector<Sweep> sweeps = collective_sweeps(result.run);
    REQUIRE(sweeps.size() == 1);
    const Sweep& sweep = sweeps.front();
    CHECK(sweep.ranks == 2);
    CHECK(sweep.nodes == 1);
    CHECK(sweep.data_type == "float");
    const SweepRow& last = sweep.rows.back();
    CHECK(last.size == Bytes(64 << 10));
    CHECK(last.count == 16384);
    // 20 us + 65.5 us: 0.766 GB/s; the bus factor of two ranks is 1.
    CHECK(last.in_place->bus_bandwidth.value() == Approx(65536 / 85.536e-6));
    CHECK_THAT(sweep_table(sweep), Contains("85.54    0.77    0.77      0"));
}

TEST_CASE("two runs do not write to one journal")
{
    const testing::Folder folder;
    const auto path = folder.path() / "same.samples.jsonl";
    {
        Journal first(path, run_of_two());
        first.left_out("something");
        CHECK_THROWS_AS(Journal(path, run_of_two()), WorldError);
        first.left_out("more");
        first.add(some_point());
        CHECK(read_journal(path).value().left_out.size() == 2);
    }
    CHECK_NOTHROW(Journal(path, run_of_two()));
}

TEST_CASE("a new run moves the samples of earlier ones aside, each to a name of its own")
{
    const testing::Folder folder;
    const auto path = folder.path() / "run.samples.jsonl";
    const auto leave = [&](const char* what) {
        Journal journal(path, run_of_two());
        journal.left_out(what);
        journal.add(some_point());
        return journal.earlier();
    };
    CHECK(leave("first").empty());
    CHECK(leave("second") == folder.path() / "run.samples.1.jsonl");
    CHECK(leave("third") == folder.path() / "run.samples.2.jsonl");
    const auto only_left_out = [&](const char* name) {
        return read_journal(folder.path() / name).value().left_out;
    };
    CHECK(only_left_out("run.samples.1.jsonl") == std::vector<std::string>{"first"});
    CHECK(only_left_out("run.samples.2.jsonl") == std::vector<std::string>{"second"});
    CHECK(only_left_out("run.samples.jsonl") == std::vector<std::string>{"third"});
}

TEST_CASE("a new run writes over what holds no samples, and moves what it does not know aside")
{
    const testing::Folder folder;
    const auto path = folder.path() / "run.samples.jsonl";
    Journal(path, run_of_two()).left_out("something");
    CHECK(Journal(path, run_of_two()).earlier().empty());

    std::ofstream(path, std::ios::trunc) << "my notes\n";
    const auto earlier = Journal(path, run_of_two()).earlier();
    REQUIRE_FALSE(earlier.empty());
    CHECK(read_file(earlier) == "my notes\n");
}

TEST_CASE("a journal with a cut last line is read up to it, others are refused with their line")
{
    const testing::Folder folder;
    const auto path = folder.path() / "cut.samples.jsonl";
    {
        Journal journal(path, run_of_two());
        journal.left_out("something");
        journal.add(some_point());
        std::ofstream(path, std::ios::app) << "{\"point\": {\"gro";
    }
    CHECK(read_journal(path).value().left_out == std::vector<std::string>{"something"});

    std::ofstream(path, std::ios::app) << "\n";
    const auto broken = read_journal(path);
    REQUIRE_FALSE(broken);
    CHECK(broken.error().front().line == 4);

    std::ofstream(path, std::ios::trunc) << "{\"format\": \"something else\"}\n";
    CHECK_THAT(read_journal(path).error().front().message, Contains("no file of samples"));
    std::ofstream(path, std::ios::trunc) << "";
    CHECK_FALSE(read_journal(path));
}

TEST_CASE("samples that no run can have measured are refused with their line")
{
    const testing::Folder folder;
    const auto path = folder.path() / "edited.samples.jsonl";
    const auto why_not = [&](const MeasuredRun& run, const MeasuredPoint& point) -> std::string {
        Journal(path, run).add(point);
        const auto read = read_journal(path);
        std::filesystem::remove(path);
        if (read)
            return "";
        return fmt::format("{}: {}", read.error().front().line, read.error().front().message);
    };
    CHECK(why_not(run_of_two(), some_point()).empty());
    const auto edited = [&](auto edit) {
        MeasuredPoint point = some_point();
        edit(point);
        return why_not(run_of_two(), point);
    };
    const auto members = [&](std::vector<int> them) {
        return edited([&](MeasuredPoint& point) { point.point.group.members = std::move(them); });
    };
    CHECK_THAT(members({}), Contains("2: ") && Contains("no members"));
    for (const std::vector<int>& them : {std::vector{0, 2}, {-1, 0}, {1, 1}})
        CHECK_THAT(members(them), Contains("some of the run's 2 ranks"));
    for (const double time : {-1e-3, 1e308, 1e-300})
        CHECK_THAT(edited([&](MeasuredPoint& point) { point.batches = {time}; }),
                   Contains("no seconds"));
    CHECK_THAT(edited([](MeasuredPoint& point) { point.batches = {}; }), Contains("no batches"));
    CHECK_THAT(edited([](MeasuredPoint& point) { point.ops_per_batch = 0; }), Contains("from 1"));
    CHECK_THAT(edited([](MeasuredPoint& point) { point.slowest_rank = 2; }),
               Contains("more ranks"));
    CHECK_THAT(edited([](MeasuredPoint& point) {
                   point.point.work = PingPongWork{0, 5, Bytes(8)};
               }),
               Contains("not between ranks"));
    CHECK_THAT(edited([](MeasuredPoint& point) {
                   point.point.work = ExchangeWork{{{0, -1}}, Bytes(8)};
               }),
               Contains("not between ranks"));
    LocalWork negative;
    negative.m = -1;
    CHECK_THAT(edited([&](MeasuredPoint& point) { point.point.work = negative; }),
               Contains("no kernel"));

    LocalWork narrow; // as a line reads whose "m" is lost
    narrow.n = narrow.k = 64;
    CHECK_THAT(edited([&](MeasuredPoint& point) { point.point.work = narrow; }),
               Contains("no kernel"));

    MeasuredRun run = run_of_two();
    run.ranks[1].place.local_rank = -1;
    CHECK_THAT(why_not(run, some_point()), Contains("1: ") && Contains("place of a rank"));
    run.ranks.clear();
    CHECK_THAT(why_not(run, some_point()), Contains("no ranks"));
    run = run_of_two();
    run.backend = "another";
    CHECK_THAT(why_not(run, some_point()), Contains("backend"));
}

TEST_CASE("a journal keeps what the hosts are made of, and leaves out what cannot be")
{
    const testing::Folder folder;
    const auto path = folder.path() / "hosts.samples.jsonl";
    NodeReport node;
    node.host = "here";
    node.map.switches = {{"cpu0", -1, {}}, {"switch0", 0, Bandwidth(1e9)}};
    node.map.gpus = {{"gpu0", "any", 1, Bandwidth(1e9)}, {"gpu1", "any", 1, Bandwidth(1e9)}};
    node.map.nvlinks = {{0, 1, Bandwidth(1e9)}};
    node.classes = {{"X", "NV1"}, {"NV1", "X"}};
    const auto read_back = [&](const NodeReport& last) {
        {
            Journal journal(path, run_of_two());
            journal.add(some_point());
            journal.machine({});
            journal.machine({last});
        }
        MeasuredRun out = read_journal(path).value();
        std::filesystem::remove(path);
        CHECK(out.points.size() == 1);
        return out;
    };
    CHECK(read_back(node).nodes == std::vector{node});
    const auto left_out = [&](auto edit) {
        NodeReport edited = node;
        edit(edited);
        const MeasuredRun run = read_back(edited);
        CHECK(run.nodes.empty());
        return run.doubts.empty() ? "" : run.doubts.back();
    };
    CHECK_THAT(left_out([](NodeReport& n) { n.map.gpus[0].parent = 2; }), Contains("no tree"));
    CHECK_THAT(left_out([](NodeReport& n) { n.map.switches[0].parent = 1; }), Contains("no tree"));
    CHECK_THAT(left_out([](NodeReport& n) { n.map.nvlinks[0].to = 2; }), Contains("NVLinks"));
    CHECK_THAT(left_out([](NodeReport& n) { n.classes.pop_back(); }), Contains("classes"));
    CHECK_THAT(left_out([](NodeReport& n) { n.map.gpus.clear(); }), Contains("no devices"));
}

TEST_CASE("empty lines in a journal are no samples, and a profile is no journal")
{
    const testing::Folder folder;
    const auto path = folder.path() / "lines.samples.jsonl";
    Journal(path, run_of_two()).add(some_point());
    std::ofstream(path, std::ios::app) << "\n \r\n";
    CHECK(read_journal(path).value().points.size() == 1);
    std::ofstream(path, std::ios::trunc) << "{\n  \"format\": \"trainyard.profile/1\"\n}\n";
    CHECK_THAT(read_journal(path).error().front().message, Contains("no file of samples"));
}

TEST_CASE("a journal without a point is refused with why the run ended")
{
    const testing::Folder folder;
    const auto path = folder.path() / "none.samples.jsonl";
    Journal(path, run_of_two()).ended("interrupted");
    const auto none = read_journal(path);
    REQUIRE_FALSE(none);
    CHECK(none.error().front().message ==
          "it holds no samples: the run measured nothing (interrupted)");
}
