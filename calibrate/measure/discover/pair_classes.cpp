#include "calibrate/measure/discover/pair_classes.h"

#include "calibrate/import/device_facts.h"
#include "sim/topology/explicit_checks.h"
#include "sim/topology/explicit_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {
namespace {

// Switches above a device, the nearest first; the last is a CPU.
std::vector<int> above(const NodeMap& map, int parent)
{
    std::vector<int> out;
    for (int at = parent; at >= 0 && out.size() <= map.switches.size();
         at = map.switches[static_cast<std::size_t>(at)].parent)
        out.push_back(at);
    return out;
}

std::string pcie_word(const NodeMap& map, int parent_a, int parent_b)
{
    const std::vector<int> a = above(map, parent_a);
    const std::vector<int> b = above(map, parent_b);
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto met = std::find(b.begin(), b.end(), a[i]);
        if (met == b.end())
            continue;
        if (map.switches[static_cast<std::size_t>(a[i])].parent < 0)
            return "PHB";
        return i == 0 && met == b.begin() ? "PIX" : "PXB";
    }
    return "SYS";
}

int links_of(const NodeMap& map, int gpu, Bandwidth rate)
{
    const Bandwidth each = link_facts(map.gpus[static_cast<std::size_t>(gpu)].model).nvlink;
    return std::max(1, static_cast<int>(std::lround(rate / each)));
}

} // namespace

Words classes_of(const NodeMap& map)
{
    const std::size_t count = map.gpus.size();
    Words out(count, std::vector<std::string>(count, "X"));
    for (std::size_t a = 0; a < count; ++a)
        for (std::size_t b = 0; b < count; ++b)
            if (a != b)
                out[a][b] = pcie_word(map, map.gpus[a].parent, map.gpus[b].parent);
    std::map<int, int> switched; // GPU -> links
    for (const NodeMap::Nvlink& link : map.nvlinks) {
        const int links = links_of(map, link.from, link.rate);
        const auto from = static_cast<std::size_t>(link.from);
        if (link.to < 0)
            switched[link.from] += links;
        else
            out[from][static_cast<std::size_t>(link.to)] =
                out[static_cast<std::size_t>(link.to)][from] = fmt::format("NV{}", links);
    }
    for (const auto& [a, links_a] : switched)
        for (const auto& [b, links_b] : switched)
            if (a != b)
                out[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] =
                    fmt::format("NV{}", std::min(links_a, links_b));
    return out;
}

Words classes_of(const std::vector<Seat>& seats, const std::vector<Words>& nodes)
{
    Words out(seats.size(), std::vector<std::string>(seats.size(), "network"));
    for (std::size_t a = 0; a < seats.size(); ++a)
        for (std::size_t b = 0; b < seats.size(); ++b)
            if (seats[a].node == seats[b].node)
                out[a][b] = nodes.at(static_cast<std::size_t>(seats[a].node))
                                .at(static_cast<std::size_t>(seats[a].device))
                                .at(static_cast<std::size_t>(seats[b].device));
    return out;
}

std::vector<SharedPart> shared_parts(const ExplicitDescription& description)
{
    const Topology topology = make_explicit(description);
    std::map<std::string, std::string> kinds; // of pieces other than devices
    for (const ExplicitSwitch& one : description.switches)
        kinds[one.name] = "switch " + one.name;
    for (const ExplicitNic& nic : description.nics)
        kinds[nic.name] = "NIC " + nic.name;
    std::map<std::string, std::vector<OrderedPair>> crossing;
    const int devices = std::min(topology.device_count(), 1024);
    for (int a = 0; a < devices; ++a)
        for (int b = 0; b < devices; ++b) {
            if (a == b)
                continue;
            for (const LinkId link : topology.path(DeviceId{static_cast<std::uint32_t>(a)},
                                                   DeviceId{static_cast<std::uint32_t>(b)}))
            {
                const LinkEnds ends = topology.model().link_ends(link);
                crossing["link " + topology.link_name(link)].push_back({a, b});
                // Each piece once: as the end of the link that leads to it.
                if (const auto piece = kinds.find(ends.to); piece != kinds.end())
                    crossing[piece->second].push_back({a, b});
            }
        }
    std::vector<SharedPart> out;
    for (auto& [name, pairs] : crossing)
        out.push_back({name, std::move(pairs)});
    return out;
}

} // namespace trainyard
