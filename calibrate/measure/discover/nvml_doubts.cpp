// What NVML shows that makes measurements doubtful.

#include "calibrate/import/notes.h"
#include "calibrate/measure/discover/nvml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace trainyard {
namespace {

constexpr int busy_from = 5; // per cent

bool is_idle(const NvmlGpu& gpu)
{
    return (gpu.clocks.slow_reasons & nvml::slow_idle) != 0 || gpu.busy_percent.value_or(0) == 0;
}

void add_sharing(const NvmlGpu& gpu, const std::vector<unsigned>& own,
                 std::vector<std::string>& out)
{
    if (gpu.mig.value_or(false))
        out.push_back(fmt::format("GPU {} is cut into MIG instances: rates are those of an "
                                  "instance, and NVLink is off (nvidia-smi -mig 0 joins it)",
                                  gpu.index));
    std::vector<unsigned> others;
    for (const NvmlProcess& process : gpu.processes)
        if (std::find(own.begin(), own.end(), process.pid) == own.end())
            others.push_back(process.pid);
    if (!others.empty())
        out.push_back(fmt::format(
            "GPU {} is used by {} other process{} ({}{}): wait for {}", gpu.index, others.size(),
            others.size() == 1 ? "" : "es",
            fmt::join(others.begin(),
                      others.begin() +
                          std::min<std::ptrdiff_t>(3, static_cast<std::ptrdiff_t>(others.size())),
                      ", "),
            others.size() > 3 ? ", ..." : "", others.size() == 1 ? "it to end" : "them to end"));
    else if (own.empty() && gpu.busy_percent.value_or(0) > busy_from)
        out.push_back(fmt::format("GPU {} is {} % busy though nobody should use it", gpu.index,
                                  *gpu.busy_percent));
}

void add_clocks(const NvmlGpu& gpu, std::vector<std::string>& out)
{
    const unsigned long long reasons = gpu.clocks.slow_reasons;
    const auto say = [&](const char* why) {
        out.push_back(fmt::format("GPU {} runs at {} of {} MHz: {}", gpu.index, gpu.clocks.sm_mhz,
                                  gpu.clocks.most_sm_mhz, why));
    };
    if ((reasons & (nvml::slow_hardware_thermal | nvml::slow_software_thermal)) != 0)
        say("it is too hot; see its cooling");
    else if ((reasons & nvml::slow_power_brake) != 0)
        say("the power supply holds it back");
    else if ((reasons & nvml::slow_hardware) != 0)
        say("its hardware slows it down (heat or power)");
    if ((reasons & nvml::slow_set_by_user) != 0)
        say("somebody set its clocks (nvidia-smi -rac or -rgc sets them back)");
    if (gpu.power_limit > 0 && gpu.power_limit < 0.99 * gpu.default_power_limit)
        out.push_back(fmt::format("GPU {} may take {:g} W; {:g} W is usual for it", gpu.index,
                                  gpu.power_limit, gpu.default_power_limit));
}

void add_links(const NvmlGpu& gpu, std::vector<std::string>& out)
{
    const NvmlPcie& pcie = gpu.pcie;
    if (pcie.lanes > 0 && pcie.lanes < pcie.most_lanes)
        out.push_back(fmt::format("GPU {} has {} PCIe lanes where it could have {}: see whether it "
                                  "sits well in its slot",
                                  gpu.index, pcie.lanes, pcie.most_lanes));
    if (pcie.generation > 0 && pcie.generation < pcie.most_generation && !is_idle(gpu))
        out.push_back(fmt::format("GPU {} runs PCIe generation {} under load where it could run {}",
                                  gpu.index, pcie.generation, pcie.most_generation));
    std::vector<int> down;
    for (const NvmlLink& link : gpu.links)
        if (!link.active)
            down.push_back(link.link);
    if (!down.empty() && down.size() < gpu.links.size())
        out.push_back(fmt::format("{} of {} NVLinks of GPU {} are down (number{} {})", down.size(),
                                  gpu.links.size(), gpu.index, down.size() == 1 ? "" : "s",
                                  fmt::join(down, ", ")));
}

} // namespace

std::vector<std::string> doubts(const NvmlNode& node, const std::vector<unsigned>& own)
{
    std::vector<std::string> out = node.lacks;
    for (const NvmlGpu& gpu : node.gpus) {
        add_sharing(gpu, own, out);
        add_clocks(gpu, out);
        add_links(gpu, out);
        for (const std::string& lack : gpu.lacks)
            out.push_back(fmt::format("GPU {}: {}", gpu.index, lack));
        const NvmlGpu& first = node.gpus.front();
        if (gpu.name != first.name)
            out.push_back(fmt::format("GPU {} is a {}, GPU {} a {}: groups run at the slower one's "
                                      "pace",
                                      gpu.index, gpu.name, first.index, first.name));
    }
    return out;
}

} // namespace trainyard
