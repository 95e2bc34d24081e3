#include "sim/study/validation_output.h"

#include "sim/base/fields.h"
#include "sim/base/quoted.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

Json summary_json(const ErrorSummary& summary)
{
    Json out = Json::object();
    out["records"] = static_cast<std::uint64_t>(summary.records);
    out["scored"] = static_cast<std::uint64_t>(summary.scored);
    out["skipped"] = static_cast<std::uint64_t>(summary.skipped);
    if (summary.scored == 0)
        return out;
    out["mape"] = summary.mape;
    out["median_ape"] = summary.median_ape;
    out["bias"] = summary.bias;
    out["p90_ape"] = summary.p90_ape;
    out["max_ape"] = summary.max_ape;
    out["covered"] = summary.covered;
    return out;
}

Json group_json(const std::vector<ErrorSummary>& groups)
{
    Json out = Json::object();
    for (const ErrorSummary& group : groups)
        out[group.name] = summary_json(group);
    return out;
}

constexpr std::string_view other_formats =
    "a run of this publication held less than its parameters and optimizer states take as assumed";

Json verdict_json(const RecordVerdict& verdict)
{
    Json out = Json::object();
    out["id"] = verdict.id;
    out["source"] = verdict.source;
    out["quality"] = verdict.quality;
    out["class"] = verdict.architecture;
    out["measured_s"] = verdict.measured ? Json(verdict.measured->value()) : Json();
    out["predicted_s"] = Json();
    out["error"] = Json();
    out["interval_s"] = Json();
    out["skipped"] = verdict.skipped.empty() ? Json() : Json(verdict.skipped);
    if (!verdict.skipped.empty())
        return out;
    out["predicted_s"] = verdict.predicted->value.value();
    out["error"] = verdict.error();
    out["interval_s"] =
        Json(Json::Array{verdict.predicted->low.value(), verdict.predicted->high.value()});
    out["basis"] = verdict.predicted->basis;
    out["grade"] = to_name(verdict.predicted->grade);
    out["traits"] = fields_of<JobTraits>().write(verdict.predicted->traits);
    out["strategy"] = verdict.strategy;
    out["device"] = verdict.device;
    out["software"] = verdict.software;
    out["peak_memory_bytes"] = verdict.peak->value.value();
    if (verdict.peak->has_interval())
        out["peak_memory_interval_bytes"] =
            Json(Json::Array{verdict.peak->low.value(), verdict.peak->high.value()});
    if (!verdict.memory_counts)
        out["memory_skipped"] = other_formats;
    if (verdict.allocated_error)
        out["peak_allocated_error"] = *verdict.allocated_error;
    if (verdict.reserved_error)
        out["peak_reserved_error"] = *verdict.reserved_error;
    out["fits"] = verdict.fits;
    out["assumptions"] = verdict.assumptions;
    return out;
}

// In per cent; what one decimal shows as zero has no sign.
double signed_percent(double share)
{
    return std::abs(share) < 0.0005 ? 0.0 : 100 * share;
}

std::string heading(std::string_view title)
{
    return fmt::format("{:<34} {:>6} {:>7} {:>7} {:>7} {:>7} {:>7} {:>8}\n", title, "scored",
                       "mean", "median", "bias", "p90", "worst", "covered");
}

std::string row(const ErrorSummary& summary)
{
    if (summary.scored == 0)
        return fmt::format("{:<34} {:>6}\n", summary.name, 0);
    return fmt::format(
        "{:<34} {:>6} {:>6.1f}% {:>6.1f}% {:>+6.1f}% {:>6.1f}% {:>6.1f}% {:>7.0f}%\n", summary.name,
        summary.scored, 100 * summary.mape, 100 * summary.median_ape, signed_percent(summary.bias),
        100 * summary.p90_ape, 100 * summary.max_ape, 100 * summary.covered);
}

std::string table(std::string_view title, const std::vector<ErrorSummary>& groups)
{
    std::string out = heading(title);
    for (const ErrorSummary& group : groups)
        out += row(group);
    return out + "\n";
}

std::string memory_table(const std::vector<MemoryErrors>& groups)
{
    if (groups.empty())
        return "";
    const auto text = [](const MeanError& of) {
        return of.records == 0 ? fmt::format("{:>16}", "-")
                               : fmt::format("{:>7.1f}% of {:>4}", 100 * of.mean, of.records);
    };
    std::string out =
        fmt::format("{:<34} {:>16} {:>16}\n", "peak memory, mean error", "allocated", "reserved");
    for (const MemoryErrors& errors : groups)
        out += fmt::format("{:<34} {} {}\n", errors.name, text(errors.allocated),
                           text(errors.reserved));
    return out + "\n";
}

std::string interval_table(std::string_view title, const std::vector<IntervalSummary>& classes)
{
    if (classes.empty())
        return "";
    std::string out = fmt::format("{:<34} {:>6} {:>7} {:>8} {:>9} {:>20}\n", title, "runs",
                                  "groups", "covered", "high/low", "with groups left out");
    for (const IntervalSummary& of : classes)
        out += fmt::format("{:<34} {:>6} {:>7} {:>7.0f}% {:>9.2f} {:>20}\n",
                           plural_of(of.groups.model_class), of.groups.runs, of.groups.groups,
                           100 * of.covered, of.width,
                           of.groups.left_out ? fmt::format("{:.0f}% ({:.0f}% of runs)",
                                                            100 * of.groups.left_out->by_group,
                                                            100 * of.groups.left_out->by_run)
                                              : "too few groups");
    return out + "\n";
}

Json intervals_json(const std::vector<IntervalSummary>& intervals)
{
    Json out = Json::object();
    for (const IntervalSummary& of : intervals) {
        Json& entry = out[to_name(of.groups.model_class)] = Json::object();
        entry["runs"] = of.groups.runs;
        entry["groups"] = of.groups.groups;
        entry["covered"] = of.covered;
        entry["width"] = of.width;
        const std::optional<Coverage>& left_out = of.groups.left_out;
        entry["covered_left_out"] = left_out ? Json(left_out->by_group) : Json();
        entry["covered_left_out_by_run"] = left_out ? Json(left_out->by_run) : Json();
    }
    return out;
}

// Whose memory was measured and is not counted.
std::string uncounted_memory(const ValidationReport& report)
{
    std::map<std::string, int> sources;
    for (const RecordVerdict& verdict : report.records)
        if (!verdict.memory_counts && (verdict.allocated_error || verdict.reserved_error))
            ++sources[verdict.source];
    std::string out;
    for (const auto& [source, count] : sources)
        out += fmt::format("peak memory of {} run{} of {} does not count: {}\n", count,
                           count == 1 ? "" : "s", source, other_formats);
    return out.empty() ? out : out + "\n";
}

std::string skipped_table(const ValidationReport& report)
{
    std::map<std::string, std::size_t> reasons;
    for (const RecordVerdict& verdict : report.records)
        if (!verdict.skipped.empty())
            ++reasons[verdict.skipped];
    std::string out;
    for (const auto& [reason, count] : reasons)
        out += fmt::format("{:>6}  {}\n", count, reason);
    return out.empty() ? out : "skipped, and why\n" + out + "\n";
}

// Whether anything was predicted with shipped constants.
bool any_shipped(const ValidationReport& report)
{
    return std::ranges::any_of(report.records, [](const RecordVerdict& verdict) {
        return verdict.skipped.empty() && verdict.shipped_constants;
    });
}

// For each record the number of its job, its regret and whether its layout was chosen: empty where
// it was not part of a choice.
std::vector<std::string> choice_fields(const ValidationReport& report)
{
    std::vector<std::string> out(report.records.size(), ",,");
    for (std::size_t job = 0; job < report.choice.choices.size(); ++job) {
        const LayoutRegret& choice = report.choice.choices[job];
        for (const std::size_t i : choice.records) {
            const MeasuredLayout& layout = report.records[i].layout;
            const bool chosen = layout.layout == report.records[choice.chosen].layout.layout;
            out[i] = fmt::format("{},{:.6f},{}", job + 1,
                                 1 - choice.best_time / measured_time(report.records[i]),
                                 chosen ? "yes" : "no");
        }
    }
    return out;
}

} // namespace

Json to_json(const ValidationReport& report)
{
    Json out = Json::object();
    out["summary"] = summary_json(report.all);
    out["summary"]["mean_of_sources"] = report.mean_of_sources;
    out["summary"]["dense_mean_of_sources"] = report.dense_mean_of_sources;
    out["by_source"] = group_json(report.by_source);
    out["by_gpu"] = group_json(report.by_gpu);
    out["by_class"] = group_json(report.by_class);
    out["intervals"] = intervals_json(report.intervals);
    for (const MemoryErrors& errors : report.memory) {
        Json& entry = out["memory"][errors.name] = Json::object();
        for (const auto& [name, of] :
             {std::pair("allocated", &errors.allocated), std::pair("reserved", &errors.reserved)})
            if (of->records > 0) {
                entry[name] = of->mean;
                entry[fmt::format("{}_records", name)] = static_cast<std::uint64_t>(of->records);
            }
    }
    if (!report.peaks.empty())
        out["memory_intervals"] = intervals_json(report.peaks);
    out["choice_of_layout"] = to_json(report.choice, report.records);
    Json records = json_list(report.records, verdict_json);
    out["records"] = std::move(records);
    return out;
}

std::string records_text(const ValidationReport& report)
{
    std::string out;
    for (const RecordVerdict& v : report.records) {
        if (!v.skipped.empty()) {
            out += fmt::format("{}\n    skipped: {}\n", v.id, v.skipped);
            continue;
        }
        out += fmt::format("{}\n    measured {:.4g} s, predicted {:.4g} s ({:.4g} to {:.4g} s), "
                           "error {:+.1f}%{}\n",
                           v.id, v.measured->value(), v.predicted->value.value(),
                           v.predicted->low.value(), v.predicted->high.value(),
                           signed_percent(v.error()), v.fits ? "" : ", over the device's memory");
        out += fmt::format("    interval: {}; evidence: {}\n", v.predicted->basis,
                           to_name(v.predicted->grade));
        if (!v.assumptions.empty())
            out += fmt::format("    assumed: {}\n", fmt::join(v.assumptions, "; "));
    }
    return out;
}

std::string summary_text(const ValidationReport& report)
{
    const std::string counts = fmt::format("{} records, {} scored, {} skipped.", report.all.records,
                                           report.all.scored, report.all.skipped);
    if (report.all.scored == 0)
        return skipped_table(report) + counts + '\n';
    std::string out =
        table("source", report.by_source) + table("GPU", report.by_gpu) +
        table("class", report.by_class) + interval_table("90 % intervals", report.intervals) +
        memory_table(report.memory) + interval_table("intervals of peak memory", report.peaks) +
        uncounted_memory(report) + skipped_table(report);
    out += heading("") + row(report.all);
    out += fmt::format("\n{} Error: predicted / measured - 1.\n", counts);
    out += any_shipped(report)
               ? fmt::format("Mean of the sources' mean errors: {:.1f}%; dense decoders of quality "
                             "A: {:.1f}%\n",
                             100 * report.mean_of_sources, 100 * report.dense_mean_of_sources)
               : "All were predicted with constants of their own: no mean of sources.\n";
    return out + choice_text(report.choice, report.records);
}

std::string to_csv(const ValidationReport& report)
{
    std::string out = "id,source,gpu,class,strategy,quality,measured_s,predicted_s,error,low_s,"
                      "high_s,grade,basis,fits,skipped,assumptions,layout,job,regret,chosen\n";
    const std::vector<std::string> choices = choice_fields(report);
    for (std::size_t i = 0; i < report.records.size(); ++i) {
        const RecordVerdict& v = report.records[i];
        const std::string measured = v.measured ? fmt::format("{}", v.measured->value()) : "";
        const std::string numbers =
            v.skipped.empty() ? fmt::format("{},{:.6f},{},{},{},{},{}", v.predicted->value.value(),
                                            v.error(), v.predicted->low.value(),
                                            v.predicted->high.value(), to_name(v.predicted->grade),
                                            csv_field(v.predicted->basis), v.fits ? "yes" : "no")
                              : ",,,,,,";
        out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(v.id),
                           csv_field(v.source), csv_field(v.gpu), csv_field(v.architecture),
                           csv_field(v.strategy), csv_field(v.quality), measured, numbers,
                           csv_field(v.skipped),
                           csv_field(fmt::format("{}", fmt::join(v.assumptions, "; "))),
                           csv_field(v.layout.words), choices[i]);
    }
    return out;
}

} // namespace trainyard
