#pragma once

// What the topology shows: a run at some time, with what is folded. Linear in the links: of large
// clusters it is made in the background, and handed over finished.

#include "gui/topology/topology_run.h"

#include <functional>

namespace trainyard::gui {

struct TopologyPicture {
    std::shared_ptr<const TopologyRun> run;
    std::shared_ptr<const TopologyLayout> layout;
    LoadTime time;
    std::vector<double> loads;          // by link, bytes per second
    std::vector<BundleUse> uses;        // by bundle
    std::vector<LinkId> busiest;        // at most `most_busiest`, the busiest first
    std::vector<std::uint32_t> glowing; // bundles that the selected op's bytes cross, ascending

    static constexpr std::size_t most_busiest = 500;
    // Of the capacity that the link has now.
    double share(LinkId link) const;
};

// What is to be shown next.
struct PictureRequest {
    std::shared_ptr<const TopologyRun> run;       // not null
    std::shared_ptr<const TopologyLayout> layout; // of its cluster; null: laid out anew
    std::vector<std::function<void(TopologyLayout&)>> changes; // of the layout, in order
    LoadTime time;
    std::optional<std::size_t> record; // selected

    // Takes no time that anybody would notice.
    bool quick() const;
};

TopologyPicture make_picture(const PictureRequest& request);

} // namespace trainyard::gui
