#include "tests/unit/topology/clusters.h"

#include "sim/base/fields.h"
#include "tests/catch.h"

#include <fmt/core.h>

namespace trainyard::testing {
namespace {

const Presets& presets()
{
    static const Presets all = load_presets().value();
    return all;
}

} // namespace

ClusterDescription cluster(int nodes, const std::string& node, const std::string& network,
                           FabricKind kind)
{
    Json json = Json::object();
    json["generator"] = "cluster";
    json["nodes"] = nodes;
    json["node"] = node;
    json["fabric"]["kind"] = to_name(kind);
    json["fabric"]["network"] = network;
    Problems problems;
    const Json expanded = expand_presets(json, presets(), "test", problems);
    ClusterDescription description;
    fields_of<ClusterDescription>().read(Reader(expanded, "test", problems), description);
    INFO(render(problems, ""));
    REQUIRE(problems.empty());
    return description;
}

std::vector<std::string> problems_of(const std::string& text)
{
    const Checked<Json> json = parse_json(text, "cluster.json");
    Problems problems;
    if (!json) {
        problems = json.error();
    } else if (const auto read = inspect_topology(*json, "cluster.json", presets())) {
        problems = read->warnings;
    } else {
        problems = read.error();
    }
    std::vector<std::string> lines;
    for (const Diagnostic& p : problems)
        lines.push_back(fmt::format("{}:{} {}{}{}", p.line, p.pointer,
                                    p.severity == Severity::warning ? "warning: " : "", p.message,
                                    p.hint.empty() ? "" : " (" + p.hint + ")"));
    return lines;
}

std::vector<std::string> names(const Topology& topology, const std::vector<LinkId>& path)
{
    std::vector<std::string> out;
    for (const LinkId link : path)
        out.push_back(topology.link_name(link));
    return out;
}

} // namespace trainyard::testing
