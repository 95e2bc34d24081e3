#include "sim/study/search/layout_front.h"

#include "sim/base/parallel.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>

namespace trainyard {

namespace {

// What layouts are compared by.
struct FrontPlace {
    Seconds time; // per sequence
    Bytes memory;
    std::size_t number = 0; // of equals the first counts
};

bool beats(const FrontPlace& a, const FrontPlace& b)
{
    if (a.time > b.time || a.memory > b.memory)
        return false;
    return a.time < b.time || a.memory < b.memory || a.number < b.number;
}

class FrontSearch {
public:
    FrontSearch(std::span<const PossibleLayout> layouts, Bytes room, const WorkControl& work,
                Points& points)
        : layouts_(layouts),
          room_(room),
          work_(work),
          points_(points),
          order_(layouts.size()),
          done_(layouts.size())
    {
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return bound(i).time; });
    }

    LayoutFront run()
    {
        try {
            for_each_index(order_.size(), points_.at_once(),
                           [&](std::size_t place) { look_at(place); });
        } catch (const Cancelled&) { // what was found is kept
        }
        LayoutFront out;
        for (std::size_t i = 0; i < layouts_.size(); ++i)
            out.open += done_[i] || is_beaten(bound(i)) ? 0U : 1U;
        std::ranges::sort(found_, {}, [](const Found& found) { return found.place.time; });
        for (Found& found : found_)
            out.layouts.push_back(std::move(found.layout));
        return out;
    }

private:
    struct Found {
        FrontPlace place;
        FrontLayout layout;
    };

    FrontPlace bound(std::size_t i) const
    {
        return {per_sequence(layouts_[i].least.time, layouts_[i].choice), layouts_[i].least.memory,
                i};
    }

    // Requires the lock while layouts are looked at.
    bool is_beaten(const FrontPlace& place) const
    {
        return std::ranges::any_of(found_,
                                   [&](const Found& found) { return beats(found.place, place); });
    }

    // A layout that takes longer than this is beaten, whatever it holds above its bound and `peak`.
    Seconds limit_of(std::size_t i, Bytes peak)
    {
        const std::lock_guard lock(mutex_);
        Seconds least(std::numeric_limits<double>::infinity());
        for (const Found& found : found_)
            if (found.place.memory <= std::max(layouts_[i].least.memory, peak))
                least = std::min(least, found.place.time);
        return least;
    }

    void look_at(std::size_t place)
    {
        work_.check();
        const std::size_t i = order_[place];
        {
            const std::lock_guard lock(mutex_);
            if (is_beaten(bound(i))) {
                done_[i] = true;
                return;
            }
        }
        const LayoutChoice& choice = layouts_[i].choice;
        const PointFacts facts = points_.facts(
            choice, {room_, [&](Bytes peak) { return limit_of(i, peak); }, bound(i).time});
        const std::lock_guard lock(mutex_);
        done_[i] = true;
        work_.report("looking for smaller layouts", static_cast<double>(place),
                     static_cast<double>(order_.size()));
        if (facts.kind == PointFacts::Kind::timed && facts.reserved && *facts.reserved <= room_)
            enter({{per_sequence(facts.step_time, choice), *facts.reserved, i},
                   {choice, facts.step_time, *facts.reserved}});
    }

    void enter(Found found)
    {
        if (is_beaten(found.place))
            return;
        std::erase_if(found_, [&](const Found& other) { return beats(found.place, other.place); });
        found_.push_back(std::move(found));
    }

    std::span<const PossibleLayout> layouts_;
    Bytes room_;
    const WorkControl& work_;
    Points& points_;
    std::vector<std::size_t> order_;
    std::vector<char> done_; // by layout; apart for each, unlike bool
    std::vector<Found> found_;
    std::mutex mutex_;
};

} // namespace

LayoutFront layout_front(std::span<const PossibleLayout> layouts, Bytes room,
                         const WorkControl& work, Points& points)
{
    return FrontSearch(layouts, room, work, points).run();
}

} // namespace trainyard
