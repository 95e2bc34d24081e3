#include "sim/topology/explicit_trunks.h"

#include <map>
#include <numeric>
#include <tuple>

namespace trainyard {
namespace {

// Which switches up to a layer hang together.
class Blocks {
public:
    Blocks(const ExplicitPieces& pieces, int top) : parent_(pieces.pieces.size())
    {
        std::iota(parent_.begin(), parent_.end(), 0);
        const auto inside = [&](int piece) {
            const int layer = pieces.pieces[to_size(piece)].layer;
            return layer > 0 && layer <= top;
        };
        for (const DirectedLink& link : pieces.links)
            if (inside(link.from) && inside(link.to))
                parent_[to_size(of(link.from))] = of(link.to);
    }
    int of(int piece)
    {
        while (parent_[to_size(piece)] != piece)
            piece = parent_[to_size(piece)] = parent_[to_size(parent_[to_size(piece)])];
        return piece;
    }

private:
    std::vector<int> parent_;
};

} // namespace

std::vector<std::optional<Trunk>> find_trunks(const ExplicitPieces& pieces)
{
    std::map<int, Blocks> blocks; // by their highest layer
    std::map<std::tuple<int, int, bool>, Trunk> trunks;
    std::vector<Trunk*> trunk_of(pieces.links.size(), nullptr);
    for (std::size_t i = 0; i < pieces.links.size(); ++i) {
        const DirectedLink& link = pieces.links[i];
        const int from = pieces.pieces[to_size(link.from)].layer;
        const int to = pieces.pieces[to_size(link.to)].layer;
        if (from == 0 || to == 0 || from == to)
            continue;
        const bool up = to > from;
        const int layer = up ? from : to;
        const int block =
            blocks.try_emplace(layer, pieces, layer).first->second.of(up ? link.from : link.to);
        const auto number = static_cast<std::uint32_t>(trunks.size());
        Trunk& trunk = trunks
                           .try_emplace({layer, block, up},
                                        Trunk{number, static_cast<std::uint32_t>(layer - 1), {}})
                           .first->second;
        trunk.capacity += link.link.capacity;
        trunk_of[i] = &trunk;
    }
    std::vector<std::optional<Trunk>> out;
    for (const Trunk* trunk : trunk_of)
        out.push_back(trunk == nullptr ? std::nullopt : std::optional(*trunk));
    return out;
}

} // namespace trainyard
