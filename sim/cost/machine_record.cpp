#include "sim/cost/machine_record.h"

#include "sim/base/fields.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

// Collects differences of what both sides know.
class Comparison {
public:
    void texts(const std::string& what, const std::string& there, const std::string& here)
    {
        if (!there.empty() && !here.empty() && there != here)
            out_.push_back(fmt::format("{} {} there, {} here", what, there, here));
    }

    void numbers(const std::string& what, double there, double here, const char* unit)
    {
        if (there > 0 && here > 0 && there != here)
            out_.push_back(
                fmt::format("{} {:g}{} there, {:g}{} here", what, there, unit, here, unit));
    }

    void switches(const std::string& what, std::optional<bool> there, std::optional<bool> here)
    {
        const auto word = [](bool on) { return on ? "on" : "off"; };
        if (there && here && *there != *here)
            out_.push_back(fmt::format("{} {} there, {} here", what, word(*there), word(*here)));
    }

    void say(std::string difference) { out_.push_back(std::move(difference)); }

    std::vector<std::string> take() { return std::move(out_); }

private:
    std::vector<std::string> out_;
};

void compare_gpu(Comparison& out, std::size_t i, const GpuRecord& there, const GpuRecord& here)
{
    const std::string gpu = fmt::format("GPU {}: ", i);
    out.texts(gpu + "model", there.name, here.name);
    out.texts(gpu + "another card,", there.uuid, here.uuid);
    out.numbers(gpu + "highest clock", there.sm_mhz, here.sm_mhz, " MHz");
    out.numbers(gpu + "memory clock", there.memory_mhz, here.memory_mhz, " MHz");
    out.numbers(gpu + "power limit", there.power_limit, here.power_limit, " W");
    out.numbers(gpu + "PCIe lanes", there.pcie_lanes, here.pcie_lanes, "");
    if (there.nvlinks != here.nvlinks)
        out.say(fmt::format("{}{} NVLinks up there, {} here", gpu, there.nvlinks, here.nvlinks));
    out.switches(gpu + "ECC", there.ecc, here.ecc);
    out.switches(gpu + "MIG", there.mig, here.mig);
}

void compare_ports(Comparison& out, const std::vector<std::string>& there,
                   const std::vector<std::string>& here)
{
    const auto lacks = [](const std::vector<std::string>& list, const std::string& one) {
        return std::find(list.begin(), list.end(), one) == list.end();
    };
    for (const std::string& port : there)
        if (lacks(here, port))
            out.say(fmt::format("network port {} there, not here", port));
    for (const std::string& port : here)
        if (lacks(there, port))
            out.say(fmt::format("network port {} here, not there", port));
}

} // namespace

template <>
const FieldTable<GpuRecord>& fields_of<GpuRecord>()
{
    using R = GpuRecord;
    static const auto table =
        FieldTable<R>("gpu", "One GPU as it was.")
            .field("name", &R::name, {.help = "as the driver calls it"})
            .field("uuid", &R::uuid, {.help = "of the card"})
            .field("sm_mhz", &R::sm_mhz, {.help = "highest clock of its SMs"})
            .field("memory_mhz", &R::memory_mhz, {.help = "highest clock of its memory"})
            .field("power_limit", &R::power_limit, {.help = "W"})
            .field("pcie_lanes", &R::pcie_lanes, {.help = "in use"})
            .field("nvlinks", &R::nvlinks, {.help = "that are up"})
            .field("ecc", &R::ecc, {.help = "memory with error correction"})
            .field("mig", &R::mig, {.help = "cut into instances"});
    return table;
}

template <>
const FieldTable<MachineRecord>& fields_of<MachineRecord>()
{
    using R = MachineRecord;
    static const auto table =
        FieldTable<R>("machine", "A host as it was.")
            .field("architecture", &R::architecture, {.help = "x86_64, aarch64"})
            .field("cpu", &R::cpu, {.help = "model of the processors"})
            .field("cores", &R::cores, {.help = "of all processors"})
            .field("sockets", &R::sockets, {.help = "processors"})
            .field("memory", &R::memory, {.help = "of the host"})
            .field("governor", &R::governor, {.help = "how the kernel sets CPU clocks"})
            .field("gpus", &R::gpus, {.help = "by number"})
            .field("ports", &R::ports, {.help = "network ports that are up"});
    return table;
}

std::vector<std::string> differences(const MachineRecord& there, const MachineRecord& here)
{
    Comparison out;
    out.texts("architecture", there.architecture, here.architecture);
    out.texts("CPU", there.cpu, here.cpu);
    out.numbers("cores", there.cores, here.cores, "");
    out.numbers("sockets", there.sockets, here.sockets, "");
    // A kernel's own share of memory varies a little.
    const double before = static_cast<double>(there.memory.value()) / 1e9;
    const double now = static_cast<double>(here.memory.value()) / 1e9;
    if (before > 0 && now > 0 && (now < 0.97 * before || before < 0.97 * now))
        out.say(fmt::format("host memory {:.0f} GB there, {:.0f} GB here", before, now));
    out.texts("CPU clocks", there.governor, here.governor);
    if (there.gpus.size() != here.gpus.size())
        out.say(fmt::format("{} GPUs there, {} here", there.gpus.size(), here.gpus.size()));
    for (std::size_t i = 0; i < std::min(there.gpus.size(), here.gpus.size()); ++i)
        compare_gpu(out, i, there.gpus[i], here.gpus[i]);
    compare_ports(out, there.ports, here.ports);
    return out.take();
}

} // namespace trainyard
