#include "sim/study/jobs/layout_search.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace trainyard {
namespace {

constexpr double roomy = 0.9;             // share of the memory that a first scenario should take
constexpr int most_memory_checks = 150;   // a few hundredths of a second each
constexpr std::size_t most_families = 12; // that are simulated by rough time
constexpr std::size_t most_steps = 8;     // to the neighbours of the best one
// Rough times beyond this many best simulated ones end the search.
constexpr double too_slow = 1.25;
// Other micro-batches make a step no more than this much quicker than that of the least rough time.
constexpr double worth_varying = 1.1;

// Shorter passes, fewer chunks and more recompute hold less.
const Layout& leanest(const LayoutFamily& family)
{
    return *std::ranges::min_element(family, {}, [](const Layout& layout) {
        return std::tuple(-static_cast<int>(layout.recompute), layout.micro_batch,
                          layout.strategy.vpp);
    });
}

// Whether `a` takes no less memory than `b`, of the same family.
bool holds_no_less(const Layout& a, const Layout& b)
{
    return a.micro_batch >= b.micro_batch && a.strategy.vpp >= b.strategy.vpp &&
           a.recompute <= b.recompute;
}

// Whether two layouts of a family differ in their micro-batch alone.
bool same_row(const Layout& a, const Layout& b)
{
    return a.strategy.vpp == b.strategy.vpp && a.recompute == b.recompute;
}

using Layouts = std::vector<const Layout*>; // the least rough time first

Layouts every(const LayoutFamily& family)
{
    Layouts out;
    for (const Layout& layout : family)
        out.push_back(&layout);
    return out;
}

// Whether layouts that take long to simulate are left out, from the first or from the fifth on.
enum class Patience : std::uint8_t { limited, for_a_few };
constexpr std::size_t a_few = 4;

class Search {
public:
    Search(const LayoutSpace& space, const LayoutFacts& facts, LayoutTrials& trials)
        : space_(space), facts_(facts), trials_(trials)
    {}

    std::optional<FoundLayout> run()
    {
        for (const double share : {roomy, 1.0}) {
            trials_.allow(share);
            seen_.assign(space_.families.size(), false);
            for (const Patience patience : {Patience::limited, Patience::for_a_few}) {
                patience_ = patience;
                if (trials_.all().size() < a_few)
                    look_through(by_time());
                if (trials_.all().empty())
                    look_through(by_states());
            }
            if (!trials_.all().empty()) {
                climb();
                return decided();
            }
        }
        return std::nullopt;
    }

private:
    bool affords(const Layout& layout) const
    {
        return (patience_ == Patience::for_a_few && trials_.all().size() < a_few) ||
               trials_.affords(layout);
    }

    std::vector<std::size_t> by_time() const
    {
        std::vector<std::size_t> out(space_.families.size());
        std::iota(out.begin(), out.end(), 0); // as they are listed
        return out;
    }

    std::vector<std::size_t> by_states() const
    {
        std::vector<std::size_t> out = by_time();
        std::ranges::stable_sort(out, {},
                                 [&](std::size_t i) { return space_.families[i].front().states; });
        return out;
    }

    // The families that `order` lists, until a dozen are simulated.
    void look_through(const std::vector<std::size_t>& order)
    {
        const int most = trials_.memory_checks() + most_memory_checks;
        std::size_t families = 0; // simulated
        for (const std::size_t family : order) {
            if (families == most_families || trials_.memory_checks() > most)
                return;
            if (!trials_.all().empty() &&
                space_.families[family].front().rough_time > too_slow * trials_.best().step_time)
                return;
            families += look_at(family) ? 1 : 0;
        }
    }

    // Simulates the quickest of it that fits.
    bool look_at(std::size_t index)
    {
        const LayoutFamily& family = space_.families[index];
        if (seen_[index] || !affords(family.front()))
            return false;
        const bool lean = trials_.fitting(leanest(family)).has_value();
        const bool found = lean && look_at(every(family));
        seen_[index] = found || !lean || patience_ == Patience::for_a_few;
        return found;
    }

    // The first of them that fits is simulated where there is time for it, and its other
    // micro-batches where it is quick.
    // Whether one is.
    bool look_at(const Layouts& layouts)
    {
        Layouts too_large;
        for (const Layout* layout : layouts) {
            if (std::ranges::any_of(
                    too_large, [&](const Layout* other) { return holds_no_less(*layout, *other); }))
                continue;
            if (std::optional<MemoryEstimate> memory = trials_.fitting(*layout)) {
                if (!affords(*layout))
                    return false;
                const std::optional<Seconds> time = trials_.simulate(*layout, std::move(*memory));
                if (time && *time <= worth_varying * trials_.best().step_time)
                    vary_micro_batch(layouts, *layout, *time);
                return true;
            }
            too_large.push_back(layout);
        }
        return false;
    }

    // Larger ones as long as they are quicker, else smaller ones.
    void vary_micro_batch(const Layouts& layouts, const Layout& from, Seconds time)
    {
        Layouts larger;
        Layouts smaller;
        for (const Layout* layout : layouts)
            if (same_row(*layout, from) && layout->micro_batch != from.micro_batch)
                (layout->micro_batch > from.micro_batch ? larger : smaller).push_back(layout);
        std::ranges::sort(larger, std::less(), &Layout::micro_batch);
        std::ranges::sort(smaller, std::greater(), &Layout::micro_batch);
        if (!quickens(larger, time))
            quickens(smaller, time);
    }

    // Whether the first of them is quicker; simulates them as long as each is.
    bool quickens(const Layouts& layouts, Seconds time)
    {
        bool first = false;
        for (const Layout* layout : layouts) {
            if (!affords(*layout))
                break;
            std::optional<MemoryEstimate> memory = trials_.fitting(*layout);
            if (!memory)
                break;
            const std::optional<Seconds> other = trials_.simulate(*layout, std::move(*memory));
            if (!other || *other >= time)
                break;
            time = *other;
            first = true;
        }
        return first;
    }

    // From the best one to those that differ in one size, as long as one of them is quicker.
    void climb()
    {
        std::size_t steps = 0;
        for (Seconds before(0); before != trials_.best().step_time && steps < most_steps; ++steps) {
            before = trials_.best().step_time;
            const Strategy top = trials_.best().layout.strategy;
            for (std::size_t i = 0; i < seen_.size(); ++i)
                if (neighbours(top, space_.families[i].front().strategy))
                    look_at(i);
        }
    }

    // The other rows of the best one's family.
    void look_at_relatives()
    {
        const Layout first = trials_.best().layout;
        const auto family = std::ranges::find_if(space_.families, [&](const LayoutFamily& f) {
            return differences(first.strategy, f.front().strategy) == 0;
        });
        std::vector<Layouts> rows;
        for (const Layout& layout : *family) {
            if (same_row(layout, first))
                continue;
            const auto row = std::ranges::find_if(
                rows, [&](const Layouts& r) { return same_row(*r.front(), layout); });
            if (row == rows.end())
                rows.push_back({&layout});
            else
                row->push_back(&layout);
        }
        for (const Layouts& row : rows)
            look_at(row);
    }

    FoundLayout decided()
    {
        const std::size_t families = trials_.all().size();
        look_at_relatives();
        FoundLayout out{trials_.best(), {}};
        recompute_fewer_layers(out.chosen);
        for (std::size_t i = 0; i < families; ++i) {
            const LayoutTrial& other = trials_.all()[i];
            if (other.layout.strategy != out.chosen.layout.strategy &&
                (!out.next || other.step_time < out.next->step_time))
                out.next = other;
        }
        return out;
    }

    // Where all layers of a stage are recomputed, half or a quarter of them may do.
    void recompute_fewer_layers(LayoutTrial& chosen)
    {
        if (chosen.layout.recompute != Recompute::full || chosen.layout.strategy.zero == 3)
            return;
        const int stages = chosen.layout.strategy.pp;
        const int in_stage = (facts_.transformer()->layers + stages - 1) / stages;
        for (const int layers : {in_stage / 4, in_stage / 2, in_stage * 3 / 4}) {
            if (layers < 1)
                continue;
            Scenario scenario = chosen.scenario;
            scenario.training.recompute_layers = layers;
            std::optional<MemoryEstimate> memory = trials_.fitting(scenario);
            if (!memory)
                continue;
            const std::optional<Seconds> time = trials_.step_time(scenario);
            if (!time || *time >= chosen.step_time)
                continue;
            chosen = {chosen.layout, std::move(scenario), std::move(*memory), *time};
            return;
        }
    }

    const LayoutSpace& space_;
    const LayoutFacts& facts_;
    LayoutTrials& trials_;
    Patience patience_ = Patience::limited;
    std::vector<bool> seen_; // families, at the share of the memory that is allowed
};

} // namespace

std::optional<FoundLayout> search_layouts(const LayoutSpace& space, const LayoutFacts& facts,
                                          LayoutTrials& trials)
{
    return Search(space, facts, trials).run();
}

} // namespace trainyard
