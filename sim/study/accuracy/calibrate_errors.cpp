#include "sim/study/accuracy/calibrate_errors.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

namespace trainyard {

namespace {

using Runs = std::vector<JudgedRun>;
using Keep = std::function<bool(const JudgedRun&)>;

// A class narrower than that of its models needs two groups in each tail: 38 at 0.9.
constexpr int groups_of_narrow_class = 38;
constexpr int groups_of_mixed_pairs = 19; // that differ in several things
// Of pairs: of one group so many runs, evenly spread, stand for all.
constexpr std::size_t most_of_group = 40;

Runs those(std::span<const JudgedRun> runs, const Keep& keep)
{
    Runs out;
    std::ranges::copy_if(runs, std::back_inserter(out), keep);
    return out;
}

std::vector<GroupedError> errors_of(std::span<const JudgedRun> runs)
{
    std::vector<GroupedError> out;
    for (const JudgedRun& run : runs)
        out.push_back({run.group, run.error});
    return out;
}

Runs of_class(std::span<const JudgedRun> runs, ModelClass model_class)
{
    return those(runs, [&](const JudgedRun& r) { return r.traits.model_class == model_class; });
}

ErrorClass class_with(const ErrorRange& range, ModelClass model_class)
{
    ErrorClass out;
    out.model_class = model_class;
    out.low = range.low;
    out.high = range.high;
    out.groups = range.groups;
    out.runs = range.runs;
    return out;
}

// As a whole, pooled with others until the groups are enough.
std::optional<ErrorClass> whole_class(std::span<const JudgedRun> runs, ModelClass model_class,
                                      double share)
{
    std::vector<std::vector<ModelClass>> pools{{model_class}};
    if (model_class == ModelClass::hybrid)
        pools.push_back({ModelClass::mixture, ModelClass::hybrid});
    pools.push_back({});
    for (const EnumName<ModelClass>& each : enum_names<ModelClass>())
        pools.back().push_back(each.value);
    for (const std::vector<ModelClass>& pool : pools) {
        const Runs pooled = those(runs, [&](const JudgedRun& run) {
            return std::ranges::find(pool, run.traits.model_class) != pool.end();
        });
        const auto range = range_of(errors_of(pooled), share);
        if (!range)
            continue;
        ErrorClass out = class_with(*range, model_class);
        std::vector<std::string_view> names;
        for (const ModelClass each : pool)
            names.push_back(plural_of(each));
        if (pool.size() == enum_names<ModelClass>().size())
            out.pooled = "all kinds of models";
        else if (pool.size() > 1)
            out.pooled = fmt::format("{}", fmt::join(names, ", "));
        return out;
    }
    return std::nullopt;
}

void add_narrow_class(const Runs& runs, const ErrorClass& named, std::vector<ErrorClass>& out)
{
    const auto errors =
        errors_of(those(runs, [&](const JudgedRun& run) { return named.takes(run.traits); }));
    // Those that hold all runs say nothing of their own.
    if (group_count(errors) < groups_of_narrow_class || errors.size() == runs.size())
        return;
    const auto range = range_of(errors, interval_share);
    ErrorClass made = class_with(*range, named.model_class);
    made.generation = named.generation;
    made.dispatcher_stated = named.dispatcher_stated;
    out.push_back(std::move(made));
}

// The class of models as a whole and its narrower ones; nothing where even all runs are too few.
std::vector<ErrorClass> classes_of(std::span<const JudgedRun> all, ModelClass model_class,
                                   double share = interval_share)
{
    const std::optional<ErrorClass> whole = whole_class(all, model_class, share);
    if (!whole)
        return {};
    std::vector<ErrorClass> out{*whole};
    const Runs runs = of_class(all, model_class);
    std::set<std::string> generations{""};
    for (const JudgedRun& run : runs)
        generations.insert(run.traits.generation);
    for (const std::string& generation : generations)
        for (const std::optional<bool> stated : {std::optional<bool>(), {false}, {true}}) {
            ErrorClass named;
            named.model_class = model_class;
            named.generation = generation;
            named.dispatcher_stated = stated;
            const bool dispatches =
                model_class == ModelClass::mixture || model_class == ModelClass::hybrid;
            if (stated ? dispatches : !generation.empty())
                add_narrow_class(runs, named, out);
        }
    return out;
}

// The errors of runs over the interval that others give: 1 is at its end.
void add_outreach(const Runs& runs, const Runs& others, std::vector<GroupedError>& out)
{
    const auto range = range_of(errors_of(others), interval_share);
    if (!range)
        return;
    constexpr double least = 0.02; // an interval of nothing is exceeded by anything
    for (const JudgedRun& run : runs)
        out.push_back({run.group, run.error > 0 ? run.error / std::max(range->high, least)
                                                : run.error / std::min(range->low, -least)});
}

double widened_by(std::vector<GroupedError> outreach)
{
    return std::max(1.0, new_group_quantile(std::move(outreach), interval_share).value_or(1.0));
}

// Each value of a trait left out of its class in turn.
double widening_by(std::span<const JudgedRun> runs, std::string JobTraits::*trait)
{
    std::vector<GroupedError> outreach;
    for (const EnumName<ModelClass>& each : enum_names<ModelClass>()) {
        const Runs of = of_class(runs, each.value);
        std::set<std::string> values;
        for (const JudgedRun& run : of)
            values.insert(run.traits.*trait);
        for (const std::string& value : values)
            add_outreach(those(of, [&](const JudgedRun& r) { return r.traits.*trait == value; }),
                         those(of, [&](const JudgedRun& r) { return r.traits.*trait != value; }),
                         outreach);
    }
    return widened_by(std::move(outreach));
}

// That a job lies beyond a size; not above 0: within.
using Doublings = std::function<double(const JobTraits&)>;

// By the doublings; what lies less than one beyond says nothing of them and is on neither side.
void add_growth(const Runs& of, const Doublings& beyond, std::vector<GroupedError>& growth)
{
    const Runs outside = those(of, [&](const auto& r) { return beyond(r.traits) >= 1; });
    std::vector<GroupedError> outreach;
    add_outreach(outside, those(of, [&](const auto& r) { return beyond(r.traits) <= 0; }),
                 outreach);
    for (std::size_t i = 0; i < outreach.size(); ++i)
        growth.push_back({outreach[i].group, std::pow(std::max(outreach[i].error, 0.1),
                                                      1 / beyond(outside[i].traits))});
}

double doublings(std::int64_t from, std::int64_t to)
{
    return std::log2(static_cast<double>(to) / static_cast<double>(from));
}

// Runs on more devices than each of some sizes.
double widening_by_devices(std::span<const JudgedRun> runs)
{
    std::vector<GroupedError> growth;
    for (const EnumName<ModelClass>& each : enum_names<ModelClass>())
        for (const int size : {8, 32, 128, 512})
            add_growth(
                of_class(runs, each.value),
                [&](const JobTraits& job) { return doublings(size, job.devices); }, growth);
    return widened_by(std::move(growth));
}

std::optional<MeasuredRange> range_of(const Runs& runs, std::int64_t JobTraits::*size)
{
    std::optional<MeasuredRange> out;
    for (const JudgedRun& run : runs)
        if (const std::int64_t value = run.traits.*size; value > 0) {
            out = out.value_or(MeasuredRange{value, value});
            out = {std::min(out->least, value), std::max(out->most, value)};
        }
    return out;
}

// Runs below each power of two between the least and the most, or above it.
double widening_by(std::span<const JudgedRun> runs, double Widening::*widening)
{
    std::vector<GroupedError> growth;
    for (const MeasuredSize& size : measured_sizes())
        for (const EnumName<ModelClass>& each : enum_names<ModelClass>()) {
            const bool below = size.below.widening == widening;
            const Runs of = those(of_class(runs, each.value),
                                  [&](const JudgedRun& run) { return run.traits.*size.of > 0; });
            const auto range = range_of(of, size.of);
            if ((!below && size.above.widening != widening) || !range)
                continue;
            for (std::int64_t limit = 1; limit < range->most; limit *= 2)
                if (limit >= range->least)
                    add_growth(
                        of,
                        [&](const JobTraits& job) {
                            return (below ? -1 : 1) * doublings(limit, job.*size.of);
                        },
                        growth);
        }
    return widened_by(std::move(growth));
}

Widening widening_of(std::span<const JudgedRun> runs)
{
    Widening out{.device = widening_by(runs, &JobTraits::device),
                 .precision = widening_by(runs, &JobTraits::precision),
                 .software = widening_by(runs, &JobTraits::software),
                 .doubling = widening_by_devices(runs)};
    for (const MeasuredSize& size : measured_sizes())
        for (const SizeEnd& end : {size.below, size.above})
            out.*end.widening = widening_by(runs, end.widening);
    return out;
}

std::vector<SeenJobs> seen_in(std::span<const JudgedRun> runs)
{
    std::vector<SeenJobs> out;
    for (const EnumName<ModelClass>& each : enum_names<ModelClass>()) {
        std::set<std::string> devices;
        std::set<std::string> precisions;
        std::set<std::string> software;
        SeenJobs seen;
        seen.model_class = each.value;
        for (const JudgedRun& run : of_class(runs, each.value)) {
            devices.insert(run.traits.device);
            precisions.insert(run.traits.precision);
            software.insert(run.traits.software);
            seen.largest = std::max(seen.largest, run.traits.devices);
        }
        for (const MeasuredSize& size : measured_sizes())
            seen.*size.seen = range_of(of_class(runs, each.value), size.of);
        seen.devices.assign(devices.begin(), devices.end());
        seen.precisions.assign(precisions.begin(), precisions.end());
        seen.software.assign(software.begin(), software.end());
        out.push_back(std::move(seen));
    }
    return out;
}

// At most so many of each group, evenly spread.
Runs thinned(const Runs& runs)
{
    std::map<std::string, Runs> groups;
    for (const JudgedRun& run : runs)
        groups[run.group].push_back(run);
    Runs out;
    for (const auto& [name, members] : groups) {
        const double stride = std::max(1.0, static_cast<double>(members.size()) / most_of_group);
        for (std::size_t i = 0; i < std::min(members.size(), most_of_group); ++i)
            out.push_back(members[static_cast<std::size_t>(stride * static_cast<double>(i))]);
    }
    return out;
}

// Calls `with` for each pair of one source.
template <class With>
void for_pairs(const Runs& runs, With with)
{
    for (std::size_t i = 0; i < runs.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (runs[i].source == runs[j].source)
                with(runs[j], runs[i]);
}

// Pairs that have their GPU and model in common count by their group, others by both groups.
std::string group_of_pair(const JudgedRun& a, const JudgedRun& b)
{
    return a.group == b.group ? a.group
                              : std::min(a.group, b.group) + " | " + std::max(a.group, b.group);
}

void add_ratios(const Runs& runs, ModelClass model_class, StepErrors& out)
{
    std::map<std::vector<std::string>, std::vector<GroupedError>> by_difference;
    for_pairs(thinned(runs), [&](const JudgedRun& a, const JudgedRun& b) {
        by_difference[differences(a.traits, b.traits)].push_back(
            {group_of_pair(a, b), a.error - b.error});
    });
    for (auto& [differs, errors] : by_difference)
        // Repeats differ in nothing. Of few groups a difference in one thing is worth having; one
        // in many things is as well joined of these.
        if (!differs.empty() &&
            (differs.size() == 1 || group_count(errors) >= groups_of_mixed_pairs))
            if (const auto range = symmetric_range_of(std::move(errors), interval_share))
                out.ratios.push_back(
                    {model_class, differs, range->high, range->groups, range->runs});
}

bool within_four_times(double a, double b)
{
    constexpr double most = 4;
    return a <= most * b && b <= most * a;
}

bool are_like(const JobTraits& a, const JobTraits& b)
{
    return a.device == b.device && a.model == b.model && a.precision == b.precision &&
           a.software == b.software && within_four_times(a.devices, b.devices) &&
           within_four_times(static_cast<double>(a.sequence_length),
                             static_cast<double>(b.sequence_length));
}

void add_own_step(const Runs& runs, ModelClass model_class, StepErrors& out)
{
    std::vector<GroupedError> left;
    for_pairs(thinned(runs), [&](const JudgedRun& a, const JudgedRun& b) {
        if (are_like(a.traits, b.traits))
            left.push_back({a.group, a.error - b.error});
    });
    if (const auto range = symmetric_range_of(std::move(left), interval_share))
        out.own_steps.push_back({model_class, range->high, range->groups, range->runs});
}

// Means of what is added to each name.
class Means {
public:
    void add(const std::string& name, double value)
    {
        auto& [sum, count] = sums_[name];
        sum += value;
        ++count;
    }
    std::optional<double> of(const std::string& name) const
    {
        const auto found = sums_.find(name);
        if (found == sums_.end())
            return std::nullopt;
        return found->second.first / found->second.second;
    }
    double mean_of_all() const
    {
        double sum = 0;
        for (const auto& [name, of_name] : sums_)
            sum += of_name.first / of_name.second / static_cast<double>(sums_.size());
        return sum;
    }
    bool empty() const { return sums_.empty(); }

private:
    std::map<std::string, std::pair<double, int>> sums_;
};

std::string publication_of(const JudgedRun& run)
{
    return fmt::format("{}, {}", run.source, to_name(run.traits.model_class));
}

} // namespace

std::string group_of(const std::string& source, const JobTraits& traits)
{
    return fmt::format("{}, {}, {}, {}", source, traits.device, traits.model, traits.precision);
}

std::vector<JudgedRun> as_left_out(std::span<const JudgedRun> runs, const LeftOutErrors& left_out,
                                   const StepErrors& before)
{
    Means by_group;
    Means by_publication;
    for (const JudgedRun& run : runs)
        if (const auto found = left_out.find(run.id); found != left_out.end()) {
            by_group.add(run.group, found->second - run.error);
            by_publication.add(publication_of(run), found->second - run.error);
        }
    Runs out(runs.begin(), runs.end());
    for (JudgedRun& run : out) {
        if (left_out.empty())
            run.error *= before.optimism_of(run.traits.model_class);
        else if (const auto moved = by_group.of(run.group))
            run.error += *moved;
        else
            run.error += by_publication.of(publication_of(run)).value_or(0);
    }
    return out;
}

std::vector<FitOptimism> optimism_of(std::span<const JudgedRun> runs, const LeftOutErrors& left_out,
                                     const StepErrors& before)
{
    std::vector<FitOptimism> out;
    for (const EnumName<ModelClass>& each : enum_names<ModelClass>()) {
        Means in_sample;
        Means out_of_sample;
        int count = 0;
        for (const JudgedRun& run : of_class(runs, each.value))
            if (const auto found = left_out.find(run.id); found != left_out.end()) {
                in_sample.add(run.group, std::abs(run.error));
                out_of_sample.add(run.group, std::abs(found->second));
                ++count;
            }
        const auto kept = std::ranges::find(before.optimism, each.value, &FitOptimism::model_class);
        if (!in_sample.empty() && in_sample.mean_of_all() > 0)
            out.push_back({each.value,
                           std::max(1.0, out_of_sample.mean_of_all() / in_sample.mean_of_all()),
                           count});
        else if (kept != before.optimism.end())
            out.push_back(*kept);
    }
    return out;
}

std::optional<StepErrors> calibrated(std::span<const JudgedRun> runs, const LeftOutErrors& left_out,
                                     const StepErrors& before)
{
    StepErrors out;
    out.optimism = optimism_of(runs, left_out, before);
    const Runs errors = as_left_out(runs, left_out, before);
    for (const EnumName<ModelClass>& each : enum_names<ModelClass>()) {
        const std::vector<ErrorClass> classes = classes_of(errors, each.value);
        if (classes.empty())
            return std::nullopt;
        out.classes.insert(out.classes.end(), classes.begin(), classes.end());
        const Runs own = of_class(runs, each.value);
        add_ratios(own, each.value, out);
        add_own_step(own, each.value, out);
    }
    out.seen = seen_in(errors);
    out.widening = widening_of(errors);
    return out;
}

std::optional<PeakErrors> calibrated_peaks(std::span<const JudgedRun> runs)
{
    constexpr int fewest_groups = 4;
    const int groups = group_count(errors_of(runs));
    if (groups < fewest_groups)
        return std::nullopt;
    PeakErrors out;
    out.share = std::min(interval_share, groups / (groups + 1.0));
    for (const EnumName<ModelClass>& each : enum_names<ModelClass>()) {
        const std::vector<ErrorClass> classes = classes_of(runs, each.value, out.share);
        if (classes.empty())
            return std::nullopt;
        out.classes.insert(out.classes.end(), classes.begin(), classes.end());
    }
    out.seen = seen_in(runs);
    out.widening = widening_of(runs);
    return out;
}

std::vector<ClassCoverage> coverage_of(std::span<const JudgedRun> all)
{
    std::vector<ClassCoverage> out;
    for (const EnumName<ModelClass>& each : enum_names<ModelClass>()) {
        const Runs own = of_class(all, each.value);
        if (own.empty())
            continue;
        std::map<std::string, Runs> groups;
        for (const JudgedRun& run : own)
            groups[run.group].push_back(run);
        ClassCoverage covered{each.value, static_cast<int>(groups.size()),
                              static_cast<int>(own.size()), Coverage{}};
        for (const auto& [name, members] : groups) {
            StepErrors others;
            others.classes = classes_of(
                those(all, [&, &left_out = name](const auto& r) { return r.group != left_out; }),
                each.value);
            if (others.classes.empty()) {
                covered.left_out.reset();
                break;
            }
            const auto inside =
                static_cast<double>(std::ranges::count_if(members, [&](const auto& r) {
                    const ErrorClass& of = others.class_for(r.traits);
                    return of.low <= r.error && r.error <= of.high;
                }));
            covered.left_out->by_run += inside / covered.runs;
            covered.left_out->by_group +=
                inside / static_cast<double>(members.size()) / covered.groups;
        }
        out.push_back(std::move(covered));
    }
    return out;
}

} // namespace trainyard
