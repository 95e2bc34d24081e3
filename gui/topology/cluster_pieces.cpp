#include "gui/topology/cluster_pieces.h"

#include "sim/topology/explicit_model.h"

#include <charconv>
#include <unordered_map>

namespace trainyard::gui {

namespace {

std::string without_way(const std::string& name)
{
    return name.substr(0, name.rfind(' '));
}

class Lister {
public:
    explicit Lister(const Topology& topology)
        : topology_(topology),
          model_(topology.model()),
          given_(dynamic_cast<const ExplicitModel*>(&model_))
    {}

    PieceList list()
    {
        list_devices();
        if (given_ != nullptr)
            list_given(given_->description());
        for (std::size_t i = 0; i < topology_.link_count(); ++i)
            add_link(make_id<LinkId>(i));
        find_nodes();
        return std::move(out_);
    }

private:
    std::uint32_t piece(const std::string& name, Layer layer)
    {
        const auto [at, is_new] =
            index_.emplace(name, static_cast<std::uint32_t>(out_.pieces.size()));
        if (is_new)
            out_.pieces.push_back({name, layer});
        return at->second;
    }

    void list_devices()
    {
        for (int i = 0; i < topology_.device_count(); ++i) {
            const auto device = make_id<DeviceId>(static_cast<std::size_t>(i));
            const std::uint32_t at = piece(model_.device_name(device), Layer::gpu);
            const int node = static_cast<int>(model_.placement(device).node.value);
            out_.pieces[at].first = out_.pieces[at].last = node;
        }
    }

    void list_given(const ExplicitDescription& given)
    {
        for (const ExplicitSwitch& one : given.switches)
            if (one.kind != SwitchKind::network)
                piece(one.name,
                      one.kind == SwitchKind::nvswitch ? Layer::nvswitch : inside_layer(one.name));
        for (const ExplicitNic& nic : given.nics)
            piece(nic.name, Layer::nic);
    }

    static Layer inside_layer(const std::string& name)
    {
        return name.find("cpu") != std::string::npos ? Layer::cpu : Layer::pcie;
    }

    // What its ends are if nothing says so before.
    struct Layers {
        Layer from;
        Layer to;
    };
    static Layers layers_of(LinkKind kind, const LinkEnds& ends)
    {
        switch (kind) {
        case LinkKind::nvlink:
            return {Layer::nvswitch, Layer::nvswitch};
        case LinkKind::leaf_up:
            return {Layer::leaf, Layer::spine};
        case LinkKind::leaf_down:
            return {Layer::spine, Layer::leaf};
        case LinkKind::spine_up:
            return {Layer::spine, Layer::core};
        case LinkKind::spine_down:
            return {Layer::core, Layer::spine};
        case LinkKind::nic:
            return {Layer::leaf, Layer::leaf};
        default:
            return {inside_layer(ends.from), inside_layer(ends.to)};
        }
    }

    void add_link(LinkId id)
    {
        const LinkKind kind = topology_.link(id).kind;
        LinkEnds ends = model_.link_ends(id);
        if (kind == LinkKind::nic && given_ == nullptr) {
            plug_in_nic(id, ends);
            return;
        }
        const Layers layers = layers_of(kind, ends);
        out_.links.push_back({piece(ends.from, layers.from), piece(ends.to, layers.to)});
    }

    // In compact clusters the NIC is the link: from what it is plugged into to the leaf.
    void plug_in_nic(LinkId id, const LinkEnds& ends)
    {
        const std::string name = model_.link_name(id);
        const bool out = name.ends_with(" out");
        const auto count = out_.pieces.size();
        const std::uint32_t nic = piece(without_way(name), Layer::nic);
        const std::string& inside = out ? ends.from : ends.to;
        if (out_.pieces.size() > count)
            out_.stubs.push_back({piece(inside, inside_layer(inside)), nic});
        const std::uint32_t leaf = piece(out ? ends.to : ends.from, Layer::leaf);
        out_.links.push_back(out ? PlacePair{nic, leaf} : PlacePair{leaf, nic});
    }

    bool widen(std::uint32_t to, std::uint32_t from)
    {
        ListedPiece& piece = out_.pieces[to];
        const ListedPiece& by = out_.pieces[from];
        if (by.first < 0 || (piece.first >= 0 && piece.first <= by.first && by.last <= piece.last))
            return false;
        piece.first = piece.first < 0 ? by.first : std::min(piece.first, by.first);
        piece.last = std::max(piece.last, by.last);
        return true;
    }

    // From the devices up, layer by layer: a switch serves what hangs below it.
    void find_nodes()
    {
        const auto spread = [&](const PlacePair& pair) {
            bool changed = false;
            for (const auto& [a, b] :
                 {std::pair(pair.from, pair.to), std::pair(pair.to, pair.from)}) {
                const Layer above = out_.pieces[a].layer;
                const Layer below = out_.pieces[b].layer;
                const bool inside = above < Layer::leaf && below < Layer::leaf;
                if (above != Layer::gpu &&
                    (inside ? out_.pieces[a].first < 0 || above == Layer::nvswitch : below < above))
                    changed = widen(a, b) || changed;
            }
            return changed;
        };
        for (bool changed = true; changed;) {
            changed = false;
            for (const std::vector<PlacePair>* pairs : {&out_.links, &out_.stubs})
                for (const PlacePair& pair : *pairs)
                    changed = spread(pair) || changed;
        }
        for (ListedPiece& piece : out_.pieces)
            if (piece.first < 0) { // reached by nobody
                piece.first = 0;
                piece.last = topology_.node_count() - 1;
            }
    }

    const Topology& topology_;
    const TopologyModel& model_;
    const ExplicitModel* given_;
    PieceList out_;
    std::unordered_map<std::string, std::uint32_t> index_;
};

} // namespace

PieceList list_pieces(const Topology& topology)
{
    return Lister(topology).list();
}

int trailing_number(std::string_view name)
{
    std::size_t begin = name.size();
    while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9')
        --begin;
    int number = 0;
    std::from_chars(name.data() + begin, name.data() + name.size(), number);
    return number;
}

} // namespace trainyard::gui
