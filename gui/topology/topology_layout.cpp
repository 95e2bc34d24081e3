#include "gui/topology/topology_layout.h"

#include <algorithm>
#include <array>
#include <map>

namespace trainyard::gui {

namespace {

constexpr double padding = 0.5;             // inside a frame
constexpr double box_gap = 0.5;             // between boxes
constexpr double switch_width = 1.1;        // of one in a row
constexpr double row_of_switches = 2.6;     // folded
constexpr std::size_t readable = 500;       // things that open by themselves
constexpr std::size_t readable_boxes = 128; // side by side

double folded_width(PlaceKind kind)
{
    switch (kind) {
    case PlaceKind::node:
        return 1.8;
    case PlaceKind::part:
    case PlaceKind::rack:
        return 2.4;
    default:
        return 2.8;
    }
}

bool is_box(PlaceKind kind)
{
    return kind != PlaceKind::piece && kind != PlaceKind::switches;
}

} // namespace

TopologyLayout::TopologyLayout(std::shared_ptr<const ClusterGraph> graph)
    : graph_(std::move(graph)), open_(graph_->places.size()), depth_(graph_->places.size())
{
    const std::vector<Place>& places = graph_->places;
    for (std::uint32_t p = 1; p < places.size(); ++p)
        depth_[p] = depth_[places[p].parent] + 1;
    open_[0] = true;
    for (const PlaceKind kind : {PlaceKind::zone, PlaceKind::pod, PlaceKind::part, PlaceKind::rack,
                                 PlaceKind::switches, PlaceKind::node})
    {
        const std::vector<bool> before = open_;
        for (std::uint32_t p = 0; p < places.size(); ++p)
            if (places[p].kind == kind)
                open_[p] = true;
        const bool boxes = kind == PlaceKind::pod || kind == PlaceKind::part;
        if (count_shown() > readable || (boxes && count_boxes() > readable_boxes))
            open_ = before;
    }
    for (std::uint32_t p = 1; p < places.size(); ++p) // what is hidden opens folded
        if (!open_[places[p].parent])
            open_[p] = false;
    lay_out();
}

bool TopologyLayout::can_open(std::uint32_t place) const
{
    return place != no_place && place != 0 && graph_->places[place].end > place + 1;
}

// Does it show what is in it?
bool TopologyLayout::shown_open(std::uint32_t place) const
{
    return open_[place] && graph_->places[place].end > place + 1;
}

std::size_t TopologyLayout::count_shown() const
{
    std::size_t count = 0;
    for (std::uint32_t p = 0; p < open_.size();)
        if (shown_open(p))
            ++p;
        else {
            ++count;
            p = graph_->places[p].end;
        }
    return count;
}

std::size_t TopologyLayout::count_boxes() const
{
    std::size_t count = 0;
    for (std::uint32_t p = 0; p < open_.size();) {
        const bool open = shown_open(p);
        count += !open && is_box(graph_->places[p].kind) ? 1 : 0;
        p = open ? p + 1 : graph_->places[p].end;
    }
    return count;
}

void TopologyLayout::set_open(std::uint32_t place, bool open)
{
    if (!can_open(place) || open_[place] == open)
        return;
    open_[place] = open;
    std::erase(history_, place);
    if (open)
        history_.push_back(place);
    while (history_.size() > 1 && count_shown() > most_items) {
        open_[history_.front()] = false;
        history_.pop_front();
    }
    if (open && count_shown() > most_items) // all but it and what it is in
        for (std::uint32_t p = 1; p < open_.size(); ++p)
            open_[p] = p <= place && place < graph_->places[p].end;
    lay_out();
}

void TopologyLayout::open_kind(PlaceKind kind, bool open)
{
    const std::vector<Place>& places = graph_->places;
    for (std::uint32_t p = 1; p < places.size(); ++p) // what is hidden opens folded
        if (!open_[places[p].parent])
            open_[p] = false;
    std::size_t count = count_shown();
    for (std::uint32_t p = 1; p < places.size() && count <= most_items; ++p) {
        if (places[p].kind != kind || open_[p] == open)
            continue;
        open_[p] = open;
        for (std::uint32_t child = p + 1; open && child < places[p].end; child = places[child].end)
            ++count;
    }
}

void TopologyLayout::set_all_open(std::initializer_list<PlaceKind> kinds, bool open)
{
    for (const PlaceKind kind : kinds)
        open_kind(kind, open);
    lay_out();
}

void TopologyLayout::reveal(std::uint32_t place)
{
    std::vector<std::uint32_t> above;
    for (std::uint32_t p = graph_->places[place].parent; p != no_place;
         p = graph_->places[p].parent)
        above.push_back(p);
    for (auto p = above.rbegin(); p != above.rend(); ++p)
        set_open(*p, true);
}

std::uint32_t TopologyLayout::showing(std::uint32_t place) const
{
    while (item_of_[place] == no_place) // its first child
        ++place;
    return item_of_[place];
}

void TopologyLayout::lay_out()
{
    items_.clear();
    frames_.clear();
    rows_.clear();
    find_shown();
    find_rows();
    boxes_.assign(graph_->places.size(), {});
    width_ = measure(0);
    item_of_.assign(graph_->places.size(), no_place);
    put(0, 0);
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
        const std::uint32_t place = items_[i].place;
        std::fill(item_of_.begin() + place, item_of_.begin() + graph_->places[place].end, i);
    }
    bundle_links();
}

// Places in sight, and by what they stand over those that stand over something.
void TopologyLayout::find_shown()
{
    shown_.clear();
    over_.assign(graph_->places.size(), {});
    const std::vector<Place>& places = graph_->places;
    for (std::uint32_t p = 0; p < places.size();) {
        const bool open = shown_open(p);
        if (!open)
            shown_.push_back(p);
        const bool fabric = !is_box(places[p].kind) && places[p].over != no_place;
        if (fabric && (!open || places[p].kind == PlaceKind::piece))
            over_[places[p].over].push_back(p);
        p = open ? p + 1 : places[p].end;
    }
}

// One row for each layer; of the fabric one for each depth of what the switches stand over, the
// deepest lowest. Folded boxes stand where GPUs do.
std::uint32_t TopologyLayout::row_key(std::uint32_t place) const
{
    const Place& at = graph_->places[place];
    if (is_box(at.kind))
        return static_cast<std::uint32_t>(Layer::gpu) << 8;
    const auto layer = static_cast<std::uint32_t>(at.layer) << 8;
    return at.layer < Layer::leaf || at.over == no_place
               ? layer
               : layer + 255 - std::min(depth_[at.over], 255U);
}

void TopologyLayout::find_rows()
{
    constexpr double above_nodes = 1.5;
    std::map<std::uint32_t, bool> keys; // boxes only?
    for (const std::uint32_t place : shown_) {
        const bool box = is_box(graph_->places[place].kind);
        const auto [at, is_new] = keys.emplace(row_key(place), box);
        at->second = at->second && box;
    }
    row_y_.clear();
    double y = 0;
    bool below_fabric = true;
    for (const auto& [key, boxes] : keys) {
        const auto layer = static_cast<Layer>(key >> 8);
        if (!rows_.empty())
            y += below_fabric && layer >= Layer::leaf ? above_nodes : 1.0;
        below_fabric = layer < Layer::leaf;
        rows_.push_back({layer, boxes, y});
        row_y_.emplace_back(key, y);
    }
}

double TopologyLayout::y_of(std::uint32_t place) const
{
    const auto at = std::ranges::lower_bound(row_y_, row_key(place), {},
                                             &std::pair<std::uint32_t, double>::first);
    return at->second;
}

double TopologyLayout::measure(std::uint32_t place)
{
    const Place& at = graph_->places[place];
    Box& box = boxes_[place];
    if (!shown_open(place))
        box.content = folded_width(at.kind);
    else if (at.kind == PlaceKind::node) {
        std::array<int, layer_count> counts{};
        for (std::uint32_t p = place + 1; p < at.end; p = graph_->places[p].end)
            ++counts[static_cast<std::size_t>(graph_->places[p].layer)];
        box.content = std::max(2, std::ranges::max(counts)) + 2 * padding;
    } else {
        double sum = 0;
        for (std::uint32_t p = place + 1; p < at.end; p = graph_->places[p].end)
            if (is_box(graph_->places[p].kind))
                sum += measure(p) + box_gap;
        box.content = sum - box_gap + (place == 0 ? 0 : 2 * padding);
    }
    std::map<std::uint32_t, double> needed; // by row
    for (const std::uint32_t over : over_[place])
        if (graph_->places[over].layer >= Layer::leaf)
            needed[row_key(over)] +=
                graph_->places[over].kind == PlaceKind::switches ? row_of_switches : switch_width;
    box.width = box.content;
    for (const auto& [row, width] : needed)
        box.width = std::max(box.width, width);
    return box.width;
}

void TopologyLayout::add_item(std::uint32_t place, double left, double right)
{
    const double low = y_of(place);
    double high = low;
    if (is_box(graph_->places[place].kind))
        for (const LaidRow& row : rows_)
            if (row.layer < Layer::leaf)
                high = std::max(high, row.y);
    items_.push_back({place, left, right, low, high, graph_->places[place].end > place + 1});
}

void TopologyLayout::put(std::uint32_t place, double left)
{
    const Place& at = graph_->places[place];
    const Box& box = boxes_[place];
    put_switches(place, left, box.width);
    const double inside = left + (box.width - box.content) / 2;
    if (!shown_open(place)) {
        add_item(place, inside, inside + box.content);
        return;
    }
    if (place != 0)
        frames_.push_back({place, inside, inside + box.content});
    if (at.kind == PlaceKind::node) {
        put_pieces(place, inside + padding, box.content - 2 * padding);
        return;
    }
    double x = inside + (place == 0 ? 0 : padding);
    for (std::uint32_t p = place + 1; p < at.end; p = graph_->places[p].end)
        if (is_box(graph_->places[p].kind)) {
            put(p, x);
            x += boxes_[p].width + box_gap;
        }
}

// Each layer spread over the node's width.
void TopologyLayout::put_pieces(std::uint32_t node, double left, double width)
{
    std::array<std::vector<std::uint32_t>, layer_count> layers;
    for (std::uint32_t p = node + 1; p < graph_->places[node].end; p = graph_->places[p].end)
        layers[static_cast<std::size_t>(graph_->places[p].layer)].push_back(p);
    for (const std::vector<std::uint32_t>& pieces : layers)
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            const double each = width / static_cast<double>(pieces.size());
            const double middle = left + (static_cast<double>(i) + 0.5) * each;
            const bool wide = graph_->places[pieces[i]].layer == Layer::nvswitch;
            const double half = wide ? 0.46 * each : std::min(0.4, 0.4 * each);
            add_item(pieces[i], middle - half, middle + half);
        }
}

// Row by row, spread over what they serve.
void TopologyLayout::put_switches(std::uint32_t over, double left, double width)
{
    std::map<std::uint32_t, std::vector<std::uint32_t>> rows;
    for (const std::uint32_t place : over_[over])
        rows[row_key(place)].push_back(place);
    for (const auto& [key, row] : rows) {
        const double each = width / static_cast<double>(row.size());
        for (std::size_t i = 0; i < row.size(); ++i) {
            const Place& at = graph_->places[row[i]];
            const double middle = left + (static_cast<double>(i) + 0.5) * each;
            const double most = at.layer < Layer::leaf           ? 0.96 * each
                                : at.kind == PlaceKind::switches ? row_of_switches - 0.4
                                                                 : switch_width - 0.3;
            const double half = std::min(most, 0.9 * each) / 2;
            add_item(row[i], middle - half, middle + half);
        }
    }
}

} // namespace trainyard::gui
