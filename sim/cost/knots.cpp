#include "sim/cost/knots.h"

#include "sim/base/fields.h"
#include "sim/base/reader.h"
#include "sim/base/units.h"
#include "sim/cost/column_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

constexpr std::array<std::string_view, 4> column_names{"size", "time", "low", "high"};

// Where a quantity stands in a row, and what one unit of its column is in SI.
struct Column {
    std::optional<std::size_t> index;
    double unit = 0;
};
using Columns = std::array<Column, 4>;

// One unit of "time [us]"; nothing when the unit is missing or of another kind.
std::optional<double> unit_of(std::string_view title, bool is_size)
{
    const std::size_t open = title.find('[');
    if (open == std::string_view::npos || title.empty() || title.back() != ']')
        return std::nullopt;
    const std::string one = "1 " + std::string(title.substr(open + 1, title.size() - open - 2));
    if (is_size) {
        const auto size = parse_bytes(one);
        return size ? std::optional(static_cast<double>(size->value())) : std::nullopt;
    }
    const auto time = parse_seconds(one);
    return time ? std::optional(time->value()) : std::nullopt;
}

void read_column(const Reader& reader, std::size_t index, Columns& out)
{
    std::string title;
    if (!FieldValue<std::string>::read(reader, title))
        return;
    const std::string name = title.substr(0, title.find(' '));
    const auto known = std::find(column_names.begin(), column_names.end(), name);
    if (known == column_names.end()) {
        reader.error(fmt::format("unknown column \"{}\"", title),
                     "columns are \"size [B]\", \"time [us]\", \"low [us]\", \"high [us]\"");
        return;
    }
    const auto which = static_cast<std::size_t>(known - column_names.begin());
    const auto unit = unit_of(title, which == 0);
    if (!unit) {
        reader.error(fmt::format("column \"{}\" has no usable unit", title),
                     which == 0 ? "write the unit in brackets: \"size [B]\""
                                : "write the unit in brackets: \"time [us]\"");
        return;
    }
    out[which] = {index, *unit};
}

Columns read_columns(const Reader& reader)
{
    Columns out;
    const std::size_t before = reader.error_count();
    for (std::size_t i = 0; i < reader.node().items().size(); ++i)
        read_column(reader.element(i), i, out);
    if (reader.error_count() == before && !(out[0].index && out[1].index))
        reader.error("the columns \"size [...]\" and \"time [...]\" are both needed");
    return out;
}

std::optional<Knot> read_row(const Reader& reader, const Columns& columns, std::size_t width)
{
    const auto refuse = [&](const std::string& why) {
        reader.error(why);
        return std::nullopt;
    };
    if (!reader.node().is_array() || reader.node().items().size() != width)
        return refuse(fmt::format("expected a row of {} numbers", width));
    for (const Json& cell : reader.node().items())
        if (!cell.is_number() || cell.as_double() < 0)
            return refuse("a row holds numbers that are not negative");
    const auto cell = [&](std::size_t which) {
        const Column& column = columns[which].index ? columns[which] : columns[1];
        return reader.node().items()[*column.index].as_double() * column.unit;
    };
    Knot knot{Bytes(static_cast<std::uint64_t>(cell(0))), Seconds(cell(1)), Seconds(cell(2)),
              Seconds(cell(3))};
    if (knot.time.value() <= 0)
        return refuse("a time must be positive");
    return knot;
}

bool check_order(const Reader& reader, const std::vector<Knot>& knots)
{
    for (std::size_t i = 1; i < knots.size(); ++i) {
        if (knots[i].size <= knots[i - 1].size) {
            reader.element(i).error(fmt::format("knots are not sorted: {} after {}",
                                                to_text(knots[i].size), to_text(knots[i - 1].size)),
                                    "sort the rows by size, one row per size");
            return false;
        }
        if (knots[i].time < knots[i - 1].time) {
            reader.element(i).error(fmt::format("the time falls from {} to {} while the size grows",
                                                to_text(knots[i - 1].time), to_text(knots[i].time)),
                                    "times must not fall with the size; make them isotonic first");
            return false;
        }
    }
    return true;
}

} // namespace

std::string FieldValue<KnotCurve>::type_name()
{
    return "columns with units and rows of numbers";
}

bool FieldValue<KnotCurve>::read(const Reader& reader, KnotCurve& out)
{
    const std::size_t before = reader.error_count();
    if (!check_keys(reader, {{"columns", true}, {"rows", true}}, "samples") ||
        reader.error_count() != before)
        return false;
    for (const char* key : {"columns", "rows"})
        if (!reader.node().find(key)->is_array()) {
            reader.member(key).error("expected a list");
            return false;
        }
    const Columns columns = read_columns(reader.member("columns"));
    if (reader.error_count() != before)
        return false;
    const std::size_t width = reader.node().find("columns")->items().size();
    const Reader rows = reader.member("rows");
    out.knots.clear();
    for (std::size_t i = 0; i < rows.node().items().size(); ++i) {
        const std::optional<Knot> knot = read_row(rows.element(i), columns, width);
        if (!knot)
            return false;
        out.knots.push_back(*knot);
    }
    if (out.knots.empty()) {
        rows.error("no rows");
        return false;
    }
    return check_order(rows, out.knots);
}

Json FieldValue<KnotCurve>::write(const KnotCurve& value)
{
    Json out = Json::object();
    for (const char* title : {"size [B]", "time [us]", "low [us]", "high [us]"})
        out["columns"].push_back(title);
    out["rows"] = Json::array();
    for (const Knot& knot : value.knots) {
        Json row = Json::array();
        row.push_back(knot.size.value());
        for (const Seconds time : {knot.time, knot.low, knot.high})
            row.push_back(written_microseconds(time));
        out["rows"].push_back(std::move(row));
    }
    return out;
}

Json FieldValue<KnotCurve>::schema()
{
    return column_table_schema();
}

template <>
const FieldTable<AlphaBetaLine>& fields_of<AlphaBetaLine>()
{
    using L = AlphaBetaLine;
    static const auto table =
        FieldTable<L>("line", "T(S) = alpha + S / rate.")
            .field("alpha", &L::alpha, {.help = "latency", .min = 0, .required = true})
            .field("rate", &L::rate, {.help = "of the buffer's bytes", .min = 0, .required = true});
    return table;
}

template <>
const FieldTable<CurveErrors>& fields_of<CurveErrors>()
{
    using E = CurveErrors;
    const auto share = [](std::string_view help) { return FieldInfo{.help = help, .min = 0}; };
    static const auto table =
        FieldTable<E>("errors", "Mean absolute relative errors of a curve, as shares.")
            .field("in_sample", &E::in_sample, share("against its own samples"))
            .field("leave_one_out", &E::leave_one_out, share("at sizes left out"))
            .field("leave_one_out_64k", &E::leave_one_out_64k, share("of them up to 64 KiB"))
            .field("leave_one_out_1m", &E::leave_one_out_1m, share("64 KiB to 1 MiB"))
            .field("leave_one_out_16m", &E::leave_one_out_16m, share("1 to 16 MiB"))
            .field("leave_one_out_above", &E::leave_one_out_above, share("above 16 MiB"))
            .field("held_out_launch", &E::held_out_launch, share("of launches left out"));
    return table;
}

template <>
const FieldTable<KnotTable>& fields_of<KnotTable>()
{
    using K = KnotTable;
    static const auto table =
        FieldTable<K>("knots", "Measured times of one collective over one group shape.")
            .field("collective", &K::collective, {.help = "which", .required = true})
            .field("backend", &K::backend, {.help = "library"})
            .field("ranks_per_domain", &K::ranks_per_domain,
                   {.help = "ranks in each NVLink domain", .min = 1, .required = true})
            .field("domains", &K::domains, {.help = "NVLink domains", .min = 1, .required = true})
            .field("nics_per_domain", &K::nics_per_domain,
                   {.help = "0: one domain, or not known", .min = 0})
            .field("nvlink", &K::nvlink,
                   {.help = "line rate per device and direction; 0: not known", .min = 0})
            .field("nic_rate", &K::nic_rate,
                   {.help = "line rate of one NIC; 0: not known", .min = 0})
            .field("network", &K::network, {.help = "network class; absent: one domain"})
            .field("algorithm", &K::algorithm, {.help = "ring, tree, nvls, ... or auto"})
            .field("protocol", &K::protocol, {.help = "ll, ll128, simple or auto"})
            .field("in_place", &K::in_place, {.help = "input and output are one buffer"})
            .field("data_type", &K::data_type, {.help = "as nccl-tests words it; absent: any"})
            .field("grade", &K::grade, {.help = "how far to trust it"})
            .field("source", &K::source, {.help = "who measured", .required = true})
            .field("launches", &K::launches, {.help = "that the times are medians of", .min = 1})
            .field("samples", &K::samples, {.help = "the points", .required = true})
            .field("lines", &K::lines, {.help = "compact form: the lowest line counts"})
            .field("errors", &K::errors, {.help = "of the curve"})
            .field("raw", &K::raw, {.help = "what was measured, before smoothing"})
            .field("environment", &K::environment,
                   {.help = "where it was measured; absent: that of the installation"});
    return table;
}

Seconds time_at(const KnotCurve& curve, Bytes size)
{
    const std::vector<Knot>& knots = curve.knots;
    if (size <= knots.front().size)
        return knots.front().time;
    const auto line = [](const Knot& a, const Knot& b, Bytes at) {
        const double slope =
            (b.time - a.time).value() / static_cast<double>(b.size.value() - a.size.value());
        const double offset = static_cast<double>(at.value()) - static_cast<double>(a.size.value());
        return Seconds(a.time.value() + slope * offset);
    };
    const auto above = std::lower_bound(knots.begin(), knots.end(), size,
                                        [](const Knot& k, Bytes s) { return k.size < s; });
    if (above != knots.end())
        return above->size == size ? above->time : line(*(above - 1), *above, size);
    const Knot& last = knots.back();
    const bool flat = knots.size() == 1 || (last.time <= knots[knots.size() - 2].time);
    if (flat) // nothing tells latency from bandwidth: scale it all
        return last.time * (size / last.size);
    return line(knots[knots.size() - 2], last, size);
}

} // namespace trainyard
