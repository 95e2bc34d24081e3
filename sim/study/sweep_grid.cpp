#include "sim/study/sweep_grid.h"

#include "sim/base/json.h"
#include "sim/base/words.h"
#include "sim/study/inputs.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>

namespace trainyard {
namespace {

constexpr std::size_t most_values = 100'000; // of one axis

Diagnostic grid_problem(std::string_view text, std::string message, std::string hint)
{
    return {fmt::format("--grid {}", text),
            0,
            "",
            std::move(message),
            std::move(hint),
            Severity::error};
}

// One text for all that mean the same value: 1 for 1.0, too, and 1f1b for "1f1b".
std::string meaning_of(const std::string& value)
{
    const Checked<Json> json = parse_json_argument(value, "");
    if (json && json->is_integer())
        return std::to_string(json->as_integer());
    if (json && json->is_number())
        return fmt::format("{}", json->as_double());
    return json && json->is_string() ? json->as_string() : value;
}

// Parts between commas that are outside quotes, brackets and braces.
std::vector<std::string> split_values(std::string_view text)
{
    std::vector<std::string> parts(1);
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted && c == '\\' && i + 1 < text.size()) {
            parts.back() += c;
            parts.back() += text[++i];
            continue;
        }
        if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '[' || c == '{'))
            ++depth;
        else if (!quoted && (c == ']' || c == '}'))
            --depth;
        if (c == ',' && !quoted && depth == 0)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

// The whole number that begins `text`, which is then cut.
std::optional<std::int64_t> take_number(std::string_view& text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc())
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

struct Range {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::int64_t step = 1;
    bool multiplies = false;

    bool ends() const { return first <= last && (multiplies ? step > 1 && first > 0 : step > 0); }
};

// "1..8", "2..10+2", "1..64*2"; nothing for any other text.
std::optional<Range> parse_range(std::string_view text)
{
    Range range;
    const auto first = take_number(text);
    if (!first || !text.starts_with(".."))
        return std::nullopt;
    text.remove_prefix(2);
    const auto last = take_number(text);
    if (!last)
        return std::nullopt;
    range.first = *first;
    range.last = *last;
    if (text.empty())
        return range;
    range.multiplies = text.front() == '*';
    if (!range.multiplies && text.front() != '+')
        return std::nullopt;
    text.remove_prefix(1);
    const auto step = take_number(text);
    if (!step || !text.empty())
        return std::nullopt;
    range.step = *step;
    return range;
}

// Its numbers; one too many says that there are too many.
std::vector<std::string> numbers_of(const Range& range)
{
    std::vector<std::string> numbers;
    std::int64_t at = range.first;
    while (at <= range.last && numbers.size() <= most_values) {
        numbers.push_back(std::to_string(at));
        const std::int64_t most = std::numeric_limits<std::int64_t>::max();
        const bool beyond = range.multiplies ? at > most / range.step
                                             : range.step > most - std::max<std::int64_t>(at, 0);
        if (beyond)
            break;
        at = range.multiplies ? at * range.step : at + range.step;
    }
    return numbers;
}

// Errors of the scenario with one field changed.
Problems value_problems(const ScenarioFile& base, const Override& change)
{
    const Checked<ScenarioFile> read = scenario_from(base.json, base.file, {{change}});
    Problems problems = read ? Problems{} : read.error();
    std::erase_if(problems,
                  [](const Diagnostic& problem) { return problem.severity != Severity::error; });
    return problems;
}

// Said of the option: the values stand in no line of the file.
void say(const Problems& found, const std::string& option, Problems& problems)
{
    for (Diagnostic problem : found) {
        problem.file = option;
        problem.line = 0;
        problems.push_back(std::move(problem));
    }
}

// Of a field that knows no "auto": not even where what stands in the scenario may be anything.
Problems auto_problems(const ScenarioFile& base, const std::string& field)
{
    Problems problems = value_problems(base, {field, std::string(auto_size)});
    if (problems.empty() && field.starts_with("topology."))
        problems.push_back(grid_problem(field, "does not follow from the layout",
                                        "give the values: --grid topology.nodes=1,2,4; trainyard "
                                        "plan --on finds how many a goal needs"));
    return problems;
}

// The same of every value (the field is unknown, say) is said once.
void check_axis(const SweepAxis& axis, const ScenarioFile& base, Problems& problems)
{
    std::vector<Problems> found;
    const bool sized = may_be_auto(axis.field);
    for (const std::string& value : axis.values) {
        if (value != auto_size)
            found.push_back(value_problems(base, {axis.field, value}));
        else
            found.push_back(sized ? Problems{} : auto_problems(base, axis.field));
    }
    const auto as_first = [&](const Problems& other) {
        return std::ranges::equal(other, found.front(), {}, &Diagnostic::message,
                                  &Diagnostic::message);
    };
    if (std::ranges::all_of(found, as_first))
        return say(found.front(), fmt::format("--grid {}", axis.field), problems);
    for (std::size_t i = 0; i < found.size(); ++i)
        say(found[i], fmt::format("--grid {}={}", axis.field, axis.values[i]), problems);
}

// One size can follow from the devices and the other three; dp does where nothing gives it.
void check_auto_sizes(const SweepGrid& grid, const ScenarioFile& base, Problems& problems)
{
    constexpr std::string_view cuts = "strategy.tp strategy.cp strategy.pp";
    bool dp_given = base.scenario.strategy.dp.has_value();
    std::vector<std::string> open;
    for (const SweepAxis& axis : grid.axes) {
        const auto has = [&](std::string_view value) {
            return std::ranges::find(axis.values, value) != axis.values.end();
        };
        if (axis.field == "strategy.dp")
            dp_given = !has("null") && !has(auto_size);
        else if (has_word(cuts, axis.field) && has(auto_size))
            open.push_back(axis.field);
    }
    if (open.empty() || (open.size() == 1 && dp_given))
        return;
    const bool several = open.size() > 1;
    problems.push_back(grid_problem(
        open.front() + "=auto",
        fmt::format("{} would follow from the devices too", several ? open[1] : "strategy.dp"),
        several ? "let one size be auto, and give the others"
                : "give dp: --grid strategy.dp=1,2,4, or --set strategy.dp=2"));
}

} // namespace

bool may_be_auto(std::string_view field)
{
    constexpr std::string_view fields =
        "strategy.tp strategy.cp strategy.pp strategy.dp strategy.ep strategy.stage_layers";
    return has_word(fields, field);
}

Checked<SweepAxis> parse_axis(std::string_view text)
{
    const auto equals = text.find('=');
    const auto refuse = [&](std::string message, std::string hint) {
        return tl::unexpected(Problems{grid_problem(text, std::move(message), std::move(hint))});
    };
    if (equals == std::string_view::npos || equals == 0)
        return refuse("no field and values",
                      "write field=value,value, as in --grid strategy.tp=1,2,4,8");
    SweepAxis axis{std::string(text.substr(0, equals)), {}};
    for (const std::string& part : split_values(text.substr(equals + 1))) {
        if (part.empty())
            return refuse("an empty value", "write values between commas, as in 1,2,4,8");
        const std::optional<Range> range = parse_range(part);
        if (range && !range->ends())
            return refuse(fmt::format("the range {} is empty or has no end", part),
                          "1..8, 2..10+2 or 1..64*2, the smaller number first");
        for (std::string& value : range ? numbers_of(*range) : std::vector{part})
            axis.values.push_back(std::move(value));
        if (axis.values.size() > most_values)
            return refuse(fmt::format("more than {} values", most_values), "take larger steps");
    }
    std::vector<std::pair<std::string, std::string>> sorted;
    for (const std::string& value : axis.values)
        sorted.emplace_back(meaning_of(value), value);
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted, std::equal_to(),
                                                  &std::pair<std::string, std::string>::first);
    if (twice != sorted.end())
        return refuse(fmt::format("the value {} is given twice", twice->second), "");
    return axis;
}

std::size_t SweepGrid::points() const
{
    std::size_t product = 1;
    for (const SweepAxis& axis : axes)
        product = product > std::numeric_limits<std::size_t>::max() / axis.values.size()
                      ? std::numeric_limits<std::size_t>::max()
                      : product * axis.values.size();
    return product;
}

std::vector<Override> SweepGrid::point(std::size_t index) const
{
    std::vector<Override> changes(axes.size());
    for (std::size_t i = axes.size(); i-- > 0;) {
        const std::vector<std::string>& values = axes[i].values;
        changes[i] = {axes[i].field, values[index % values.size()]};
        index /= values.size();
    }
    return changes;
}

Problems grid_problems(const SweepGrid& grid, const ScenarioFile& base)
{
    Problems problems;
    for (std::size_t i = 0; i < grid.axes.size(); ++i) {
        const SweepAxis& axis = grid.axes[i];
        const auto same = [&](const SweepAxis& other) { return other.field == axis.field; };
        if (std::any_of(grid.axes.begin(), grid.axes.begin() + static_cast<std::ptrdiff_t>(i),
                        same)) {
            problems.push_back(grid_problem(axis.field, "the field is given twice",
                                            "write all its values in one --grid"));
            continue;
        }
        check_axis(axis, base, problems);
    }
    check_auto_sizes(grid, base, problems);
    if (grid.points() > most_sweep_points)
        problems.push_back(
            grid_problem("", fmt::format("the grid has more than {} points", most_sweep_points),
                         "take fewer values, or larger steps"));
    return problems;
}

} // namespace trainyard
