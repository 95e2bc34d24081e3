#include "sim/study/choice_regret.h"

#include "sim/study/quantile.h"
#include "sim/study/validate.h"

#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace trainyard {
namespace {

// A layout of a job. The repeats of a run make one.
struct TriedLayout {
    std::size_t record = 0; // index of the first
    double predicted = 0;   // s
    double measured = 0;    // s, mean of the repeats; infinite once one ran out of memory
    std::size_t repeats = 0;
};

// Of one job, in the order of their first records.
struct MeasuredJob {
    std::vector<std::size_t> records;
    std::vector<TriedLayout> layouts;
    std::map<std::uint64_t, std::size_t> of_layout; // index of its entry
};

void add(MeasuredJob& job, std::size_t record, const RecordVerdict& verdict)
{
    job.records.push_back(record);
    const auto [place, fresh] =
        job.of_layout.try_emplace(verdict.layout.layout, job.layouts.size());
    if (fresh)
        job.layouts.push_back({.record = record, .predicted = verdict.predicted->value.value()});
    TriedLayout& layout = job.layouts[place->second];
    const double earlier = static_cast<double>(layout.repeats);
    layout.measured = (earlier * layout.measured + measured_time(verdict).value()) / (earlier + 1);
    ++layout.repeats;
}

// Whether there is anything to choose, and a best to compare with.
bool is_choice(const MeasuredJob& job)
{
    return job.layouts.size() >= fewest_layouts &&
           std::ranges::any_of(job.layouts,
                               [](const TriedLayout& one) { return std::isfinite(one.measured); });
}

LayoutRegret regret_of(const MeasuredJob& job)
{
    const std::vector<TriedLayout>& all = job.layouts;
    const TriedLayout& chosen = *std::ranges::min_element(
        all, {}, [](const TriedLayout& one) { return std::pair(one.predicted, -one.measured); });
    const TriedLayout& best = *std::ranges::min_element(all, {}, &TriedLayout::measured);
    LayoutRegret out;
    out.records = job.records;
    out.chosen = chosen.record;
    out.best = best.record;
    out.chosen_time = Seconds(chosen.measured);
    out.best_time = Seconds(best.measured);
    out.layouts = all.size();
    out.regret = 1 - best.measured / chosen.measured;
    for (const TriedLayout& layout : all) {
        out.quicker += layout.measured < chosen.measured ? 1 : 0;
        out.at_random += (1 - best.measured / layout.measured) / static_cast<double>(all.size());
    }
    return out;
}

void sum_up(ChoiceRegret& out)
{
    if (out.choices.empty())
        return;
    const double count = static_cast<double>(out.choices.size());
    std::vector<double> regrets;
    for (const LayoutRegret& choice : out.choices) {
        regrets.push_back(choice.regret);
        out.runs += choice.records.size();
        out.mean += choice.regret / count;
        out.at_random += choice.at_random / count;
        out.best_chosen += choice.quicker == 0 ? 1 : 0;
        if (choice.layouts > 3) {
            ++out.more_than_three;
            out.among_three_best += choice.quicker < 3 ? 1 : 0;
        }
    }
    std::ranges::sort(regrets);
    out.median = quantile(regrets, 0.5);
    out.p90 = quantile(regrets, 0.9);
    out.worst = regrets.back();
}

} // namespace

Seconds measured_time(const RecordVerdict& verdict)
{
    return verdict.out_of_memory ? Seconds(std::numeric_limits<double>::infinity())
                                 : *verdict.measured;
}

ChoiceRegret choice_regret(std::span<const RecordVerdict> verdicts)
{
    ChoiceRegret out;
    std::vector<MeasuredJob> jobs;
    std::map<std::uint64_t, std::size_t> of_job; // index of its choice
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        const RecordVerdict& verdict = verdicts[i];
        if (!verdict.predicted || !(verdict.measured || verdict.out_of_memory)) {
            ++out.not_predicted;
            continue;
        }
        if (!verdict.fits) {
            ++out.not_fitting;
            continue;
        }
        const auto [place, fresh] = of_job.try_emplace(verdict.layout.job, jobs.size());
        if (fresh)
            jobs.emplace_back();
        add(jobs[place->second], i, verdict);
    }
    for (const MeasuredJob& job : jobs) {
        if (is_choice(job))
            out.choices.push_back(regret_of(job));
        else
            out.too_few += job.records.size();
    }
    sum_up(out);
    return out;
}

} // namespace trainyard
