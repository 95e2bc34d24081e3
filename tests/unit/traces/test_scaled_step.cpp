#include "sim/cost/profile_library.h"
#include "sim/traces/scaled_step.h"
#include "tests/support/cluster_text.h"
#include "tests/unit/traces/written_trace.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

// Two ranks that compute for 100 us and then sum 4 MB for `moving` us.
std::vector<WrittenTrace> summing(double moving)
{
    std::vector<WrittenTrace> out;
    for (const int rank : {0, 1})
        out.push_back(WrittenTrace(rank)
                          .step(1, 0, 100 + moving)
                          .kernel("gemm", 0, 100)
                          .all_reduce(100, moving, 1'000'000));
    return out;
}

Checked<ScaledStep> scaled(const std::vector<WrittenTrace>& written, int ranks)
{
    const Checked<JobTrace> job = joined(written);
    REQUIRE(job);
    const Topology topology = testing::topology_of(
        R"({"format": "trainyard.topology/1", "generator": "cluster", "node": "dgx-h100",
            "nodes": 16, "fabric": {"kind": "rail", "network": "ib_ndr"}})");
    ProfileRequest request;
    request.device = "h100_sxm5_80";
    request.software = "fsdp-eager";
    const Checked<Profile> profile = assemble(request);
    if (!profile)
        FAIL(render(profile.error(), ""));
    return scale_step(*job, ranks, topology, CostModel(*profile));
}

} // namespace

TEST_CASE("the groups of data parallelism grow, and with them the step")
{
    const Checked<ScaledStep> inside = scaled(summing(50), 8);
    REQUIRE(inside);
    REQUIRE(inside->transfers.size() == 1);
    CHECK(inside->transfers[0].ranks == 2);
    CHECK(inside->transfers[0].scaled_ranks == 8);
    // What is measured over what is expected stays, inside a node.
    const Checked<ScaledStep> slower = scaled(summing(100), 8);
    REQUIRE(slower);
    CHECK_THAT(slower->transfers[0].scaled / inside->transfers[0].scaled, WithinRel(2.0, 1e-6));
    // Longer by what the transfer takes longer.
    CHECK_THAT(
        (inside->scaled_step - inside->rebuilt).value(),
        WithinRel((inside->transfers[0].scaled - inside->transfers[0].recorded).value(), 1e-3));
    const Checked<ScaledStep> across = scaled(summing(50), 128);
    REQUIRE(across);
    CHECK(across->predicted() > inside->predicted());
    // Faster than expected inside a node is no reason to be so across nodes.
    const Checked<ScaledStep> fast = scaled(summing(1), 128);
    REQUIRE(fast);
    CHECK(fast->transfers[0].scaled <= across->transfers[0].scaled);
    CHECK(fast->transfers[0].recorded < fast->transfers[0].expected);
}

TEST_CASE("a transport that is slower than any constant grows like the constants, and is told")
{
    // A hundred times as long as expected, in the recorded group and so in larger ones.
    const Checked<ScaledStep> two = scaled(summing(100'000), 8);
    REQUIRE(two);
    CHECK(two->slowness() > 100);
    Seconds before = two->transfers[0].recorded;
    for (const int ranks : {8, 16, 64, 128}) {
        const Checked<ScaledStep> more = scaled(summing(100'000), ranks);
        REQUIRE(more);
        INFO(ranks);
        CHECK(more->transfers[0].scaled > before);
        CHECK_THAT(more->slowness(), WithinRel(two->slowness(), 1e-9));
        before = more->transfers[0].scaled;
    }
}

TEST_CASE("of a time that may hold waiting only what the constants explain grows")
{
    // The other rank is missing: nobody knows when it came.
    const auto alone = [](double moving, int ranks) {
        WrittenTrace one(0);
        one.step(1, 0, 100 + moving).kernel("gemm", 0, 100).all_reduce(100, moving, 1'000'000);
        Checked<ScaledStep> step = scaled({one}, ranks);
        REQUIRE(step);
        REQUIRE(step->transfers.size() == 1);
        return step->transfers[0];
    };
    const ScaledTransfer waiting = alone(10'000, 16);
    const ScaledTransfer further = alone(10'000, 128);
    const ScaledTransfer longer = alone(20'000, 128);
    CHECK(waiting.may_wait);
    WrittenTrace late(0);
    late.step(1, 0, 10'100).kernel("gemm", 0, 100).all_reduce(100, 10'000, 1'000'000);
    CHECK(scaled({late}, 16)->slowness() == 1); // nobody knows how slow
    CHECK(waiting.scaled > waiting.recorded);
    CHECK(further.scaled > waiting.scaled);
    // The wait stays what it is.
    CHECK_THAT((longer.scaled - longer.recorded).value(),
               WithinRel((further.scaled - further.recorded).value(), 1e-6));
    const Checked<ScaledStep> both = scaled(summing(50), 128);
    REQUIRE(both);
    CHECK_FALSE(both->transfers[0].may_wait);
}

TEST_CASE("what cannot be scaled is refused")
{
    const auto message = [](const Checked<ScaledStep>& step) {
        REQUIRE(!step);
        return step.error().front().message;
    };
    CHECK_THAT(message(scaled(summing(50), 2)), ContainsSubstring("no more than the 2"));
    CHECK_THAT(message(scaled(summing(50), 7)), ContainsSubstring("no multiple of the 2"));
    CHECK_THAT(message(scaled(summing(50), 130)), ContainsSubstring("more than the 128 devices"));
    WrittenTrace alone(0, 1);
    alone.step(1, 0, 100).kernel("gemm", 0, 100);
    CHECK_THAT(message(scaled({alone}, 8)), ContainsSubstring("no process group"));
    WrittenTrace of_no_size(0, 2);
    of_no_size.step(1, 0, 150).kernel("gemm", 0, 100).kernel("ncclDevKernel_AllReduce", 100, 50);
    CHECK_THAT(message(scaled({of_no_size}, 8)), ContainsSubstring("group and size are known"));
    WrittenTrace nowhere(0, 0);
    nowhere.step(1, 0, 150).kernel("gemm", 0, 100).all_reduce(100, 50, 1'000'000);
    CHECK_THAT(message(scaled({nowhere}, 8)), ContainsSubstring("how many ranks"));
    WrittenTrace too_many(0, 1);
    too_many.step(1, 0, 150).kernel("gemm", 0, 100).all_reduce(100, 50, 1'000'000);
    CHECK_THAT(message(scaled({too_many}, 8)), ContainsSubstring("has 2 ranks, the job has 1"));
}

TEST_CASE("groups whose ranks lie far apart stay within the cluster")
{
    WrittenTrace far(0, 4);
    far.step(1, 0, 150).kernel("gemm", 0, 100).all_reduce(100, 50, 1'000'000, "[0, 3]");
    const Checked<ScaledStep> step = scaled({far}, 128);
    REQUIRE(step);
    CHECK(step->transfers[0].scaled_ranks == 64);
}
