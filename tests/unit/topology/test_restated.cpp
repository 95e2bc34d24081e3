#include "sim/topology/read_topology.h"
#include "sim/topology/restated.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {

const Presets& shipped()
{
    static const Presets presets = load_presets().value();
    return presets;
}

Json cluster_of(const std::string& node, const std::string& fabric)
{
    const Checked<Json> json =
        parse_json(R"({"format": "trainyard.topology/1", "generator": "cluster", "nodes": 4,
                       "node": )" +
                       node + (fabric.empty() ? "" : R"(, "fabric": )" + fabric) + "}",
                   "test");
    REQUIRE(json);
    return *json;
}

std::string node_text(const Json& cluster)
{
    return to_text(*cluster.find("node"), JsonStyle::compact);
}

const char* const rails = R"({"kind": "rail", "network": "ib_ndr"})";

} // namespace

TEST_CASE("a node that restates its preset and the defaults needs the preset's name alone")
{
    const Json shorter = without_restated(
        cluster_of(R"({"preset": "dgx-h100", "device": "h100_sxm5_80", "gpus": 8, "nics": 8,
                       "pcie_switches": 8, "nic_rate": "400 Gb/s"})",
                   rails),
        shipped());
    CHECK(node_text(shorter) == R"({"preset":"dgx-h100"})");
    CHECK(to_text(*shorter.find("fabric"), JsonStyle::compact) == R"({"kind":"rail"})");
}

TEST_CASE("what differs from the preset stays")
{
    const Json shorter = without_restated(
        cluster_of(R"({"preset": "dgx-h100", "gpus": 4, "nics": 8, "nic_rate": "200 Gb/s"})",
                   rails),
        shipped());
    CHECK(node_text(shorter) == R"({"preset":"dgx-h100","gpus":4,"nic_rate":"200 Gb/s"})");
}

TEST_CASE("a device goes with the preset made for it where the cluster stays what it is")
{
    const auto shortened = [](const char* node) {
        return node_text(without_restated(cluster_of(node, rails), shipped()));
    };
    CHECK(shortened(R"({"preset": "dgx-h100", "device": "h20_sxm_96"})") ==
          R"({"preset":"hgx-h20"})");
    CHECK(shortened(R"({"preset": "dgx-h100", "gpus": 4,
                        "nvlink": {"rate": "450 GB/s", "wiring": "all-to-all"}})") ==
          R"({"preset":"dgx-h100","gpus":4,"nvlink":{"wiring":"all-to-all"}})");
    // Nodes of GH200 are wired in another way.
    CHECK(shortened(R"({"preset": "dgx-h100", "device": "gh200_96"})") ==
          R"({"preset":"dgx-h100","device":"gh200_96"})");
}

TEST_CASE("a shorter description is of the same links, whatever the presets")
{
    for (const auto& [name, preset] : shipped().nodes.members())
        for (const int gpus : {2, 4, 8}) {
            const Json* device = preset.find("device");
            const Json cluster =
                cluster_of(R"({"preset": ")" + name + R"(", "device": ")" + device->as_string() +
                               R"(", "gpus": )" + std::to_string(gpus) + R"(, "nics": 2})",
                           rails);
            const Checked<TopologyFile> whole = inspect_topology(cluster, "test", shipped());
            if (!whole)
                continue; // no such node
            const Checked<TopologyFile> less =
                inspect_topology(without_restated(cluster, shipped()), "test", shipped());
            INFO(name << " with " << gpus);
            REQUIRE(less);
            REQUIRE(less->topology.link_count() == whole->topology.link_count());
            for (std::uint32_t link = 0; link < whole->topology.link_count(); ++link) {
                const Link a = whole->topology.link(LinkId{link});
                const Link b = less->topology.link(LinkId{link});
                CHECK(a.capacity == b.capacity);
                CHECK(a.latency == b.latency);
            }
        }
}

TEST_CASE("what no preset describes comes back as it is")
{
    const Json own =
        cluster_of(R"({"device": "h100_sxm5_80", "gpus": 8, "pcie": "63 GB/s", "nics": 8})", rails);
    CHECK(without_restated(own, shipped()) == own);
    const Json unknown = cluster_of(R"({"preset": "dgx-z9", "gpus": 8})", rails);
    CHECK(without_restated(unknown, shipped()) == unknown);
    CHECK(without_restated(Json(7), shipped()) == Json(7));
}

TEST_CASE("a device that another preset is made for is said when it replaces a preset's")
{
    const auto warned = [](const char* node) {
        return inspect_topology(cluster_of(node, rails), "test", shipped()).value().warnings;
    };
    const Problems left = warned(R"({"preset": "dgx-b200", "device": "h100_sxm5_80"})");
    REQUIRE(left.size() == 1);
    CHECK(left.front().pointer == "/node/device");
    CHECK(left.front().severity == Severity::warning);
    CHECK(left.front().hint.find("dgx-h100") != std::string::npos);
    CHECK(warned(R"({"preset": "dgx-b200", "device": "b200_sxm_180"})").empty());
    CHECK(warned(R"({"preset": "dgx-b200", "gpus": 4})").empty());
    // A device of the user's own has no preset to name.
    CHECK(warned(R"({"preset": "dgx-b200", "device": "my_card"})").empty());
}
