#include "calibrate/import/read_node.h"

#include "calibrate/import/nccl_xml.h"
#include "calibrate/import/smi_topology.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

// Of a node, together. The largest that are built have some 16 GPUs, as many NICs and 20 switches.
constexpr std::size_t most_pieces = 512;

bool is_xml(std::string_view text)
{
    const std::size_t start = text.find_first_not_of(" \t\r\n");
    return start != std::string_view::npos && text[start] == '<';
}

std::string size_of(const ExplicitDescription& node)
{
    std::size_t nvlinks = 0;
    bool switched = false;
    for (const ExplicitSwitch& part : node.switches)
        switched = switched || part.kind == SwitchKind::nvswitch;
    for (const ExplicitLink& link : node.links)
        nvlinks += link.from.starts_with("gpu") && link.to.starts_with("gpu") ? 1 : 0;
    return fmt::format("{} GPUs ({}), {} NICs, {}", node.devices.size(),
                       node.devices.empty() ? "" : node.devices.front().model, node.nics.size(),
                       switched      ? "NVLink through switches"
                       : nvlinks > 0 ? fmt::format("NVLink between {} pairs", nvlinks)
                                     : "no NVLink");
}

// Which matrix of the text; nothing (and problems) when there is no such.
Checked<SmiMatrix> chosen_matrix(std::string_view text, const std::string& file, int which,
                                 ImportNotes& notes)
{
    const std::vector<SmiMatrix> matrices = read_smi_matrices(text);
    if (matrices.empty())
        return tl::make_unexpected(
            problem_with(file, "no topology was found",
                         "wanted: NCCL topology XML, or the matrix of nvidia-smi topo -m"));
    const auto count = static_cast<int>(matrices.size());
    if (which < 1 || which > count)
        return tl::make_unexpected(problem_with(file, fmt::format("it has no matrix {}", which),
                                                fmt::format("1 to {}", count)));
    if (count > 1)
        add_note(notes.ignored,
                 fmt::format("matrix {} of {} is taken (--nth takes another)", which, count));
    return matrices[static_cast<std::size_t>(which - 1)];
}

} // namespace

Checked<ImportedTopology> read_node_topology(std::string_view text, const std::string& file,
                                             const TopologyHints& hints)
{
    ImportedTopology out;
    std::optional<NodeMap> node;
    if (is_xml(text)) {
        const Checked<XmlElement> system = read_nccl_xml(text, file);
        if (!system)
            return tl::make_unexpected(system.error());
        node = node_of_xml(*system, hints.model, out.notes);
    } else {
        const Checked<SmiMatrix> matrix = chosen_matrix(text, file, hints.which, out.notes);
        if (!matrix)
            return tl::make_unexpected(matrix.error());
        node = node_of_matrix(*matrix, hints.model, out.notes);
    }
    if (!node)
        return tl::make_unexpected(problem_with(
            file, out.notes.flagged.empty() ? "it describes no node" : out.notes.flagged.front(),
            ""));
    if (node->gpus.size() + node->nics.size() + node->switches.size() > most_pieces)
        return tl::make_unexpected(problem_with(
            file,
            fmt::format("{} GPUs, {} NICs and {} PCIe switches and CPUs in one node",
                        node->gpus.size(), node->nics.size(), node->switches.size()),
            fmt::format("at most {} together; several nodes are a topology file", most_pieces)));
    out.guessed_model = node->guessed_model;
    const bool connected = !node->network.empty();
    out.description =
        describe_node(*node, connected ? network_preset(node->network) : std::nullopt);
    Checked<Json> json = topology_json(out.description, file);
    if (!json)
        return tl::make_unexpected(std::move(json.error()));
    out.json = std::move(*json);
    add_note(out.notes.understood, size_of(out.description));
    out.map = std::move(*node);
    return out;
}

} // namespace trainyard
