#include "calibrate/measure/discover/host_cpus.h"

#include "calibrate/import/log_text.h"
#include "calibrate/import/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace trainyard {
namespace {

// Implementer and part of ARM's main ID register. Source: Arm's and Ampere's reference manuals.
std::string arm_name(std::string_view implementer, std::string_view part)
{
    static constexpr std::array<std::array<std::string_view, 3>, 9> known{{
        {"0x41", "0xd08", "Cortex-A72"},
        {"0x41", "0xd0c", "Neoverse N1"},
        {"0x41", "0xd40", "Neoverse V1"},
        {"0x41", "0xd49", "Neoverse N2"},
        {"0x41", "0xd4f", "Neoverse V2"}, // NVIDIA Grace among others
        {"0x41", "0xd83", "Neoverse V3"},
        {"0x41", "0xd8e", "Neoverse N3"},
        {"0x46", "0x001", "Fujitsu A64FX"},
        {"0xc0", "0xac3", "Ampere-1"},
    }};
    for (const auto& [maker, number, name] : known)
        if (maker == implementer && number == part)
            return std::string(name);
    return implementer.empty()
               ? std::string{}
               : fmt::format("ARM {} {}", printable(implementer, 10), printable(part, 10));
}

struct CpuInfo {
    std::map<std::string, std::string> first; // value of each key where it first stands
    std::map<int, CpuSocket> sockets;         // by "physical id"
    int processors = 0;
};

CpuInfo parse(const std::string& text)
{
    CpuInfo out;
    std::set<std::pair<int, int>> cores;
    int socket = 0;
    for_each_line(text, [&](int, const std::string& line) {
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

std::string value_of(const CpuInfo& info, const char* key)
{
    const auto found = info.first.find(key);
    return found == info.first.end() ? std::string{} : found->second;
}

void erase_all(std::string& text, std::string_view word)
{
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word))
        text.erase(at, word.size());
}

// "cpu17" -> 17; -1 for other names.
int number_after_word(std::string_view name, std::string_view word)
{
    if (!name.starts_with(word))
        return -1;
    const auto number = integer_in(name.substr(word.size()));
    return number && *number >= 0 && *number < 65'536 ? static_cast<int>(*number) : -1;
}

// Sockets as the kernel numbers them, and the socket of each CPU.
std::map<int, int> read_sockets(const SysTree& tree, HostFacts& host)
{
    const std::string folder = "sys/devices/system/cpu";
    std::map<int, int> socket_of;
    std::map<int, CpuSocket> sockets;
    std::set<std::pair<int, std::int64_t>> cores;
    for (const std::string& name : tree.entries(folder)) {
        const int cpu = number_after_word(name, "cpu");
        const auto package =
            tree.number(fmt::format("{}/{}/topology/physical_package_id", folder, name));
        if (cpu < 0 || !package)
            continue;
        // Firmware without the number says -1.
        const auto id = static_cast<int>(std::clamp<std::int64_t>(*package, 0, 65'535));
        socket_of[cpu] = id;
        CpuSocket& socket = sockets[id];
        socket.id = id;
        ++socket.threads;
        const auto core = tree.number(fmt::format("{}/{}/topology/core_id", folder, name));
        if (cores.emplace(id, core.value_or(cpu)).second)
            ++socket.cores;
    }
    for (const auto& [id, socket] : sockets)
        host.sockets.push_back(socket);
    return socket_of;
}

Bytes kilobytes_after(const std::string& text, const char* label)
{
    const auto kilobytes = integer_after(text, label);
    return kilobytes && *kilobytes > 0 && *kilobytes < (std::int64_t{1} << 50)
               ? Bytes(static_cast<std::uint64_t>(*kilobytes) * 1024)
               : Bytes(0);
}

void read_numa(const SysTree& tree, const std::map<int, int>& socket_of, HostFacts& host)
{
    const std::string folder = "sys/devices/system/node";
    for (const std::string& name : tree.entries(folder)) {
        const int id = number_after_word(name, "node");
        if (id < 0)
            continue;
        NumaNode node;
        node.id = id;
        node.cpus = printable(tree.text(fmt::format("{}/{}/cpulist", folder, name)).value_or(""));
        const std::vector<int> cpus = numbers_of_list(node.cpus);
        if (const auto found = socket_of.find(cpus.empty() ? -1 : cpus.front());
            found != socket_of.end())
            node.socket = found->second;
        node.memory = kilobytes_after(
            tree.text(fmt::format("{}/{}/meminfo", folder, name)).value_or(""), "MemTotal:");
        host.numa.push_back(std::move(node));
    }
    std::sort(host.numa.begin(), host.numa.end(),
              [](const NumaNode& a, const NumaNode& b) { return a.id < b.id; });
}

// Quota and period of a control group, "max 100000" without a limit.
double allowed_cpus(const SysTree& tree)
{
    const std::string text = tree.text("sys/fs/cgroup/cpu.max").value_or("");
    const std::vector<Word> words = words_of(text);
    const auto quota = words.size() == 2 ? number_in(words[0].text) : std::nullopt;
    const auto period = words.size() == 2 ? number_in(words[1].text) : std::nullopt;
    return quota && period && *quota > 0 && *period > 0 ? *quota / *period : 0;
}

} // namespace

std::string cpu_name(const std::string& cpuinfo)
{
    const CpuInfo info = parse(cpuinfo);
    std::string name = value_of(info, "model name");
    if (name.empty())
        name = arm_name(value_of(info, "CPU implementer"), value_of(info, "CPU part"));
    name = printable(name);
    for (const char* noise : {"(R)", "(TM)", "(r)", "(tm)", " CPU", " Processor"})
        erase_all(name, noise);
    name.resize(std::min(name.size(), name.find(" @")));
    std::string out;
    for (const Word& word : words_of(name))
        out += (out.empty() ? "" : " ") + std::string(word.text);
    return out;
}

void read_cpus(const SysTree& tree, HostFacts& host)
{
    const std::string cpuinfo = tree.text("proc/cpuinfo").value_or("");
    const CpuInfo info = parse(cpuinfo);
    host.cpu = cpu_name(cpuinfo);
    const std::string kind = tree.text("proc/sys/kernel/arch").value_or("");
    host.architecture = !kind.empty()                                ? printable(kind, 20)
                        : !value_of(info, "CPU implementer").empty() ? "aarch64"
                        : value_of(info, "flags").find(" lm ") != std::string::npos ? "x86_64"
                                                                                    : "";
    const std::map<int, int> socket_of = read_sockets(tree, host);
    if (host.sockets.empty())
        for (const auto& [id, socket] : info.sockets)
            host.sockets.push_back(socket);
    if (host.sockets.empty() && info.processors > 0)
        host.sockets.push_back({0, info.processors, info.processors});
    if (host.sockets.empty())
        add_note(host.hidden, "processors: neither /proc/cpuinfo nor /sys/devices/system/cpu");
    read_numa(tree, socket_of, host);
    if (host.numa.empty())
        add_note(host.hidden, "NUMA nodes: no /sys/devices/system/node");
    host.memory = kilobytes_after(tree.text("proc/meminfo").value_or(""), "MemTotal:");
    const std::string clocks = "sys/devices/system/cpu/cpu0/cpufreq/";
    host.most_cpu_mhz =
        static_cast<double>(tree.number(clocks + "cpuinfo_max_freq").value_or(0)) / 1e3;
    host.governor = printable(tree.text(clocks + "scaling_governor").value_or(""), 20);
    host.allowed_cpus = allowed_cpus(tree);
}

} // namespace trainyard
