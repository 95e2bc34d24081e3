#include "sim/topology/topology_model.h"
#include "tests/catch.h"
#include "tests/unit/topology/clusters.h"

#include <map>
#include <set>

using namespace trainyard;
using namespace trainyard::literals;
using testing::cluster;
using testing::gpu;
using testing::names;

namespace {

using Names = std::vector<std::string>;

// Every link starts where the one before ended, from the first device to the second.
void check_connected(const Topology& t, DeviceId from, DeviceId to, std::uint64_t flow)
{
    const TopologyModel& model = t.model();
    std::string at = model.device_name(from);
    for (const LinkId link : t.path(from, to, flow)) {
        REQUIRE(link.value < t.link_count());
        CHECK(model.link_ends(link).from == at);
        at = model.link_ends(link).to;
    }
    CHECK(at == model.device_name(to));
}

void check_all_connected(const Topology& t)
{
    const auto count = static_cast<std::size_t>(t.device_count());
    const std::size_t step = count < 100 ? 1 : count / 67;
    for (std::size_t a = 0; a < count; a += step)
        for (std::size_t b = 0; b < count; b += step)
            check_connected(t, gpu(a), gpu(b), a * 31 + b);
}

} // namespace

TEST_CASE("GPUs of an NVLink domain meet in its NVSwitch, wherever their trays are")
{
    const Topology rack = make_cluster(cluster(36, "gb200-nvl72", "ib_ndr", FabricKind::rail));
    CHECK(names(rack, rack.path(gpu(0), gpu(70))) ==
          Names{"node0/gpu0/nvlink up", "node17/gpu2/nvlink down"});
    CHECK(rack.domain_count() == 2);
    CHECK(rack.path(gpu(5), gpu(5)).empty());
}

TEST_CASE("GPUs of one rail meet on one leaf switch when their nodes share a unit")
{
    const Topology t = make_cluster(cluster(8, "dgx-h100", "ib_ndr", FabricKind::rail));
    CHECK(names(t, t.path(gpu(3), gpu(5 * 8 + 3))) ==
          Names{"node0/gpu3/pcie up", "node0/nic3 out", "node5/nic3 in", "node5/gpu3/pcie down"});
}

TEST_CASE("across rails a message changes GPU over NVLink and stays off the spines")
{
    const Topology t = make_cluster(cluster(8, "dgx-h100", "ib_ndr", FabricKind::rail));
    CHECK(names(t, t.path(gpu(3), gpu(5 * 8 + 6))) ==
          Names{"node0/gpu3/nvlink up", "node0/gpu6/nvlink down", "node0/gpu6/pcie up",
                "node0/nic6 out", "node5/nic6 in", "node5/gpu6/pcie down"});
}

TEST_CASE("between units a message climbs no more layers than it needs")
{
    const Topology t = make_cluster(cluster(2048, "dgx-h100", "ib_ndr", FabricKind::rail));
    const auto layers = [&](std::size_t to) {
        std::map<LinkKind, int> kinds;
        for (const LinkId link : t.path(gpu(3), gpu(to * 8 + 3)))
            ++kinds[t.link(link).kind];
        return kinds;
    };
    CHECK(layers(31)[LinkKind::leaf_up] == 0);
    CHECK(layers(32)[LinkKind::leaf_up] == 1); // the next unit, under the same spines
    CHECK(layers(32)[LinkKind::spine_up] == 0);
    CHECK(layers(127)[LinkKind::spine_up] == 0);
    CHECK(layers(128)[LinkKind::spine_up] == 1); // the next pod
    CHECK(layers(128)[LinkKind::leaf_down] == 1);
}

TEST_CASE("without NVLink GPUs of a node talk over PCIe, across switches through the CPU")
{
    const Topology t = make_cluster(cluster(2, "pcie-a100-4", "tcp", FabricKind::leaf_spine));
    CHECK(names(t, t.path(gpu(0), gpu(1))) == Names{"node0/gpu0/pcie up", "node0/gpu1/pcie down"});
    CHECK(names(t, t.path(gpu(0), gpu(2))) == Names{"node0/gpu0/pcie up", "node0/pcie0/host up",
                                                    "node0/pcie1/host down",
                                                    "node0/gpu2/pcie down"});
    // Fewer NICs than switches: the NIC is at the CPU.
    CHECK(names(t, t.path(gpu(3), gpu(4))) ==
          Names{"node0/gpu3/pcie up", "node0/pcie1/host up", "node0/nic0 out", "node1/nic0 in",
                "node1/pcie0/host down", "node1/gpu0/pcie down"});
}

TEST_CASE("in a cube mesh neighbours talk directly and others over one GPU between")
{
    const Topology t = make_cluster(cluster(2, "dgx1-v100", "ib_edr", FabricKind::leaf_spine));
    CHECK(names(t, t.path(gpu(0), gpu(4))) == Names{"node0/gpu0/nvlink to gpu4"});
    CHECK(t.path(gpu(0), gpu(5)).size() == 2);
    // Six links of 25 GB/s per GPU; GPUs 0 and 4 share two.
    CHECK(t.link(t.path(gpu(0), gpu(4))[0]).capacity == 50_GBps);
}

TEST_CASE("GPUs that share a NIC leave through it, GPUs with several spread flows over them")
{
    const Topology shared = make_cluster(cluster(4, "aws-p4d", "efa_v1", FabricKind::leaf_spine));
    CHECK(names(shared, shared.path(gpu(5), gpu(8)))[1] == "node0/nic2 out");
    CHECK(names(shared, shared.path(gpu(4), gpu(8)))[1] == "node0/nic2 out");

    const Topology several = make_cluster(cluster(4, "aws-p5", "efa_v2", FabricKind::leaf_spine));
    std::set<std::string> used;
    for (std::uint64_t flow = 0; flow < 64; ++flow)
        used.insert(names(several, several.path(gpu(1), gpu(9), flow))[1]);
    CHECK(used == std::set<std::string>{"node0/nic4 out", "node0/nic5 out", "node0/nic6 out",
                                        "node0/nic7 out"});
}

TEST_CASE("every path leads from link to link to its end")
{
    struct Case {
        int nodes;
        const char* node;
        const char* network;
        FabricKind kind;
    };
    const Case c = GENERATE(Case{4, "dgx1-v100", "ib_edr", FabricKind::rail},
                            Case{5, "dgx2", "ib_edr", FabricKind::leaf_spine},
                            Case{8, "dgx-h100", "ib_ndr", FabricKind::rail},
                            Case{300, "dgx-h100", "ib_ndr", FabricKind::rail},
                            Case{1200, "dgx-h100", "ib_ndr", FabricKind::rail},
                            Case{300, "dgx-h100", "ib_ndr", FabricKind::leaf_spine},
                            Case{144, "gb200-nvl72", "ib_ndr", FabricKind::rail},
                            Case{144, "gb300-nvl72", "roce_spectrumx", FabricKind::leaf_spine},
                            Case{70, "oci-h100", "roce_400", FabricKind::rail},
                            Case{64, "aws-p5", "efa_v2", FabricKind::fat_tree},
                            Case{40, "gcp-a2", "tcp", FabricKind::fat_tree},
                            Case{3, "pcie-l40s-8", "roce_100", FabricKind::leaf_spine},
                            Case{40, "pcie-h100-nvl-4", "roce_100", FabricKind::rail},
                            Case{40, "mi300x-8", "roce_400", FabricKind::rail});
    ClusterDescription description = cluster(c.nodes, c.node, c.network, c.kind);
    if (std::string(c.node) == "gcp-a2")
        description.fabric->network.switch_ports = 8;
    const Topology t = make_cluster(description);
    check_all_connected(t);
}

TEST_CASE("every link has a name of its own, and its number comes back from its place")
{
    const Topology t = make_cluster(cluster(70, "oci-h100", "roce_400", FabricKind::rail));
    std::set<std::string> all;
    for (std::size_t i = 0; i < t.link_count(); ++i)
        all.insert(t.link_name(make_id<LinkId>(i)));
    CHECK(all.size() == t.link_count());
}

TEST_CASE("flows spread over equal uplinks evenly, and a flow always takes the same")
{
    const Topology t = make_cluster(cluster(64, "dgx-h100", "ib_ndr", FabricKind::rail));
    std::map<std::string, int> uses;
    constexpr int flows = 32000;
    for (std::uint64_t flow = 0; flow < flows; ++flow) {
        const auto path = t.path(gpu(0), gpu(40 * 8), flow);
        REQUIRE(path == t.path(gpu(0), gpu(40 * 8), flow));
        ++uses[t.link_name(path[2])];
    }
    // 32 uplinks: mean 1000, standard deviation sqrt(1000 x 31/32) = 31; six of them.
    REQUIRE(uses.size() == 32);
    for (const auto& [name, count] : uses)
        CHECK(std::abs(count - 1000) < 187);
}

TEST_CASE("another seed of the switches' hash takes other paths of the same length")
{
    ClusterDescription c = cluster(64, "dgx-h100", "ib_ndr", FabricKind::rail);
    const Topology a = make_cluster(c);
    c.fabric->ecmp_seed = 7;
    const Topology b = make_cluster(c);
    int same = 0;
    for (std::uint64_t flow = 0; flow < 100; ++flow) {
        const auto path = a.path(gpu(0), gpu(400), flow);
        const auto other = b.path(gpu(0), gpu(400), flow);
        CHECK(path.size() == other.size());
        same += path == other ? 1 : 0;
    }
    CHECK(same < 20); // one in 32 x 4 by chance
}

TEST_CASE("doubling the rate of a network doubles its links and changes no path")
{
    ClusterDescription c = cluster(64, "dgx-h100", "ib_ndr", FabricKind::rail);
    const Topology slow = make_cluster(c);
    c.fabric->network.port_rate *= 2;
    const Topology fast = make_cluster(c);
    REQUIRE(slow.link_count() == fast.link_count());
    for (std::size_t b = 1; b < 512; b += 37) {
        REQUIRE(slow.path(gpu(0), gpu(b)) == fast.path(gpu(0), gpu(b)));
        for (const LinkId link : slow.path(gpu(0), gpu(b))) {
            const bool network =
                slow.link(link).kind != LinkKind::nvlink && slow.link(link).kind != LinkKind::pcie;
            CHECK(fast.link(link).capacity == slow.link(link).capacity * (network ? 2.0 : 1.0));
        }
    }
}
