#include "sim/study/jobs/nearest_batches.h"

#include "sim/strategy/misfits.h"

#include <algorithm>

namespace trainyard {
namespace {

constexpr int most_checks = 50; // of memory, on either side

struct Candidate {
    std::int64_t batch;
    const Layout* layout;
};

std::vector<Candidate> candidates(const LayoutSpace& space, std::int64_t batch)
{
    std::vector<Candidate> out;
    for (const Layout& layout : space.undivided) {
        const std::int64_t dp = *layout.strategy.dp;
        const std::int64_t sequences = batch / dp; // of a replica, rounded down
        if (sequences > 0)
            out.push_back({std::min(sequences, most_micro_batches) * dp, &layout});
        if (sequences < most_micro_batches)
            out.push_back({(sequences + 1) * dp, &layout});
    }
    std::ranges::stable_sort(out, {},
                             [batch](const Candidate& c) { return std::abs(c.batch - batch); });
    return out;
}

// The scenario of a candidate, with no more micro-batches than fill a pipeline: more hold no more.
Scenario with_batch(const LayoutTrials& trials, const Candidate& candidate)
{
    const Strategy& strategy = candidate.layout->strategy;
    const std::int64_t sequences = candidate.batch / *strategy.dp;
    Scenario out = trials.scenario_of(*candidate.layout);
    out.training.global_batch = *strategy.dp * std::min<std::int64_t>(sequences, 4 * strategy.pp);
    return out;
}

} // namespace

std::vector<std::int64_t> nearest_batches(const LayoutSpace& space, const LayoutFacts& facts,
                                          LayoutTrials& trials)
{
    const std::vector<Candidate> all = candidates(space, facts.global_batch);
    std::vector<std::int64_t> out;
    for (const bool below : {true, false}) {
        int checks = 0;
        for (const Candidate& candidate : all) {
            if ((candidate.batch < facts.global_batch) != below || checks++ == most_checks)
                continue;
            if (trials.fitting(with_batch(trials, candidate))) {
                out.push_back(candidate.batch);
                break;
            }
        }
    }
    return out;
}

} // namespace trainyard
