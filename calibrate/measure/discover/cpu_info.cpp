#include "calibrate/measure/discover/cpu_info.h"

#include "calibrate/import/log_text.h"

#include <algorithm>
#include <array>
#include <set>

namespace trainyard {
namespace {

struct ArmPart {
    std::string_view implementer;
    std::string_view part;
    ArmModel model;
};

// Implementer and part of ARM's main ID register. Source: Arm's and Ampere's reference manuals.
constexpr std::array<ArmPart, 9> arm_parts{{
    {"0x41", "0xd08", {"Arm", "Cortex-A72"}},
    {"0x41", "0xd0c", {"Arm", "Neoverse N1"}},
    {"0x41", "0xd40", {"Arm", "Neoverse V1"}},
    {"0x41", "0xd49", {"Arm", "Neoverse N2"}},
    {"0x41", "0xd4f", {"Arm", "Neoverse V2"}}, // NVIDIA Grace among others
    {"0x41", "0xd83", {"Arm", "Neoverse V3"}},
    {"0x41", "0xd8e", {"Arm", "Neoverse N3"}},
    {"0x46", "0x001", {"", "Fujitsu A64FX"}},
    {"0xc0", "0xac3", {"", "Ampere-1"}},
}};

// "max" and other words: nothing.
std::optional<Bytes> bytes_in(const SysTree& tree, const std::string& path)
{
    const auto count = tree.number(path);
    return count && *count >= 0 ? std::optional(Bytes(static_cast<std::uint64_t>(*count)))
                                : std::nullopt;
}

// Of a quota of time in each period; words: no limit.
double cpus_of(std::string_view quota, std::string_view period)
{
    const double time = number_in(quota).value_or(0);
    const double whole = number_in(period).value_or(0);
    return time > 0 && whole > 0 ? time / whole : 0;
}

double quota_of(const SysTree& tree)
{
    const std::string both = tree.text("sys/fs/cgroup/cpu.max").value_or("");
    if (const std::vector<Word> words = words_of(both); words.size() == 2)
        return cpus_of(words[0].text, words[1].text);
    return cpus_of(tree.text("sys/fs/cgroup/cpu/cpu.cfs_quota_us").value_or(""),
                   tree.text("sys/fs/cgroup/cpu/cpu.cfs_period_us").value_or(""));
}

} // namespace

std::string CpuInfo::value_of(const std::string& key) const
{
    const auto found = first.find(key);
    return found == first.end() ? std::string{} : found->second;
}

CpuInfo parse_cpuinfo(const std::string& cpuinfo)
{
    CpuInfo out;
    std::set<std::pair<int, int>> cores;
    int socket = 0;
    for_each_line(cpuinfo, [&](int, const std::string& line) {
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos)
            return;
        const std::string key(trimmed(std::string_view(line).substr(0, colon)));
        const std::string value(trimmed(std::string_view(line).substr(colon + 1)));
        out.first.emplace(key, value);
        const auto number =
            static_cast<int>(std::clamp<std::int64_t>(integer_in(value).value_or(0), 0, 65'535));
        if (key == "processor" && integer_in(value))
            ++out.processors;
        if (key == "physical id") {
            socket = number;
            out.sockets[socket].id = socket;
            ++out.sockets[socket].threads;
        }
        if (key == "core id" && cores.emplace(socket, number).second)
            ++out.sockets[socket].cores;
    });
    return out;
}

std::optional<ArmModel> arm_model(const CpuInfo& info)
{
    const std::string implementer = info.value_of("CPU implementer");
    const std::string part = info.value_of("CPU part");
    for (const ArmPart& known : arm_parts)
        if (known.implementer == implementer && known.part == part)
            return known.model;
    return std::nullopt;
}

Bytes kilobytes_after(const std::string& meminfo, const char* label)
{
    const auto kilobytes = integer_after(meminfo, label);
    return kilobytes && *kilobytes > 0 && *kilobytes < (std::int64_t{1} << 50)
               ? Bytes(static_cast<std::uint64_t>(*kilobytes) * 1024)
               : Bytes(0);
}

ControlGroup control_group(const SysTree& tree)
{
    ControlGroup out;
    out.cpus = quota_of(tree);
    out.memory = bytes_in(tree, "sys/fs/cgroup/memory.max");
    out.memory_used = bytes_in(tree, "sys/fs/cgroup/memory.current");
    if (!out.memory) {
        out.memory = bytes_in(tree, "sys/fs/cgroup/memory/memory.limit_in_bytes");
        out.memory_used = bytes_in(tree, "sys/fs/cgroup/memory/memory.usage_in_bytes");
    }
    return out;
}

} // namespace trainyard
