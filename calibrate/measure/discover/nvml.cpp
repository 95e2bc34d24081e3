#include "calibrate/measure/discover/nvml.h"

#include "calibrate/import/log_text.h"
#include "calibrate/import/notes.h"
#include "calibrate/import/smi_matrix.h"
#include "calibrate/measure/discover/pci_address.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

using nvml::Functions;
using nvml::Return;

constexpr unsigned most_gpus = 256;
constexpr unsigned most_processes = 1024; // of one GPU

std::string words_of_error(const Functions& f, Return code)
{
    const char* const text = f.error_string == nullptr ? nullptr : f.error_string(code);
    return text == nullptr ? fmt::format("error {}", code)
                           : fmt::format("{} (error {})", printable(text), code);
}

std::string fix_of(Return code)
{
    switch (code) {
    case nvml::driver_not_loaded:
        return "load the driver (modprobe nvidia), or start the container with GPUs";
    case nvml::library_driver_mismatch:
        return "the driver was updated but the old kernel module still runs: reboot, or in a "
               "container use the host's driver version";
    case nvml::no_permission:
        return "ask for the right to open /dev/nvidia*, or run where your job has GPUs";
    case nvml::gpu_is_lost:
    case nvml::reset_required:
        return "the GPU has to be reset by an administrator (nvidia-smi -r, or a reboot)";
    case nvml::function_not_found:
    case nvml::library_not_found:
        return "install NVIDIA's driver 450 or newer";
    default:
        return "see whether nvidia-smi works on this machine";
    }
}

MeasureFailure failure(const Functions& f, const char* doing, Return code)
{
    return {code == nvml::no_permission ? FailureKind::refused : FailureKind::missing,
            fmt::format("NVML cannot {}: {}", doing, words_of_error(f, code)), fix_of(code)};
}

template <class Function, class... Arguments>
std::string text_of(Function* function, Arguments... arguments)
{
    std::array<char, 96> buffer{};
    if (function == nullptr || function(arguments..., buffer.data(),
                                        static_cast<unsigned>(buffer.size())) != nvml::success)
        return {};
    buffer.back() = '\0';
    return printable(buffer.data());
}

std::string address_in(const nvml::PciInfo& pci)
{
    const std::string text(pci.bus_id, std::find(std::begin(pci.bus_id), std::end(pci.bus_id), 0));
    return pci_address(text);
}

// Reads one GPU; a query that fails for another reason than that the GPU lacks the thing is noted.
class GpuReader {
public:
    GpuReader(const Functions& f, nvml::Device device, int index) : f_(f), device_(device)
    {
        gpu_.index = index;
    }

    NvmlGpu read()
    {
        read_names();
        read_state();
        read_clocks();
        read_pcie();
        read_processes();
        for (unsigned link = 0; link < static_cast<unsigned>(most_nvlinks); ++link)
            if (!read_link(link))
                break;
        read_c2c();
        read_fabric();
        return std::move(gpu_);
    }

private:
    template <class Function, class... Arguments>
    bool ask(const char* what, Function* function, Arguments... arguments)
    {
        if (function == nullptr) {
            add_note(gpu_.lacks, fmt::format("{}: this driver's NVML cannot tell", what));
            return false;
        }
        const Return code = function(device_, arguments...);
        if (code != nvml::success && code != nvml::not_supported && code != nvml::invalid_argument)
            add_note(gpu_.lacks, fmt::format("{}: {}", what, words_of_error(f_, code)));
        return code == nvml::success;
    }

    template <class Function, class... Arguments>
    int number(const char* what, Function* function, Arguments... arguments)
    {
        unsigned value = 0;
        return ask(what, function, arguments..., &value)
                   ? static_cast<int>(std::min(value, 1'000'000'000U))
                   : 0;
    }

    void read_names()
    {
        gpu_.name = text_of(f_.name, device_);
        gpu_.uuid = text_of(f_.uuid, device_);
        nvml::PciInfo pci{};
        if (ask("PCI address", f_.pci, &pci)) {
            gpu_.address = address_in(pci);
            gpu_.number = fmt::format("{:#06x}", pci.device_and_vendor >> 16);
        }
        int major = 0;
        int minor = 0;
        if (ask("compute capability", f_.capability, &major, &minor))
            gpu_.capability = 10 * std::clamp(major, 0, 99) + std::clamp(minor, 0, 9);
    }

    void read_state()
    {
        nvml::Memory memory{};
        if (ask("memory", f_.memory, &memory)) {
            gpu_.memory = Bytes(memory.total);
            gpu_.memory_used = Bytes(memory.used);
        }
        unsigned now = 0;
        unsigned pending = 0;
        if (ask("MIG mode", f_.mig_mode, &now, &pending))
            gpu_.mig = now != 0;
        if (ask("ECC mode", f_.ecc, &now, &pending))
            gpu_.ecc = now != 0;
        if (ask("persistence mode", f_.persistence, &now))
            gpu_.persistence = now != 0;
        gpu_.power_limit = number("power limit", f_.power_limit) / 1e3;
        gpu_.default_power_limit = number("usual power limit", f_.default_power_limit) / 1e3;
        nvml::Utilization busy{};
        if (ask("utilisation", f_.utilization, &busy))
            gpu_.busy_percent = static_cast<int>(std::min(busy.gpu, 100U));
    }

    void read_clocks()
    {
        NvmlClocks& clocks = gpu_.clocks;
        clocks.sm_mhz = number("clock", f_.clock, nvml::clock_sm);
        clocks.most_sm_mhz = number("highest clock", f_.max_clock, nvml::clock_sm);
        clocks.memory_mhz = number("memory clock", f_.clock, nvml::clock_memory);
        clocks.most_memory_mhz = number("highest memory clock", f_.max_clock, nvml::clock_memory);
        ask("reasons of lowered clocks", f_.slow_reasons, &clocks.slow_reasons);
    }

    void read_pcie()
    {
        NvmlPcie& pcie = gpu_.pcie;
        pcie.generation = number("PCIe generation", f_.pcie_generation);
        pcie.most_generation = number("highest PCIe generation", f_.max_pcie_generation);
        pcie.lanes = number("PCIe lanes", f_.pcie_width);
        pcie.most_lanes = number("most PCIe lanes", f_.max_pcie_width);
    }

    void read_processes()
    {
        std::vector<nvml::ProcessInfo> found;
        // New ones may start between the count and the list.
        for (int attempt = 0; attempt < 4; ++attempt) {
            auto count = static_cast<unsigned>(found.size());
            if (f_.processes == nullptr) {
                add_note(gpu_.lacks, "processes on it: this driver's NVML cannot tell");
                return;
            }
            const Return code =
                f_.processes(device_, &count, found.empty() ? nullptr : found.data());
            if (code == nvml::insufficient_size) {
                found.resize(std::min(2 * count + 8, most_processes));
                continue;
            }
            if (code != nvml::success && code != nvml::not_supported)
                add_note(gpu_.lacks, fmt::format("processes on it: {}", words_of_error(f_, code)));
            found.resize(code == nvml::success ? std::min<std::size_t>(count, found.size()) : 0);
            for (const nvml::ProcessInfo& process : found)
                gpu_.processes.push_back(
                    {process.pid, process.used_memory == ~0ULL
                                      ? std::nullopt
                                      : std::optional(Bytes(process.used_memory))});
            return;
        }
        add_note(gpu_.lacks, "processes on it: their number keeps growing");
    }

    // False: the GPU has no such link, nor further ones.
    bool read_link(unsigned link)
    {
        unsigned active = 0;
        if (!ask("NVLink state", f_.nvlink_state, link, &active))
            return false;
        NvmlLink out;
        out.link = static_cast<int>(link);
        out.active = active != 0;
        if (out.active) {
            nvml::PciInfo remote{};
            if (ask("NVLink's other end", f_.nvlink_remote, link, &remote))
                out.remote = address_in(remote);
            int type = -1;
            if (ask("kind of NVLink's other end", f_.nvlink_remote_type, link, &type))
                out.end = type == nvml::remote_gpu      ? NvlinkEnd::gpu
                          : type == nvml::remote_switch ? NvlinkEnd::nvswitch
                                                        : NvlinkEnd::other;
            out.rate = link_rate(link);
        }
        gpu_.links.push_back(std::move(out));
        return true;
    }

    // Nothing where this GPU has no such field.
    std::optional<double> field_of(unsigned field, unsigned scope)
    {
        nvml::FieldValue value{};
        value.field = field;
        value.scope = scope;
        if (f_.fields == nullptr || f_.fields(device_, 1, &value) != nvml::success ||
            value.result != nvml::success)
            return std::nullopt;
        switch (value.type) {
        case nvml::type_double:
            return value.value.as_double;
        case nvml::type_unsigned:
            return value.value.as_unsigned;
        default:
            return static_cast<double>(value.value.as_unsigned_long_long);
        }
    }

    void read_c2c()
    {
        constexpr double most = 64;
        const double links = std::clamp(field_of(nvml::field_c2c_links, 0).value_or(0), 0.0, most);
        for (unsigned link = 0; link < static_cast<unsigned>(links); ++link) {
            if (field_of(nvml::field_c2c_active, link) != 1.0)
                continue;
            ++gpu_.c2c_links;
            const double megabytes = field_of(nvml::field_c2c_speed, link).value_or(0);
            if (megabytes > 0 && megabytes < 1e6)
                gpu_.c2c_rate = Bandwidth(megabytes * 1e6);
        }
    }

    void read_fabric()
    {
        nvml::FabricInfo info{};
        if (f_.fabric == nullptr || f_.fabric(device_, &info) != nvml::success ||
            info.state != nvml::fabric_complete || info.status != nvml::success)
            return;
        if (std::all_of(std::begin(info.cluster), std::end(info.cluster),
                        [](unsigned char byte) { return byte == 0; }))
            return;
        for (const unsigned char byte : info.cluster)
            gpu_.nvlink_domain += fmt::format("{:02x}", byte);
        gpu_.nvlink_domain += fmt::format(".{}", info.clique);
    }

    Bandwidth link_rate(unsigned link)
    {
        for (const unsigned field : {nvml::field_nvlink_speed, nvml::field_nvlink_speed_common}) {
            const double megabytes =
                field_of(field, field == nvml::field_nvlink_speed ? link : 0).value_or(0);
            if (megabytes > 0 && megabytes < 1e6)
                return Bandwidth(megabytes * 1e6);
        }
        return Bandwidth(0);
    }

    const Functions& f_;
    nvml::Device device_;
    NvmlGpu gpu_;
};

// Lets the library go however reading ends.
class Session {
public:
    explicit Session(const Functions& f) : f_(f) {}
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() { f_.shutdown(); }

private:
    const Functions& f_;
};

std::vector<std::vector<int>> levels_among(const Functions& f,
                                           const std::vector<nvml::Device>& devices)
{
    std::vector<std::vector<int>> levels(devices.size(), std::vector<int>(devices.size(), -1));
    for (std::size_t a = 0; a < devices.size(); ++a) {
        levels[a][a] = 0;
        for (std::size_t b = a + 1; b < devices.size(); ++b) {
            int level = -1;
            if (f.common_ancestor != nullptr &&
                f.common_ancestor(devices[a], devices[b], &level) == nvml::success)
                levels[a][b] = levels[b][a] = std::clamp(level, -1, 50);
        }
    }
    return levels;
}

} // namespace

Found<NvmlNode> read_nvml(const Functions& f)
{
    if (const Return code = f.init(); code != nvml::success)
        return tl::make_unexpected(failure(f, "start", code));
    const Session session(f);
    NvmlNode node;
    node.driver = text_of(f.driver_version);
    node.nvml = text_of(f.nvml_version);
    int cuda = 0;
    if (f.cuda_version != nullptr && f.cuda_version(&cuda) == nvml::success && cuda > 0)
        node.cuda = fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10);
    unsigned count = 0;
    if (const Return code = f.device_count(&count); code != nvml::success)
        return tl::make_unexpected(failure(f, "count the GPUs", code));
    std::vector<nvml::Device> devices;
    Return last = nvml::success;
    for (unsigned i = 0; i < std::min(count, most_gpus); ++i) {
        nvml::Device device = nullptr;
        last = f.device_at(i, &device);
        if (last != nvml::success) {
            add_note(node.lacks, fmt::format("GPU {} cannot be opened: {}; {}", i,
                                             words_of_error(f, last), fix_of(last)));
            continue;
        }
        devices.push_back(device);
        node.gpus.push_back(GpuReader(f, device, static_cast<int>(i)).read());
    }
    if (node.gpus.empty() && count > 0)
        return tl::make_unexpected(failure(f, "open any GPU", last));
    if (node.gpus.empty())
        return tl::make_unexpected(
            MeasureFailure{FailureKind::missing, "the driver is loaded but sees no GPU",
                           "see nvidia-smi -L; in a container or a job ask for GPUs"});
    node.levels = levels_among(f, devices);
    return node;
}

} // namespace trainyard
