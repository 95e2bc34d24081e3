#include "sim/report/bottleneck.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

#include <functional>

using namespace trainyard;
using namespace trainyard::test;

namespace {

// A step that computes for all of its time.
Symptoms healthy()
{
    Symptoms symptoms;
    symptoms.share[index_of(TimeKind::forward)] = 1.0;
    symptoms.needed = Bytes(40'000'000'000);
    symptoms.capacity = Bytes(80'000'000'000);
    symptoms.domain_ranks = 8;
    symptoms.mfu = 0.45;
    return symptoms;
}

// The same with `share` of the time spent otherwise.
Symptoms with(TimeKind kind, double share)
{
    Symptoms symptoms = healthy();
    symptoms.share[index_of(TimeKind::forward)] -= share;
    symptoms.share[index_of(kind)] += share;
    return symptoms;
}

Symptoms changed(Symptoms symptoms, const std::function<void(Symptoms&)>& change)
{
    change(symptoms);
    return symptoms;
}

struct Diagnosis {
    const char* what;
    Symptoms symptoms;
    BottleneckClass expected;
    const char* evidence;
};

} // namespace

TEST_CASE("the bottleneck is the largest loss once it hurts")
{
    using enum BottleneckClass;
    const auto across = [](Symptoms& s) {
        s.group = GroupKind::tp;
        s.group_ranks = 16;
        s.across_domains = true;
    };
    const std::vector<Diagnosis> cases{
        {"nothing is lost", healthy(), compute, "100 % of the step computes, at an MFU of 45.0 %"},
        {"a loss of 19 % is named, no more", with(TimeKind::bubble, 0.19), compute,
         "the largest loss is bubble with 19.0 %"},
        {"a loss below 5 % is not named", with(TimeKind::bubble, 0.04), compute,
         "96.0 % of the step computes, at an MFU of 45.0 %"},
        {"a bubble of 30 %",
         changed(with(TimeKind::bubble, 0.30),
                 [](Symptoms& s) {
                     s.stages = 8;
                     s.micro_batches = 16;
                 }),
         bubble, "30.0 % of the step is pipeline bubble (8 stages, 16 micro-batches)"},
        {"tensor parallelism across nodes", changed(with(TimeKind::exposed_tp, 0.38), across),
         communication,
         "38.0 % of the step goes to communication, most of it tensor-parallel across nodes (tp 16 "
         "> 8 GPUs of an NVLink domain)"},
        {"the same when the NICs take most of the time",
         changed(with(TimeKind::exposed_tp, 0.38),
                 [&](Symptoms& s) {
                     across(s);
                     s.network_share = 0.8;
                     s.line_rate_share = 0.7;
                 }),
         network, "the NICs carry it at 70.0 % of their line rate"},
        {"the same when links have lost bandwidth",
         changed(with(TimeKind::exposed_tp, 0.38),
                 [&](Symptoms& s) {
                     across(s);
                     s.network_share = 0.8;
                     s.line_rate_share = 0.7;
                     s.links_left = 0.1;
                 }),
         network, "the NICs carry it at 70.0 % of what is left of their line rate (10.0 %)"},
        {"the same when PCIe is slower than the NICs",
         changed(with(TimeKind::exposed_tp, 0.38),
                 [&](Symptoms& s) {
                     across(s);
                     s.pcie_holds_back = true;
                 }),
         communication, "; PCIe holds the transfers back, the NICs could carry more"},
        {"the same when latency takes most of the time",
         changed(with(TimeKind::exposed_tp, 0.38),
                 [&](Symptoms& s) {
                     across(s);
                     s.network_share = 0.3;
                 }),
         communication, "across nodes"},
        {"communication inside the domain never blames the network",
         changed(with(TimeKind::exposed_ep, 0.25),
                 [](Symptoms& s) {
                     s.group = GroupKind::ep;
                     s.group_ranks = 8;
                     s.network_share = 0.9;
                 }),
         communication, "expert-parallel inside the NVLink domain (ep 8)"},
        {"a node without NVLink is called a node",
         changed(with(TimeKind::exposed_dp, 0.25),
                 [](Symptoms& s) {
                     s.nvlink = false;
                     s.group = GroupKind::dp;
                     s.group_ranks = 4;
                 }),
         communication, "data-parallel inside the node, over PCIe (dp 4)"},
        {"Gloo goes through the hosts wherever the ranks are",
         changed(with(TimeKind::exposed_dp, 0.9),
                 [](Symptoms& s) {
                     s.backend = Backend::gloo;
                     s.group = GroupKind::dp;
                     s.group_ranks = 8;
                     s.network_share = 0.9;
                 }),
         communication, "data-parallel with Gloo, which goes through the hosts (dp 8)"},
        {"so does MPI",
         changed(with(TimeKind::exposed_dp, 0.9),
                 [](Symptoms& s) {
                     s.backend = Backend::mpi;
                     s.group = GroupKind::dp;
                     s.group_ranks = 8;
                 }),
         communication, "data-parallel with MPI, which goes through the hosts (dp 8)"},
        {"ranks on CPUs are on the host already",
         changed(with(TimeKind::exposed_dp, 0.9),
                 [](Symptoms& s) {
                     s.backend = Backend::gloo;
                     s.on_cpu = true;
                     s.nvlink = false;
                     s.group = GroupKind::dp;
                     s.group_ranks = 2;
                 }),
         communication, "data-parallel with Gloo inside the host (dp 2)"},
        {"a node whose devices may not copy to each other holds up what leaves it",
         changed(with(TimeKind::exposed_dp, 0.9),
                 [](Symptoms& s) {
                     s.through_host = true;
                     s.across_domains = true;
                     s.group = GroupKind::dp;
                     s.group_ranks = 16;
                     s.network_share = 0.9;
                     s.line_rate_share = 0.02;
                 }),
         communication, "data-parallel through host memory"},
        {"overlapped transfers that slow compute", with(TimeKind::slowdown, 0.22), communication,
         "compute slowed down by transfers beside it"},
        {"exposure of several groups adds up",
         changed(with(TimeKind::exposed_dp, 0.12),
                 [](Symptoms& s) {
                     s.share[index_of(TimeKind::forward)] -= 0.12;
                     s.share[index_of(TimeKind::exposed_pp)] += 0.12;
                     s.group = GroupKind::dp;
                     s.group_ranks = 4;
                 }),
         communication, "24.0 %"},
        {"waiting for others", with(TimeKind::waiting, 0.30), synchronisation,
         "30.0 % of the step ranks wait"},
        {"waiting because one rank computes longer",
         changed(with(TimeKind::waiting, 0.30),
                 [](Symptoms& s) {
                     s.imbalance = 0.25;
                     s.busiest = "rank 17";
                 }),
         imbalance, "rank 17 computes for 25.0 % of the step longer than the mean"},
        {"a little imbalance does not explain much waiting",
         changed(with(TimeKind::waiting, 0.30), [](Symptoms& s) { s.imbalance = 0.05; }),
         synchronisation, "wait"},
        {"a bubble made by a heavy stage",
         changed(with(TimeKind::bubble, 0.24),
                 [](Symptoms& s) {
                     s.imbalance = 0.12;
                     s.busiest = "stage 7";
                 }),
         imbalance, "stage 7"},
        {"the host", with(TimeKind::host, 0.5), host, "waits for the host to launch kernels"},
        {"the host that updates parameters",
         changed(with(TimeKind::host, 0.5), [](Symptoms& s) { s.host_updates = 0.45; }), host,
         "waits for the host, which updates parameters 45.0 % of the step"},
        {"a host that launches more than it updates",
         changed(with(TimeKind::host, 0.5), [](Symptoms& s) { s.host_updates = 0.2; }), host,
         "waits for the host to launch kernels"},
        {"the loader", with(TimeKind::data, 0.94), data, "94.0 % of the step waits for input data"},
        {"recomputation", with(TimeKind::recompute, 0.25), memory,
         "25.0 % of the step recomputes activations"},
        {"what does not fit comes first",
         changed(with(TimeKind::host, 0.5),
                 [](Symptoms& s) {
                     s.needed = Bytes(92'300'000'000);
                     s.fullest_stage = 3;
                 }),
         memory, "stage 3 needs 12.3 GB more than the 80.0 GB of a device"},
    };
    for (const Diagnosis& at : cases) {
        INFO(at.what);
        const Bottleneck found = find_bottleneck(at.symptoms);
        CHECK(to_name(found.kind) == to_name(at.expected));
        CHECK_THAT(found.evidence, ContainsSubstring(at.evidence));
        CHECK_FALSE(found.advice.empty());
    }
}

TEST_CASE("where the line is hardly used, what holds it back helps and not more NICs")
{
    Symptoms symptoms = with(TimeKind::exposed_dp, 0.9);
    symptoms.across_domains = true;
    symptoms.network_share = 0.99;
    symptoms.line_rate_share = 0.126;
    symptoms.oversubscription = 8;
    CHECK_THAT(find_bottleneck(symptoms).advice,
               StartsWith("more links above the leaf switches (the fabric is oversubscribed 8:1)"));
    symptoms.oversubscription = 1;
    symptoms.unevenness = 72;
    CHECK_THAT(find_bottleneck(symptoms).advice, StartsWith("as many ranks of the group in each"));
    symptoms.unevenness = 1;
    symptoms.transport = Transport::tcp;
    CHECK_THAT(find_bottleneck(symptoms).advice, StartsWith("a transport nearer"));
    symptoms.line_rate_share = 0.85;
    CHECK_THAT(find_bottleneck(symptoms).advice, StartsWith("more or faster NICs"));
    symptoms.links_left = 0.5;
    CHECK_THAT(find_bottleneck(symptoms).advice,
               StartsWith("links that have all of their bandwidth"));
    symptoms.network_share = 0;
    symptoms.pcie_holds_back = true;
    CHECK_THAT(find_bottleneck(symptoms).advice, StartsWith("PCIe as fast as the NICs; else"));
}

TEST_CASE("a slow device is named whatever the bottleneck is")
{
    const auto slow = [](Symptoms& s) { s.slow = SlowDevice{17, 1.08, 0, true, 0.065, 0.017}; };
    for (const double bubble : {0.0, 0.3}) {
        const Bottleneck found = find_bottleneck(changed(with(TimeKind::bubble, bubble), slow));
        CHECK_THAT(
            found.evidence,
            EndsWith("; device 17 runs 1.08 times slower than the fastest and sets the "
                     "pace: it computes 6.5 % of the step longer, and others wait 1.7 % of it in "
                     "collectives" +
                     std::string(bubble > 0 ? "; stages wait 30.0 % for each other, the pipeline's "
                                              "own bubble included"
                                            : "")));
        CHECK_THAT(found.advice, StartsWith("mend or replace device 17; "));
    }
    const Bottleneck several = find_bottleneck(
        changed(healthy(), [](Symptoms& s) { s.slow = SlowDevice{3, 1.5, 2, false, 0.3, 0.2}; }));
    CHECK_THAT(several.evidence,
               EndsWith("; device 3 and 2 more run up to 1.50 times slower than the fastest: it "
                        "computes 30.0 % of the step longer, and others wait 20.0 % of it in "
                        "collectives"));
}

TEST_CASE("the slowest device is found among the lanes, with what the fast ones wait")
{
    Outcome outcome = small_outcome();
    CHECK_FALSE(symptoms_of(outcome).slow);
    Binding binding = *outcome.binding;
    for (Lane& lane : binding.lanes)
        lane.scales = {1U << 20};
    binding.lanes[1].scales = {(1U << 20) / 10 * 11};
    binding.lanes[2].scales = {3U << 19};
    outcome.binding = std::make_shared<const Binding>(std::move(binding));
    StepResult result = *outcome.result;
    // 10 and 30 ms of 100 ms of bubble are waiting on the fast ranks.
    result.lanes[0].time[index_of(TimeKind::waiting)] += SimTime(10'000'000'000);
    result.lanes[0].time[index_of(TimeKind::bubble)] -= SimTime(10'000'000'000);
    result.lanes[3].time[index_of(TimeKind::waiting)] += SimTime(30'000'000'000);
    result.lanes[3].time[index_of(TimeKind::bubble)] -= SimTime(30'000'000'000);
    result.critical_lane = LaneId{2};
    outcome.result = std::make_shared<const StepResult>(std::move(result));
    const Symptoms symptoms = symptoms_of(outcome);
    REQUIRE(symptoms.slow);
    CHECK(symptoms.slow->device == 2);
    CHECK(symptoms.slow->slowdown == 1.5);
    CHECK(symptoms.slow->others == 1);
    CHECK(symptoms.slow->sets_the_pace);
    // It computes for 62 of 100 ms; at full speed that were 41.3.
    CHECK_THAT(symptoms.slow->longer, WithinRel(0.62 / 3, 1e-9));
    CHECK_THAT(symptoms.slow->waited, WithinRel(0.2, 1e-9));
}

TEST_CASE("beside one faster device the others are not slow")
{
    Outcome outcome = small_outcome();
    Binding binding = *outcome.binding;
    for (Lane& lane : binding.lanes)
        lane.scales = {1U << 20};
    binding.lanes[1].scales = {1U << 19};
    outcome.binding = std::make_shared<const Binding>(std::move(binding));
    CHECK_FALSE(symptoms_of(outcome).slow);
}

TEST_CASE("a costly perturbation is said before what the rules find")
{
    const Bottleneck plain = find_bottleneck(with(TimeKind::bubble, 0.3));
    const Bottleneck named = naming_the_perturbation(plain, "device 3: host late by 2.00 s", 0.6);
    CHECK(named.kind == plain.kind);
    CHECK(named.evidence ==
          "60.0 % of the step is due to device 3: host late by 2.00 s; " + plain.evidence);
    CHECK(named.advice == "put an end to that; then " + plain.advice);
}

TEST_CASE("symptoms are shares of the step and name the heaviest group")
{
    const Symptoms symptoms = symptoms_of(small_outcome());
    double sum = 0;
    for (const double share : symptoms.share)
        sum += share;
    CHECK_THAT(sum, WithinRel(1.0, 1e-9));
    CHECK(symptoms.group == GroupKind::dp);
    CHECK(symptoms.group_ranks == 2);
    CHECK_FALSE(symptoms.across_domains);
    CHECK(symptoms.domain_ranks == 2);
    CHECK(symptoms.stages == 2);
    CHECK(symptoms.micro_batches == 2);
    CHECK_THAT(symptoms.imbalance, WithinAbs(0.0, 1e-12));
}

TEST_CASE("the heaviest group is that of all its transfers together, and messages use the NICs")
{
    // Messages 10 ms exposed each way as two kinds, against 15 ms of gradients.
    Outcome outcome = small_outcome();
    StepResult result = *outcome.result;
    for (TransferTotals& totals : result.transfers)
        totals.exposed_seconds = totals.group == GroupKind::pp ? 10e-3 : 15e-3;
    TransferTotals more = result.transfers[0];
    REQUIRE(more.group == GroupKind::pp);
    more.exposed_seconds = 9e-3;
    result.transfers.push_back(more);
    outcome.result = std::make_shared<const StepResult>(std::move(result));
    const Symptoms symptoms = symptoms_of(outcome);
    CHECK(symptoms.group == GroupKind::pp);
    CHECK(symptoms.across_domains);
    // 40 GB/s of the 50 GB/s that one NIC per GPU has.
    CHECK_THAT(symptoms.line_rate_share, WithinRel(0.8, 1e-9));
    CHECK(symptoms.network_share > 0.5);
}

TEST_CASE("a rank that computes longer than the mean shows as imbalance")
{
    Outcome outcome = small_outcome();
    StepResult result = *outcome.result;
    // Rank 3 takes 19 ms more forward, in place of its bubble: 81 ms against a mean of 66.75.
    LaneTotals& lane = result.lanes[3];
    lane.time[index_of(TimeKind::forward)] += SimTime(19'000'000'000);
    lane.time[index_of(TimeKind::bubble)] -= SimTime(19'000'000'000);
    outcome.result = std::make_shared<const StepResult>(std::move(result));
    const Symptoms symptoms = symptoms_of(outcome);
    CHECK_THAT(symptoms.imbalance, WithinRel((81 - 66.75) / 100, 1e-9));
    CHECK(symptoms.busiest == "stage 1");
}
