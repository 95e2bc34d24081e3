#include "sim/topology/topology_model.h"
#include "sim/topology/usual_cluster.h"
#include "tests/catch.h"
#include "tests/unit/topology/clusters.h"

using namespace trainyard;
using namespace trainyard::literals;

namespace {

Topology built(const UsualCluster& facts)
{
    const Checked<ClusterDescription> description = usual_cluster(facts, load_presets().value());
    if (!description)
        FAIL(render(description.error(), ""));
    return make_cluster(*description);
}

} // namespace

TEST_CASE("a device's name alone gives its usual node and network")
{
    const Topology h100 = built({.device = "h100_sxm5_80", .nodes = 16});
    CHECK(h100.device_count() == 128);
    CHECK(h100.network(NodeId{0}).name == "ib_ndr");
    CHECK(h100.network(NodeId{0}).nic_rate == 400_Gbps);
    CHECK(built({.device = "a100_sxm4_80", .nodes = 2}).network(NodeId{0}).name == "ib_hdr");
    const Topology gb300 = built({.device = "gb300_279", .nodes = 18});
    CHECK(gb300.domain_count() == 1);
    CHECK(gb300.network(NodeId{0}).nic_rate == 800_Gbps);
}

TEST_CASE("every node preset is right in itself, alone and as two nodes on its usual network")
{
    const Presets presets = load_presets().value();
    for (const Json::Member& preset : presets.nodes.members()) {
        INFO(preset.first);
        const Topology t = testing::topology_of(
            R"({"format": "trainyard.topology/1", "generator": "cluster", "nodes": 2, "node": ")" +
            preset.first + R"(", "fabric": {"kind": "leaf-spine"}})");
        CHECK(t.node_count() == 2);
        CHECK(t.network(NodeId{0}).nics > 0);
        CHECK_FALSE(preset.second.find("source")->as_string().empty());
    }
}

TEST_CASE("what a record states replaces what is usual")
{
    const Topology t = built(
        {.device = "a100_sxm4_80", .nodes = 4, .network = "tcp", .nic_rate_per_gpu = 50_Gbps});
    CHECK(t.network(NodeId{0}).name == "tcp");
    CHECK(t.network(NodeId{0}).nics * t.network(NodeId{0}).nic_rate == 400_Gbps);

    const Topology small = built({.device = "h200_sxm_141", .nodes = 16, .gpus_per_node = 4});
    CHECK(small.device_count() == 64);
    CHECK(small.domain_count() == 16);
    CHECK(small.device(DeviceId{0}).nvlink == 450_GBps);

    const Topology odd = built({.device = "b200_sxm_180", .nodes = 2, .gpus_per_node = 2});
    CHECK(odd.network(NodeId{0}).nics == 2);

    const Topology none = built({.device = "a100_sxm4_80", .nodes = 1, .nvlink_domain = 1});
    CHECK(none.device(DeviceId{0}).nvlink == 0_GBps);
}

TEST_CASE("facts that fit no cluster are refused")
{
    const Presets presets = load_presets().value();
    const auto unknown = usual_cluster({.device = "h100_sxm5_8"}, presets);
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error()[0].pointer == "/device");
    CHECK(unknown.error()[0].hint == "did you mean \"h100_sxm5_80\"?");
    CHECK_FALSE(usual_cluster({.device = "h100_sxm5_80", .nodes = 2, .network = "ib"}, presets));
    CHECK_FALSE(
        usual_cluster({.device = "h100_sxm5_80", .nodes = 2, .nvlink_domain = 12}, presets));
    CHECK_FALSE(
        usual_cluster({.device = "h100_sxm5_80", .nodes = 2, .nic_rate_per_gpu = 0_GBps}, presets));
}
