#include "calibrate/measure/host_kernels/cpu_facts.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

namespace trainyard {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file)
{
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

std::string trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos)
        return "";
    return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

// The text behind "key :" or "key:", of the first line that has it.
std::string value_of(const fs::path& file, std::string_view key)
{
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        const auto colon = line.find(':');
        if (colon != std::string::npos && trimmed(std::string_view(line).substr(0, colon)) == key)
            return trimmed(std::string_view(line).substr(colon + 1));
    }
    return "";
}

// "32768K", "2 kB", "1073741824": bytes. Other words: nothing.
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

// Arm's processors give no name but numbers.
std::string model_of(const fs::path& cpuinfo)
{
    if (const std::string name = value_of(cpuinfo, "model name"); !name.empty())
        return name;
    const std::string maker = value_of(cpuinfo, "CPU implementer");
    const std::string part = value_of(cpuinfo, "CPU part");
    if (part.empty())
        return "";
    if (maker == "0x41" && part == "0xd4f")
        return "Arm Neoverse V2"; // Grace
    if (maker == "0x41" && part == "0xd0c")
        return "Arm Neoverse N1";
    return fmt::format("Arm implementer {}, part {}", maker, part);
}

int packages_of(const fs::path& cpuinfo)
{
    std::ifstream in(cpuinfo);
    std::set<std::string> ids;
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("physical id"))
            ids.insert(line);
    return std::max(1, static_cast<int>(ids.size()));
}

Bytes last_cache_of(const fs::path& caches)
{
    Bytes largest;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(caches, none))
        if (entry.path().filename().string().starts_with("index"))
            largest =
                std::max(largest, bytes_of(first_line(entry.path() / "size")).value_or(Bytes()));
    return largest;
}

struct GroupLimits {
    double cores = 0;
    std::optional<Bytes> memory;
    std::optional<Bytes> memory_used;
};

// Of the control group at whose root this process is, as in a container: version 2, or 1.
GroupLimits limits_of(const fs::path& groups)
{
    GroupLimits limits;
    double quota = 0;
    double period = 0;
    if (std::istringstream two(first_line(groups / "cpu.max")); two >> quota >> period) {
        limits.cores = quota / period;
    } else if (std::istringstream one(first_line(groups / "cpu/cpu.cfs_quota_us"));
               one >> quota && quota > 0)
    {
        if (std::istringstream(first_line(groups / "cpu/cpu.cfs_period_us")) >> period)
            limits.cores = quota / period;
    }
    limits.memory = bytes_of(first_line(groups / "memory.max"));
    limits.memory_used = bytes_of(first_line(groups / "memory.current"));
    if (!limits.memory) {
        limits.memory = bytes_of(first_line(groups / "memory/memory.limit_in_bytes"));
        limits.memory_used = bytes_of(first_line(groups / "memory/memory.usage_in_bytes"));
    }
    return limits;
}

// "0-3,8": 5. Anything else: 0.
int count_of(const std::string& list)
{
    std::istringstream in(list);
    int count = 0;
    for (std::string range; std::getline(in, range, ',');) {
        int first = 0;
        int last = 0;
        char dash = 0;
        std::istringstream text(range);
        if (!(text >> first))
            return 0;
        count += text >> dash >> last ? last - first + 1 : 1;
    }
    return count;
}

// What is switched on, or the part of it that a container has.
int cores_of_host(const fs::path& root)
{
    for (const char* file :
         {"sys/fs/cgroup/cpuset.cpus.effective", "sys/devices/system/cpu/online"})
        if (const int count = count_of(first_line(root / file)); count > 0)
            return count;
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

CpuFacts read_cpu_facts(const fs::path& root)
{
    const fs::path cpuinfo = root / "proc/cpuinfo";
    const fs::path core = root / "sys/devices/system/cpu/cpu0";
    const GroupLimits limits = limits_of(root / "sys/fs/cgroup");

    CpuFacts facts;
    facts.model = model_of(cpuinfo);
    facts.cores = cores_of_host(root);
    facts.own_cores = std::min(bound_cores(), facts.cores);
    facts.packages = packages_of(cpuinfo);
    facts.cores_granted = limits.cores;
    facts.last_cache = last_cache_of(core / "cache");
    facts.memory = bytes_of(value_of(root / "proc/meminfo", "MemTotal")).value_or(Bytes());
    if (limits.memory)
        facts.memory = std::min(facts.memory, *limits.memory);
    facts.governor = first_line(core / "cpufreq/scaling_governor");
    const std::string flags = value_of(cpuinfo, "flags") + " ";
    facts.virtual_machine = flags.find(" hypervisor ") != std::string::npos;
    return facts;
}

Bytes free_memory(const fs::path& root)
{
    const Bytes free = bytes_of(value_of(root / "proc/meminfo", "MemAvailable")).value_or(Bytes());
    const GroupLimits limits = limits_of(root / "sys/fs/cgroup");
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
