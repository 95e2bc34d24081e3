#include "sim/cost/column_table.h"

#include "sim/base/field_values.h"
#include "sim/base/fields.h"

#include <cmath>

namespace trainyard {

Json column_table_schema()
{
    Json out = Json::object();
    out["type"] = "object";
    out["properties"]["columns"] = array_schema(FieldValue<std::string>::schema());
    out["properties"]["rows"] = array_schema(array_schema(FieldValue<double>::schema()));
    out["required"].push_back("columns");
    out["required"].push_back("rows");
    return out;
}

double written_microseconds(Seconds time)
{
    return std::round(time.value() * 1e13) / 1e7;
}

} // namespace trainyard
