// From the elements of NCCL's XML to a node.

#include "calibrate/import/device_facts.h"
#include "calibrate/import/log_text.h"
#include "calibrate/import/nccl_xml.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

namespace trainyard {
namespace {

std::string attribute_of(const XmlElement* element, std::string_view key)
{
    return element == nullptr ? std::string{} : element->attribute(key);
}

int number_of(const XmlElement& element, std::string_view key, int otherwise)
{
    const auto value = integer_in(element.attribute(key));
    return value ? static_cast<int>(std::clamp<std::int64_t>(*value, -1, 1'000'000'000))
                 : otherwise;
}

// A GPU and what the file says of it.
struct FoundGpu {
    const XmlElement* pci; // null: not in the file
    const XmlElement* gpu; // null: NCCL had not looked yet
    int parent;
};

struct FoundNic {
    const XmlElement* pci; // null: below the CPU itself
    const XmlElement* nic; // null: no ports are listed
    int parent;
};

class Importer {
public:
    Importer(std::string model, ImportNotes& notes) : model_(std::move(model)), notes_(notes) {}

    std::optional<NodeMap> run(const XmlElement& system)
    {
        map_.name = "imported-node";
        for (const XmlElement& cpu : system.children)
            if (cpu.name == "cpu")
                visit_cpu(cpu);
            else
                skip(cpu);
        sort_out_unknown();
        if (gpus_.empty()) {
            add_note(notes_.flagged, "no GPU is in this file");
            return std::nullopt;
        }
        std::stable_sort(gpus_.begin(), gpus_.end(), [](const FoundGpu& a, const FoundGpu& b) {
            return device_number(a) < device_number(b);
        });
        for (const FoundGpu& gpu : gpus_)
            add_gpu(gpu);
        for (const FoundNic& nic : nics_)
            add_nic(nic);
        add_nvlinks();
        return std::move(map_);
    }

private:
    static int device_number(const FoundGpu& gpu)
    {
        return gpu.gpu == nullptr ? 0 : number_of(*gpu.gpu, "dev", 0);
    }

    void skip(const XmlElement& element)
    {
        add_note(notes_.ignored, fmt::format("elements <{}>", printable(element.name, 30)));
    }

    int add_switch(std::string name, int parent, Bandwidth up)
    {
        map_.switches.push_back({std::move(name), parent, up});
        return static_cast<int>(map_.switches.size()) - 1;
    }

    void visit_cpu(const XmlElement& cpu)
    {
        const int vertex = add_switch(fmt::format("cpu{}", printable(cpu.attribute("numaid"), 10)),
                                      -1, Bandwidth(0));
        for (const XmlElement& child : cpu.children)
            visit(child, vertex);
    }

    void visit(const XmlElement& element, int parent)
    {
        if (element.name == "nic")
            nics_.push_back({nullptr, &element, parent});
        else if (element.name == "pci")
            visit_pci(element, parent);
        else
            skip(element);
    }

    void visit_pci(const XmlElement& pci, int parent)
    {
        note_speed(pci);
        switch (pci_kind(pci)) {
        case PciKind::gpu:
            gpus_.push_back({&pci, child_of(pci, "gpu"), parent});
            return;
        case PciKind::nic:
            nics_.push_back({&pci, child_of(pci, "nic"), parent});
            return;
        case PciKind::bridge: {
            const int vertex =
                add_switch(fmt::format("pcie-{}", printable(pci.attribute("busid"), 20)), parent,
                           rate_of(pci));
            for (const XmlElement& child : pci.children)
                visit(child, vertex);
            return;
        }
        case PciKind::unknown:
            unknown_.emplace_back(&pci, parent);
            return;
        case PciKind::nvswitch:
            return; // what the nvlinks end in says it
        case PciKind::other:
            add_note(notes_.ignored,
                     fmt::format("PCI devices of class {}", printable(pci.attribute("class"), 12)));
        }
    }

    static const XmlElement* child_of(const XmlElement& pci, std::string_view name)
    {
        for (const XmlElement& child : pci.children)
            if (child.name == name)
                return &child;
        return nullptr;
    }

    // Files written before NCCL looked at the machine may give addresses only. Several below one
    // PCIe switch are its NICs; below the CPUs themselves as many as each CPU has are GPUs.
    void sort_out_unknown()
    {
        std::map<int, std::size_t> below;
        for (const auto& [pci, parent] : unknown_)
            ++below[parent];
        if (below.empty())
            return;
        std::size_t fewest = below.begin()->second;
        for (const auto& [parent, count] : below)
            fewest = std::min(fewest, count);
        const bool switches =
            map_.switches[static_cast<std::size_t>(below.begin()->first)].parent >= 0;
        std::map<int, std::size_t> taken;
        for (const auto& [pci, parent] : unknown_)
            if (!switches && taken[parent]++ < fewest)
                gpus_.push_back({pci, nullptr, parent});
            else
                nics_.push_back({pci, nullptr, parent});
        if (switches && gpus_.empty())
            for (const auto& [parent, count] : below)
                gpus_.push_back({nullptr, nullptr, parent});
        add_note(notes_.assumed,
                 switches ? "PCI devices without class are NICs, and one GPU sits beside them on "
                            "each PCIe switch"
                          : fmt::format("PCI devices without class: the first {} below each CPU "
                                        "are GPUs, others NICs",
                                        fewest));
    }

    // The fastest PCIe link tells the generation of the machine.
    void note_speed(const XmlElement& pci)
    {
        fastest_ = std::max(fastest_, pcie_rate(pci.attribute("link_speed"), 16));
    }

    // Of the link above, or the card's when the file has none.
    Bandwidth rate_of(const XmlElement& pci)
    {
        const Bandwidth rate =
            pcie_rate(pci.attribute("link_speed"), number_of(pci, "link_width", 0));
        if (rate.value() > 0)
            return rate;
        const Bandwidth usual = link_facts(model_).pcie;
        add_note(notes_.assumed,
                 fmt::format("PCIe {:g} GB/s where the file gives no speed", usual.value() / 1e9));
        return usual;
    }

    std::string model_of(const FoundGpu& gpu)
    {
        if (!model_.empty())
            return model_;
        const DeviceCatalogue& devices = shipped_devices();
        if (const auto* const known = devices.with_pci_id(attribute_of(gpu.pci, "device")))
            return known->key;
        map_.guessed_model = true;
        const int sm = gpu.gpu == nullptr ? 0 : number_of(*gpu.gpu, "sm", 0);
        const auto of_generation = [sm](const Device& device) {
            return sm > 0 && device.compute_capability == sm;
        };
        if (const KnownDevice* const known = devices.oldest_typical(of_generation)) {
            add_note(notes_.assumed,
                     fmt::format("the GPUs are {}: compute capability {}", known->key, sm));
            return known->key;
        }
        const double speed = 0.95 * fastest_.value(); // 5 %: rates are rounded
        const std::string model = oldest_model(
            [speed](const Device& device) { return speed > 0 && device.pcie.value() > speed; });
        add_note(
            notes_.assumed,
            fmt::format("the GPUs are {}: the file does not name them (--device does)", model));
        return model;
    }

    void add_gpu(const FoundGpu& gpu)
    {
        const std::string model = model_of(gpu);
        const std::string address = attribute_of(gpu.pci, "busid");
        if (gpu.pci != nullptr)
            by_bus_[address] = static_cast<int>(map_.gpus.size());
        const Bandwidth own = gpu.pci != nullptr ? rate_of(*gpu.pci) : link_facts(model).pcie;
        map_.gpus.push_back({fmt::format("gpu{}", map_.gpus.size()), model, gpu.parent, own,
                             printable(address, 20)});
    }

    void add_nic(const FoundNic& nic)
    {
        const LinkFacts facts = link_facts(map_.gpus.front().model);
        const Bandwidth pcie = nic.pci == nullptr ? facts.pcie : rate_of(*nic.pci);
        bool listed = false;
        if (nic.nic != nullptr)
            for (const XmlElement& net : nic.nic->children) {
                if (net.name != "net")
                    continue;
                const double speed = number_in(net.attribute("speed")).value_or(0); // Mb/s
                const Bandwidth rate(speed > 0 && speed < 1e8 ? speed * 1e6 / 8 : 0);
                add_port(nic, printable(net.attribute("name"), 40), pcie, rate);
                listed = true;
            }
        if (!listed)
            add_port(nic, fmt::format("nic{}", map_.nics.size()), pcie, Bandwidth(0));
    }

    void add_port(const FoundNic& nic, const std::string& name, Bandwidth pcie, Bandwidth rate)
    {
        const Bandwidth usual = link_facts(map_.gpus.front().model).nic;
        if (map_.network.empty())
            map_.network = network_of(nic, name, rate.value() > 0 ? rate : usual);
        if (!(rate.value() > 0))
            add_note(
                notes_.assumed,
                fmt::format("NICs with the rate of {} where the file gives none", map_.network));
        map_.nics.push_back({name, nic.parent, pcie, rate});
    }

    // By maker and class: 0x1d0f is Amazon (EFA), 0x0207 InfiniBand, 0x0200 Ethernet.
    static std::string network_of(const FoundNic& nic, const std::string& name, Bandwidth rate)
    {
        if (attribute_of(nic.pci, "vendor") == "0x1d0f") {
            const std::string device = attribute_of(nic.pci, "device");
            return device == "0xefa0"   ? "efa_v1"
                   : device == "0xefa1" ? "efa_v2"
                   : device == "0xefa2" ? "efa_v3"
                                        : "efa_v4";
        }
        if (name.starts_with("eth") || name.starts_with("ens"))
            return "tcp";
        return attribute_of(nic.pci, "class").starts_with("0x0200") ? roce_of(rate)
                                                                    : infiniband_of(rate);
    }

    void add_nvlinks()
    {
        int links = 0;
        for (std::size_t i = 0; i < gpus_.size(); ++i) {
            if (gpus_[i].gpu == nullptr)
                continue;
            for (const XmlElement& child : gpus_[i].gpu->children) {
                if (child.name == "nvlink")
                    links += add_nvlink(static_cast<int>(i), child);
                else if (child.name == "c2c")
                    add_c2c(map_.gpus[i], child);
                else
                    skip(child);
            }
        }
        for (const auto& [from, rate] : switched_)
            map_.nvlinks.push_back({from, -1, rate});
        for (const auto& [pair, rate] : late_)
            direct_.emplace(pair, rate);
        for (const auto& [pair, rate] : direct_)
            map_.nvlinks.push_back({pair.first, pair.second, rate});
        if (links == 0)
            assume_nvlinks();
    }

    // The driver's rates of single links do not add up to what copies reach (GB300: 5 links of 44.7
    // GB/s and copies of 359 GB/s): that there is C2C is taken from the file, its rate is not.
    void add_c2c(NodeMap::Gpu& gpu, const XmlElement& c2c)
    {
        const int count = number_of(c2c, "count", 0);
        const Bandwidth rate = link_facts(gpu.model).c2c;
        if (count <= 0)
            return;
        if (!(rate.value() > 0)) {
            add_note(notes_.ignored, fmt::format("C2C of {}: its rate is not known", gpu.model));
            return;
        }
        gpu.c2c = rate;
        add_note(notes_.assumed,
                 fmt::format("C2C {:g} GB/s from GPU to CPU, as of {}: the file gives {} links of "
                             "{:g} GB/s",
                             rate.value() / 1e9, gpu.model, count, number_of(c2c, "bw", 0) / 1e3));
    }

    // NCCL adds what it finds when it runs, <gpu> first; files written by hand have neither.
    void assume_nvlinks()
    {
        const std::string& model = map_.gpus.front().model;
        const Bandwidth rate = usual_nvswitch_rate(model);
        const bool looked = gpus_.front().gpu != nullptr;
        if (looked || map_.gpus.size() != 8 || !(rate.value() > 0)) {
            add_note(notes_.assumed, "no NVLinks: the file lists none");
            return;
        }
        add_note(notes_.assumed,
                 fmt::format("NVLink {:g} GB/s per GPU through NVSwitches, as boards with 8 {} "
                             "have: the file lists none",
                             rate.value() / 1e9, model));
        for (int gpu = 0; gpu < 8; ++gpu)
            map_.nvlinks.push_back({gpu, -1, rate});
    }

    int add_nvlink(int from, const XmlElement& nvlink)
    {
        const int count = std::clamp(number_of(nvlink, "count", 0), 0, 64);
        const Bandwidth rate =
            link_facts(map_.gpus[static_cast<std::size_t>(from)].model).nvlink * count;
        const std::string cls = nvlink.attribute("tclass");
        const auto target = by_bus_.find(nvlink.attribute("target"));
        if (cls.starts_with("0x0680") && count > 0) {
            switched_[from] += rate;
            return 1;
        }
        if (target == by_bus_.end() || target->second == from || count == 0) {
            add_note(notes_.ignored, "NVLinks to nothing in this file");
            return 0;
        }
        if (from < target->second) // the other end lists it too
            direct_[{from, target->second}] += rate;
        else
            late_[{target->second, from}] += rate;
        return 1;
    }

    std::string model_;
    Bandwidth fastest_; // of 16 lanes; 0: none is given
    ImportNotes& notes_;
    NodeMap map_;
    std::vector<FoundGpu> gpus_;
    std::vector<FoundNic> nics_;
    std::vector<std::pair<const XmlElement*, int>> unknown_; // with their parents
    std::map<std::string, int> by_bus_;
    std::map<int, Bandwidth> switched_;
    std::map<std::pair<int, int>, Bandwidth> direct_;
    std::map<std::pair<int, int>, Bandwidth> late_; // listed by the higher end only
};

} // namespace

std::optional<NodeMap> node_of_xml(const XmlElement& system, std::string model, ImportNotes& notes)
{
    return Importer(std::move(model), notes).run(system);
}

} // namespace trainyard
