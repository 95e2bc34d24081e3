#include "calibrate/measure/discover/host_cpus.h"

#include "calibrate/import/log_text.h"
#include "calibrate/import/notes.h"
#include "calibrate/measure/discover/cpu_info.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace trainyard {
namespace {

std::string arm_name(const CpuInfo& info)
{
    if (const auto known = arm_model(info))
        return std::string(known->name);
    const std::string implementer = info.value_of("CPU implementer");
    return implementer.empty() ? std::string{}
                               : fmt::format("ARM {} {}", printable(implementer, 10),
                                             printable(info.value_of("CPU part"), 10));
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

} // namespace

std::string cpu_name(const std::string& cpuinfo)
{
    const CpuInfo info = parse_cpuinfo(cpuinfo);
    std::string name = info.value_of("model name");
    if (name.empty())
        name = arm_name(info);
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
    const CpuInfo info = parse_cpuinfo(cpuinfo);
    host.cpu = cpu_name(cpuinfo);
    const std::string kind = tree.text("proc/sys/kernel/arch").value_or("");
    host.architecture = !kind.empty()                               ? printable(kind, 20)
                        : !info.value_of("CPU implementer").empty() ? "aarch64"
                        : info.value_of("flags").find(" lm ") != std::string::npos ? "x86_64"
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
    host.allowed_cpus = control_group(tree).cpus;
}

} // namespace trainyard
