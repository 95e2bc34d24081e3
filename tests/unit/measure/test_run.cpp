#include "calibrate/measure/output/jumps.h"
#include "calibrate/measure/output/sweeps.h"
#include "calibrate/measure/run/runner.h"
#include "sim/base/units.h"
#include "tests/catch.h"
#include "tests/support/folder.h"
#include "tests/unit/measure/forked_ranks.h"

#include <algorithm>

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
