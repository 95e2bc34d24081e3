#include "calibrate/import/nccl_rows.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <span>

namespace trainyard {
namespace {

constexpr std::size_t most_values = 24; // of a row: two sides of eight, and a timestamp

bool is_reduction(std::string_view word)
{
    static constexpr std::array<std::string_view, 8> names{"sum", "prod", "max",    "min",
                                                           "avg", "none", "mulsum", "all"};
    return std::find(names.begin(), names.end(), word) != names.end();
}

std::string_view without_hash(std::string_view word)
{
    while (word.starts_with('#'))
        word.remove_prefix(1);
    return word;
}

bool is_wrong_column(std::string_view name)
{
    return name == "wrong" || name == "error" || name == "res" || name == "errors";
}

// What a launcher's tag left before the digits: "[1,0]<stdout>:17179869184".
std::string_view without_tag(std::string_view word)
{
    const std::size_t end = word.find_last_of(":>]");
    return end == std::string_view::npos ? word : word.substr(end + 1);
}

struct Value {
    std::optional<double> number; // empty: N/A
    bool last = false;            // something else is glued to it
};

// "12.25", "N/A", or either with the line of another process glued to it.
std::optional<Value> value_in(std::string_view word)
{
    if (const auto number = number_in(word))
        return Value{number, false};
    if (word.starts_with("N/A"))
        return Value{std::nullopt, word.size() > 3};
    double number = 0;
    const auto result = std::from_chars(word.data(), word.data() + word.size(), number);
    if (result.ec != std::errc{} || !std::isfinite(number) ||
        result.ptr == word.data() + word.size())
        return std::nullopt;
    // A host's name, or a tag of HTML.
    const bool glued =
        std::isalpha(static_cast<unsigned char>(*result.ptr)) != 0 || *result.ptr == '<';
    return glued ? std::optional(Value{number, true}) : std::nullopt;
}

// Appends the values that stand at the start of `words`.
void take_values(NcclRow& row, std::span<const Word> words)
{
    for (const Word& word : words) {
        const std::optional<Value> value = value_in(word.text);
        if (!value || row.values.size() >= most_values)
            return;
        row.values.push_back(value->number);
        if (value->last)
            return;
    }
}

// Whether size / time gives the rate that stands behind the time at `start`.
bool rate_fits(const NcclRow& row, std::size_t start)
{
    if (row.values.size() < start + 3 || !row.values[start] || !row.values[start + 1])
        return false;
    const double time = *row.values[start];
    const double rate = *row.values[start + 1];
    if (!(time > 0) || !(rate > 0.05))
        return false;
    const double expected = static_cast<double>(row.size) / time * 1e-3; // bytes/us as GB/s
    return std::abs(rate / expected - 1) < 0.1 || std::abs(rate * 1e3 / expected - 1) < 0.1;
}

// Without a heading a whole number before the time may be the root.
bool starts_with_root(const NcclRow& row)
{
    if (rate_fits(row, 0))
        return false;
    if (rate_fits(row, 1))
        return true;
    return row.values.size() == 9 || row.values.size() == 5;
}

// A root is the first value: taken off.
bool take_root(NcclRow& row)
{
    if (row.values.empty())
        return true; // the line ends here
    const std::optional<double> root = row.values.front();
    if (!root || std::floor(*root) != *root || std::abs(*root) > 1e6)
        return false;
    row.root = static_cast<int>(*root);
    row.values.erase(row.values.begin());
    return true;
}

// Reads a row whose type stands at `type`.
std::optional<NcclRow> row_around(std::span<const Word> words, std::size_t type,
                                  const std::optional<NcclColumns>& columns)
{
    const auto size = integer_in(without_tag(words[type - 2].text));
    const auto count = integer_in(words[type - 1].text);
    if (!size || !count || *size < 0 || *count < 0)
        return std::nullopt;
    NcclRow row;
    row.size = *size;
    row.count = *count;
    row.data_type = words[type].text;
    std::size_t next = type + 1;
    if (next < words.size() && is_reduction(words[next].text) &&
        (!columns || columns->has_reduction))
        row.reduction = words[next++].text;
    const std::size_t before_values = next;
    take_values(row, words.subspan(next));
    const bool root = columns ? columns->has_root : starts_with_root(row);
    if (root && !take_root(row))
        return std::nullopt;
    const std::size_t first = before_values + (root ? 1 : 0);
    if (first > 0 && first < words.size()) {
        const Word& last = words[first - 1];
        row.out_of_place_blank = words[first].at - (last.at + last.text.size()) > 28;
    }
    return row;
}

std::optional<SweepTiming> timing(const NcclRow& row, std::size_t start, const NcclColumns& columns)
{
    const auto time = row.values[start];
    const auto rate = row.values[start + 1];
    const auto bus = row.values[start + 2];
    const auto wrong = row.values[start + 3];
    if (!time || !rate || !bus || *time < 0 || *rate < 0 || *bus < 0)
        return std::nullopt;
    SweepTiming out{Seconds(*time * columns.seconds_per_unit), Bandwidth(*rate * 1e9),
                    Bandwidth(*bus * 1e9), std::nullopt};
    if (columns.counts_wrong && wrong && *wrong >= 0 && *wrong < 9e18)
        out.wrong = static_cast<std::int64_t>(*wrong);
    return out;
}

} // namespace

std::optional<NcclColumns> read_heading(std::string_view line)
{
    const std::vector<Word> words = words_of(line);
    std::vector<std::string> names;
    for (const Word& word : words) {
        const std::string name = lower_case(without_hash(word.text));
        const bool starts = name == "size" || name == "bytes";
        if (starts || (!names.empty() && !name.empty()))
            names.push_back(name);
    }
    const auto has = [&names](std::string_view name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    const bool host_time = has("cputime");
    if (!has("type") || !(has("time") || host_time) || !has("algbw") || !has("busbw"))
        return std::nullopt;
    NcclColumns columns;
    columns.has_reduction = has("redop") || has("op");
    columns.has_root = has("root");
    columns.host_time = host_time;
    columns.counts_wrong = has("wrong");
    columns.sides = std::count(names.begin(), names.end(), "algbw") > 1 ? 2 : 1;
    columns.seconds_per_unit = names.front() == "bytes" ? 1e-3 : 1e-6;
    const auto first_wrong = std::find_if(names.begin(), names.end(), is_wrong_column);
    const auto is_extra = [](const std::string& name) { return name.starts_with("i_"); };
    columns.extra_per_side = static_cast<int>(
        std::find_if_not(first_wrong == names.end() ? first_wrong : first_wrong + 1, names.end(),
                         is_extra) -
        (first_wrong == names.end() ? first_wrong : first_wrong + 1));
    return columns;
}

std::optional<NcclRow> read_row(std::string_view line, const std::optional<NcclColumns>& columns)
{
    const std::vector<Word> words = words_of(line);
    for (std::size_t type = 2; type < words.size(); ++type)
        if (element_bytes(words[type].text) > 0)
            if (auto row = row_around(words, type, columns))
                return row;
    return std::nullopt;
}

bool continue_row(NcclRow& row, std::string_view line)
{
    const std::size_t before = row.values.size();
    take_values(row, words_of(line));
    return row.values.size() > before;
}

bool is_complete(const NcclRow& row, const NcclColumns& columns)
{
    const int sides = row.out_of_place_blank ? 1 : columns.sides;
    return row.values.size() >=
           static_cast<std::size_t>(sides * (4 + columns.extra_per_side) - columns.extra_per_side);
}

std::optional<SweepRow> sweep_row(const NcclRow& row, const NcclColumns& columns)
{
    if (!is_complete(row, columns))
        return std::nullopt;
    SweepRow out;
    out.size = Bytes(static_cast<std::uint64_t>(row.size));
    out.count = row.count;
    if (row.out_of_place_blank) {
        out.in_place = timing(row, 0, columns);
        return out.in_place ? std::optional(out) : std::nullopt;
    }
    out.out_of_place = timing(row, 0, columns);
    if (columns.sides == 2)
        out.in_place = timing(row, static_cast<std::size_t>(4 + columns.extra_per_side), columns);
    return out.out_of_place || out.in_place ? std::optional(out) : std::nullopt;
}

NcclColumns columns_like(const NcclRow& row)
{
    NcclColumns columns;
    columns.has_reduction = !row.reduction.empty();
    columns.has_root = false; // already taken where there was one
    columns.sides = row.values.size() >= 8 ? 2 : 1;
    return columns;
}

} // namespace trainyard
