// Reading and writing of what was measured, before smoothing.

#include "sim/base/fields.h"
#include "sim/base/reader.h"
#include "sim/cost/column_table.h"
#include "sim/cost/knots.h"

namespace trainyard {
namespace {

constexpr const char* sample_titles[] = {"size [B]", "time [us]", "launch"};

std::optional<RawSample> read_sample(const Reader& row)
{
    const Json& node = row.node();
    const bool right = node.is_array() && node.items().size() == 3 &&
                       node.items()[0].is_integer() && node.items()[1].is_number() &&
                       node.items()[2].is_integer();
    if (!right || node.items()[0].as_integer() < 0 || !(node.items()[1].as_double() > 0)) {
        row.error("expected a row of size, time and launch",
                  "sizes and launches are whole numbers, times positive");
        return std::nullopt;
    }
    return RawSample{Bytes(static_cast<std::uint64_t>(node.items()[0].as_integer())),
                     Seconds(node.items()[1].as_double() * 1e-6),
                     static_cast<int>(node.items()[2].as_integer())};
}

} // namespace

std::string FieldValue<RawSamples>::type_name()
{
    return "columns with units and rows of numbers";
}

bool FieldValue<RawSamples>::read(const Reader& reader, RawSamples& out)
{
    const std::size_t before = reader.error_count();
    if (!check_keys(reader, {{"columns", true}, {"rows", true}}, "raw") ||
        reader.error_count() != before)
        return false;
    Json expected = Json::array();
    for (const char* title : sample_titles)
        expected.push_back(title);
    if (!(*reader.node().find("columns") == expected)) {
        reader.member("columns").error("unknown columns",
                                       "they are \"size [B]\", \"time [us]\", \"launch\"");
        return false;
    }
    const Reader rows = reader.member("rows");
    if (!rows.node().is_array()) {
        rows.error("expected a list");
        return false;
    }
    out.samples.clear();
    for (std::size_t i = 0; i < rows.node().items().size(); ++i) {
        const std::optional<RawSample> sample = read_sample(rows.element(i));
        if (!sample)
            return false;
        out.samples.push_back(*sample);
    }
    return true;
}

Json FieldValue<RawSamples>::write(const RawSamples& value)
{
    Json out = Json::object();
    for (const char* title : sample_titles)
        out["columns"].push_back(title);
    out["rows"] = Json::array();
    for (const RawSample& sample : value.samples) {
        Json row = Json::array();
        row.push_back(sample.size.value());
        row.push_back(written_microseconds(sample.time));
        row.push_back(sample.launch);
        out["rows"].push_back(std::move(row));
    }
    return out;
}

Json FieldValue<RawSamples>::schema()
{
    Json out = Json::object();
    out["type"] = "object";
    out["properties"]["columns"] = array_schema(FieldValue<std::string>::schema());
    out["properties"]["rows"] = array_schema(array_schema(FieldValue<double>::schema()));
    return out;
}

} // namespace trainyard
