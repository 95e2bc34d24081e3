#include "sim/report/compare/compare.h"
#include "sim/report/network_notes.h"
#include "sim/report/text/table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace trainyard {

namespace {

// With a sign; nothing where all digits shown are zero.
std::string signed_figure(double value, std::string_view unit)
{
    return std::abs(value) < 0.05 ? "" : fmt::format("{:+.1f} {}", value, unit);
}

std::string signed_percent(double change)
{
    constexpr double many_times = 9; // nobody reads +176198.5 %
    if (change < many_times)
        return signed_figure(100 * change, "%");
    return fmt::format("x {:.{}f}", 1 + change, change < 99 ? 1 : 0);
}

} // namespace

std::string metric_text(const MetricComparison& metric, std::size_t i)
{
    return metric.figure->text(metric.values[i]);
}

// Shares change by points: from 4 % to 52 % is 48 points more, not twelve times as much.
std::string change_text(const MetricComparison& metric, std::size_t i)
{
    if (metric.figure->unit == FigureUnit::share)
        return signed_figure(100 * (metric.values[i] - metric.values[0]), "pp");
    return metric.change(i) ? signed_percent(*metric.change(i)) : "";
}

std::string ratio_text(const RatioPrediction& ratio)
{
    // Nobody knows a probability to better than a hundredth here.
    const double shown = std::clamp(ratio.b_is_quicker, 0.01, 0.99);
    const char* const bound = ratio.b_is_quicker > 0.99   ? "above "
                              : ratio.b_is_quicker < 0.01 ? "below "
                                                          : "";
    return fmt::format("x {:.3g} ({:.3g} to {:.3g}, 90 %), quicker with probability {}{:.2f}",
                       ratio.value, ratio.low, ratio.high, bound, shown);
}

namespace {

// Columns that fit side by side; more runs are listed below each other.
constexpr std::size_t most_columns = 3;

std::vector<std::string> titles(const Comparison& comparison, std::size_t cell)
{
    std::vector<std::string> out;
    for (const std::string& name : comparison.names)
        out.push_back(shortened(std::filesystem::path(name).stem().string(), cell));
    return out;
}

// What tells one file from another: its name, or its folder's where that is always the same
// (models/llama-2-7b/config.json).
std::string telling_name(const std::filesystem::path& file)
{
    const std::string name = file.stem().string();
    const bool usual = name == "config" || name == "model";
    return usual && file.has_parent_path() ? file.parent_path().filename().string() : name;
}

// Of a file, which a setting names as JSON text, the name: its path would fill the cell.
std::string value_text(const std::string& value, std::size_t cell)
{
    if (value.empty())
        return "default";
    if (value.ends_with(".json\""))
        return shortened(telling_name(value.substr(1)), cell);
    return shortened(value, cell);
}

std::string fit_word(bool fits, const Paint& paint)
{
    return fits ? "yes" : paint.alarm("NO");
}

// One column per run, and one for its change from the second run on.
class SideBySide {
public:
    explicit SideBySide(std::size_t runs) : table_(columns(runs)) {}

    // `text(i)` and `change(i)` of run i.
    template <class Text, class Change>
    void add(std::string name, std::size_t runs, Text text, Change change)
    {
        std::vector<std::string> row{std::move(name)};
        for (std::size_t i = 0; i < runs; ++i) {
            row.push_back(text(i));
            if (i > 0)
                row.push_back(change(i));
        }
        table_.add(std::move(row));
    }

    std::string text_within(std::size_t width) const { return table_.text_within(width); }

private:
    static std::vector<Align> columns(std::size_t runs)
    {
        std::vector<Align> all(2 * runs, Align::right);
        all[0] = Align::left;
        return all;
    }

    TextTable table_;
};

std::string side_by_side(const Comparison& comparison, const Paint& paint, std::size_t width)
{
    const std::size_t runs = comparison.names.size();
    const std::size_t cell = (width - 34) / runs - 8;
    const auto nothing = [](std::size_t) { return std::string(); };
    const std::vector<std::string> names = titles(comparison, cell);
    SideBySide table(runs);
    table.add(
        "", runs, [&](std::size_t i) { return paint.bold(names[i]); }, nothing);
    for (const SettingDifference& setting : comparison.settings)
        table.add(
            setting.field, runs, [&](std::size_t i) { return value_text(setting.values[i], cell); },
            nothing);
    table.add("", 0, nothing, nothing);
    for (const MetricComparison& metric : comparison.metrics)
        if (metric.differs())
            table.add(
                metric.title, runs,
                [&](std::size_t i) { return metric.figure->text(metric.values[i]); },
                [&](std::size_t i) { return change_text(metric, i); });
    table.add(
        "bottleneck", runs, [&](std::size_t i) { return comparison.bottlenecks[i]; }, nothing);
    table.add(
        "fits in memory", runs, [&](std::size_t i) { return fit_word(comparison.fits[i], paint); },
        nothing);
    return table.text_within(width);
}

std::string settings_of_run(const Comparison& comparison, std::size_t i, std::size_t width)
{
    std::string text;
    for (const SettingDifference& setting : comparison.settings)
        text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", setting.field,
                            value_text(setting.values[i], width));
    return hung("    ", text, width);
}

std::string below_each_other(const Comparison& comparison, const Paint& paint, std::size_t width)
{
    const std::vector<std::string> names = titles(comparison, width - 4);
    std::string out = "Settings that differ\n";
    for (std::size_t i = 0; i < names.size(); ++i)
        out += "  " + paint.bold(names[i]) + "\n" + settings_of_run(comparison, i, width);
    TextTable table({Align::left, Align::right, Align::right, Align::right, Align::right,
                     Align::right, Align::left});
    table.add({"", "step time", "", "MFU", "memory", "fits", "bottleneck"});
    const auto metric = [&](std::string_view name) {
        return std::find_if(comparison.metrics.begin(), comparison.metrics.end(),
                            [&](const MetricComparison& m) { return m.figure->key == name; });
    };
    const auto cell = [&](std::string_view name, std::size_t i) {
        const auto found = metric(name);
        return found == comparison.metrics.end() ? "" : metric_text(*found, i);
    };
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto step = metric("step_time_s");
        const bool known = i > 0 && step != comparison.metrics.end() && step->change(i);
        table.add({shortened(names[i], 30), cell("step_time_s", i),
                   known ? signed_percent(*step->change(i)) : "", cell("mfu", i),
                   cell("peak_memory_bytes", i), fit_word(comparison.fits[i], paint),
                   comparison.bottlenecks[i]});
    }
    return out + "\nResults (change against the first)\n" + table.text_within(width);
}

// How far the changes of step time can be trusted.
std::string ratio_lines(const Comparison& comparison, std::size_t width)
{
    const std::vector<std::string> names = titles(comparison, width - 4);
    std::string out = "\nStep time against " + names.front() + ", errors in common cancelled\n";
    for (std::size_t i = 1; i < names.size(); ++i)
        out += hung("  ",
                    fmt::format("{}: {} ({})", names[i], ratio_text(comparison.step_times[i - 1]),
                                comparison.step_times[i - 1].basis),
                    width);
    return out;
}

bool in_one_fidelity(const Comparison& comparison)
{
    return std::ranges::adjacent_find(comparison.networks, std::ranges::not_equal_to(),
                                      &FidelityChoice::fidelity) == comparison.networks.end();
}

// Which fidelity the runs have in common or each has, and what it does not see in any of them.
std::string fidelity_lines(const Comparison& comparison, std::size_t width)
{
    const std::vector<std::string> names = titles(comparison, width - 4);
    const bool common = in_one_fidelity(comparison);
    const Fidelity first = comparison.networks.front().fidelity;
    std::string out = "\n";
    if (common)
        out += hung(
            "", fmt::format("Network fidelity {}: {}.", to_name(first), fidelity_meaning(first)),
            width);
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::vector<std::string> notes;
        if (!common)
            notes.push_back(
                fmt::format("network fidelity {}.", to_name(comparison.networks[i].fidelity)));
        if (!shares_links(comparison.networks[i].fidelity))
            std::ranges::move(unseen_sharing(comparison.networks[i]), std::back_inserter(notes));
        if (!notes.empty())
            out += hung("", fmt::format("{}: {}", names[i], fmt::join(notes, " ")), width);
    }
    return out;
}

// Where libraries differ, the sizes at which the faster one changes.
std::string crossover_lines(const Comparison& comparison, std::size_t width)
{
    std::string out = comparison.crossovers.empty() ? "" : "\nCrossover\n";
    for (const std::string& crossover : comparison.crossovers)
        out += hung("  ", crossover, width);
    return out;
}

} // namespace

std::string comparison_text(const Comparison& comparison, const TerminalStyle& style)
{
    const Paint paint(style.colour);
    const std::size_t width = std::max<std::size_t>(style.width, 80);
    if (comparison.names.size() > most_columns)
        return below_each_other(comparison, paint, width) + ratio_lines(comparison, width) +
               fidelity_lines(comparison, width);
    const std::string head = comparison.settings.empty() ? "No setting differs.\n\n" : "";
    return head + side_by_side(comparison, paint, width) + ratio_lines(comparison, width) +
           crossover_lines(comparison, width) + fidelity_lines(comparison, width);
}

std::string comparison_text(std::span<const ComparedRun> runs, const TerminalStyle& style)
{
    return comparison_text(compare(runs), style);
}

} // namespace trainyard
