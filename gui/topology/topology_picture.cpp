#include "gui/topology/topology_picture.h"

#include <algorithm>

namespace trainyard::gui {

namespace {

std::vector<LinkId> busiest_of(const TopologyPicture& picture)
{
    std::vector<std::pair<double, LinkId>> links;
    links.reserve(picture.loads.size());
    for (std::size_t i = 0; i < picture.loads.size(); ++i)
        links.emplace_back(-picture.share(make_id<LinkId>(i)), make_id<LinkId>(i));
    const std::size_t kept = std::min(TopologyPicture::most_busiest, links.size());
    std::partial_sort(links.begin(), links.begin() + static_cast<std::ptrdiff_t>(kept),
                      links.end());
    std::vector<LinkId> busiest;
    for (std::size_t i = 0; i < kept; ++i)
        busiest.push_back(links[i].second);
    return busiest;
}

std::vector<std::uint32_t> crossed_by(const TopologyPicture& picture, std::size_t record)
{
    std::vector<std::uint32_t> bundles;
    for (const LinkId link : picture.run->loads->links_of(record))
        bundles.push_back(picture.layout->bundle_of(link));
    std::ranges::sort(bundles);
    const auto again = std::ranges::unique(bundles);
    bundles.erase(again.begin(), again.end());
    return bundles;
}

} // namespace

double TopologyPicture::share(LinkId link) const
{
    const double capacity = run->capacity[link.value];
    return capacity > 0 ? loads[link.value] / capacity : 0;
}

bool PictureRequest::quick() const
{
    constexpr std::size_t few_links = 20'000;
    return run->capacity.size() <= few_links;
}

TopologyPicture make_picture(const PictureRequest& request)
{
    TopologyPicture picture;
    picture.run = request.run;
    picture.layout = request.layout;
    if (picture.layout == nullptr)
        picture.layout = std::make_shared<const TopologyLayout>(request.run->graph);
    if (!request.changes.empty()) {
        auto layout = std::make_shared<TopologyLayout>(*picture.layout);
        for (const auto& change : request.changes)
            change(*layout);
        picture.layout = std::move(layout);
    }
    picture.time = request.time;
    picture.loads = link_loads(*picture.run, picture.time);
    picture.uses = bundle_uses(*picture.layout, *picture.run, picture.loads);
    picture.busiest = busiest_of(picture);
    if (request.record)
        picture.glowing = crossed_by(picture, *request.record);
    return picture;
}

} // namespace trainyard::gui
