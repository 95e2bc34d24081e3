#include "sim/cli/command.h"
#include "sim/cli/terminal.h"
#include "sim/topology/dot.h"
#include "sim/topology/paths.h"
#include "sim/topology/read_topology.h"
#include "sim/topology/summary.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace trainyard {
namespace {

struct TopoOptions {
    std::string file;
    std::string from;
    std::string to;
    std::string set = "shortest";
    int max_nodes = 8;
    bool json = false;
};

PathSet path_set(std::string_view name)
{
    return name == "ecmp" ? PathSet::ecmp : name == "rails" ? PathSet::rails : PathSet::shortest;
}

// Runs `use` on the topology of the file.
template <class Use>
int with_topology(const std::string& path, Use use)
{
    const Checked<Topology> topology = read_topology_file(path);
    if (!topology)
        return refuse(topology.error(), "nothing was shown.");
    return use(*topology);
}

int run_show(const TopoOptions& options)
{
    return with_topology(options.file, [&](const Topology& topology) {
        const TopologySummary summary = summarize(topology);
        print_data(options.json ? to_text(to_json(summary)) + "\n" : describe(summary));
        return exit_ok;
    });
}

int run_path(const TopoOptions& options)
{
    return with_topology(options.file, [&](const Topology& topology) {
        const Checked<DeviceId> from = find_device(topology, options.from);
        const Checked<DeviceId> to = find_device(topology, options.to);
        for (const Checked<DeviceId>* const end : {&from, &to})
            if (!*end)
                return refuse(end->error(), "nothing was shown.");
        if (*from == *to) {
            print_talk("error: both ends are the same device\n");
            return exit_invalid_input;
        }
        const Paths paths = find_paths(topology, *from, *to, path_set(options.set));
        Json list = Json::array();
        for (const std::vector<LinkId>& path : paths.paths) {
            const PathDescription description = describe_path(topology, *from, *to, path);
            if (options.json)
                list.push_back(to_json(description));
            else
                print_data(describe(description));
        }
        if (options.json)
            print_data(to_text(list) + "\n");
        if (!paths.complete)
            print_talk(fmt::format("the first {} paths; there are more\n", paths.paths.size()));
        return exit_ok;
    });
}

int run_dot(const TopoOptions& options)
{
    return with_topology(options.file, [&](const Topology& topology) {
        print_data(to_dot(topology, options.max_nodes));
        return exit_ok;
    });
}

CLI::App* add_part(CLI::App& topo, const std::string& name, const std::string& help,
                   TopoOptions& options)
{
    CLI::App* const part = topo.add_subcommand(name, help);
    part->add_option("topology", options.file, "topology file")->required()->type_name("FILE");
    return part;
}

} // namespace

void add_topo(CLI::App& program, Command& chosen)
{
    CLI::App* const topo = program.add_subcommand("topo", "Look at a cluster: show, path, dot");
    topo->require_subcommand(1);
    topo->footer("Examples: trainyard topo show topologies/gb200-nvl72-8racks.json\n"
                 "          trainyard topo path topologies/h100-8x8-ndr400.json 0 63");
    auto options = std::make_shared<TopoOptions>();

    CLI::App* const show =
        add_part(*topo, "show", "Devices, links, domains, bisection bandwidth", *options);
    show->add_flag("--json", options->json, "print as JSON");
    show->callback([&chosen, options] { chosen = [options] { return run_show(*options); }; });

    CLI::App* const path = add_part(*topo, "path", "The links between two devices", *options);
    path->add_option("from", options->from, "device, by number or name")->required();
    path->add_option("to", options->to, "device, by number or name")->required();
    path->add_option("--set", options->set,
                     "which paths: the first shortest, all equal ones, or one per rail")
        ->check(CLI::IsMember({"shortest", "ecmp", "rails"}))
        ->type_name("");
    path->add_flag("--json", options->json, "print as JSON");
    path->callback([&chosen, options] { chosen = [options] { return run_path(*options); }; });

    CLI::App* const dot = add_part(*topo, "dot", "A drawing for Graphviz", *options);
    dot->add_option("--max-nodes", options->max_nodes, "larger clusters are drawn as layers")
        ->check(CLI::PositiveNumber);
    dot->callback([&chosen, options] { chosen = [options] { return run_dot(*options); }; });
}

} // namespace trainyard
