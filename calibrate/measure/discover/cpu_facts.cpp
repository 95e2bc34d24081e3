#include "calibrate/measure/discover/cpu_facts.h"

#include "calibrate/measure/discover/cpu_info.h"

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <sstream>

namespace trainyard {
namespace {

constexpr const char* all_cpus = "sys/devices/system/cpu/online";
constexpr const char* granted_cpus = "sys/fs/cgroup/cpuset.cpus.effective";
constexpr const char* first_cpu = "sys/devices/system/cpu/cpu0";

// "32768K", "32M": bytes. Other words: nothing.
std::optional<Bytes> bytes_of(const std::string& text)
{
    std::istringstream in(text);
    std::uint64_t count = 0;
    char unit = ' ';
    if (!(in >> count))
        return std::nullopt;
    in >> unit;
    const int shift = unit == 'K' || unit == 'k' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
    return Bytes(count << shift);
}

std::string model_of(const CpuInfo& info)
{
    if (const std::string name = info.value_of("model name"); !name.empty())
        return name;
    if (const auto arm = arm_model(info))
        return arm->maker.empty() ? std::string(arm->name)
                                  : fmt::format("{} {}", arm->maker, arm->name);
    const std::string part = info.value_of("CPU part");
    return part.empty()
               ? ""
               : fmt::format("Arm implementer {}, part {}", info.value_of("CPU implementer"), part);
}

Bytes last_cache_of(const SysTree& tree)
{
    const std::string caches = std::string(first_cpu) + "/cache";
    Bytes largest;
    for (const std::string& name : tree.entries(caches))
        if (name.starts_with("index"))
            largest = std::max(
                largest, bytes_of(tree.text(fmt::format("{}/{}/size", caches, name)).value_or(""))
                             .value_or(Bytes()));
    return largest;
}

// What is switched on, or the part of it that a container has.
int cores_of_host(const SysTree& tree)
{
    for (const char* file : {granted_cpus, all_cpus})
        if (const auto cores = numbers_of_list(tree.text(file).value_or("")); !cores.empty())
            return static_cast<int>(cores.size());
    return 1;
}

int bound_cores()
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        return 1;
    return CPU_COUNT(&allowed);
}

} // namespace

CpuFacts read_cpu_facts(const std::filesystem::path& root)
{
    const SysTree tree(root);
    const CpuInfo info = parse_cpuinfo(tree.text("proc/cpuinfo").value_or(""));
    const ControlGroup limits = control_group(tree);

    CpuFacts facts;
    facts.model = model_of(info);
    facts.cores = cores_of_host(tree);
    facts.own_cores = std::min(bound_cores(), facts.cores);
    facts.packages = std::max(1, static_cast<int>(info.sockets.size()));
    facts.cores_granted = limits.cpus;
    facts.last_cache = last_cache_of(tree);
    facts.memory = kilobytes_after(tree.text("proc/meminfo").value_or(""), "MemTotal:");
    if (limits.memory)
        facts.memory = std::min(facts.memory, *limits.memory);
    facts.governor = tree.text(std::string(first_cpu) + "/cpufreq/scaling_governor").value_or("");
    const std::string flags = info.value_of("flags") + " ";
    facts.virtual_machine = flags.find(" hypervisor ") != std::string::npos;
    return facts;
}

Bytes free_memory(const std::filesystem::path& root)
{
    const SysTree tree(root);
    const Bytes free = kilobytes_after(tree.text("proc/meminfo").value_or(""), "MemAvailable:");
    const ControlGroup limits = control_group(tree);
    if (!limits.memory)
        return free;
    const Bytes used = std::min(limits.memory_used.value_or(Bytes()), *limits.memory);
    return std::min(free, *limits.memory - used);
}

std::vector<std::string> doubts(const CpuFacts& facts, int local_ranks)
{
    std::vector<std::string> found;
    if (local_ranks > facts.cores)
        found.push_back(fmt::format("{} ranks share {} cores: times hold waiting for a core",
                                    local_ranks, facts.cores));
    if (facts.cores_granted > 0 && facts.cores_granted < local_ranks)
        found.push_back(fmt::format("the container may use {:.3g} cores for {} ranks: the system "
                                    "stops them now and then",
                                    facts.cores_granted, local_ranks));
    if (!facts.governor.empty() && facts.governor != "performance")
        found.push_back(fmt::format("the frequency governor is \"{}\", not \"performance\": clocks "
                                    "follow the load",
                                    facts.governor));
    if (facts.virtual_machine)
        found.push_back("this is a virtual machine: others may share its cores");
    return found;
}

} // namespace trainyard
