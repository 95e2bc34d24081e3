#pragma once

// A cluster as its form describes it: a generated topology's JSON, changed field by field. What it
// does not say is as usual: the node's, the network's, or a default of the field table.

#include "gui/model/form.h"
#include "sim/topology/presets.h"

namespace trainyard::gui {

// Kinds of nodes and networks to choose from.
struct ClusterChoices {
    struct Node {
        std::string preset;
        std::string device; // as people name it: "H100-SXM5-80GB"
        int gpus = 0;
    };

    Presets presets;
    std::vector<Node> nodes; // by device, the usual node of each first
};

// Reads files. Throws WorldError.
Checked<ClusterChoices> cluster_choices();

// The fields of a generated topology.
const FormField& cluster_form();

class ClusterDraft {
public:
    // Sixteen nodes of eight H100 on rails.
    explicit ClusterDraft(std::shared_ptr<const ClusterChoices> choices);
    // Requires `generated`.
    ClusterDraft(std::shared_ptr<const ClusterChoices> choices, Json topology);

    // Whether it is described by a kind of node and a number of them.
    static bool generated(const Json& topology);

    const Json& json() const { return json_; }

    // What it says of a field ("node.gpus"); empty: nothing.
    std::string text(const std::string& field) const;
    // What counts where it says nothing; empty: what follows from other fields.
    std::string usual_text(const std::string& field) const;

    // As `--set` takes it; an empty text takes it out. What keeps it from being set.
    std::optional<Diagnostic> set(const std::string& field, const std::string& text);

    std::vector<std::string> node_presets() const; // by device
    std::vector<std::string> network_presets() const;

    std::string node() const; // the preset; empty: written out
    // Another kind of node: figures of the one before, and of its network, go. About as many GPUs
    // as before, in whole racks.
    void choose_node(const std::string& preset);
    std::string network() const;                    // the preset; empty: the node's usual one
    void choose_network(const std::string& preset); // empty: likewise
    std::string fabric() const;                     // "rail"; empty: none
    void choose_fabric(const std::string& kind);    // likewise

    // Nodes that one NVLink domain spans: a rack's; 1 where it spans no more than one.
    int nodes_per_rack() const;
    // Whole racks; empty: they are not whole.
    std::string racks_text() const;
    // Any text is taken; the checks say what is wrong with it.
    void set_racks(const std::string& text);

private:
    Json* object(const char* key);
    const Json* usual(const std::string& field) const;
    std::string usual_network() const;
    int whole(const std::string& field) const; // 0: not known

    std::shared_ptr<const ClusterChoices> choices_;
    Json json_;
};

} // namespace trainyard::gui
