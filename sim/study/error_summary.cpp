#include "sim/study/quantile.h"
#include "sim/study/validate.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <map>

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
    MemoryErrors all{.name = "all"};
    for (const RecordVerdict& verdict : verdicts) {
        if (!verdict.allocated_error || !verdict.reserved_error)
            continue;
        MemoryErrors& of_class = by_class[verdict.architecture + " " + verdict.strategy];
        for (MemoryErrors* errors : {&of_class, &all}) {
            ++errors->records;
            errors->allocated += std::abs(*verdict.allocated_error);
            errors->reserved += std::abs(*verdict.reserved_error);
        }
    }
    std::vector<MemoryErrors> out;
    for (auto& [name, errors] : by_class) {
        errors.name = name;
        out.push_back(errors);
    }
    if (all.records > 0)
        out.push_back(all);
    for (MemoryErrors& errors : out) {
        errors.allocated /= static_cast<double>(errors.records);
        errors.reserved /= static_cast<double>(errors.records);
    }
    return out;
}

std::vector<IntervalSummary> interval_summaries(const std::vector<RecordVerdict>& verdicts)
{
    const std::vector<JudgedRun> runs = judged_runs(verdicts);
    if (runs.empty())
        return {};
    std::vector<IntervalSummary> out;
    for (const ClassCoverage& groups : coverage_of(as_left_out(runs, {}, shipped_step_errors()))) {
        IntervalSummary summary{.groups = groups};
        std::vector<double> widths;
        for (const RecordVerdict& verdict : verdicts) {
            if (!is_scored(verdict) || !verdict.shipped_constants ||
                verdict.predicted->traits.model_class != groups.model_class)
                continue;
            summary.covered += verdict.covered() ? 1.0 / groups.runs : 0;
            widths.push_back(verdict.predicted->high / verdict.predicted->low);
        }
        std::ranges::sort(widths);
        summary.width = quantile(widths, 0.5);
        out.push_back(summary);
    }
    return out;
}

} // namespace

std::vector<JudgedRun> judged_runs(std::span<const RecordVerdict> verdicts)
{
    std::vector<JudgedRun> out;
    for (const RecordVerdict& verdict : verdicts)
        if (is_scored(verdict) && verdict.shipped_constants) {
            const JobTraits& traits = verdict.predicted->traits;
            out.push_back({traits, verdict.id, verdict.source, std::log1p(verdict.error()),
                           group_of(verdict.source, traits)});
        }
    return out;
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

ValidationReport summarized(std::vector<RecordVerdict> verdicts)
{
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
    report.intervals = interval_summaries(report.records);
    report.memory = memory_errors(report.records);
    report.choice = choice_regret(report.records);
    report.mean_of_sources = mean_of_sources(shipped);
    report.dense_mean_of_sources = mean_of_sources(dense);
    return report;
}

} // namespace trainyard
