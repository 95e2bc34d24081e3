#include "sim/cost/profile_schema.h"

#include "sim/base/fields.h"
#include "sim/cost/profile.h"

namespace trainyard {
namespace {

Json any_of(Json a, Json b)
{
    Json out = Json::object();
    out["anyOf"].push_back(std::move(a));
    out["anyOf"].push_back(std::move(b));
    return out;
}

Json text_schema(const char* description)
{
    Json out = FieldValue<std::string>::schema();
    out["description"] = description;
    return out;
}

Json object_of(Json properties)
{
    Json out = Json::object();
    out["type"] = "object";
    out["additionalProperties"] = false;
    out["properties"] = std::move(properties);
    return out;
}

// Numbers and quantities carry a default or an example with a magnitude; a table has columns.
bool is_constant(const Json& field)
{
    const Json* type = field.find("type");
    if (type == nullptr || !type->is_string())
        return false;
    if (const Json* properties = field.find("properties"))
        return properties->find("columns") != nullptr;
    if (type->as_string() == "number" || type->as_string() == "integer")
        return true;
    const Json* examples = field.find("examples");
    return type->as_string() == "string" && examples != nullptr &&
           magnitude(examples->items().front()).has_value();
}

Json with_long_form(const Json& plain)
{
    Json properties = Json::object();
    properties["value"] = plain;
    properties["low"] = plain;
    properties["high"] = plain;
    properties["grade"] = FieldValue<Grade>::schema();
    properties["source"] = text_schema("where the value comes from");
    Json constant = object_of(std::move(properties));
    constant["required"].push_back("value");
    Json out = any_of(plain, std::move(constant));
    if (const Json* description = plain.find("description"))
        out["description"] = *description;
    return out;
}

// The schema of a part, its constants in both forms.
Json open_constants(Json schema)
{
    Json* properties = schema.find("properties");
    if (properties == nullptr)
        return schema;
    for (Json::Member& member : properties->members())
        member.second = is_constant(member.second) ? with_long_form(member.second)
                                                   : open_constants(member.second);
    return schema;
}

template <class Part>
Json part_schema()
{
    Json part = open_constants(fields_of<Part>().schema());
    part["properties"]["base"] = text_schema("file whose constants these change");
    return any_of(text_schema("name or path of a file"), std::move(part));
}

Json hardware_schema()
{
    Json properties = Json::object();
    properties["device"] = part_schema<Device>();
    properties["fabric"] = part_schema<FabricClass>();
    properties["network"] = part_schema<NetworkClass>();
    properties["collectives"] = part_schema<CollectiveForm>();
    properties["gloo"] = part_schema<GlooClass>();
    properties["ucx"] = part_schema<UcxClass>();
    properties["nvshmem"] = part_schema<NvshmemClass>();
    properties["mpi"] = part_schema<MpiClass>();
    properties["interference"] = part_schema<InterferenceTable>();
    properties["kernels"] = part_schema<MeasuredKernels>();
    properties["knots"] = any_of(text_schema("name or path of a file"),
                                 array_schema(any_of(text_schema("name or path of a file"),
                                                     fields_of<KnotTable>().schema())));
    Json out = object_of(std::move(properties));
    out["required"].push_back("device");
    out["required"].push_back("network");
    return out;
}

} // namespace

Json kernels_schema()
{
    Json out = open_constants(fields_of<MeasuredKernels>().schema());
    out["properties"]["format"]["const"] = kernels_format;
    return out;
}

Json profile_schema()
{
    Json properties = Json::object();
    properties["format"]["const"] = profile_format;
    properties["name"] = text_schema("of the profile");
    properties["description"] = text_schema("what it is made of");
    properties["hardware"] = hardware_schema();
    properties["software"] = part_schema<SoftwareClass>();
    properties["installation"] = open_constants(fields_of<Installation>().schema());
    properties["own_steps"] = fields_of<OwnStepsMark>().schema();
    Json out = object_of(std::move(properties));
    out["title"] = "profile";
    out["description"] =
        "Constants of hardware, software class and installation: what turns a program into times.";
    out["required"].push_back("hardware");
    return out;
}

} // namespace trainyard
