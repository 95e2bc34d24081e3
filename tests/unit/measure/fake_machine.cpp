#include "tests/unit/measure/fake_machine.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>

namespace trainyard {
namespace fs = std::filesystem;

void FakeMachine::file(const std::string& path, const std::string& content) const
{
    fs::create_directories((root() / path).parent_path());
    std::ofstream(root() / path) << content << '\n';
}

void FakeMachine::link(const std::string& path, const std::string& target) const
{
    fs::create_directories((root() / path).parent_path());
    fs::create_symlink(target, root() / path);
}

void FakeMachine::pci(const FakePci& device, const std::string& above) const
{
    const std::string way =
        fmt::format("devices/pci0000:00/{}{}{}", above, above.empty() ? "" : "/", device.address);
    const std::string at = "sys/" + way + "/";
    file(at + "class", device.kind);
    file(at + "vendor", device.vendor);
    file(at + "device", device.device);
    file(at + "current_link_speed", device.speed);
    file(at + "current_link_width", std::to_string(device.lanes));
    file(at + "max_link_speed", device.most_speed);
    file(at + "max_link_width", std::to_string(device.most_lanes));
    file(at + "numa_node", std::to_string(device.numa));
    link("sys/bus/pci/devices/" + device.address, "../../../" + way);
}

void FakeMachine::two_sockets(int cores) const
{
    std::string cpuinfo;
    for (int cpu = 0; cpu < 4 * cores; ++cpu) {
        const int socket = cpu / cores % 2; // cores of both sockets, then their second threads
        cpuinfo +=
            fmt::format("processor\t: {}\nmodel name\t: Intel(R) Xeon(R) Platinum 8480C CPU "
                        "@ 2.00GHz\nphysical id\t: {}\ncore id\t: {}\nflags\t: fpu lm sse\n\n",
                        cpu, socket, cpu % cores);
        const std::string at = fmt::format("sys/devices/system/cpu/cpu{}/topology/", cpu);
        file(at + "physical_package_id", std::to_string(socket));
        file(at + "core_id", std::to_string(cpu % cores));
    }
    file("proc/cpuinfo", cpuinfo);
    file("proc/meminfo", "MemTotal:       1048576 kB\nMemFree: 12 kB");
    file("proc/sys/kernel/osrelease", "6.1.0-18-amd64");
    file("proc/sys/kernel/hostname", "gpu-node-7");
    for (int node = 0; node < 2; ++node) {
        const std::string at = fmt::format("sys/devices/system/node/node{}/", node);
        file(at + "cpulist", fmt::format("{}-{},{}-{}", node * cores, node * cores + cores - 1,
                                         (node + 2) * cores, (node + 3) * cores - 1));
        file(at + "meminfo", fmt::format("Node {} MemTotal:  524288 kB", node));
    }
}

void FakeMachine::rdma(const std::string& name, const std::string& way, const std::string& rate,
                       const std::string& layer, const std::string& state) const
{
    const std::string device = "devices/pci0000:00/" + way + "/infiniband/" + name;
    const std::string at = "sys/" + device + "/ports/1/";
    file(at + "rate", rate);
    file(at + "state", state);
    file(at + "link_layer", layer);
    link("sys/class/infiniband/" + name, "../../" + device);
}

FakePci nvidia_gpu(const std::string& address, int numa)
{
    FakePci out;
    out.address = address;
    out.kind = "0x030200";
    out.vendor = "0x10de";
    out.device = "0x2330";
    out.numa = numa;
    return out;
}

FakePci mellanox_nic(const std::string& address, int numa)
{
    FakePci out;
    out.address = address;
    out.kind = "0x020700";
    out.vendor = "0x15b3";
    out.device = "0x1021";
    out.numa = numa;
    return out;
}

void write_two_switch_server(const FakeMachine& machine, int gpus)
{
    machine.two_sockets(4);
    for (int socket = 0; socket < 2; ++socket) {
        const int base = socket == 0 ? 1 : 8;
        FakePci bridge;
        bridge.numa = socket;
        const auto add_bridge = [&](const std::string& address, const std::string& above) {
            bridge.address = address;
            machine.pci(bridge, above);
            return above.empty() ? address : above + "/" + address;
        };
        const std::string root = add_bridge(fmt::format("0000:{}0:01.0", base), "");
        const std::string upstream = add_bridge(fmt::format("0000:{}1:00.0", base), root);
        for (int port = 3; port < 3 + gpus; ++port) {
            const std::string above =
                add_bridge(fmt::format("0000:{}2:{:02x}.0", base, port), upstream);
            machine.pci(nvidia_gpu(fmt::format("0000:{}{}:00.0", base, port), socket), above);
        }
        const std::string above = add_bridge(fmt::format("0000:{}2:1f.0", base), upstream);
        const std::string nic = fmt::format("0000:{}f:00.0", base);
        machine.pci(mellanox_nic(nic, socket), above);
        machine.rdma(fmt::format("mlx5_{}", socket), above + "/" + nic, "400 Gb/sec (4X NDR)");
    }
}

bool says(const std::vector<std::string>& lines, const std::string& part)
{
    return std::any_of(lines.begin(), lines.end(), [&part](const std::string& line) {
        return line.find(part) != std::string::npos;
    });
}

} // namespace trainyard
