#include "calibrate/measure/discover/machine_xml.h"
#include "calibrate/measure/discover/node.h"
#include "sim/topology/read_topology.h"
#include "tests/catch.h"
#include "tests/unit/measure/fake_machine.h"
#include "tests/unit/measure/simulated_nvml.h"

#include <fmt/core.h>

#include <algorithm>

using namespace trainyard;

namespace {

NvmlNode nvml_of(SimulatedNvml state)
{
    simulated_nvml() = std::move(state);
    const Found<NvmlNode> node = read_nvml(simulated_functions());
    REQUIRE(node);
    return *node;
}

DiscoveredNode discovered(const NodeSources& sources)
{
    const Checked<DiscoveredNode> node = discover_node(sources);
    REQUIRE(node);
    return *node;
}

// What `topo show` and `check` do with the file.
Topology topology_of(const DiscoveredNode& node)
{
    const Checked<Topology> topology = read_topology(node.topology, "node.json");
    REQUIRE(topology);
    return *topology;
}

std::size_t links_between(const Topology& topology, std::uint32_t from, std::uint32_t to)
{
    return topology.path(DeviceId{from}, DeviceId{to}).size();
}

// A server of 8 H100s, four at each PCIe switch.
NodeSources h100_sources(const FakeMachine& machine)
{
    write_two_switch_server(machine, 4);
    NodeSources out;
    out.host = read_host(machine.root());
    out.nvml = nvml_of(h100_server(8));
    return out;
}

} // namespace

TEST_CASE("NVML and /sys make the topology of a server with NVSwitches")
{
    const FakeMachine machine;
    const DiscoveredNode node = discovered(h100_sources(machine));
    const Topology topology = topology_of(node);
    CHECK(topology.name() == "gpu-node-7");
    REQUIRE(topology.device_count() == 8);
    CHECK(topology.device(DeviceId{3}).model == "h100_sxm5_80");
    CHECK(topology.device(DeviceId{3}).nvswitch);
    CHECK_THAT(topology.device(DeviceId{3}).nvlink.value(), WithinRel(450e9, 1e-12));
    CHECK(topology.network(NodeId{0}).nics == 2);
    CHECK(topology.network(NodeId{0}).transport == Transport::infiniband);
    CHECK_THAT(topology.network(NodeId{0}).nic_rate.value(), WithinRel(50e9, 1e-12));
    CHECK(node.classes[0][7] == "NV18");
    CHECK(node.believed.empty());
    CHECK(node.notes.assumed.empty());
}

TEST_CASE("without NVLink the PCIe tree of /sys is the way, ports of switches left out")
{
    const FakeMachine machine;
    NodeSources sources = h100_sources(machine);
    for (NvmlGpu& gpu : sources.nvml->gpus)
        gpu.links.clear();
    const DiscoveredNode node = discovered(sources);
    const Topology topology = topology_of(node);
    CHECK(node.classes[0][3] == "PIX");
    CHECK(node.classes[0][4] == "SYS");
    CHECK(topology.device(DeviceId{0}).nvlink == Bandwidth(0)); // NVML looked and saw none
    // GPU, switch, GPU; and GPU, switch, CPU, CPU, switch, GPU.
    CHECK(links_between(topology, 0, 3) == 2);
    CHECK(links_between(topology, 0, 4) == 5);
    CHECK(node.believed.empty()); // NVML's own distances say the same
}

TEST_CASE("/sys alone gives GPUs by their PCI numbers and the usual NVLinks, said as assumed")
{
    const FakeMachine machine;
    NodeSources sources = h100_sources(machine);
    sources.nvml.reset();
    const DiscoveredNode node = discovered(sources);
    CHECK(topology_of(node).device(DeviceId{0}).nvswitch);
    CHECK(says(node.notes.assumed, "as boards with 8 h100_sxm5_80 have"));
}

TEST_CASE("in a container without /sys NVML's distances make the tree")
{
    NodeSources sources;
    SimulatedNvml state = h100_server(4);
    for (SimulatedGpu& gpu : state.gpus)
        gpu.links.clear();
    sources.nvml = nvml_of(state);
    const DiscoveredNode node = discovered(sources);
    CHECK(node.classes[0][1] == "PIX");
    CHECK(node.classes[0][2] == "SYS");
    CHECK(links_between(topology_of(node), 0, 1) == 2);
    CHECK(says(node.notes.understood, "NVML's distances"));

    sources.nvml->levels.clear(); // nor these
    CHECK(discovered(sources).map.gpus.size() == 4);
    CHECK(says(discovered(sources).notes.assumed, "sit on one CPU"));
}

TEST_CASE("where sources contradict it is said which counts and why")
{
    const FakeMachine machine;
    NodeSources sources = h100_sources(machine);
    SECTION("NVLinks: NVML asked the driver just now")
    {
        NvmlNode fewer = *sources.nvml;
        for (NvmlGpu& gpu : fewer.gpus)
            gpu.links.resize(12);
        sources.nccl_dump = to_xml(*xml_of_machine(sources.host, &fewer));
        const DiscoveredNode node = discovered(sources);
        CHECK(node.classes[0][1] == "NV18");
        REQUIRE_FALSE(node.believed.empty());
        CHECK(node.believed[0] ==
              "gpu0 and gpu1 are joined by NV12 says NCCL's dump, by NV18 says NVML and /sys (27 "
              "pairs more differ): NVML is believed: it asked the driver just now");
    }
    SECTION("PCIe: /sys shows the link as it is now")
    {
        sources.nccl_dump = to_xml(*xml_of_machine(sources.host, &*sources.nvml));
        for (PciDevice& device : sources.host.pci)
            if (device.address == "0000:13:00.0")
                device.now.lanes = 8;
        const DiscoveredNode node = discovered(sources);
        CHECK_THAT(node.map.gpus[0].pcie.value(), WithinRel(31.5e9, 1e-2));
        REQUIRE(node.believed.size() == 1);
        CHECK_THAT(node.believed[0],
                   StartsWith("PCIe of gpu0 carries 63 GB/s by NCCL's dump, 31.5"));
    }
    SECTION("number of GPUs: the source that knows most")
    {
        NvmlNode visible = *sources.nvml;
        visible.gpus.resize(4);
        sources.nccl_dump = to_xml(*xml_of_machine(sources.host, &visible));
        const DiscoveredNode node = discovered(sources);
        CHECK(node.map.gpus.size() == 8);
        CHECK(says(node.believed, "NCCL's dump 4: NVML and /sys is believed"));
    }
    SECTION("the matrix of nvidia-smi")
    {
        for (NvmlGpu& gpu : sources.nvml->gpus)
            gpu.links.clear();
        sources.nvml->gpus.resize(2);
        sources.smi_matrix = "     GPU0 GPU1 CPU Affinity\nGPU0  X   SYS  0\nGPU1 SYS  X   0\n";
        const DiscoveredNode node = discovered(sources);
        CHECK(says(node.believed, "by PIX says NVML and /sys, by SYS says nvidia-smi topo -m"));
    }
}

TEST_CASE("GPUs that NVML numbers otherwise than NCCL are matched by their PCI addresses")
{
    const FakeMachine machine;
    NodeSources sources = h100_sources(machine);
    // One GPU has fewer links; NCCL numbers the GPUs from the other end.
    sources.nvml->gpus[7].links.resize(9);
    NvmlNode turned = *sources.nvml;
    for (NvmlGpu& gpu : turned.gpus)
        gpu.index = 7 - gpu.index;
    sources.nccl_dump = to_xml(*xml_of_machine(sources.host, &turned));
    const DiscoveredNode node = discovered(sources);
    CHECK(node.map.gpus[0].address == sources.nvml->gpus[7].address);
    CHECK(node.classes[0][1] == "NV9");
    CHECK(node.classes[1][2] == "NV18");
    CHECK_FALSE(says(node.believed, "NVML and /sys"));
}

TEST_CASE("without GPUs the processors are the devices")
{
    const FakeMachine machine;
    machine.two_sockets(4);
    NodeSources sources;
    sources.host = read_host(machine.root());
    const DiscoveredNode sockets = discovered(sources);
    const Topology topology = topology_of(sockets);
    REQUIRE(topology.device_count() == 2);
    CHECK(topology.device(DeviceId{0}).model == "CPU Intel Xeon Platinum 8480C");
    CHECK(sockets.classes[0][1] == "between processors");

    sources.cpu_ranks = 4;
    const DiscoveredNode ranks = discovered(sources);
    CHECK(topology_of(ranks).device_count() == 4);
    CHECK(ranks.classes[0][1] == "memory");
    CHECK(ranks.classes[1][2] == "between processors");
    CHECK(links_between(topology_of(ranks), 0, 1) == 2);
    CHECK(links_between(topology_of(ranks), 0, 2) == 3);
    CHECK(says(ranks.notes.assumed, "share of one of 2 processors"));
}

TEST_CASE("this machine, and one that shows nothing, are nodes too")
{
    NodeSources here;
    here.host = read_host();
    CHECK(topology_of(discovered(here)).device_count() >= 1);
    CHECK(topology_of(discovered({})).device_count() == 1);
}

TEST_CASE("texts that are no dump and no matrix are problems, cut and endless ones too")
{
    NodeSources sources;
    sources.nccl_dump = "<system><cpu";
    CHECK_FALSE(discover_node(sources));
    sources.nccl_dump.clear();
    sources.smi_matrix = "nothing here";
    CHECK_FALSE(discover_node(sources));
    // A cut matrix describes no node: said, and the processors remain.
    sources.smi_matrix = "     GPU0 GPU1 CPU Affinity\nGPU0  X   SYS  0\n";
    CHECK(says(discovered(sources).notes.flagged, "cut"));
}

TEST_CASE("PCIe trees that go in circles end")
{
    NodeSources sources;
    PciDevice gpu{"0000:03:00.0", "0000:01:00.0", 0x030200, "0x10de",
                  "0x2330",       {32, 16},       {32, 16}, 0};
    PciDevice a{"0000:01:00.0", "0000:02:00.0", 0x060400, "", "", {}, {}, 0};
    PciDevice b{"0000:02:00.0", "0000:01:00.0", 0x060400, "", "", {}, {}, 0};
    sources.host.pci = {a, b, gpu};
    CHECK(discovered(sources).map.gpus.size() == 1);
}

TEST_CASE("what pairs share on the way is known by name")
{
    const FakeMachine machine;
    NodeSources sources = h100_sources(machine);
    for (NvmlGpu& gpu : sources.nvml->gpus)
        gpu.links.clear();
    const std::vector<SharedPart> parts = shared_parts(discovered(sources).description);
    const auto pairs_of = [&parts](const std::string& name) {
        const auto found =
            std::find_if(parts.begin(), parts.end(),
                         [&name](const SharedPart& part) { return part.name == name; });
        REQUIRE(found != parts.end());
        return found->crossing.size();
    };
    // 12 pairs below the switch and 32 between the halves; a GPU's own link: its 7 pairs one way.
    CHECK(pairs_of("switch pcie-0000:11:00.0") == 44);
    CHECK(pairs_of("link gpu0 -> pcie-0000:11:00.0") == 7);
}

TEST_CASE("ranks of several nodes: classes of their node inside, network between")
{
    const Words node{{"X", "NV18"}, {"NV18", "X"}};
    const Words found = classes_of({{0, 0}, {0, 1}, {1, 1}}, {node, node});
    CHECK(found ==
          Words{{"X", "NV18", "network"}, {"NV18", "X", "network"}, {"network", "network", "X"}});
}

TEST_CASE("GPUs with C2C reach their Grace CPU over it, of models whose rate is known")
{
    const FakeMachine machine;
    NodeSources sources = h100_sources(machine);
    for (NvmlGpu& gpu : sources.nvml->gpus) {
        gpu.c2c_links = 10;
        gpu.c2c_rate = Bandwidth(44.712e9);
        gpu.nvlink_domain = "f00d.1";
    }
    CHECK(says(discovered(sources).notes.ignored, "C2C of h100_sxm5_80: its rate is not known"));
    CHECK(discovered(sources).map.nvlink_domain == "f00d.1");

    sources.model = "gh200_96";
    const DiscoveredNode node = discovered(sources);
    const Topology topology = topology_of(node);
    CHECK_THAT(topology.device(DeviceId{0}).host_link.value(), WithinRel(450e9, 1e-12));
    CHECK(says(node.notes.assumed, "the file gives 10 links of 44.712 GB/s"));
    // The PCIe switch above it stays the way to the NIC beside it.
    CHECK_THAT(topology.device(DeviceId{0}).pcie.value(), WithinRel(63e9, 1e-2));

    sources.nvml->gpus[3].nvlink_domain = "f00d.2";
    CHECK(discovered(sources).map.nvlink_domain.empty());
}
