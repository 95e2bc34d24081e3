#include "sim/study/quantile.h"
#include "sim/study/validate.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <map>
#include <set>

namespace trainyard {

namespace {

using Verdicts = std::vector<const RecordVerdict*>;

bool is_scored(const RecordVerdict& verdict)
{
    return verdict.skipped.empty();
}

ErrorSummary summary_of(const std::string& name, const Verdicts& verdicts)
{
    ErrorSummary out;
    out.name = name;
    out.records = verdicts.size();
    std::vector<double> sizes;
    for (const RecordVerdict* verdict : verdicts) {
        if (!is_scored(*verdict))
            continue;
        out.bias += verdict->error();
        out.covered += verdict->covered() ? 1 : 0;
        sizes.push_back(std::abs(verdict->error()));
    }
    out.scored = sizes.size();
    out.skipped = out.records - out.scored;
    if (sizes.empty())
        return out;
    const double count = static_cast<double>(sizes.size());
    std::sort(sizes.begin(), sizes.end());
    for (const double size : sizes)
        out.mape += size / count;
    out.bias /= count;
    out.covered /= count;
    out.median_ape = quantile(sizes, 0.5);
    out.p90_ape = quantile(sizes, 0.9);
    out.max_ape = sizes.back();
    return out;
}

using Naming = std::function<std::string(const RecordVerdict&)>;

std::vector<ErrorSummary> grouped(const Verdicts& verdicts, const Naming& name)
{
    std::map<std::string, Verdicts> groups;
    for (const RecordVerdict* verdict : verdicts)
        groups[name(*verdict)].push_back(verdict);
    std::vector<ErrorSummary> out;
    for (const auto& [group, members] : groups)
        out.push_back(summary_of(group, members));
    return out;
}

std::string source_name(const RecordVerdict& verdict)
{
    return verdict.source.empty() ? "not stated" : verdict.source;
}

double mean_of_sources(const Verdicts& verdicts)
{
    double sum = 0;
    int sources = 0;
    for (const ErrorSummary& source : grouped(verdicts, source_name))
        if (source.scored > 0) {
            sum += source.mape;
            ++sources;
        }
    return sources == 0 ? 0 : sum / sources;
}

std::vector<ErrorSummary> by_class(const Verdicts& verdicts)
{
    std::vector<ErrorSummary> out =
        grouped(verdicts, [](const RecordVerdict& v) { return v.architecture; });
    Verdicts spread; // skipped records may not have come as far as a strategy
    for (const RecordVerdict* verdict : verdicts)
        if (!verdict->strategy.empty())
            spread.push_back(verdict);
    for (ErrorSummary& fine :
         grouped(spread, [](const RecordVerdict& v) { return v.architecture + " " + v.strategy; }))
        out.push_back(std::move(fine));
    return out;
}

std::vector<MemoryErrors> memory_errors(const std::vector<RecordVerdict>& verdicts)
{
    std::map<std::string, MemoryErrors> by_class;
    MemoryErrors all;
    all.name = "all";
    for (const RecordVerdict& verdict : verdicts) {
        if (!verdict.peak_error())
            continue;
        MemoryErrors& of_class = by_class[verdict.architecture + " " + verdict.strategy];
        for (MemoryErrors* errors : {&of_class, &all}) {
            if (verdict.allocated_error)
                errors->allocated.add(*verdict.allocated_error);
            if (verdict.reserved_error)
                errors->reserved.add(*verdict.reserved_error);
        }
    }
    std::vector<MemoryErrors> out;
    for (auto& [name, errors] : by_class) {
        errors.name = name;
        out.push_back(errors);
    }
    if (!out.empty())
        out.push_back(all);
    return out;
}

bool is_judged(const RecordVerdict& verdict)
{
    return is_scored(verdict) && verdict.shipped_constants;
}

bool is_peak_judged(const RecordVerdict& verdict)
{
    return is_judged(verdict) && verdict.peak_error() && verdict.peak->has_interval();
}

// `judged`: of which `runs` are. `width`: of the predicted interval, high / low.
std::vector<IntervalSummary> summaries_of(std::span<const JudgedRun> runs,
                                          const std::vector<RecordVerdict>& verdicts,
                                          bool (*judged)(const RecordVerdict&),
                                          bool (RecordVerdict::*covered)() const,
                                          double (*width)(const RecordVerdict&))
{
    std::vector<IntervalSummary> out;
    for (const ClassCoverage& groups : coverage_of(runs)) {
        IntervalSummary summary{.groups = groups};
        std::vector<double> widths;
        for (const RecordVerdict& verdict : verdicts) {
            if (!judged(verdict) || verdict.predicted->traits.model_class != groups.model_class)
                continue;
            summary.covered += (verdict.*covered)() ? 1.0 / groups.runs : 0;
            widths.push_back(width(verdict));
        }
        std::ranges::sort(widths);
        summary.width = widths.empty() ? 1 : quantile(widths, 0.5);
        out.push_back(summary);
    }
    return out;
}

double step_width(const RecordVerdict& verdict)
{
    return verdict.predicted->high / verdict.predicted->low;
}

double peak_width(const RecordVerdict& verdict)
{
    return verdict.peak->high / verdict.peak->low;
}

JudgedRun judged_run(const RecordVerdict& verdict, double error)
{
    const JobTraits& traits = verdict.predicted->traits;
    return {traits, verdict.id, verdict.source, std::log1p(error),
            group_of(verdict.source, traits)};
}

} // namespace

std::vector<JudgedRun> judged_runs(std::span<const RecordVerdict> verdicts)
{
    std::vector<JudgedRun> out;
    for (const RecordVerdict& verdict : verdicts)
        if (is_judged(verdict))
            out.push_back(judged_run(verdict, verdict.error()));
    return out;
}

std::vector<JudgedRun> judged_peaks(std::span<const RecordVerdict> verdicts)
{
    std::vector<JudgedRun> out;
    for (const RecordVerdict& verdict : verdicts)
        if (is_judged(verdict) && verdict.peak_error())
            out.push_back(judged_run(verdict, *verdict.peak_error()));
    return out;
}

void MeanError::add(double error)
{
    mean += (std::abs(error) - mean) / static_cast<double>(++records);
}

double RecordVerdict::error() const
{
    assert(measured && predicted);
    return predicted->value / *measured - 1;
}

bool RecordVerdict::covered() const
{
    assert(measured && predicted);
    return predicted->low <= *measured && *measured <= predicted->high;
}

bool RecordVerdict::peak_covered() const
{
    assert(peak && peak_error());
    // The interval is of what the device holds, the error of what was counted of it.
    const double counted = 1 / (1 + *peak_error()); // of the value
    return peak->low / peak->value <= counted && counted <= peak->high / peak->value;
}

namespace {

// What one run of a publication was held in, its others were.
void leave_out_other_formats(std::vector<RecordVerdict>& verdicts)
{
    std::set<std::string> sources;
    for (const RecordVerdict& verdict : verdicts)
        if (verdict.holds_less)
            sources.insert(verdict.source);
    for (RecordVerdict& verdict : verdicts)
        verdict.memory_counts = !sources.contains(verdict.source);
}

} // namespace

ValidationReport summarized(std::vector<RecordVerdict> verdicts)
{
    leave_out_other_formats(verdicts);
    ValidationReport report;
    report.records = std::move(verdicts);
    Verdicts all;
    Verdicts shipped;
    Verdicts dense;
    for (const RecordVerdict& verdict : report.records) {
        all.push_back(&verdict);
        if (!verdict.shipped_constants)
            continue;
        shipped.push_back(&verdict);
        if (verdict.architecture == "dense-decoder" && verdict.quality == "A")
            dense.push_back(&verdict);
    }
    report.all = summary_of("all", all);
    report.by_source = grouped(all, source_name);
    report.by_gpu = grouped(all, [](const RecordVerdict& v) { return v.gpu; });
    report.by_class = by_class(all);
    report.intervals =
        summaries_of(as_left_out(judged_runs(report.records), {}, shipped_step_errors()),
                     report.records, is_judged, &RecordVerdict::covered, step_width);
    report.memory = memory_errors(report.records);
    report.peaks = summaries_of(judged_peaks(report.records), report.records, is_peak_judged,
                                &RecordVerdict::peak_covered, peak_width);
    report.choice = choice_regret(report.records);
    report.mean_of_sources = mean_of_sources(shipped);
    report.dense_mean_of_sources = mean_of_sources(dense);
    return report;
}

} // namespace trainyard
