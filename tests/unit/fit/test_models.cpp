#include "calibrate/fit/curve.h"
#include "calibrate/fit/group_sizes.h"
#include "calibrate/fit/nccl_prior.h"
#include "sim/cost/collective_form.h"
#include "sim/cost/profile_library.h"
#include "tests/catch.h"
#include "tests/unit/fit/support.h"

using namespace trainyard;

namespace {

// A ring of n ranks: the steps' latency, and the bus factor's share of the buffer.
KnotCurve ring(int ranks)
{
    const double n = ranks;
    return fit_curve(clean(made_sweep(1 << 10, 20, [&](double size) {
                         return 2 * (n - 1) * 3e-6 + 2 * (n - 1) / n * size / 200e9;
                     })).points);
}

} // namespace

TEST_CASE("two factors that made the times are found again")
{
    const NcclMachine machine = *nccl_machine("NVIDIA H100 80GB HBM3");
    Sweep sweep = made_sweep(1 << 10, 24, [](double) { return 1.0; });
    sweep.hardware = "H100";
    const TwoScalars made{1.3, 0.8};
    for (SweepRow& row : sweep.rows) {
        const auto candidates = nccl_candidates(sweep, machine, row.size);
        row.out_of_place->time = Seconds(offered_time(candidates, made));
        row.in_place = row.out_of_place;
    }
    const auto fit = fit_nccl_prior(sweep);
    REQUIRE(fit);
    CHECK_THAT(fit->scalars.latency, WithinRel(made.latency, 1e-3));
    CHECK_THAT(fit->scalars.bandwidth, WithinRel(made.bandwidth, 1e-3));
    CHECK(fit->error < 1e-3);
    CHECK(fit->raw_error > 0.1);
}

TEST_CASE("a factor that the times hardly determine stays at one")
{
    // The transfer is a hundredth of each time; every third is 1 % off.
    std::vector<OfferedTime> points;
    for (int i = 0; i < 12; ++i)
        points.push_back(
            {{{1e-5, 1e-7}}, {Bytes(1024), Seconds(2 * (i % 3 == 0 ? 1.02e-5 : 1.01e-5))}});
    const TwoScalars fit = fit_two_scalars(points);
    CHECK(fit.bandwidth == 1);
    CHECK_THAT(fit.latency, WithinRel(2.0, 0.01));
    for (OfferedTime& point : points)
        point.measured.time = point.measured.time / 2;
    CHECK(fit_two_scalars(points) == TwoScalars{});
}

TEST_CASE("NCCL's model says nothing of all-to-all, of PCIe, of several nodes")
{
    Sweep sweep = made_sweep(1 << 10, 12, [](double) { return 1e-5; });
    sweep.hardware = "A100 SXM";
    CHECK(fit_nccl_prior(sweep));
    Sweep other = sweep;
    other.collective = CollectiveKind::all_to_all;
    CHECK_FALSE(fit_nccl_prior(other));
    other = sweep;
    other.hardware = "A100 PCIe";
    CHECK_FALSE(fit_nccl_prior(other));
    other = sweep;
    other.nodes = 2;
    CHECK_FALSE(fit_nccl_prior(other));
}

TEST_CASE("integer reductions do not pass the switch")
{
    const NcclMachine machine = *nccl_machine("H100");
    Sweep sweep;
    sweep.ranks = 8;
    sweep.data_type = "half";
    const std::size_t with = nccl_candidates(sweep, machine, Bytes(1024)).size();
    sweep.data_type = "int8";
    CHECK(nccl_candidates(sweep, machine, Bytes(1024)).size() + 1 == with);
}

TEST_CASE("a group size estimated from itself is itself, and lies between its neighbours")
{
    const KnotCurve two = ring(2);
    const KnotCurve four = ring(4);
    const KnotCurve eight = ring(8);
    const auto same = estimate_ranks(CollectiveKind::all_reduce, {2, &two}, {8, &eight}, 8);
    for (const Knot& knot : eight.knots)
        CHECK_THAT(time_at(same.curve, knot.size).value(), WithinRel(knot.time.value(), 1e-9));
    const auto between = estimate_ranks(CollectiveKind::all_reduce, {2, &two}, {8, &eight}, 4);
    for (const Knot& knot : between.curve.knots) {
        CHECK(knot.time >= time_at(two, knot.size) * 0.999);
        CHECK(knot.time <= time_at(eight, knot.size) * 1.001);
    }
    CHECK(between.distance == 0);
    // 2(n - 1) steps are 2, 6, 14: the logarithmic mean gives sqrt(2 x 14) = 5.3 for 6.
    const double ratio = between.curve.knots.front().time / four.knots.front().time;
    CHECK(ratio > 0.85);
    CHECK(ratio < 0.95);
}

TEST_CASE("estimates say how far they reach, and beyond what was measured less is known")
{
    const KnotCurve two = ring(2);
    const KnotCurve four = ring(4);
    const auto width = [&](int ranks) {
        const auto estimate =
            estimate_ranks(CollectiveKind::all_reduce, {2, &two}, {4, &four}, ranks);
        const Knot& knot = estimate.curve.knots.front();
        return std::pair(estimate.distance, knot.high / knot.time);
    };
    CHECK(width(8).first == 1);
    CHECK(width(16).first == 2);
    CHECK_THAT(width(8).second, WithinRel(1.2, 1e-9));
    CHECK_THAT(width(16).second, WithinRel(1.4, 1e-9));
}

TEST_CASE("the order of the two measured group sizes does not matter")
{
    const KnotCurve two = ring(2);
    const KnotCurve eight = ring(8);
    const auto up = estimate_ranks(CollectiveKind::all_gather, {2, &two}, {8, &eight}, 4);
    const auto down = estimate_ranks(CollectiveKind::all_gather, {8, &eight}, {2, &two}, 4);
    REQUIRE(up.curve.knots.size() == down.curve.knots.size());
    CHECK_THAT(up.curve.knots.back().time.value(),
               WithinRel(down.curve.knots.back().time.value(), 0.02));
}

TEST_CASE("domains estimated from as many domains change nothing, more of them cost more")
{
    const auto loaded = load_profile("h100-sxm-ndr400");
    REQUIRE(loaded);
    const Hardware& hardware = loaded->profile.hardware;
    const CollectiveClasses classes{&hardware.fabric, &hardware.network, &hardware.collectives};
    GroupShape shape;
    shape.ranks = 16;
    shape.domains = shape.nodes = 2;
    shape.ranks_per_domain = shape.ranks_per_node = shape.gpus_per_node = 8;
    shape.nvlink = hardware.device.nvlink;
    shape.nvswitch = shape.in_switch_reduction = true;
    shape.network.transport = Transport::infiniband;
    shape.network.nics = 8;
    shape.network.nic_rate = hardware.network.line_rate;
    const KnotCurve curve = ring(16);
    const auto same = estimate_domains(CollectiveKind::all_gather, curve, shape, shape, classes);
    for (const Knot& knot : same.curve.knots)
        CHECK_THAT(knot.time.value(), WithinRel(time_at(curve, knot.size).value(), 1e-9));
    GroupShape more = shape;
    more.ranks = 64;
    more.domains = more.nodes = 8;
    const auto far = estimate_domains(CollectiveKind::all_gather, curve, shape, more, classes);
    CHECK(far.distance == 2);
    CHECK(far.curve.knots.front().time > curve.knots.front().time * 2.0);
    // Below 16 MiB: 50 % for a doubling, times the root of two doublings.
    CHECK_THAT(far.curve.knots.front().high / far.curve.knots.front().time,
               WithinRel(1 + 0.5 * std::sqrt(2.0), 1e-9));
}
