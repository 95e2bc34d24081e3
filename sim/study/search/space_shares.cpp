#include "sim/base/parallel.h"
#include "sim/study/search/possible_layouts.h"

#include <algorithm>
#include <mutex>

namespace trainyard {

namespace {

// How far several walks are together, told by whoever is on.
class ProgressOfAll {
public:
    ProgressOfAll(const WorkControl& work, int walks)
        : work_(work), done_(static_cast<std::size_t>(walks))
    {}

    WorkControl of_walk(int walk)
    {
        if (!work_.progress)
            return {work_.cancel, {}};
        return {work_.cancel, [this, walk](std::string_view stage, double done, double total) {
                    const std::lock_guard lock(mutex_);
                    done_[static_cast<std::size_t>(walk)] = done;
                    work_.report(stage, *std::ranges::min_element(done_), total);
                }};
    }

private:
    const WorkControl& work_;
    std::vector<double> done_;
    std::mutex mutex_;
};

void add(ExclusionCounts& sum, const ExclusionCounts& more)
{
    for (const auto& [why, count] : more) {
        const auto [entry, fresh] = sum.try_emplace(why, count);
        if (fresh)
            continue;
        entry->second.points += count.points;
        if (count.first < entry->second.first) {
            entry->second.first = count.first;
            entry->second.example = count.example;
        }
    }
}

bool is_nearer(const LargeLayout& a, const LargeLayout& b)
{
    return a.memory != b.memory ? a.memory < b.memory : a.number < b.number;
}

} // namespace

std::uint64_t PossibleLayouts::points() const
{
    std::uint64_t sum = layouts.size();
    for (const auto& [why, count] : excluded)
        sum += count.points;
    return sum;
}

PossibleLayouts together(std::vector<PossibleLayouts> parts)
{
    PossibleLayouts out;
    for (PossibleLayouts& part : parts) {
        out.whole = out.whole && part.whole;
        out.layouts.insert(out.layouts.end(), part.layouts.begin(), part.layouts.end());
        add(out.excluded, part.excluded);
        if (part.nearest && (!out.nearest || is_nearer(*part.nearest, *out.nearest)))
            out.nearest = part.nearest;
    }
    std::ranges::sort(out.layouts, {}, &PossibleLayout::number);
    return out;
}

PossibleLayouts possible_layouts(const SearchSpace& space, const SearchBase& base, Bytes room,
                                 const WorkControl& work, const SpaceShare& share, int threads)
{
    std::vector<PossibleLayouts> parts(static_cast<std::size_t>(threads));
    ProgressOfAll progress(work, threads);
    for_each_index(parts.size(), threads, [&](std::size_t i) {
        const int thread = static_cast<int>(i);
        SpaceShare own = share;
        own.lane += thread;
        parts[i] = possible_layouts(space, base, room, progress.of_walk(thread), own);
    });
    return together(std::move(parts));
}

} // namespace trainyard
