#include "calibrate/import/nccl_xml.h"
#include "calibrate/import/read_node.h"
#include "calibrate/import/smi_topology.h"
#include "sim/base/files.h"
#include "sim/topology/read_topology.h"
#include "tests/catch.h"

#include <filesystem>

using namespace trainyard;

namespace {

Topology topology_of(const std::string& text, const TopologyHints& hints = {})
{
    const Checked<ImportedTopology> imported = read_node_topology(text, "node", hints);
    REQUIRE(imported);
    const Checked<Topology> topology = read_topology(imported->json, "node.json");
    REQUIRE(topology);
    return *topology;
}

DeviceId gpu(std::uint32_t number)
{
    return DeviceId{number};
}

} // namespace

TEST_CASE("pairs that the matrix puts closer have no longer paths")
{
    // PIX below PXB below NODE below SYS: one more PCIe switch, or the link between CPUs, each.
    const std::string matrix =
        "        GPU0    GPU1    GPU2    GPU3    GPU4    CPU Affinity    NUMA Affinity\n"
        "GPU0     X      PIX     PXB     NODE    SYS     0-11            0\n"
        "GPU1    PIX      X      PXB     NODE    SYS     0-11            0\n"
        "GPU2    PXB     PXB      X      NODE    SYS     0-11            0\n"
        "GPU3    NODE    NODE    NODE     X      SYS     0-11            0\n"
        "GPU4    SYS     SYS     SYS     SYS      X      12-23           1\n";
    const Topology node = topology_of(matrix, {"a10", 1});
    const auto links = [&](std::uint32_t to) { return node.path(gpu(0), gpu(to)).size(); };
    CHECK(links(1) == 2);
    CHECK(links(1) < links(2));
    CHECK(links(2) <= links(3));
    CHECK(links(3) < links(4));
}

TEST_CASE("more NVLinks than a GPU has end in switches")
{
    const std::string switched = "     GPU0 GPU1 GPU2 CPU Affinity\n"
                                 "GPU0  X   NV18 NV18 0-5\n"
                                 "GPU1 NV18  X   NV18 0-5\n"
                                 "GPU2 NV18 NV18  X   0-5\n";
    CHECK(topology_of(switched).device(gpu(0)).nvswitch);
    CHECK_THAT(topology_of(switched).device(gpu(0)).nvlink.value(), WithinRel(450e9, 1e-12));

    const std::string bridged = "     GPU0 GPU1 CPU Affinity\n"
                                "GPU0  X   NV4  0-5\n"
                                "GPU1 NV4   X   0-5\n";
    CHECK_FALSE(topology_of(bridged).device(gpu(0)).nvswitch);
    CHECK_THAT(topology_of(bridged).device(gpu(0)).nvlink.value(), WithinRel(100e9, 1e-12));
}

TEST_CASE("widths of columns do not matter")
{
    const std::string wide = "\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\x1b[0m\n"
                             "GPU0\t X \tNV12\tPXB\t0-23\t0\n"
                             "GPU1\tNV12\t X \tSYS\t24-47\t1\n"
                             "NIC0\tPXB\tSYS\t X \t\t\n\nNIC Legend:\n\n  NIC0: mlx5_0\n";
    const std::string narrow = "     GPU0 GPU1 NIC0 CPU Affinity NUMA Affinity\n"
                               "GPU0 X NV12 PXB 0-23 0\n"
                               "GPU1 NV12 X SYS 24-47 1\n"
                               "NIC0 PXB SYS X\n\nNIC Legend:\n NIC0: mlx5_0\n";
    const std::vector<SmiMatrix> a = read_smi_matrices(wide);
    const std::vector<SmiMatrix> b = read_smi_matrices(narrow);
    CHECK(a == b);
    CHECK(a.at(0).nic_names.at(2) == "mlx5_0");
    CHECK(a.at(0).numa == std::vector<int>{0, 1, -1});
}

TEST_CASE("a matrix that differs both ways, or is cut, is refused")
{
    CHECK_FALSE(
        read_node_topology("  GPU0 GPU1 CPU Affinity\nGPU0 X NV4 0-5\nGPU1 SYS X 0-5\n", "matrix"));
    CHECK_FALSE(read_node_topology("  GPU0 GPU1 CPU Affinity\nGPU0 X NV4 0-5\n", "matrix"));
    CHECK_FALSE(read_node_topology("nothing", "text"));
}

TEST_CASE("XML of NCCL that was written reads back as it was")
{
    int files = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator("tests/golden/data/topology_files")) {
        if (entry.path().extension() != ".xml")
            continue;
        const Checked<XmlElement> system = read_nccl_xml(read_file(entry.path()), "file");
        REQUIRE(system);
        const Checked<XmlElement> back = read_nccl_xml(to_xml(*system), "again");
        REQUIRE(back);
        CHECK(*back == *system);
        ++files;
    }
    CHECK(files == 14);
}

TEST_CASE("NVLinks of the XML go to switches or to their target, counted once")
{
    const std::string ends =
        R"(<system version="1"><cpu numaid="0">
             <pci busid="0000:01:00.0" class="0x030200" link_speed="16 GT/s" link_width="16">
               <gpu dev="0" sm="80" rank="0"><nvlink target="0000:02:00.0" count="4" tclass="0x030200"/></gpu></pci>
             <pci busid="0000:02:00.0" class="0x030200" link_speed="16 GT/s" link_width="16">
               <gpu dev="1" sm="80" rank="1"><nvlink target="0000:01:00.0" count="4" tclass="0x030200"/></gpu></pci>
           </cpu></system>)";
    CHECK_THAT(topology_of(ends).device(gpu(0)).nvlink.value(), WithinRel(100e9, 1e-12)); // 4 x 25
    const Topology dgx =
        topology_of(read_file("tests/golden/data/topology_files/oci_h100-topology.xml"));
    CHECK(dgx.device_count() == 8);
    CHECK(dgx.device(gpu(3)).nvswitch);
    CHECK_THAT(dgx.device(gpu(3)).nvlink.value(), WithinRel(450e9, 1e-12)); // 18 x 25
    CHECK(dgx.network(NodeId{0}).nics == 16);
    CHECK_THAT(dgx.network(NodeId{0}).nic_rate.value(), WithinRel(22.5e9, 1e-12)); // 180000 Mb/s
}

TEST_CASE("XML that is broken, deep or of something else is refused")
{
    CHECK_FALSE(read_node_topology("<system><cpu>", "cut.xml"));
    CHECK_FALSE(read_node_topology("<html/>", "page.xml"));
    CHECK_FALSE(read_node_topology("<system version=\"1\"/>", "empty.xml"));
    std::string deep;
    for (int i = 0; i < 10'000; ++i)
        deep += "<pci>";
    CHECK_FALSE(read_node_topology("<system><cpu>" + deep, "deep.xml"));
    for (int i = 0; i < 10'000; ++i)
        deep += "</pci>";
    CHECK_FALSE(read_node_topology("<system><cpu>" + deep + "</cpu></system>", "deep.xml"));
}

TEST_CASE("XML of more devices than a node has is refused with how many they are")
{
    std::string wide;
    for (int i = 0; i < 5'000; ++i)
        wide += "<pci busid=\"0\" class=\"0x030200\"><gpu dev=\"0\"/></pci>";
    const auto read = read_node_topology("<system><cpu>" + wide + "</cpu></system>", "wide.xml");
    REQUIRE_FALSE(read);
    CHECK_THAT(read.error().front().message, ContainsSubstring("5000 GPUs"));
}

TEST_CASE("no NVLinks are assumed where NCCL looked at the GPUs and listed none")
{
    const auto server = [](const std::string& inside) {
        std::string xml = "<system version=\"1\"><cpu numaid=\"0\">";
        for (int i = 0; i < 8; ++i)
            xml += "<pci busid=\"0000:0" + std::to_string(i) +
                   ":00.0\" class=\"0x030200\" device=\"0x2330\" link_speed=\"32.0 GT/s PCIe\" "
                   "link_width=\"16\">" +
                   inside + "</pci>";
        return topology_of(xml + "</cpu></system>");
    };
    CHECK(server("").device(gpu(0)).nvswitch); // as boards with 8 H100s have
    CHECK_FALSE(server("<gpu dev=\"0\" sm=\"90\"/>").device(gpu(0)).nvswitch);
}
