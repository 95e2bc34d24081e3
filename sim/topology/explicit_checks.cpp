#include "sim/topology/explicit_checks.h"

#include "sim/base/diagnostic.h"
#include "sim/base/units.h"
#include "sim/topology/explicit_model.h"

#include <fmt/core.h>

#include <set>

namespace trainyard {
namespace {

using Flaws = std::vector<ClusterFlaw>;

void error(Flaws& out, std::string pointer, std::string message, std::string hint = {})
{
    out.push_back({Severity::error, std::move(pointer), std::move(message), std::move(hint)});
}

std::vector<std::string> check_names(const ExplicitDescription& description, Flaws& out)
{
    std::set<std::string> seen;
    std::vector<std::string> names;
    const auto check = [&](const char* list, std::size_t i, const std::string& name) {
        if (!seen.insert(name).second)
            error(out, fmt::format("/{}/{}/name", list, i),
                  fmt::format("a second piece called \"{}\"", name),
                  "names are shared by devices, switches and NICs");
        names.push_back(name);
    };
    for (std::size_t i = 0; i < description.devices.size(); ++i)
        check("devices", i, description.devices[i].name);
    for (std::size_t i = 0; i < description.switches.size(); ++i)
        check("switches", i, description.switches[i].name);
    for (std::size_t i = 0; i < description.nics.size(); ++i)
        check("nics", i, description.nics[i].name);
    return names;
}

void check_ends(const ExplicitDescription& description, const std::vector<std::string>& names,
                Flaws& out)
{
    const std::set<std::string> known(names.begin(), names.end());
    for (std::size_t i = 0; i < description.links.size(); ++i) {
        const ExplicitLink& link = description.links[i];
        const auto check = [&](const char* key, const std::string& name) {
            if (!known.contains(name))
                error(out, fmt::format("/links/{}/{}", i, key),
                      fmt::format("nothing is called \"{}\"", name), suggestion(name, names));
        };
        check("from", link.from);
        check("to", link.to);
        if (link.from == link.to)
            error(out, fmt::format("/links/{}", i),
                  fmt::format("a link from \"{}\" to itself", link.from));
    }
}

void check_nodes(const ExplicitDescription& description, Flaws& out)
{
    std::set<std::string> nodes;
    for (std::size_t i = 0; i < description.devices.size(); ++i) {
        const std::string& node = description.devices[i].node;
        const bool repeated = !nodes.insert(node).second;
        if (repeated && description.devices[i - 1].node != node)
            error(out, fmt::format("/devices/{}", i),
                  fmt::format("devices of node \"{}\" are listed apart", node),
                  "list the devices of a node together: ranks are placed in this order");
    }
    const std::vector<std::string> known(nodes.begin(), nodes.end());
    const auto check = [&](const char* list, std::size_t i, const std::string& node) {
        if (!nodes.contains(node))
            error(out, fmt::format("/{}/{}/node", list, i),
                  fmt::format("node \"{}\" has no devices", node), suggestion(node, known));
    };
    for (std::size_t i = 0; i < description.switches.size(); ++i)
        if (!description.switches[i].node.empty())
            check("switches", i, description.switches[i].node);
    for (std::size_t i = 0; i < description.nics.size(); ++i)
        check("nics", i, description.nics[i].node);
}

void check_domains(const ExplicitPieces& pieces, Flaws& out)
{
    int last = -1;
    for (std::size_t node = 0; node < pieces.domain_of_node.size(); ++node) {
        const int domain = pieces.domain_of_node[node];
        if (domain < last)
            error(out, "/devices",
                  fmt::format("node \"{}\" is listed apart from the nodes that NVLink joins it to",
                              pieces.nodes[node]),
                  "list the nodes of an NVLink domain together");
        last = std::max(last, domain);
    }
}

// "a", "b", "c" and 5 more.
std::string listed(const std::vector<std::string>& names)
{
    std::string out;
    for (std::size_t i = 0; i < names.size() && i < 3; ++i)
        out += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", names[i]);
    return names.size() > 3 ? fmt::format("{} and {} more", out, names.size() - 3) : out;
}

void check_reachable(const ExplicitPieces& pieces, Flaws& out)
{
    const ExplicitGraph graph(pieces);
    for (int from = 0; from < pieces.devices; ++from) {
        const std::vector<bool> reached = graph.reachable_from(from);
        std::vector<std::string> missing;
        std::size_t first = 0;
        for (std::size_t to = reached.size(); to-- > 0;)
            if (!reached[to]) {
                missing.insert(missing.begin(), pieces.pieces[to].name);
                first = to;
            }
        if (missing.empty())
            continue;
        error(out, fmt::format("/devices/{}", first),
              fmt::format("\"{}\" cannot reach {}",
                          pieces.pieces[static_cast<std::size_t>(from)].name, listed(missing)),
              "add the links between them; messages pass through other GPUs over NVLink only");
        return; // one cut explains many pairs
    }
}

void check_network(const ExplicitDescription& description, const ExplicitPieces& pieces, Flaws& out)
{
    for (const DirectedLink& link : pieces.links)
        if (link.link.kind == LinkKind::nic && !description.network) {
            error(out, fmt::format("/links/{}", link.entry),
                  "a link into the network, but \"network\" does not say what it speaks",
                  "add \"network\": \"ib_ndr\" or another preset");
            break;
        }
    for (const DirectedLink& link : pieces.links) {
        const double gigabytes = link.link.capacity.value() / 1e9;
        if (link.link.kind == LinkKind::nic && gigabytes > 200)
            out.push_back({Severity::warning, fmt::format("/links/{}/bandwidth", link.entry),
                           fmt::format("{} for one NIC?", to_display(link.link.capacity)),
                           fmt::format("{:g} Gb/s is usual: bits, not bytes", gigabytes)});
    }
}

} // namespace

std::vector<ClusterFlaw> flaws(const ExplicitDescription& description)
{
    Flaws out;
    if (description.devices.empty())
        error(out, "/devices", "a cluster needs at least one device");
    check_ends(description, check_names(description, out), out);
    check_nodes(description, out);
    const ExplicitPieces pieces = put_together(description);
    check_network(description, pieces, out);
    if (!out.empty() && out.front().severity == Severity::error)
        return out; // what follows would repeat the same mistakes
    check_domains(pieces, out);
    check_reachable(pieces, out);
    return out;
}

Topology make_explicit(const ExplicitDescription& description)
{
    return Topology(std::make_shared<const ExplicitModel>(description));
}

} // namespace trainyard
