#include "calibrate/measure/discover/sysfs.h"

#include "calibrate/import/log_text.h"
#include "calibrate/import/notes.h"
#include "calibrate/measure/discover/host_cpus.h"
#include "calibrate/measure/discover/pci_address.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

constexpr std::size_t most_devices = 2048;

// The PCI addresses among the parts of a link such as ../../devices/pci0000:00/0000:00:01.0/...
std::vector<std::string> addresses_in(std::string_view link)
{
    std::vector<std::string> out;
    while (!link.empty()) {
        const std::size_t slash = link.find('/');
        const std::string_view part = link.substr(0, slash);
        // Whole addresses only: 0000:00:01.0.
        if (const std::string address = pci_address(part); !address.empty() && address == part)
            out.push_back(address);
        link.remove_prefix(slash == link.npos ? link.size() : slash + 1);
    }
    return out;
}

PcieSpeed speed_in(const SysTree& tree, const std::string& folder, const char* which)
{
    const std::string speed =
        tree.text(fmt::format("{}/{}_link_speed", folder, which)).value_or("");
    const std::int64_t lanes =
        tree.number(fmt::format("{}/{}_link_width", folder, which)).value_or(0);
    const double transfers = number_after(speed, "").value_or(0);
    // Virtual machines say 63 lanes, or "Unknown".
    if (!(transfers > 0) || transfers > 1000 || lanes < 1 || lanes > 32)
        return {};
    return {transfers, static_cast<int>(lanes)};
}

void read_pci(const SysTree& tree, HostFacts& host)
{
    const std::string devices = "sys/bus/pci/devices";
    const std::vector<std::string> names = tree.entries(devices);
    if (names.empty())
        add_note(host.hidden, "PCI devices: no /sys/bus/pci/devices");
    for (const std::string& name : names) {
        PciDevice out;
        out.address = pci_address(name);
        const std::string folder = devices + "/" + name;
        const auto kind = tree.number(folder + "/class");
        if (out.address.empty() || !kind)
            continue;
        out.kind = static_cast<unsigned>(*kind & 0xffffff);
        if (host.pci.size() >= most_devices) {
            add_note(host.hidden, fmt::format("PCI devices beyond {}", most_devices));
            return;
        }
        const unsigned base = out.kind >> 16;
        if (base != 0x02 && base != 0x03 && base != 0x12 && !is_bridge(out))
            continue;
        const std::vector<std::string> way = addresses_in(tree.link(folder));
        if (way.size() > 1 && way.back() == out.address)
            out.parent = way[way.size() - 2];
        out.vendor = printable(tree.text(folder + "/vendor").value_or(""), 10);
        out.device = printable(tree.text(folder + "/device").value_or(""), 10);
        out.now = speed_in(tree, folder, "current");
        out.most = speed_in(tree, folder, "max");
        out.numa = static_cast<int>(
            std::clamp<std::int64_t>(tree.number(folder + "/numa_node").value_or(-1), -1, 65'535));
        host.pci.push_back(std::move(out));
    }
}

std::string address_of(const SysTree& tree, const std::string& folder)
{
    std::vector<std::string> way = addresses_in(tree.link(folder));
    if (way.empty())
        way = addresses_in(tree.link(folder + "/device"));
    return way.empty() ? std::string{} : way.back();
}

void read_rdma(const SysTree& tree, HostFacts& host)
{
    const std::string folder = "sys/class/infiniband";
    for (const std::string& name : tree.entries(folder)) {
        const std::string address = address_of(tree, folder + "/" + name);
        for (const std::string& port : tree.entries(fmt::format("{}/{}/ports", folder, name))) {
            const std::string at = fmt::format("{}/{}/ports/{}/", folder, name, port);
            NetworkPort out;
            out.name = printable(name, 40);
            out.address = address;
            out.port =
                static_cast<int>(std::clamp<std::int64_t>(integer_in(port).value_or(1), 1, 255));
            const double gigabits =
                number_after(tree.text(at + "rate").value_or(""), "").value_or(0);
            if (gigabits > 0 && gigabits < 1e5)
                out.rate = Bandwidth(gigabits * 1e9 / 8);
            out.up = tree.text(at + "state").value_or("").find("ACTIVE") != std::string::npos;
            out.rdma = true;
            out.infiniband = tree.text(at + "link_layer").value_or("") == "InfiniBand";
            host.ports.push_back(std::move(out));
        }
    }
}

// Interfaces of hardware that RDMA does not cover already.
void read_interfaces(const SysTree& tree, HostFacts& host)
{
    const std::string folder = "sys/class/net";
    for (const std::string& name : tree.entries(folder)) {
        const std::string at = folder + "/" + name;
        const std::string link = tree.link(at);
        if (link.empty() || link.find("/virtual/") != std::string::npos)
            continue;
        NetworkPort out;
        out.name = printable(name, 40);
        out.address = address_of(tree, at);
        const bool covered =
            std::any_of(host.ports.begin(), host.ports.end(), [&out](const NetworkPort& port) {
                return port.rdma && !port.address.empty() && port.address == out.address;
            });
        if (covered)
            continue;
        if (const auto megabits = tree.number(at + "/speed"); megabits && *megabits > 0)
            out.rate = Bandwidth(static_cast<double>(*megabits) * 1e6 / 8);
        out.up = tree.text(at + "/operstate").value_or("") == "up";
        host.ports.push_back(std::move(out));
    }
}

std::string speed_text(const PcieSpeed& speed)
{
    return fmt::format("{:g} GT/s x{}", speed.transfers, speed.lanes);
}

void add_pcie_doubts(const HostFacts& host, const PciDevice& device, std::vector<std::string>& out)
{
    const std::string what = is_nvidia_gpu(device) ? "GPU" : "NIC";
    if (device.now.lanes < device.most.lanes)
        out.push_back(fmt::format("{} {} runs at {}; it could do {}: a narrow slot, or it sits "
                                  "badly in it",
                                  what, device.address, speed_text(device.now),
                                  speed_text(device.most)));
    const double usable = usable_speed(host, device).transfers;
    if (usable < device.most.transfers)
        out.push_back(fmt::format("{} {} could run {:g} GT/s; its slot does {:g} at most", what,
                                  device.address, device.most.transfers, usable));
    else if (device.now.transfers < usable)
        out.push_back(fmt::format("{} {} runs {:g} GT/s now and could {:g}: while idle it may save "
                                  "power so, under load it must not",
                                  what, device.address, device.now.transfers, usable));
}

} // namespace

bool is_bridge(const PciDevice& device)
{
    return device.kind >> 8 == 0x0604;
}

bool is_nvidia_gpu(const PciDevice& device)
{
    return device.vendor == "0x10de" && (device.kind >> 8 == 0x0302 || device.kind >> 8 == 0x0300);
}

HostFacts read_host(const std::filesystem::path& root)
{
    const SysTree tree(root);
    HostFacts host;
    host.name = printable(tree.text("proc/sys/kernel/hostname").value_or(""));
    host.kernel = printable(tree.text("proc/sys/kernel/osrelease").value_or(""));
    read_cpus(tree, host);
    read_pci(tree, host);
    read_rdma(tree, host);
    read_interfaces(tree, host);
    return host;
}

const PciDevice* find_device(const HostFacts& host, const std::string& address)
{
    const auto found = std::find_if(host.pci.begin(), host.pci.end(), [&](const PciDevice& device) {
        return device.address == address;
    });
    return found == host.pci.end() ? nullptr : &*found;
}

std::vector<const PciDevice*> bridges_above(const HostFacts& host, const PciDevice& device)
{
    constexpr std::size_t deepest = 32;
    std::vector<const PciDevice*> out;
    const PciDevice* at = &device;
    while (!at->parent.empty() && out.size() < deepest) {
        at = find_device(host, at->parent);
        if (at == nullptr || at == &device || std::find(out.begin(), out.end(), at) != out.end())
            break;
        out.push_back(at);
    }
    return out;
}

PcieSpeed usable_speed(const HostFacts& host, const PciDevice& device)
{
    PcieSpeed out{device.most.transfers, device.now.lanes};
    if (const PciDevice* const port = find_device(host, device.parent);
        port != nullptr && port->most.transfers > 0)
        out.transfers = std::min(out.transfers, port->most.transfers);
    return out;
}

std::vector<std::string> doubts(const HostFacts& host)
{
    std::vector<std::string> out;
    const auto carries_rdma = [&host](const PciDevice& device) {
        return std::any_of(host.ports.begin(), host.ports.end(), [&](const NetworkPort& port) {
            return port.rdma && port.address == device.address;
        });
    };
    for (const PciDevice& device : host.pci)
        if ((is_nvidia_gpu(device) || carries_rdma(device)) && device.now.lanes > 0)
            add_pcie_doubts(host, device, out);
    for (const NetworkPort& port : host.ports)
        if (port.rdma && !port.up)
            out.push_back(fmt::format("port {} of {} is down", port.port, port.name));
    if (host.governor == "powersave" || host.governor == "conservative")
        out.push_back(fmt::format("the CPUs may save power (governor {}): launches and copies can "
                                  "be slower than with \"performance\"",
                                  host.governor));
    int threads = 0;
    for (const CpuSocket& socket : host.sockets)
        threads += socket.threads;
    if (host.allowed_cpus > 0 && host.allowed_cpus < threads)
        out.push_back(
            fmt::format("this container may use {:g} of {} CPUs", host.allowed_cpus, threads));
    return out;
}

} // namespace trainyard
