#include "gui/topology/topology_search.h"

#include "sim/base/words.h"

#include <algorithm>
#include <cctype>

namespace trainyard::gui {

namespace {

class MatchList {
public:
    MatchList(std::string text, std::size_t most)
        : text_(lower_case(std::move(text))), most_(most)
    {}

    void look_at(const std::string& name, const TopologyMatch& match)
    {
        const std::string low = lower_case(name);
        if (low.find(text_) == std::string::npos)
            return;
        ++count_;
        if (low == text_)
            exact_.push_back(match);
        else if (others_.size() < most_)
            others_.push_back(match);
    }

    TopologyMatches take() &&
    {
        exact_.insert(exact_.end(), others_.begin(), others_.end());
        exact_.resize(std::min(exact_.size(), most_));
        return {std::move(exact_), count_};
    }

private:
    std::string text_;
    std::size_t most_;
    std::size_t count_ = 0;
    std::vector<TopologyMatch> exact_;
    std::vector<TopologyMatch> others_;
};

} // namespace

TopologyMatches find_in_cluster(const TopologyRun& run, const std::string& text, std::size_t most,
                                const WorkControl& work)
{
    if (text.empty())
        return {};
    constexpr std::size_t between_checks = 4096;
    MatchList list(text, most);
    const std::vector<Place>& places = run.graph->places;
    for (std::uint32_t p = 1; p < places.size(); ++p) {
        if (p % between_checks == 0)
            work.check();
        list.look_at(places[p].name, {p, {}});
    }
    for (std::size_t i = 0; i < run.capacity.size(); ++i) {
        if (i % between_checks == 0)
            work.check();
        const auto link = make_id<LinkId>(i);
        list.look_at(run.name(link), {{}, link});
    }
    return std::move(list).take();
}

} // namespace trainyard::gui
