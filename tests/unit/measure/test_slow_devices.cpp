#include "calibrate/measure/discover/compute_verdict.h"
#include "calibrate/measure/discover/graph_check.h"
#include "sim/topology/explicit_checks.h"
#include "tests/catch.h"

#include <fmt/core.h>

using namespace trainyard;

namespace {

std::vector<DeviceRate> rates_of(const std::vector<double>& rates)
{
    std::vector<DeviceRate> out;
    for (const double rate : rates)
        out.push_back({fmt::format("GPU {}", out.size()), "H100", rate});
    return out;
}

MeasuredPoint point_of(std::vector<int> members, int slowest, double share)
{
    MeasuredPoint out;
    out.point.group.members = std::move(members);
    out.slowest_rank = slowest;
    out.slowest_share = share;
    return out;
}

// Four GPUs on one CPU, two per switch, PCIe of `rate`.
NodeMap pcie_map(Bandwidth rate)
{
    NodeMap map;
    map.name = "node";
    map.switches = {{"cpu0", -1, {}}, {"a", 0, rate}, {"b", 0, rate}};
    for (int i = 0; i < 4; ++i)
        map.gpus.push_back({fmt::format("gpu{}", i), "a100_pcie_80", 1 + i / 2, rate});
    return map;
}

PairStudy study_of(const NodeMap& map, double near, double far)
{
    PairStudy out;
    out.classes = classes_of(map);
    out.rates.assign(4, std::vector<std::optional<double>>(4));
    for (std::size_t a = 0; a < 4; ++a)
        for (std::size_t b = 0; b < 4; ++b)
            if (a != b)
                out.rates[a][b] = a / 2 == b / 2 ? near : far;
    return out;
}

std::vector<std::string> doubts_of(const NodeMap& map, double near, double far)
{
    return graph_doubts(study_of(map, near, far), make_explicit(describe_node(map, std::nullopt)));
}

} // namespace

TEST_CASE("a GPU that computes slower than its like is found, another model is not")
{
    std::vector<DeviceRate> rates = rates_of({700, 702, 698, 640, 701, 699, 703, 700});
    rates.push_back({"GPU 8", "A100", 250});
    rates.push_back({"GPU 9", "A100", 0});
    const std::vector<SlowVerdict> found = slow_devices(rates);
    REQUIRE(found.size() == 1);
    CHECK(found[0].what == "GPU 3");
    CHECK(found[0].evidence == "computes at 91.4 % of the 7 other H100s (median)");
    // 3 % between cards of one model is usual.
    CHECK(slow_devices(rates_of({700, 690, 680, 695, 705, 710, 688, 700})).empty());
    CHECK(slow_devices({}).empty());
}

TEST_CASE("a rank that others wait for is told from chance")
{
    std::vector<MeasuredPoint> points;
    for (int i = 0; i < 9; ++i)
        points.push_back(point_of({0, 1, 2, 3}, i < 7 ? 2 : 0, 0.9));
    const std::vector<std::string> found = stragglers(points);
    REQUIRE(found.size() == 1);
    CHECK(found[0] ==
          "rank 2 was the last in 90 % of the batches of 7 of its 9 points: others wait for it");
    // Members are world ranks: position 1 of {4, 7} is rank 7.
    CHECK_THAT(stragglers(std::vector<MeasuredPoint>(5, point_of({4, 7}, 1, 0.95))).at(0),
               StartsWith("rank 7 "));
    // By chance one of two ranks is the last in half of the batches, give or take.
    CHECK(stragglers(std::vector<MeasuredPoint>(9, point_of({0, 1}, 0, 0.7))).empty());
    CHECK(stragglers(std::vector<MeasuredPoint>(4, point_of({0, 1}, 0, 1.0))).empty());
    CHECK(stragglers(std::vector<MeasuredPoint>(9, point_of({0, 1}, 5, 1.0))).empty());
}

TEST_CASE("a graph that agrees with the matrix raises no doubt")
{
    CHECK(doubts_of(pcie_map(Bandwidth(31e9)), 24e9, 20e9).empty());
}

TEST_CASE("pairs faster than the graph allows, or far slower, are told by class")
{
    const std::vector<std::string> fast = doubts_of(pcie_map(Bandwidth(31e9)), 52e9, 28e9);
    REQUIRE(fast.size() == 1);
    CHECK(fast[0] == "PIX pairs reach 52 GB/s (median); the topology says 31 GB/s (gpu0 -> a): it "
                     "lacks a link, or lanes of one");
    const std::vector<std::string> slow = doubts_of(pcie_map(Bandwidth(31e9)), 24e9, 9e9);
    REQUIRE(slow.size() == 1);
    CHECK_THAT(slow[0], StartsWith("PHB pairs reach 9 GB/s") || StartsWith("PXB pairs reach 9"));
}

TEST_CASE("near pairs slower than far ones point at access control")
{
    const std::vector<std::string> found = doubts_of(pcie_map(Bandwidth(31e9)), 17e9, 25e9);
    REQUIRE(found.size() == 1);
    CHECK_THAT(found[0], ContainsSubstring("ACS"));
}
