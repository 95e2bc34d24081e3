// Prints a hash of every result of many runs, one line each, so that two builds can be compared bit
// for bit: `step_hashes`, on any machine. Not part of the suite; run_aarch64.sh calls it.

#include "tests/support/grid_job.h"
#include "tests/support/random_jobs.h"
#include "tests/support/random_scene.h"
#include "tests/unit/strategy/plans.h"

#include <bit>
#include <cstdio>

using namespace trainyard;
using namespace trainyard::test;

namespace {

class Hash {
public:
    void add(std::uint64_t word) { value_ = mix_bits(value_ ^ word); }
    void add(SimTime time) { add(static_cast<std::uint64_t>(time.value())); }
    void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }
    std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 0;
};

std::uint64_t hash_of(const StepResult& result)
{
    Hash hash;
    hash.add(result.step_time);
    for (const SimTime end : result.step_ends)
        hash.add(end);
    for (const SimTime end : result.lane_ends)
        hash.add(end);
    hash.add(std::uint64_t{result.critical_lane.value});
    hash.add(result.ops);
    for (const LaneTotals& lane : result.lanes) {
        for (const SimTime time : lane.time)
            hash.add(time);
        hash.add(lane.compute_busy);
        hash.add(lane.communication_busy);
    }
    for (const TransferTotals& totals : result.transfers) {
        hash.add(totals.count);
        for (const double number : {totals.bytes, totals.transfer_seconds, totals.waiting_seconds,
                                    totals.exposed_seconds})
            hash.add(number);
    }
    for (const LinkTotals& link : result.links) {
        hash.add(link.bytes);
        hash.add(link.busiest_share);
    }
    return hash.value();
}

std::uint64_t hash_of(const CostTable& costs)
{
    Hash hash;
    for (const SimTime time : costs.compute)
        hash.add(time);
    for (const auto& variant : costs.transfers)
        for (const TransferCost& cost : variant) {
            hash.add(cost.latency);
            hash.add(cost.ceiling.value());
            hash.add(static_cast<std::uint64_t>(cost.work.value));
            hash.add(std::uint64_t{cost.sm_share} << 32 | cost.traffic_share);
        }
    return hash.value();
}

// On every engine; one that refuses the program says so.
void print_runs(const char* what, std::uint64_t seed, const Program& program,
                const Binding& binding, Fidelity fidelity)
{
    for (const auto& [tier, name] : enum_names<Tier>()) {
        RunControl control;
        control.tier = tier;
        control.fidelity = fidelity;
        const auto ran = run(program, binding, control);
        std::printf("hash %s %llu %s ", what, static_cast<unsigned long long>(seed), name.data());
        if (ran)
            std::printf("%016llx\n", static_cast<unsigned long long>(hash_of(ran->result)));
        else
            std::printf("refused\n");
    }
}

} // namespace

TEST_CASE("hashes of random programs")
{
    for (const bool links : {false, true})
        for (std::uint64_t seed = 0; seed < 300; ++seed) {
            RandomScene random(seed, {.interference = seed % 2 == 1, .links = links});
            Scene& scene = random.scene();
            scene.bind_roles();
            print_runs(links ? "linked" : "scene", seed, scene.program, scene.binding,
                       links ? Fidelity::bundle : Fidelity::alpha_beta);
        }
}

TEST_CASE("hashes of grids where every rank has its own speed")
{
    for (const std::uint32_t share : {0U, full_share / 8}) {
        const GridJob job = grid_job({.tp = 4,
                                      .pp = 4,
                                      .dp = 3,
                                      .layers = 5,
                                      .micro_batches = 9,
                                      .uneven = true,
                                      .sm_share = share,
                                      .traffic_share = share});
        print_runs("grid", share, job.program, job.binding, Fidelity::alpha_beta);
    }
}

TEST_CASE("hashes of random jobs and their costs")
{
    using namespace trainyard::testing;
    const std::vector<SoftwareClass> software = all_software();
    const Topology cluster = cluster_for_random_jobs();
    Profile profile = h100_costs().profile();
    Random random(5);
    for (std::uint64_t ran = 0; ran < 60;) {
        const Checked<Job> job = resolve(random_plain_request(random, software));
        if (!job)
            continue;
        profile.software = job->software;
        const CostModel cost(profile);
        const Plan plan = make_plan(*job);
        const Binding binding = bind(plan, *job, cluster, cost, {});
        std::printf("hash costs %llu %016llx\n", static_cast<unsigned long long>(ran),
                    static_cast<unsigned long long>(hash_of(binding.costs)));
        print_runs("job", ran++, plan.program, binding, Fidelity::alpha_beta);
    }
}
