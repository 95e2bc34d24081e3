#include "sim/topology/dot.h"
#include "sim/topology/paths.h"
#include "sim/topology/summary.h"
#include "tests/catch.h"
#include "tests/unit/topology/clusters.h"

#include <set>

using namespace trainyard;
using namespace trainyard::literals;
using testing::cluster;
using testing::gpu;

TEST_CASE("the bisection of a non-blocking cluster is half the hosts times their rate")
{
    ClusterDescription tree = cluster(128, "gcp-a2", "tcp", FabricKind::fat_tree);
    tree.fabric->network.switch_ports = 8;
    CHECK(summarize(make_cluster(tree)).bisection.value() == Approx(64 * 12.5e9));
    CHECK(summarize(make_cluster(cluster(256, "dgx-h100", "ib_ndr", FabricKind::rail)))
              .bisection.value() == Approx(128 * 8 * 50e9));
}

TEST_CASE("oversubscription divides the bisection")
{
    ClusterDescription c = cluster(64, "dgx-h100", "ib_ndr", FabricKind::leaf_spine);
    c.fabric->nodes_per_unit = 4;
    const Bandwidth full = summarize(make_cluster(c)).bisection;
    c.fabric->oversubscription = 4;
    CHECK(summarize(make_cluster(c)).bisection.value() == Approx(full.value() / 4));
    CHECK(summarize(make_cluster(c)).network.oversubscription == 4.0);
}

TEST_CASE("one node's bisection is its NVLink's")
{
    CHECK(summarize(make_cluster(cluster(1, "dgx-h100", "ib_ndr", FabricKind::rail))).bisection ==
          1800_GBps);
}

TEST_CASE("the summary counts devices, domains and links")
{
    const TopologySummary s =
        summarize(make_cluster(cluster(144, "gb200-nvl72", "ib_ndr", FabricKind::rail)));
    CHECK(s.devices == 576);
    CHECK(s.devices_by_model == std::map<std::string, int>{{"gb200_186", 576}});
    CHECK(s.domains_by_size == std::map<int, int>{{72, 8}});
    CHECK(s.nodes_by_size == std::map<int, int>{{4, 144}});
    std::int64_t nics = 0;
    std::int64_t nvlinks = 0;
    for (const LinkClass& c : s.links) {
        nics += c.kind == LinkKind::nic ? c.links : 0;
        nvlinks += c.kind == LinkKind::nvlink ? c.links : 0;
    }
    CHECK(nics == 2 * 576);
    CHECK(nvlinks == 2 * 576);
}

TEST_CASE("the description of a cluster is one page")
{
    ClusterDescription c = cluster(64, "dgx-h100", "ib_ndr", FabricKind::rail);
    c.name = "sixty-four";
    c.fabric->oversubscription = 2;
    CHECK(describe(summarize(make_cluster(c))) ==
          R"(sixty-four
devices        512 h100_sxm5_80
nodes          64 of 8 devices
nvlink domains 64 of 8 devices
nvlink         450 GB/s per GPU and direction, through NVSwitch, sums in the switch
network        ib_ndr (infiniband), 8 x 50.0 GB/s per node, 50.0 GB/s per GPU
switches       16 leaf, 7 spine; at most 3 between two nodes
leaf to spine  336 links, 16.8 TB/s, oversubscription 2:1
bisection      6.40 TB/s each way, 25.0 GB/s per device of a half

links               count        each     latency
nvlink               1024    450 GB/s      150 ns
pcie                 2048   63.0 GB/s      400 ns
nic                  1024   50.0 GB/s      625 ns
leaf-up               336   50.0 GB/s      150 ns
leaf-down             336   50.0 GB/s      150 ns
)");
}

TEST_CASE("all equal paths of a pair are found once each")
{
    const Topology t = make_cluster(cluster(64, "dgx-h100", "ib_ndr", FabricKind::rail));
    // 32 uplinks of the leaf; 4 parallel links from each of the 8 spines down to the other leaf.
    const Paths all = find_paths(t, gpu(0), gpu(40 * 8), PathSet::ecmp, 1000);
    CHECK(all.complete);
    CHECK(all.paths.size() == 32 * 4);
    CHECK(std::set<std::vector<LinkId>>(all.paths.begin(), all.paths.end()).size() == 32 * 4);

    const Paths some = find_paths(t, gpu(0), gpu(40 * 8), PathSet::ecmp, 10);
    CHECK(some.paths.size() == 10);
    CHECK_FALSE(some.complete);
}

TEST_CASE("every flow's path is among the equal paths")
{
    const Topology t = make_cluster(cluster(40, "oci-h100", "roce_400", FabricKind::rail));
    const Paths all = find_paths(t, gpu(3), gpu(39 * 8 + 6), PathSet::ecmp, 100000);
    REQUIRE(all.complete);
    const std::set<std::vector<LinkId>> known(all.paths.begin(), all.paths.end());
    for (std::uint64_t flow = 0; flow < 200; ++flow)
        CHECK(known.count(t.path(gpu(3), gpu(39 * 8 + 6), flow)) == 1);
}

TEST_CASE("the rails of a pair are as many as GPUs in a node, and share no network link")
{
    const Topology t = make_cluster(cluster(4, "dgx-h100", "ib_ndr", FabricKind::rail));
    const Paths rails = find_paths(t, gpu(1), gpu(10), PathSet::rails);
    REQUIRE(rails.paths.size() == 8);
    std::set<LinkId> network;
    std::size_t uses = 0;
    for (const auto& path : rails.paths)
        for (const LinkId link : path)
            if (t.link(link).kind == LinkKind::nic) {
                network.insert(link);
                ++uses;
            }
    CHECK(network.size() == uses);
}

TEST_CASE("a path is described hop by hop with the slowest rate and the sum of latencies")
{
    const Topology t = make_cluster(cluster(8, "dgx-h100", "ib_ndr", FabricKind::rail));
    const PathDescription path = describe_path(t, gpu(3), gpu(43), t.path(gpu(3), gpu(43)));
    CHECK(path.capacity == 50_GBps);
    // PCIe 0.4 twice, NIC 0.55 twice, one switch 0.15.
    CHECK(path.latency.value() == Approx(2.05e-6));
    CHECK(describe(path) == R"(node0/gpu3 to node5/gpu3
  link                  kind              rate    latency
  node0/gpu3/pcie up    pcie         63.0 GB/s     400 ns
  node0/nic3 out        nic          50.0 GB/s     625 ns
  node5/nic3 in         nic          50.0 GB/s     625 ns
  node5/gpu3/pcie down  pcie         63.0 GB/s     400 ns
  together                           50.0 GB/s    2.05 us
)");
}

TEST_CASE("a device is found by number or name, and a wrong one is answered with the right form")
{
    const Topology t = make_cluster(cluster(8, "dgx-h100", "ib_ndr", FabricKind::rail));
    CHECK(find_device(t, "43").value() == gpu(43));
    CHECK(find_device(t, "node5/gpu3").value() == gpu(43));
    const Checked<DeviceId> wrong = find_device(t, "64");
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error()[0].message == "no device is called \"64\"");
    CHECK(wrong.error()[0].hint == "a number from 0 to 63, or a name such as \"node7/gpu7\"");
}

TEST_CASE("a drawing joins every piece that is linked, and collapses large clusters")
{
    const std::string small =
        to_dot(make_cluster(cluster(2, "pcie-a100-4", "tcp", FabricKind::leaf_spine)));
    CHECK_THAT(small, StartsWith("graph \"topology\" {"));
    CHECK_THAT(small,
               ContainsSubstring("\"node0/gpu0\" -- \"node0/pcie0\" [label=\"31.0 GB/s\"];"));
    CHECK_THAT(small, ContainsSubstring("\"node1/cpu\" -- \"leaf0\" [label=\"12.5 GB/s\"];"));

    const std::string large =
        to_dot(make_cluster(cluster(64, "dgx-h100", "ib_ndr", FabricKind::rail)));
    CHECK(large.size() < 1000);
    CHECK_THAT(large, ContainsSubstring("64 nodes\\n512 devices (h100_sxm5_80)"));
    CHECK_THAT(large, ContainsSubstring("\"leaf\" -- \"spine\" [label=\"512 links"));
}
