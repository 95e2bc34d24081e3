// Constants of a machine that are known are found again in a trace of a step simulated with them.

#include "sim/cost/profile_library.h"
#include "sim/report/timeline/kineto.h"
#include "sim/study/cost_part.h"
#include "sim/study/session.h"
#include "sim/study/traced/expected_rates.h"
#include "sim/study/traced/trace_rates.h"
#include "sim/traces/kineto_reader.h"
#include "tests/catch.h"
#include "tests/support/folder.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

struct TracedMachine {
    explicit TracedMachine(const std::string& strategy, const std::string& more = "")
        : file(*read_scenario_file(
              folder.file("job.json", R"({"topology": "h100-1x8", "model": "llama-3.2-1b",
                "training": {"sequence_length": 2048, "micro_batch": 1, "global_batch": 16},
                "run": {"fold": false}, "strategy": )" +
                                          strategy + more + "}")))
    {
        const Checked<Outcome> outcome = session.simulate(file);
        if (!outcome)
            FAIL(render(outcome.error(), ""));
        topology = outcome->topology;
        base = *stated_constants(file, outcome->cost->profile());
    }

    // All ranks of a step with these constants, as a profiler writes them.
    JobTrace recording(const Profile& constants)
    {
        ScenarioFile asked = file;
        asked.constants = std::make_shared<const Profile>(constants);
        SimulateRequest request;
        request.record = RecordRequest{[](LaneId) { return true; }, 1};
        const Checked<Outcome> outcome = session.simulate(asked, request);
        if (!outcome)
            FAIL(render(outcome.error(), ""));
        step = to_seconds(outcome->result->step_time);
        Checked<std::vector<RankTrace>> ranks =
            read_kineto(folder.file("step.json", kineto_trace(*outcome)));
        REQUIRE(ranks);
        std::vector<DigestedRank> digested;
        for (RankTrace& rank : *ranks)
            digested.push_back(digest(std::move(rank)));
        Checked<JobTrace> job = join_ranks(std::move(digested));
        if (!job)
            FAIL(render(job.error(), ""));
        return std::move(*job);
    }

    TracedConstants told_by(const JobTrace& job)
    {
        const BesideTransfers beside = beside_transfers(job, transfer_times(job));
        return traced_constants(base, run_summary(job), beside, *topology, "a trace");
    }

    Folder folder;
    Session session;
    ScenarioFile file;
    std::shared_ptr<const Topology> topology;
    Profile base;
    Seconds step; // recorded
};

} // namespace

TEST_CASE("what compute loses to transfers is found again, and the step with it")
{
    for (const double times : {0.4, 0.7, 1.0}) {
        TracedMachine machine(R"({"dp": 8, "zero": 3})");
        Profile truth = machine.base;
        truth.software.overlap_slowdown *= times;
        const JobTrace job = machine.recording(truth);
        const Seconds recorded = machine.step;
        const TracedConstants told = machine.told_by(job);
        INFO(times);
        CHECK_THAT(told.profile.software.overlap_slowdown,
                   WithinRel(truth.software.overlap_slowdown, 0.05));
        machine.recording(told.profile);
        CHECK_THAT(machine.step / recorded, WithinAbs(1, 0.01));
    }
}

TEST_CASE("transfers that wait for a slow device beside compute do not count as moving")
{
    TracedMachine machine(R"({"dp": 8, "zero": 3})",
                          R"(, "perturbations": [{"device": 3, "slowdown": 1.3}])");
    Profile truth = machine.base;
    truth.software.overlap_slowdown *= 0.6;
    const TracedConstants told = machine.told_by(machine.recording(truth));
    REQUIRE(told.losses.size() == 1);
    CHECK_THAT(told.profile.software.overlap_slowdown,
               WithinRel(truth.software.overlap_slowdown, 0.1));
    CHECK(told.losses.front().low <= told.losses.front().after);
    CHECK(told.losses.front().after <= told.losses.front().high);
}

TEST_CASE("a table of interference that was measured is told in its own terms")
{
    TracedMachine machine(R"({"dp": 8, "zero": 3})");
    machine.base.hardware.interference.nccl = {0.0, 0.2, 1.0};
    Profile truth = machine.base;
    truth.hardware.interference.nccl.compute_moving = 0.35;
    const TracedConstants told = machine.told_by(machine.recording(truth));
    CHECK_THAT(told.profile.hardware.interference.nccl.compute_moving.value_or(0),
               WithinAbs(0.35, 0.02));
}

TEST_CASE("curves of collectives are found again at the sizes that were recorded")
{
    TracedMachine machine(R"({"dp": 8, "zero": 3})");
    Profile truth = machine.base;
    truth.hardware.fabric.in_situ *= 1.4;
    const JobTrace job = machine.recording(truth);
    const TracedConstants told = machine.told_by(job);
    REQUIRE(!told.curves.empty());
    const RunSummary run = run_summary(job);
    const CostModel expected(truth);
    const CostModel found(told.profile);
    const CostModel before(machine.base);
    int compared = 0;
    for (const TransferRow& row : run.transfers) {
        const auto shape = shape_of(run, row, *machine.topology);
        if (!shape || row.bytes < 1'000'000)
            continue;
        const auto time = [&](const CostModel& cost) {
            return cost.collective(*row.kind, Bytes(row.bytes), *shape, Backend::nccl).total;
        };
        CHECK_THAT(time(found) / time(expected), WithinAbs(1, 0.02));
        CHECK(time(before) / time(expected) < 0.8);
        ++compared;
    }
    CHECK(compared >= 4); // gathers and reductions of layers, of the embedding
    // What is written is read again with the same times.
    const Checked<ProfileFile> read = profile_of_json(to_json(told.profile), "mine");
    if (!read)
        FAIL(render(read.error(), ""));
    CHECK(to_json(read->profile) == to_json(told.profile));
}

TEST_CASE("a recording with the stated constants bends no curve")
{
    TracedMachine machine(R"({"dp": 8, "zero": 1})");
    const TracedConstants told = machine.told_by(machine.recording(machine.base));
    const CostModel found(told.profile);
    const CostModel before(machine.base);
    const GroupShape shape = group_shape(*machine.topology, [] {
        std::vector<DeviceId> devices;
        for (std::uint32_t device = 0; device < 8; ++device)
            devices.push_back(DeviceId{device});
        return devices;
    }());
    for (const std::uint64_t size :
         {std::uint64_t{1} << 20, std::uint64_t{1} << 26, std::uint64_t{1} << 30})
        for (const CollectiveKind kind :
             {CollectiveKind::all_gather, CollectiveKind::reduce_scatter})
            CHECK_THAT(found.collective(kind, Bytes(size), shape, Backend::nccl).total /
                           before.collective(kind, Bytes(size), shape, Backend::nccl).total,
                       WithinAbs(1, 0.02));
}
