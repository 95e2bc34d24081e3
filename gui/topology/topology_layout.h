#pragma once

// Where a cluster's pieces lie, given what is folded. Pure arithmetic: the same cluster with the
// same folds always looks the same, and what lies left of a fold stays where it is when it opens.

#include "gui/topology/cluster_graph.h"

#include <deque>
#include <initializer_list>
#include <span>

namespace trainyard::gui {

// Columns of one GPU's width along x, rows up y.
struct LaidPlace {
    std::uint32_t place = no_place;
    double left = 0;
    double right = 0;
    double low = 0; // of its middle; a folded box spans from low to high
    double high = 0;
    bool folded = false; // there is more in it

    double middle() const { return (left + right) / 2; }
    bool operator==(const LaidPlace&) const = default;
};

// Around what is open.
struct LaidFrame {
    std::uint32_t place = no_place;
    double left = 0;
    double right = 0;
};

struct LaidRow {
    Layer layer = Layer::gpu;
    bool boxes = false; // of folded boxes only
    double y = 0;
};

// All links between two things, or inside one (a == b).
struct Bundle {
    std::uint32_t a = 0; // items, a below b or left of it
    std::uint32_t b = 0;
    std::uint32_t first = 0; // into links(): those from a to b ...
    std::uint32_t back = 0;  // ... those back
    std::uint32_t end = 0;
    bool stub = false; // joined, but no link of its own

    bool operator==(const Bundle&) const = default;
};

class TopologyLayout {
public:
    static constexpr std::size_t most_items = 4000; // beyond it what was opened first folds

    TopologyLayout() = default;
    // Opens as much as can be told apart.
    explicit TopologyLayout(std::shared_ptr<const ClusterGraph> graph);

    const std::shared_ptr<const ClusterGraph>& graph() const { return graph_; }
    const std::vector<LaidPlace>& items() const { return items_; }
    const std::vector<LaidFrame>& frames() const { return frames_; }
    const std::vector<LaidRow>& rows() const { return rows_; }
    const std::vector<Bundle>& bundles() const { return bundles_; }
    std::span<const LinkId> there(const Bundle& bundle) const
    {
        return std::span(links_).subspan(bundle.first, bundle.back - bundle.first);
    }
    std::span<const LinkId> back(const Bundle& bundle) const
    {
        return std::span(links_).subspan(bundle.back, bundle.end - bundle.back);
    }
    double width() const { return width_; }
    double height() const { return rows_.empty() ? 0 : rows_.back().y; }

    bool can_open(std::uint32_t place) const;
    bool open(std::uint32_t place) const { return open_[place]; }
    void set_open(std::uint32_t place, bool open);
    // All of a kind, kind after kind, as far as `most_items` allows.
    void set_all_open(std::initializer_list<PlaceKind> kinds, bool open);
    // Opens what hides it.
    void reveal(std::uint32_t place);

    // The item that shows a place: itself or what it is folded into. no_place: it is open.
    std::uint32_t item_of(std::uint32_t place) const { return item_of_[place]; }
    // The same; of what is open the first item in it.
    std::uint32_t showing(std::uint32_t place) const;
    // The bundle of the links inside a folded item; no_place: none.
    std::uint32_t inside_of(std::uint32_t item) const { return inside_of_[item]; }
    // The bundle that a link is part of.
    std::uint32_t bundle_of(LinkId link) const { return bundle_of_[link.value]; }

private:
    struct Box {
        double width = 0;
        double content = 0; // of it, the children
    };

    void lay_out();
    std::size_t count_shown() const;
    std::size_t count_boxes() const;
    void open_kind(PlaceKind kind, bool open);
    bool shown_open(std::uint32_t place) const;
    void find_shown();
    void find_rows();
    double measure(std::uint32_t place);
    void put(std::uint32_t place, double left);
    void put_pieces(std::uint32_t node, double left, double width);
    void put_switches(std::uint32_t over, double left, double width);
    void add_item(std::uint32_t place, double left, double right);
    double y_of(std::uint32_t place) const;
    std::uint32_t row_key(std::uint32_t place) const;
    void bundle_links();

    std::shared_ptr<const ClusterGraph> graph_;
    std::vector<bool> open_;            // by place
    std::deque<std::uint32_t> history_; // opened by hand, the first first
    std::vector<LaidPlace> items_;
    std::vector<LaidFrame> frames_;
    std::vector<LaidRow> rows_;
    std::vector<Bundle> bundles_;
    std::vector<LinkId> links_;
    std::vector<std::uint32_t> item_of_;                  // by place
    std::vector<std::uint32_t> bundle_of_;                // by link
    std::vector<std::uint32_t> inside_of_;                // by item
    std::vector<std::uint32_t> shown_;                    // places in sight, in order
    std::vector<std::uint32_t> depth_;                    // by place
    std::vector<Box> boxes_;                              // by place, of boxes in sight
    std::vector<std::vector<std::uint32_t>> over_;        // by place in shown_: see find_shown
    std::vector<std::pair<std::uint32_t, double>> row_y_; // by row key
    double width_ = 0;
};

} // namespace trainyard::gui
