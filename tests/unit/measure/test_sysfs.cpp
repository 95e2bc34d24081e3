#include "calibrate/measure/discover/host_cpus.h"
#include "calibrate/measure/discover/pci_address.h"
#include "calibrate/measure/discover/sysfs.h"
#include "tests/catch.h"
#include "tests/unit/measure/fake_machine.h"

#include <fmt/core.h>

using namespace trainyard;

namespace {} // namespace

TEST_CASE("a server shows its sockets, memory, PCIe tree and ports")
{
    const FakeMachine machine;
    write_two_switch_server(machine, 4);
    const HostFacts host = read_host(machine.root());
    CHECK(host.name == "gpu-node-7");
    CHECK(host.cpu == "Intel Xeon Platinum 8480C");
    CHECK(host.architecture == "x86_64");
    CHECK(host.sockets == std::vector<CpuSocket>{{0, 4, 8}, {1, 4, 8}});
    REQUIRE(host.numa.size() == 2);
    CHECK(host.numa[1].socket == 1);
    CHECK(host.memory == Bytes(std::uint64_t{1} << 30));
    const PciDevice* const gpu = find_device(host, "0000:85:00.0");
    REQUIRE(gpu != nullptr);
    CHECK(is_nvidia_gpu(*gpu));
    CHECK(gpu->numa == 1);
    // Port of the switch, the switch, root port.
    REQUIRE(bridges_above(host, *gpu).size() == 3);
    CHECK(bridges_above(host, *gpu)[1]->address == "0000:81:00.0");
    REQUIRE(host.ports.size() == 2);
    CHECK(host.ports[0].infiniband);
    CHECK(host.ports[1].address == "0000:8f:00.0");
    CHECK_THAT(host.ports[0].rate.value(), WithinRel(50e9, 1e-12));
    CHECK(doubts(host).empty());
    CHECK(host.hidden.empty());
}

TEST_CASE("a GPU with half its lanes, or in an old slot, is a finding")
{
    const FakeMachine machine;
    FakePci narrow = nvidia_gpu("0000:01:00.0");
    narrow.lanes = 8;
    machine.pci(narrow);
    FakePci port;
    port.address = "0000:00:02.0";
    port.most_speed = port.speed = "8.0 GT/s PCIe";
    machine.pci(port);
    FakePci old_slot = nvidia_gpu("0000:02:00.0");
    old_slot.speed = "8.0 GT/s PCIe";
    machine.pci(old_slot, "0000:00:02.0");
    FakePci idle = nvidia_gpu("0000:03:00.0");
    idle.speed = "2.5 GT/s PCIe";
    machine.pci(idle);
    const HostFacts host = read_host(machine.root());
    const std::vector<std::string> found = doubts(host);
    REQUIRE(found.size() == 3);
    CHECK_THAT(found[0], ContainsSubstring("0000:01:00.0 runs at 32 GT/s x8"));
    CHECK_THAT(found[1], ContainsSubstring("0000:02:00.0 could run 32 GT/s; its slot does 8"));
    CHECK_THAT(found[2], ContainsSubstring("while idle it may save power"));
    // What counts for the topology: lanes as they are, the speed that both ends can do.
    CHECK(usable_speed(host, *find_device(host, "0000:01:00.0")) == PcieSpeed{32, 8});
    CHECK(usable_speed(host, *find_device(host, "0000:02:00.0")) == PcieSpeed{8, 16});
    CHECK(usable_speed(host, *find_device(host, "0000:03:00.0")) == PcieSpeed{32, 16});
}

TEST_CASE("ports that are down, rationed and power-saving CPUs are findings")
{
    const FakeMachine machine;
    machine.two_sockets(2);
    machine.pci(mellanox_nic("0000:05:00.0"));
    machine.rdma("mlx5_3", "0000:05:00.0", "400 Gb/sec (4X NDR)", "InfiniBand", "1: DOWN");
    machine.file("sys/fs/cgroup/cpu.max", "200000 100000");
    machine.file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave");
    machine.file("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3800000");
    const HostFacts host = read_host(machine.root());
    CHECK(host.most_cpu_mhz == 3800);
    CHECK(says(doubts(host), "port 1 of mlx5_3 is down"));
    CHECK(says(doubts(host), "may use 2 of 8 CPUs"));
    CHECK(says(doubts(host), "governor powersave"));
}

TEST_CASE("interfaces of hardware are ports but virtual ones and those behind RDMA are not")
{
    const FakeMachine machine;
    machine.file("sys/devices/pci0000:00/0000:00:03.0/virtio2/net/eth0/speed", "25000");
    machine.file("sys/devices/pci0000:00/0000:00:03.0/virtio2/net/eth0/operstate", "up");
    machine.link("sys/class/net/eth0", "../../devices/pci0000:00/0000:00:03.0/virtio2/net/eth0");
    machine.file("sys/devices/virtual/net/lo/operstate", "unknown");
    machine.link("sys/class/net/lo", "../../devices/virtual/net/lo");
    machine.pci(mellanox_nic("0000:05:00.0"));
    machine.rdma("mlx5_0", "0000:05:00.0", "100 Gb/sec (4X EDR)", "Ethernet");
    machine.file("sys/devices/pci0000:00/0000:05:00.0/net/ens5/operstate", "up");
    machine.link("sys/class/net/ens5", "../../devices/pci0000:00/0000:05:00.0/net/ens5");
    const HostFacts host = read_host(machine.root());
    REQUIRE(host.ports.size() == 2);
    CHECK(host.ports[0].name == "mlx5_0");
    CHECK(host.ports[0].rdma);
    CHECK_FALSE(host.ports[0].infiniband);
    CHECK(host.ports[1].name == "eth0");
    CHECK(host.ports[1].address == "0000:00:03.0");
    CHECK_THAT(host.ports[1].rate.value(), WithinRel(3.125e9, 1e-12));
}

TEST_CASE("ARM processors are named by their registers")
{
    const FakeMachine machine;
    machine.file("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n\n"
                                 "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n");
    const HostFacts host = read_host(machine.root());
    CHECK(host.cpu == "Neoverse V2");
    CHECK(host.architecture == "aarch64");
    CHECK(host.sockets == std::vector<CpuSocket>{{0, 2, 2}});
    CHECK(cpu_name("CPU implementer : 0x99\nCPU part : 0x123\n") == "ARM 0x99 0x123");
}

TEST_CASE("a machine that shows nothing is read without complaint but says what is hidden")
{
    const FakeMachine machine;
    const HostFacts host = read_host(machine.root());
    CHECK(host.sockets.empty());
    CHECK(host.pci.empty());
    CHECK(doubts(host).empty());
    CHECK(host.hidden.size() == 3);
    CHECK(read_host("/no/such/folder").hidden.size() == 3);
}

TEST_CASE("hostile trees end reading: circles, pipes, nonsense, endless files and lists")
{
    const FakeMachine machine;
    machine.link("sys/bus/pci/devices/0000:01:00.0", "0000:02:00.0");
    machine.link("sys/bus/pci/devices/0000:02:00.0", "0000:01:00.0");
    machine.link("sys/class/net/eth0", "eth0");
    machine.link("proc/meminfo", "/dev/zero");
    machine.file("proc/cpuinfo", std::string(std::size_t{9} << 20, 'x'));
    machine.file("sys/devices/system/cpu/cpu99999999999999999999/topology/physical_package_id",
                 "0");
    machine.file("sys/devices/system/cpu/cpu0/topology/physical_package_id", "-1");
    machine.file("sys/devices/system/node/node0/cpulist", "0-99999999999");
    machine.file("sys/devices/system/node/node1/cpulist", "5-1,,x");
    FakePci bad = nvidia_gpu("0000:04:00.0");
    bad.speed = "Unknown";
    bad.lanes = 63;
    bad.kind = "0xzz";
    machine.pci(bad);
    bad.address = "0000:05:00.0";
    bad.kind = "0x030200";
    machine.pci(bad);
    const HostFacts host = read_host(machine.root());
    REQUIRE(host.pci.size() == 1);
    CHECK(host.pci[0].now == PcieSpeed{});
    CHECK(host.sockets == std::vector<CpuSocket>{{0, 1, 1}});
    CHECK(host.memory == Bytes(0));
    CHECK(doubts(host).empty());
}

TEST_CASE("bridges that lead to themselves are walked once")
{
    HostFacts host;
    const PciDevice bridge{"0000:01:00.0", "0000:02:00.0", 0x060400, "", "", {}, {}, -1};
    host.pci = {bridge, bridge, bridge};
    host.pci[1].address = "0000:02:00.0";
    host.pci[1].parent = "0000:01:00.0";
    host.pci[2].address = "0000:03:00.0";
    CHECK(bridges_above(host, host.pci[2]).size() == 2);
}

TEST_CASE("PCI addresses are one however they are written")
{
    CHECK(pci_address("00000000:1B:00.0") == "0000:1b:00.0");
    CHECK(pci_address("0000:1b:00.0") == "0000:1b:00.0");
    CHECK(pci_address("1b:00.0") == "0000:1b:00.0");
    CHECK(pci_address("00010001:1B:1f.7") == "10001:1b:1f.7");
    for (const char* bad : {"", "pci0000:00", "0000:00", "1b:00", "g1:00.0", ":1b:00.0", "1b:00.9",
                            "1b:20.0", "1:2:3:4:5.0", "0000:1b:00.0.0", ".", ":::."})
    {
        INFO(bad);
        CHECK(pci_address(bad).empty());
    }
}
