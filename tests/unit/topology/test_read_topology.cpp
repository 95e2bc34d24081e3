#include "sim/base/build_info.h"
#include "sim/topology/read_topology.h"
#include "tests/catch.h"
#include "tests/unit/topology/clusters.h"

#include <fmt/core.h>

#include <filesystem>

using namespace trainyard;
using namespace trainyard::literals;
using testing::problems_of;
using testing::topology_of;

namespace {

using Lines = std::vector<std::string>;

std::string in_cluster(const std::string& rest)
{
    return "{\"format\": \"trainyard.topology/1\", \"generator\": \"cluster\",\n" + rest + "}";
}

} // namespace

TEST_CASE("a preset's name stands for its fields, and fields beside it replace them")
{
    const Topology t = topology_of(in_cluster(
        R"("nodes": 2, "node": {"preset": "dgx-h100", "nics": 4, "nvlink": {"rate": "200 GB/s"}},
           "fabric": {"kind": "leaf-spine", "network": {"preset": "tcp", "port_rate": "25 Gb/s"}})"));
    CHECK(t.device_count() == 16);
    CHECK(t.device(DeviceId{0}).model == "h100_sxm5_80");
    CHECK(t.device(DeviceId{0}).nvlink == 200_GBps);
    CHECK(t.device(DeviceId{0}).nvswitch);
    CHECK(t.network(NodeId{1}).nics == 4);
    CHECK(t.network(NodeId{1}).nic_rate == 25_Gbps);
    CHECK(t.network(NodeId{1}).transport == Transport::tcp);
    CHECK_FALSE(t.network(NodeId{1}).gpu_direct);
}

TEST_CASE("every shipped cluster description is right and says what it stands for")
{
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(data_dir() / "topologies")) {
        if (entry.path().extension() != ".json")
            continue;
        const Checked<Json> json = read_json_file(entry.path().string());
        REQUIRE(json);
        const Topology t = topology_of(to_text(*json));
        CHECK(t.device_count() > 0);
        CHECK(t.name() == entry.path().stem().string());
        CHECK(json->find("description") != nullptr);
        CHECK(problems_of(to_text(*json)).empty());
        ++count;
    }
    CHECK(count >= 20);
}

TEST_CASE("what is written reads back as the same topology")
{
    const Topology t = topology_of(in_cluster(
        R"("nodes": 36, "node": {"preset": "gb200-nvl72", "pcie_latency": "0 s"},
           "fabric": {"kind": "rail", "network": "ib_ndr", "oversubscription": 2})"));
    const Json written = write_topology(t);
    CHECK(write_topology(topology_of(to_text(written))) == written);
    CHECK(topology_of(to_text(written)).link_count() == t.link_count());
}

TEST_CASE("a description that is wrong says so at the place, with a way out")
{
    CHECK(
        problems_of("{}") ==
        Lines{
            R"(1: "format" is missing: is this a cluster description? (add "format": "trainyard.topology/1"))"});
    CHECK(problems_of(in_cluster("\"nodes\": 0,\n\"node\": \"dgx-h100\"")) ==
          Lines{"2:/nodes 0 is too small (at least 1)"});
    CHECK(problems_of(in_cluster("\"nodes\": 2,\n\"node\": \"dgx-h10\"")) ==
          Lines{R"(3:/node "dgx-h10" is not among the node presets (did you mean "dgx-h100"?))"});
    CHECK(
        problems_of(in_cluster("\"nodes\": 2, \"node\": \"dgx-h100\"")) ==
        Lines{
            R"(1: 2 nodes have nothing between them (add "fabric": {"kind": "rail", "network": "ib_ndr"}))"});
}

TEST_CASE("all problems of a description are reported together")
{
    const Lines found = problems_of(in_cluster(
        "\"nodes\": 2,\n\"node\": {\"preset\": \"dgx-h100\", \"nisc\": 4, \"pcie\": \"63\"},\n"
        "\"fabric\": {\"kind\": \"rale\",\n\"network\": \"ib_ndr\", \"oversubscription\": 0.5}"));
    CHECK(found ==
          Lines{R"(3:/node/nisc unknown key "nisc" (did you mean "nics"?))",
                R"(3:/node/pcie "63" has no unit (write the unit too, as in "450 GB/s"))",
                R"(4:/fabric/kind "rale" is not known here (one of: rail, leaf-spine, fat-tree))",
                "5:/fabric/oversubscription 0.5 is too small (at least 1)"});
}

TEST_CASE("an oversubscription that whole links cannot give is said")
{
    const auto of = [](const char* nodes, const char* fabric) {
        return problems_of(fmt::format(
            R"({{"format": "trainyard.topology/1", "generator": "cluster", "nodes": {}, "node": "dgx-h100",
                "fabric": {{"kind": "leaf-spine", "network": "ib_ndr", {}}}}})",
            nodes, fabric));
    };
    // 8 NICs below, at least one uplink of their rate above.
    const Lines eight = of("16", R"("oversubscription": 100, "nodes_per_unit": 1)");
    REQUIRE(eight.size() == 1);
    CHECK_THAT(eight[0], ContainsSubstring("100:1 comes out as 8:1"));
    // Four nodes meet in one switch: nothing is above it.
    const Lines one = of("4", R"("oversubscription": 4)");
    REQUIRE(one.size() == 1);
    CHECK_THAT(one[0], ContainsSubstring("4:1 comes out as 1:1 (one leaf switch holds all nodes"));
    CHECK(of("16", R"("oversubscription": 4, "nodes_per_unit": 1)").empty());
}

TEST_CASE("implausible values warn and are taken")
{
    CHECK(problems_of(in_cluster("\"nodes\": 2, \"node\": {\"preset\": \"dgx-h100\",\n"
                                 "\"nic_rate\": \"400 GB/s\"},\n\"fabric\": {\"kind\": \"rail\", "
                                 "\"network\": \"ib_ndr\"}")) ==
          Lines{"3:/node/nic_rate warning: 400 GB/s for one NIC? (400 Gb/s is usual: bits, not "
                "bytes)"});
}

TEST_CASE("a cluster too large to number, or for its switches, is refused")
{
    CHECK(problems_of(in_cluster("\"nodes\": 1048576,\n\"node\": {\"preset\": \"dgx-h100\", "
                                 "\"gpus\": 1024, \"nics\": 1024}, \"fabric\": {\"kind\": "
                                 "\"rail\"}")) ==
          Lines{"2:/nodes a cluster of more than 16,777,216 devices, NICs or NVLinks (fewer nodes, "
                "or smaller ones)",
                "3:/fabric more than 16,777,216 uplinks of leaf switches (fewer nodes; or is the "
                "unit of a rate wrong?)"});
    CHECK(problems_of(in_cluster("\"nodes\": 17,\n\"node\": \"gcp-a2\", \"fabric\": {\"kind\": "
                                 "\"fat-tree\", \"network\": {\"preset\": \"tcp\", "
                                 "\"switch_ports\": 4}}")) ==
          Lines{"2:/nodes three layers of 4-port switches hold 4 pods of 4 nodes, not 5 (fewer "
                "nodes, larger switches (fabric.network.switch_ports), or a higher "
                "oversubscription)"});
    CHECK(
        problems_of(in_cluster("\"nodes\": 64,\n\"node\": \"dgx-h100\",\n\"fabric\": {\"kind\": "
                               "\"leaf-spine\", \"nodes_per_unit\": 16}")) ==
        Lines{"4:/fabric warning: a leaf switch needs 256 ports and has 64 (fewer nodes_per_unit, "
              "or larger switches (fabric.network.switch_ports))"});
    CHECK(problems_of(in_cluster("\"nodes\": 4096,\n\"node\": \"dgx-h100\", \"fabric\": {\"kind\": "
                                 "\"rail\", \"uplink_rate\": \"1 MB/s\"}")) ==
          Lines{"3:/fabric more than 16,777,216 uplinks of leaf switches (fewer nodes; or is the "
                "unit of a rate wrong?)"});
}

TEST_CASE("parts of a node that do not fit together are reported")
{
    CHECK(problems_of(in_cluster("\"nodes\": 1,\n\"node\": {\"preset\": \"dgx-h100\", \"nics\": "
                                 "8, \"pcie_switches\": 3,\n\"nvlink\": {\"domain\": 12}}")) ==
          Lines{"4:/node/nvlink/domain an NVLink domain of 12 GPUs is not whole nodes of 8 (a "
                "multiple of 8; with bridges between pairs of GPUs: \"wiring\": \"pairs\")",
                "3:/node/pcie_switches 3 PCIe switches do not divide 8 GPUs (each switch takes the "
                "same number of GPUs)",
                "3:/node/nics 3 PCIe switches do not divide 8 NICs (each switch takes the same "
                "number of NICs; set \"pcie_switches\")"});
    CHECK(problems_of(in_cluster("\"nodes\": 2,\n\"node\": {\"preset\": \"dgx-h100\", \"nics\": "
                                 "0},\n\"fabric\": {\"kind\": \"rail\"}")) ==
          Lines{"3:/node/nics a fabric, but the nodes have no NICs to reach it (add \"nics\": 8 or "
                "so, or drop \"fabric\")"});
    CHECK(problems_of(in_cluster("\"nodes\": 2,\n\"node\": \"dgx-h100\",\n\"fabric\": {\"kind\": "
                                 "\"rail\", \"rails\": 3}")) ==
          Lines{"4:/fabric/rails 3 rails do not divide the 8 NICs of a node (each rail takes the "
                "same number of a node's NICs)"});
}

TEST_CASE("the schema has both forms and knows of presets")
{
    const Json schema = topology_schema();
    REQUIRE(schema.find("anyOf")->items().size() == 2);
    const Json& properties = *schema.find("anyOf")->items()[0].find("properties");
    CHECK(properties.find("node")->find("anyOf")->items()[0].find("type")->as_string() == "string");
    CHECK(properties.find("nodes")->find("minimum")->as_double() == 1);
    const Json& listed = *schema.find("anyOf")->items()[1].find("properties");
    CHECK(listed.find("links")->find("type")->as_string() == "array");
}
