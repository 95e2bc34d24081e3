#include "sim/study/prediction.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trainyard {

namespace {

constexpr double squared(double x)
{
    return x * x;
}

// What the job has that no measured one of its class had, and the interval's factor for it.
struct Novelty {
    std::vector<std::string> names;
    double factor = 1;
    bool device = false;
};

Novelty novelty_of(const JobTraits& job, const std::vector<SeenJobs>& all, const Widening& widening)
{
    Novelty out;
    const SeenJobs* const seen = seen_of(all, job.model_class);
    if (seen == nullptr)
        return out;
    if (seen->devices.empty())
        out.names.emplace_back(plural_of(job.model_class));
    double more = 0;
    const auto add = [&](std::string name, double factor) {
        out.names.push_back(std::move(name));
        more += squared(factor) - 1;
    };
    const auto is_new = [](const std::vector<std::string>& known, const std::string& name) {
        return std::ranges::find(known, name) == known.end();
    };
    out.device = is_new(seen->devices, job.device);
    if (out.device)
        add(job.device, widening.device);
    if (is_new(seen->precisions, job.precision))
        add(job.precision, widening.precision);
    if (is_new(seen->software, job.software))
        add(job.software, widening.software);
    if (seen->largest > 0 && job.devices > seen->largest)
        add(fmt::format("more than {} devices", seen->largest),
            std::pow(widening.doubling,
                     std::log2(static_cast<double>(job.devices) / seen->largest)));
    for (const MeasuredSize& size : measured_sizes()) {
        const std::optional<MeasuredRange>& range = seen->*size.seen;
        const std::int64_t value = job.*size.of;
        if (!range || value <= 0 || (range->least <= value && value <= range->most))
            continue;
        const bool above = value > range->most;
        const std::int64_t end = above ? range->most : range->least;
        const double doublings =
            std::abs(std::log2(static_cast<double>(value) / static_cast<double>(end)));
        const SizeEnd& beyond = above ? size.above : size.below;
        add(fmt::format(fmt::runtime(beyond.name), end),
            std::pow(widening.*beyond.widening, doublings));
    }
    out.factor = std::sqrt(1 + more);
    return out;
}

std::string counted(int count, std::string_view one)
{
    return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string name_of(const ErrorClass& of)
{
    std::string out(plural_of(of.model_class));
    if (!of.generation.empty())
        out += " on " + of.generation;
    if (of.dispatcher_stated)
        out += *of.dispatcher_stated ? ", dispatcher stated" : ", dispatcher not stated";
    if (!of.pooled.empty())
        out += fmt::format(" (too few alone: {} together)", of.pooled);
    return out;
}

// `wider`: than those of jobs that were measured.
std::string basis_of(const ErrorClass& of, const Novelty& novelty, bool wider)
{
    std::string out = fmt::format("{}: {} of {}, each left out", name_of(of),
                                  counted(of.runs, "run"), counted(of.groups, "group"));
    if (!novelty.names.empty())
        out += fmt::format("; not among them{}: {}", wider ? ", so wider" : "",
                           fmt::join(novelty.names, ", "));
    return out;
}

Prediction with_errors(Seconds value, const Evidence& evidence, double low, double high,
                       std::string basis)
{
    return {.value = value,
            .low = value * std::exp(-high),
            .high = value * std::exp(-low),
            .grade = evidence.grade,
            .basis = std::move(basis),
            .traits = evidence.traits,
            .error_low = low,
            .error_high = high};
}

// Of jobs of one class: from pairs of runs. Nothing where pairs say nothing.
std::optional<std::pair<double, std::string>> half_of_pairs(const JobTraits& a, const JobTraits& b,
                                                            const StepErrors& errors)
{
    if (a.model_class != b.model_class)
        return std::nullopt;
    const std::vector<std::string> differs = differences(a, b);
    if (differs.empty())
        return std::pair(0.0, std::string("the same job"));
    const auto pairs_that_differ_in = [&](const std::vector<std::string>& what) {
        const auto found = std::ranges::find_if(errors.ratios, [&](const RatioClass& ratio) {
            return ratio.model_class == a.model_class && ratio.differs == what;
        });
        return found == errors.ratios.end() ? nullptr : &*found;
    };
    const auto described = [&](int pairs, int groups) {
        return fmt::format("{} that differ in {}: {} in {}", plural_of(a.model_class),
                           fmt::join(differs, ", "), counted(pairs, "pair"),
                           counted(groups, "group"));
    };
    if (const RatioClass* of_all = pairs_that_differ_in(differs))
        return std::pair(of_all->half, described(of_all->pairs, of_all->groups));
    double sum = 0;
    int pairs = 0;
    int groups = 0;
    for (const std::string& one : differs) {
        const RatioClass* const of_one = pairs_that_differ_in({one});
        if (of_one == nullptr)
            return std::nullopt;
        sum += squared(of_one->half);
        pairs += of_one->pairs;
        groups += of_one->groups;
    }
    return std::pair(std::sqrt(sum), described(pairs, groups) + " that differ in one of them each");
}

double normal_probability(double deviations)
{
    return 0.5 * std::erfc(-deviations / std::numbers::sqrt2);
}

} // namespace

Prediction predict_step_time(Seconds value, const Evidence& evidence, const StepErrors& errors)
{
    const ErrorClass& of = errors.class_for(evidence.traits);
    const Novelty novelty = novelty_of(evidence.traits, errors.seen, errors.widening);
    const double unknown = novelty.device ? evidence.constants : 0;
    const double low = -std::hypot(novelty.factor * of.low, unknown);
    const double high = std::hypot(novelty.factor * of.high, unknown);
    if (!evidence.own) {
        Prediction out = with_errors(value, evidence, low, high,
                                     basis_of(of, novelty, novelty.factor > 1 || unknown > 0));
        if (out.grade == Grade::published && !novelty.names.empty())
            out.grade = Grade::extrapolated;
        return out;
    }
    const auto usual = std::ranges::find(errors.own_steps, evidence.traits.model_class,
                                         &OwnStepClass::model_class);
    const double left = evidence.own->half                ? *evidence.own->half
                        : usual != errors.own_steps.end() ? usual->half
                                                          : std::max(-low, high);
    return with_errors(value, evidence, std::max(low, -left), std::min(high, left),
                       fmt::format("{} of your own, of jobs like this one",
                                   counted(evidence.own->steps, "measured step")));
}

PeakPrediction predict_peak(Bytes value, const JobTraits& job, const PeakErrors& errors)
{
    PeakPrediction out{.value = value, .low = value, .high = value, .basis = {}};
    const ErrorClass* const of = class_for(errors.classes, job);
    if (of == nullptr)
        return out;
    const Novelty novelty = novelty_of(job, errors.seen, errors.widening);
    const auto scaled = [&](double error) {
        const double bytes = static_cast<double>(value.value()) * std::exp(novelty.factor * error);
        return Bytes(static_cast<std::uint64_t>(bytes));
    };
    out.low = scaled(-of->high);
    out.high = scaled(-of->low);
    out.share = errors.share;
    const SeenJobs* const seen = seen_of(errors.seen, job.model_class);
    if (seen != nullptr && !seen->devices.empty())
        out.grade = novelty.names.empty() ? Grade::published : Grade::extrapolated;
    out.basis = basis_of(*of, novelty, novelty.factor > 1);
    return out;
}

template <>
std::vector<EnumName<MemoryFit>> enum_names<MemoryFit>()
{
    using enum MemoryFit;
    return {{fits, "fits"},
            {probably_fits, "probably fits"},
            {probably_not, "probably does not fit"},
            {does_not, "does not fit"}};
}

MemoryFit fit_of(const PeakPrediction& peak, Bytes capacity)
{
    if (peak.value <= capacity)
        return peak.high <= capacity ? MemoryFit::fits : MemoryFit::probably_fits;
    return peak.low <= capacity ? MemoryFit::probably_not : MemoryFit::does_not;
}

std::string_view fit_cell(MemoryFit fit)
{
    switch (fit) {
    case MemoryFit::fits:
        return "yes";
    case MemoryFit::probably_fits:
        return "likely";
    case MemoryFit::probably_not:
        return "unlikely";
    case MemoryFit::does_not:
        break;
    }
    return "no";
}

RatioPrediction predict_ratio(const Prediction& a, const Prediction& b, const StepErrors& errors)
{
    RatioPrediction out;
    out.value = b.value / a.value;
    // Measured b / a = predicted b / a times exp(error of a - error of b).
    double low = std::hypot(a.error_low, b.error_high);
    double high = std::hypot(a.error_high, b.error_low);
    out.basis = "nothing in common";
    if (auto paired = half_of_pairs(a.traits, b.traits, errors)) {
        low = std::min(low, paired->first);
        high = std::min(high, paired->first);
        out.basis = std::move(paired->second);
    }
    out.low = out.value * std::exp(-low);
    out.high = out.value * std::exp(high);
    constexpr double ends = 1.6449; // standard deviations that hold 0.9 of a normal distribution
    const double change = std::log(out.value);
    const double deviation = (change > 0 ? low : high) / ends;
    out.b_is_quicker = deviation > 0 ? normal_probability(-change / deviation)
                       : change == 0 ? 0.5
                                     : (change < 0 ? 1.0 : 0.0);
    return out;
}

} // namespace trainyard
