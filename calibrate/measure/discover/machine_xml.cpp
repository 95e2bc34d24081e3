#include "calibrate/measure/discover/machine_xml.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace trainyard {
namespace {

constexpr const char* gpu_class = "0x030200";
constexpr const char* nvswitch_class = "0x068000";

// One <nvlink> for all active links that end at the same place.
std::vector<XmlElement> nvlinks_of(const NvmlGpu& gpu)
{
    std::map<std::pair<std::string, std::string>, int> counts; // target and class
    for (const NvmlLink& link : gpu.links) {
        if (!link.active || link.end == NvlinkEnd::other)
            continue;
        const bool switched = link.end == NvlinkEnd::nvswitch;
        // In virtual machines switches have no address; NCCL writes this one.
        const std::string target =
            switched && link.remote.empty() ? "fffffff:ffff:ff" : link.remote;
        ++counts[{target, switched ? nvswitch_class : gpu_class}];
    }
    std::vector<XmlElement> out;
    for (const auto& [end, count] : counts)
        out.push_back(
            {"nvlink",
             {{"target", end.first}, {"count", std::to_string(count)}, {"tclass", end.second}},
             {}});
    return out;
}

struct Branch {
    const PciDevice* device = nullptr;
    std::vector<const PciDevice*> below;
};

class MachineWriter {
public:
    MachineWriter(const HostFacts& host, const NvmlNode* nvml) : host_(host), nvml_(nvml) {}

    std::optional<XmlElement> write()
    {
        if (!find_gpus())
            return std::nullopt;
        // NCCL speaks TCP only where there is nothing better.
        const bool rdma = std::any_of(host_.ports.begin(), host_.ports.end(),
                                      [](const NetworkPort& port) { return port.up && port.rdma; });
        for (const NetworkPort& port : host_.ports)
            if (port.up && port.rdma == rdma && find_device(host_, port.address) != nullptr)
                nics_[port.address].push_back(&port);
        std::set<std::string> placed;
        for (const auto& [address, number] : gpus_)
            place(address, placed);
        for (const auto& [address, ports] : nics_)
            place(address, placed);
        XmlElement system{"system", {{"version", "1"}}, {}};
        for (const auto& [numa, roots] : cpus_) {
            XmlElement cpu{"cpu", {{"numaid", std::to_string(numa)}}, {}};
            for (const PciDevice* root : roots)
                cpu.children.push_back(element_of(*root, {}));
            system.children.push_back(std::move(cpu));
        }
        return system;
    }

private:
    // Where NVML was asked its GPUs are the GPUs, in its order; else those of /sys.
    bool find_gpus()
    {
        if (nvml_ == nullptr) {
            for (const PciDevice& device : host_.pci)
                if (is_nvidia_gpu(device))
                    gpus_.emplace(device.address, static_cast<int>(gpus_.size()));
        } else {
            for (const NvmlGpu& gpu : nvml_->gpus) {
                if (find_device(host_, gpu.address) == nullptr)
                    return false;
                gpus_.emplace(gpu.address, gpu.index);
            }
        }
        return !gpus_.empty();
    }

    // Hangs a device below its bridges, and these below their CPU.
    void place(const std::string& address, std::set<std::string>& placed)
    {
        const PciDevice* at = find_device(host_, address);
        int numa = at->numa;
        const std::vector<const PciDevice*> bridges = bridges_above(host_, *at);
        for (const PciDevice* bridge : bridges) {
            if (!placed.insert(at->address).second)
                return;
            below_[bridge->address].push_back(at);
            at = bridge;
            numa = numa < 0 ? at->numa : numa;
        }
        if (placed.insert(at->address).second)
            cpus_[std::max(numa, 0)].push_back(at);
    }

    // `above`: what the links of bridges left out carry. Depth is bounded by bridges_above.
    XmlElement element_of(const PciDevice& device, PcieSpeed above)
    {
        const PcieSpeed own = usable_speed(host_, device);
        const bool narrower = above.lanes > 0 && (own.lanes == 0 || above.transfers * above.lanes <
                                                                        own.transfers * own.lanes);
        const PcieSpeed speed = narrower ? above : own;
        const auto found = below_.find(device.address);
        if (is_bridge(device) && found != below_.end() && found->second.size() == 1)
            return element_of(*found->second.front(), speed);
        XmlElement out{"pci", {{"busid", device.address}}, {}};
        out.attributes.emplace_back("class", fmt::format("{:#08x}", device.kind));
        out.attributes.emplace_back("vendor", device.vendor);
        out.attributes.emplace_back("device", device.device);
        if (speed.lanes > 0) {
            out.attributes.emplace_back("link_speed",
                                        fmt::format("{:.1f} GT/s PCIe", speed.transfers));
            out.attributes.emplace_back("link_width", std::to_string(speed.lanes));
        }
        // Without <gpu> readers know that nobody looked for NVLinks.
        if (nvml_ != nullptr && gpus_.contains(device.address))
            out.children.push_back(gpu_element(device.address));
        else if (nics_.contains(device.address))
            out.children.push_back(nic_element(device.address));
        else if (found != below_.end())
            for (const PciDevice* child : found->second)
                out.children.push_back(element_of(*child, {}));
        return out;
    }

    XmlElement gpu_element(const std::string& address) const
    {
        XmlElement out{"gpu", {{"dev", std::to_string(gpus_.at(address))}}, {}};
        for (const NvmlGpu& gpu : nvml_->gpus)
            if (gpu.address == address) {
                out.attributes.emplace_back("sm", std::to_string(gpu.capability));
                out.children = nvlinks_of(gpu);
                if (gpu.c2c_links > 0)
                    out.children.push_back(
                        {"c2c",
                         {{"bw", fmt::format("{:.0f}", gpu.c2c_rate.value() / 1e6)},
                          {"count", std::to_string(gpu.c2c_links)}},
                         {}});
            }
        return out;
    }

    XmlElement nic_element(const std::string& address) const
    {
        XmlElement out{"nic", {}, {}};
        for (const NetworkPort* port : nics_.at(address)) {
            const double megabits = port->rate.value() * 8 / 1e6;
            XmlElement net{"net", {{"name", port->name}}, {}};
            if (megabits > 0)
                net.attributes.emplace_back("speed", fmt::format("{:.0f}", megabits));
            net.attributes.emplace_back("port", std::to_string(port->port));
            out.children.push_back(std::move(net));
        }
        return out;
    }

    const HostFacts& host_;
    const NvmlNode* nvml_;
    std::map<std::string, int> gpus_; // address -> number
    std::map<std::string, std::vector<const NetworkPort*>> nics_;
    std::map<std::string, std::vector<const PciDevice*>> below_;
    std::map<int, std::vector<const PciDevice*>> cpus_; // by NUMA node
};

std::string word_of_level(int level)
{
    switch (level) {
    case 0:
    case 10:
        return "PIX";
    case 20:
        return "PXB";
    case 30:
        return "PHB";
    case 40:
        return "NODE";
    case 50:
        return "SYS";
    default:
        return "?";
    }
}

// NVLinks that end at the other GPU; where both have switches, the fewer of their links to them.
int nvlinks_between(const NvmlGpu& a, const NvmlGpu& b)
{
    int direct = 0;
    int to_switches = 0;
    for (const NvmlLink& link : a.links) {
        direct += link.active && link.end == NvlinkEnd::gpu && link.remote == b.address ? 1 : 0;
        to_switches += link.active && link.end == NvlinkEnd::nvswitch ? 1 : 0;
    }
    const auto others = std::count_if(b.links.begin(), b.links.end(), [](const NvmlLink& link) {
        return link.active && link.end == NvlinkEnd::nvswitch;
    });
    return direct > 0 ? direct : std::min(to_switches, static_cast<int>(others));
}

} // namespace

std::optional<XmlElement> xml_of_machine(const HostFacts& host, const NvmlNode* nvml)
{
    return MachineWriter(host, nvml).write();
}

std::vector<std::vector<std::string>> words_between(const NvmlNode& nvml)
{
    const std::size_t count = nvml.gpus.size();
    std::vector<std::vector<std::string>> out(count, std::vector<std::string>(count, "?"));
    for (std::size_t a = 0; a < count; ++a)
        for (std::size_t b = 0; b < count; ++b) {
            const int links = a == b ? 0 : nvlinks_between(nvml.gpus[a], nvml.gpus[b]);
            if (a == b)
                out[a][b] = "X";
            else if (links > 0)
                out[a][b] = fmt::format("NV{}", links);
            else if (a < nvml.levels.size() && b < nvml.levels[a].size())
                out[a][b] = word_of_level(nvml.levels[a][b]);
        }
    return out;
}

SmiMatrix matrix_of_nvml(const NvmlNode& nvml, const HostFacts& host)
{
    SmiMatrix out;
    out.links = words_between(nvml);
    for (std::size_t i = 0; i < nvml.gpus.size(); ++i) {
        std::replace(out.links[i].begin(), out.links[i].end(), std::string("?"),
                     std::string("PHB"));
        out.names.push_back(fmt::format("GPU{}", i));
        const PciDevice* const device = find_device(host, nvml.gpus[i].address);
        out.numa.push_back(device == nullptr ? -1 : device->numa);
    }
    out.nic_names = out.names;
    return out;
}

} // namespace trainyard
