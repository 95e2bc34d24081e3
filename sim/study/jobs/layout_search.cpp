#include "sim/study/jobs/layout_search.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace trainyard {
namespace {

constexpr double roomy = 0.9;             // share of the memory that a first scenario should take
constexpr int most_memory_checks = 150;   // a few hundredths of a second each
constexpr std::size_t most_families = 12; // that are simulated by rough time
constexpr std::size_t most_relatives = 8; // of the best one, likewise
// Rough times beyond this many best simulated ones end the search.
constexpr double too_slow = 1.25;

// Shorter passes, fewer chunks and more recompute hold less.
const Layout& leanest(const LayoutFamily& family)
{
    return *std::ranges::min_element(family, {}, [](const Layout& layout) {
        return std::tuple(-static_cast<int>(layout.recompute), layout.micro_batch,
                          layout.strategy.vpp);
    });
}

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
            look_through(by_time());
            if (trials_.all().empty())
                look_through(by_states());
            if (!trials_.all().empty()) {
                climb();
                return decided();
            }
        }
        return std::nullopt;
    }

private:
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
        for (const std::size_t family : order) {
            if (trials_.all().size() == most_families || trials_.memory_checks() > most)
                return;
            if (!trials_.all().empty() &&
                space_.families[family].front().rough_time > too_slow * trials_.best().step_time)
                return;
            look_at(family);
        }
    }

    // Simulates the quickest of it that fits.
    void look_at(std::size_t index)
    {
        const LayoutFamily& family = space_.families[index];
        if (seen_[index] || !trials_.affords(family.front()))
            return;
        seen_[index] = true;
        if (!trials_.fitting(leanest(family)))
            return;
        for (const Layout& layout : family)
            if (std::optional<MemoryEstimate> memory = trials_.fitting(layout)) {
                trials_.simulate(layout, std::move(*memory));
                return;
            }
    }

    // From the best one to those that differ in one size, as long as one of them is quicker.
    void climb()
    {
        for (Seconds before(0);
             before != trials_.best().step_time && trials_.all().size() < 2 * most_families;)
        {
            before = trials_.best().step_time;
            const Strategy top = trials_.best().layout.strategy;
            for (std::size_t i = 0; i < seen_.size(); ++i)
                if (neighbours(top, space_.families[i].front().strategy))
                    look_at(i);
        }
    }

    // Others with the sizes of the best one.
    void look_at_relatives()
    {
        const Layout first = trials_.best().layout;
        const auto family = std::ranges::find_if(space_.families, [&](const LayoutFamily& f) {
            return differences(first.strategy, f.front().strategy) == 0;
        });
        std::size_t left = most_relatives;
        for (const Layout& layout : *family) {
            const bool seen = layout.recompute == first.recompute &&
                              layout.micro_batch == first.micro_batch &&
                              layout.strategy.vpp == first.strategy.vpp;
            if (seen || left == 0 || !trials_.affords(layout))
                continue;
            if (std::optional<MemoryEstimate> memory = trials_.fitting(layout)) {
                trials_.simulate(layout, std::move(*memory));
                --left;
            }
        }
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
    std::vector<bool> seen_; // families, at the share of the memory that is allowed
};

} // namespace

std::optional<FoundLayout> search_layouts(const LayoutSpace& space, const LayoutFacts& facts,
                                          LayoutTrials& trials)
{
    return Search(space, facts, trials).run();
}

} // namespace trainyard
