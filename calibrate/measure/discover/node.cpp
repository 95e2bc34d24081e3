#include "calibrate/measure/discover/node.h"

#include "calibrate/import/device_facts.h"
#include "calibrate/import/log_text.h"
#include "calibrate/import/smi_topology.h"
#include "calibrate/measure/discover/cpu_node.h"
#include "calibrate/measure/discover/machine_xml.h"
#include "calibrate/measure/discover/pci_address.h"
#include "sim/cost/device_catalogue.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace trainyard {
namespace {

struct Account {
    std::string source; // "NCCL's dump"
    NodeMap map;
    Words classes;
    ImportNotes notes;
};

// Empty where the PCI numbers say it better, or nothing says it.
std::string model_of(const NodeSources& sources)
{
    if (!sources.model.empty() || !sources.nvml || sources.nvml->gpus.empty())
        return sources.model;
    const NvmlGpu& gpu = sources.nvml->gpus.front();
    const DeviceCatalogue& devices = shipped_devices();
    const KnownDevice* const named =
        devices.with_pci_id(gpu.number) == nullptr ? devices.named_in(gpu.name) : nullptr;
    return named != nullptr ? named->key : std::string();
}

// The dump of a communicator whose hosts NVLink joins has the CPUs of all of them.
std::size_t hosts_in(const XmlElement& system)
{
    std::set<std::string> hashes;
    for (const XmlElement& cpu : system.children)
        if (cpu.name == "cpu")
            hashes.insert(cpu.attribute("host_hash"));
    return hashes.size();
}

class Discovery {
public:
    explicit Discovery(const NodeSources& sources) : sources_(sources), model_(model_of(sources)) {}

    Checked<DiscoveredNode> run()
    {
        if (Problems problems = read_sources(); has_errors(problems))
            return tl::make_unexpected(std::move(problems));
        if (accounts_.empty())
            take_cpus();
        else
            merge();
        take_domain();
        name_node();
        const std::optional<NetworkTemplate> network =
            out_.map.network.empty() ? std::nullopt : network_preset(out_.map.network);
        out_.description = describe_node(out_.map, network);
        Checked<Json> json = topology_json(out_.description, "the discovered topology");
        if (!json)
            return tl::make_unexpected(std::move(json.error()));
        out_.topology = std::move(*json);
        return std::move(out_);
    }

private:
    Problems read_sources()
    {
        if (!sources_.nccl_dump.empty()) {
            const Checked<XmlElement> xml = read_nccl_xml(sources_.nccl_dump, "NCCL's dump");
            if (!xml)
                return xml.error();
            if (hosts_in(*xml) > 1)
                add_note(out_.notes.ignored,
                         "NCCL's dump: it shows several hosts of one NVLink domain at once");
            else
                take_xml("NCCL's dump", *xml, model_);
        }
        const NvmlNode* const nvml = sources_.nvml ? &*sources_.nvml : nullptr;
        if (const auto xml = xml_of_machine(sources_.host, nvml))
            take_xml(nvml == nullptr ? "/sys" : "NVML and /sys", *xml, model_);
        if (!sources_.smi_matrix.empty()) {
            const std::vector<SmiMatrix> matrices = read_smi_matrices(sources_.smi_matrix);
            if (matrices.empty())
                return {{"nvidia-smi topo -m", 0, "", "no matrix is in it", "", Severity::error}};
            take_matrix("nvidia-smi topo -m", matrices.front());
        }
        if (nvml != nullptr)
            take_distances(*nvml);
        return {};
    }

    void take_xml(const char* source, const XmlElement& xml, const std::string& model)
    {
        Account account{source, {}, {}, {}};
        if (auto map = node_of_xml(xml, model, account.notes)) {
            account.map = std::move(*map);
            account.classes = classes_of(account.map);
            accounts_.push_back(std::move(account));
        } else {
            append(out_.notes, account.notes);
        }
    }

    void take_matrix(const char* source, const SmiMatrix& matrix)
    {
        std::string model = model_;
        if (model.empty() && sources_.nvml && !sources_.nvml->gpus.empty())
            if (const KnownDevice* const known =
                    shipped_devices().with_pci_id(sources_.nvml->gpus.front().number))
                model = known->key;
        Account account{source, {}, {}, {}};
        if (auto map = node_of_matrix(matrix, model, account.notes)) {
            account.map = std::move(*map);
            const std::size_t gpus = account.map.gpus.size();
            account.classes.assign(matrix.links.begin(),
                                   matrix.links.begin() + static_cast<std::ptrdiff_t>(gpus));
            for (auto& row : account.classes)
                row.resize(gpus);
            // nvidia-smi numbers GPUs as NVML does.
            if (sources_.nvml && sources_.nvml->gpus.size() == gpus)
                for (std::size_t i = 0; i < gpus; ++i)
                    account.map.gpus[i].address = sources_.nvml->gpus[i].address;
            accounts_.push_back(std::move(account));
        } else {
            append(out_.notes, account.notes);
        }
    }

    void take_distances(const NvmlNode& nvml)
    {
        const Words words = words_between(nvml);
        const bool whole = std::all_of(words.begin(), words.end(), [](const auto& row) {
            return std::find(row.begin(), row.end(), "?") == row.end();
        });
        if (!whole && !accounts_.empty())
            return;
        if (!whole)
            add_note(out_.notes.assumed,
                     "GPUs whose distance nothing tells sit on one CPU: /sys is hidden here");
        take_matrix("NVML's distances", matrix_of_nvml(nvml, sources_.host));
    }

    void take_cpus()
    {
        out_.map = map_of_cpus(sources_.host, sources_.cpu_ranks, out_.notes);
        out_.classes = classes_of(out_.map);
        // The words of PCIe do not fit: ranks of one processor meet in its memory.
        for (auto& row : out_.classes)
            for (std::string& word : row)
                word = word == "PHB" ? "memory" : word == "SYS" ? "between processors" : word;
    }

    void merge()
    {
        const auto most = std::max_element(
            accounts_.begin(), accounts_.end(), [](const Account& a, const Account& b) {
                return a.map.gpus.size() < b.map.gpus.size(); // the first of equals
            });
        const Account base = *most;
        accounts_.erase(most);
        out_.map = base.map;
        out_.classes = base.classes;
        append(out_.notes, base.notes);
        add_note(out_.notes.understood,
                 fmt::format("{} GPUs; tree by {}", base.map.gpus.size(), base.source));
        for (const Account& other : accounts_) {
            if (other.map.gpus.size() != base.map.gpus.size()) {
                out_.believed.push_back(fmt::format(
                    "{} knows {} GPUs, {} {}: {} is believed (CUDA_VISIBLE_DEVICES or a container "
                    "may hide GPUs)",
                    base.source, base.map.gpus.size(), other.source, other.map.gpus.size(),
                    base.source));
                continue;
            }
            compare(base, other, places_in(base.map, other.map));
        }
    }

    // For each GPU of `base` its place in `other`: by PCI address, else the same.
    static std::vector<std::size_t> places_in(const NodeMap& base, const NodeMap& other)
    {
        std::vector<std::size_t> places(base.gpus.size());
        for (std::size_t i = 0; i < places.size(); ++i) {
            places[i] = i;
            const std::string address = pci_address(base.gpus[i].address);
            for (std::size_t j = 0; j < other.gpus.size(); ++j)
                if (!address.empty() && pci_address(other.gpus[j].address) == address)
                    places[i] = j;
        }
        return places;
    }

    void compare(const Account& base, const Account& other, const std::vector<std::size_t>& places)
    {
        const bool asked = other.source.starts_with("NVML");
        std::size_t differing = 0;
        std::string example;
        bool nvlinks_differ = false;
        for (std::size_t a = 0; a < places.size(); ++a)
            for (std::size_t b = a + 1; b < places.size(); ++b) {
                const std::string& here = out_.classes[a][b];
                const std::string& there = other.classes[places[a]][places[b]];
                if (alike(here, there))
                    continue;
                if (differing++ == 0)
                    example = fmt::format("{} and {} are joined by {} says {}, by {} says {}",
                                          base.map.gpus[a].name, base.map.gpus[b].name, here,
                                          base.source, there, other.source);
                nvlinks_differ = nvlinks_differ || nvlinks_in(here) != nvlinks_in(there);
            }
        if (differing > 0) {
            const bool replace = asked && nvlinks_differ && !base.source.starts_with("NVML");
            out_.believed.push_back(fmt::format(
                "{}{}: {}", example,
                differing > 1 ? fmt::format(" ({} pairs more differ)", differing - 1) : "",
                replace ? "NVML is believed: it asked the driver just now"
                        : fmt::format("{} is believed", base.source)));
            if (replace)
                take_nvlinks(other, places);
        }
        if (other.source.find("/sys") != std::string::npos)
            take_slower_pcie(base, other, places);
        compare_models(base, other, places);
    }

    // A tree does not tell PHB from NODE.
    static bool alike(const std::string& a, const std::string& b)
    {
        const auto host = [](const std::string& word) { return word == "PHB" || word == "NODE"; };
        return a == b || (host(a) && host(b));
    }

    void take_nvlinks(const Account& other, const std::vector<std::size_t>& places)
    {
        std::vector<int> here(places.size());
        for (std::size_t i = 0; i < places.size(); ++i)
            here[places[i]] = static_cast<int>(i);
        out_.map.nvlinks.clear();
        for (NodeMap::Nvlink link : other.map.nvlinks) {
            link.from = here[static_cast<std::size_t>(link.from)];
            if (link.to >= 0)
                link.to = here[static_cast<std::size_t>(link.to)];
            out_.map.nvlinks.push_back(link);
        }
        out_.classes = classes_of(out_.map);
    }

    void take_slower_pcie(const Account& base, const Account& other,
                          const std::vector<std::size_t>& places)
    {
        for (std::size_t i = 0; i < places.size(); ++i) {
            Bandwidth& here = out_.map.gpus[i].pcie;
            const Bandwidth there = other.map.gpus[places[i]].pcie;
            if (!(there.value() > 0) || there / here > 0.95)
                continue;
            out_.believed.push_back(
                fmt::format("PCIe of {} carries {:.3g} GB/s by {}, {:.3g} by {}: the latter is "
                            "believed, it shows the link as it is now",
                            base.map.gpus[i].name, here.value() / 1e9, base.source,
                            there.value() / 1e9, other.source));
            here = there;
        }
    }

    void compare_models(const Account& base, const Account& other,
                        const std::vector<std::size_t>& places)
    {
        if (other.map.guessed_model || places.empty())
            return;
        const std::string& here = base.map.gpus.front().model;
        const std::string& there = other.map.gpus[places.front()].model;
        if (here == there)
            return;
        const bool replace = base.map.guessed_model;
        out_.believed.push_back(fmt::format(
            "the GPUs are {} by {}, {} by {}: {}", here, base.source, there, other.source,
            replace ? "the latter is believed, the former guessed" : "the former is believed"));
        if (!replace)
            return;
        for (std::size_t i = 0; i < places.size(); ++i)
            out_.map.gpus[i].model = other.map.gpus[places[i]].model;
        out_.map.guessed_model = false;
    }

    // A node whose GPUs are in several domains, or in none, is taken by itself.
    void take_domain()
    {
        if (!sources_.nvml || sources_.nvml->gpus.empty())
            return;
        const std::string& first = sources_.nvml->gpus.front().nvlink_domain;
        for (const NvmlGpu& gpu : sources_.nvml->gpus)
            if (gpu.nvlink_domain != first)
                return;
        out_.map.nvlink_domain = first;
    }

    void name_node()
    {
        if (!sources_.host.name.empty())
            out_.map.name = sources_.host.name;
    }

    const NodeSources& sources_;
    std::string model_;
    std::vector<Account> accounts_;
    DiscoveredNode out_;
};

} // namespace

Checked<DiscoveredNode> discover_node(const NodeSources& sources)
{
    return Discovery(sources).run();
}

} // namespace trainyard
