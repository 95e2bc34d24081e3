// Twins: a compact cluster and the same written out piece by piece must answer alike.

#include "sim/topology/explicit_checks.h"
#include "sim/topology/group_shape.h"
#include "sim/topology/paths.h"
#include "sim/topology/topology_model.h"
#include "tests/catch.h"
#include "tests/support/expand.h"
#include "tests/unit/topology/clusters.h"

#include <map>
#include <set>

using namespace trainyard;
using namespace trainyard::literals;
using testing::cluster;
using testing::gpu;
using testing::names;

namespace {

ClusterDescription with(ClusterDescription c, int ports, double oversubscription)
{
    c.fabric->network.switch_ports = ports;
    c.fabric->oversubscription = oversubscription;
    return c;
}

ClusterDescription half_racks(ClusterDescription c, int domain)
{
    c.node.nvlink.domain = domain;
    return c;
}

std::vector<ClusterDescription> small_clusters()
{
    return {
        cluster(3, "dgx-h100", "ib_ndr", FabricKind::rail),
        with(cluster(5, "dgx-h100", "ib_ndr", FabricKind::rail), 4, 1),  // units of two nodes
        with(cluster(9, "dgx-a100", "ib_hdr", FabricKind::rail), 16, 2), // one layer of spines
        with(cluster(6, "aws-p4d", "efa_v1", FabricKind::leaf_spine), 10, 1.5),
        with(cluster(16, "gcp-a2", "tcp", FabricKind::fat_tree), 4, 1),
        with(cluster(3, "oci-h100", "roce_400", FabricKind::rail), 2, 1), // two NICs per GPU
        half_racks(cluster(6, "gb200-nvl72", "ib_ndr", FabricKind::rail), 12),
        half_racks(cluster(6, "gb300-nvl72", "ib_xdr", FabricKind::leaf_spine), 12),
        cluster(2, "dgx1-v100", "ib_edr", FabricKind::leaf_spine),
        cluster(2, "pcie-a100-4", "roce_100", FabricKind::leaf_spine),
        cluster(2, "pcie-l40s-8", "roce_100", FabricKind::leaf_spine),
        cluster(2, "pcie-h100-nvl-4", "roce_100", FabricKind::leaf_spine),
        cluster(2, "mi300x-8", "roce_400", FabricKind::rail),
        cluster(2, "dgx2", "ib_edr", FabricKind::leaf_spine),
    };
}

} // namespace

TEST_CASE("a cluster written out has the same devices, links and names")
{
    for (const ClusterDescription& description : small_clusters()) {
        const Topology compact = make_cluster(description);
        const ExplicitDescription written = expand(compact);
        REQUIRE(flaws(written).empty());
        const Topology given = make_explicit(written);
        REQUIRE(given.device_count() == compact.device_count());
        REQUIRE(given.node_count() == compact.node_count());
        CHECK(given.domain_count() == compact.domain_count());
        REQUIRE(given.link_count() == compact.link_count());
        for (std::size_t i = 0; i < given.link_count(); ++i) {
            const LinkId id = make_id<LinkId>(i);
            CHECK(given.link_name(id) == compact.link_name(id));
            CHECK(given.link(id).kind == compact.link(id).kind);
            CHECK(given.link(id).capacity == compact.link(id).capacity);
        }
        CHECK(given.model().switch_layers() == compact.model().switch_layers());
    }
}

TEST_CASE("a cluster written out has the same paths, link by link, for every flow")
{
    for (const ClusterDescription& description : small_clusters()) {
        const Topology compact = make_cluster(description);
        const Topology given = make_explicit(expand(compact));
        const auto count = static_cast<std::size_t>(compact.device_count());
        INFO(description.node.source << " x " << description.nodes);
        for (std::size_t a = 0; a < count; a += 3)
            for (std::size_t b = 0; b < count; ++b)
                REQUIRE(names(given, given.path(gpu(a), gpu(b), a + b)) ==
                        names(compact, compact.path(gpu(a), gpu(b), a + b)));
    }
}

TEST_CASE("a cluster written out gives every group the same shape")
{
    for (const ClusterDescription& description : small_clusters()) {
        const Topology compact = make_cluster(description);
        const Topology given = make_explicit(expand(compact));
        const auto count = static_cast<std::size_t>(compact.device_count());
        INFO(description.node.source);
        for (const std::size_t stride : {1U, 2U, 4U, 8U})
            for (std::size_t size = 1; size * stride <= count; size = size * 2 + 1) {
                std::vector<DeviceId> members;
                for (std::size_t i = 0; i < size; ++i)
                    members.push_back(gpu(i * stride));
                CHECK(group_shape(given, members) == group_shape(compact, members));
            }
    }
}

TEST_CASE("a cluster written out has the same trunks")
{
    int layers = 0;
    for (const ClusterDescription& description : small_clusters()) {
        const Topology compact = make_cluster(description);
        const Topology given = make_explicit(expand(compact));
        std::map<std::string, LinkId> by_name;
        for (std::size_t i = 0; i < given.link_count(); ++i)
            by_name[given.link_name(make_id<LinkId>(i))] = make_id<LinkId>(i);
        std::map<std::uint32_t, std::uint32_t> numbers; // one for one
        std::set<std::uint32_t> used;
        for (std::size_t i = 0; i < compact.link_count(); ++i) {
            const auto here = compact.model().trunk(make_id<LinkId>(i));
            const auto there =
                given.model().trunk(by_name.at(compact.link_name(make_id<LinkId>(i))));
            REQUIRE(here.has_value() == there.has_value());
            if (!here)
                continue;
            CHECK(here->capacity == there->capacity);
            CHECK(here->layer == there->layer);
            if (numbers.emplace(here->number, there->number).second)
                CHECK(used.insert(there->number).second);
            CHECK(numbers.at(here->number) == there->number);
        }
        layers = std::max(layers, static_cast<int>(compact.model().fabric_layers().size()));
    }
    CHECK(layers == 2);
}

TEST_CASE("a maximum flow between the halves equals the bisection that a compact cluster states")
{
    // Where PCIe and NVLink are wider than the NICs, so that the network is the cut.
    const std::vector<ClusterDescription> clusters{
        cluster(4, "dgx-h100", "ib_ndr", FabricKind::rail),
        with(cluster(8, "dgx-h100", "ib_ndr", FabricKind::rail), 4, 1),
        with(cluster(8, "dgx-h100", "ib_ndr", FabricKind::leaf_spine), 24, 2),
        with(cluster(16, "gcp-a2", "tcp", FabricKind::fat_tree), 4, 1),
        half_racks(cluster(6, "gb200-nvl72", "ib_ndr", FabricKind::rail), 12)};
    for (const ClusterDescription& description : clusters) {
        const Topology compact = make_cluster(description);
        const Topology given = make_explicit(expand(compact));
        INFO(description.node.source);
        CHECK_THAT(given.model().bisection().value(),
                   WithinRel(compact.model().bisection().value(), 1e-9));
    }
}

TEST_CASE("an explicit cluster finds NVLink domains, rates and paths from its links")
{
    const Topology t = testing::topology_of(R"({
        "format": "trainyard.topology/1", "network": "roce_100",
        "devices": [{"name": "a0", "node": "a", "model": "x"}, {"name": "a1", "node": "a", "model": "x"},
                    {"name": "b0", "node": "b", "model": "x"}],
        "switches": [{"name": "s", "kind": "network"}],
        "nics": [{"name": "an", "node": "a"}, {"name": "bn", "node": "b"}],
        "links": [
            {"from": "a0", "to": "a1", "bandwidth": "300 GB/s", "latency": "1 us"},
            {"from": "a0", "to": "an", "bandwidth": "31 GB/s", "latency": "1 us"},
            {"from": "a1", "to": "an", "bandwidth": "16 GB/s", "latency": "1 us"},
            {"from": "b0", "to": "bn", "bandwidth": "31 GB/s", "latency": "1 us"},
            {"from": "an", "to": "s", "bandwidth": "100 Gb/s", "latency": "1 us"},
            {"from": "bn", "to": "s", "bandwidth": "100 Gb/s", "latency": "1 us"}]})");
    CHECK(t.domain_count() == 2);
    CHECK(t.device(gpu(1)).nvlink == 300_GBps);
    CHECK(t.device(gpu(1)).pcie == 16_GBps);
    CHECK(t.network(NodeId{0}).nics == 1);
    CHECK(t.network(NodeId{0}).nic_rate == 100_Gbps);
    CHECK(names(t, t.path(gpu(1), gpu(2))) ==
          std::vector<std::string>{"a1 -> an", "an -> s", "s -> bn", "bn -> b0"});
    CHECK(t.link(t.path(gpu(1), gpu(2))[1]).kind == LinkKind::nic);
    // One NIC each way: half of three devices sends at most 100 Gb/s.
    CHECK(t.model().bisection() == 100_Gbps);
}

TEST_CASE("an idle link more leaves the paths as they are")
{
    ExplicitDescription d =
        expand(make_cluster(with(cluster(5, "dgx-h100", "ib_ndr", FabricKind::rail), 4, 1)));
    const Topology before = make_explicit(d);
    d.switches.push_back({"spare", SwitchKind::network, "", false});
    d.links.push_back({"spare", "leaf0", 50_GBps, 1_us, std::nullopt, false, ""});
    const Topology after = make_explicit(d);
    for (std::size_t b = 1; b < 40; b += 7)
        CHECK(names(after, after.path(gpu(0), gpu(b))) ==
              names(before, before.path(gpu(0), gpu(b))));
}
