// Single fields of a scenario set from outside: --set, --grid, a form.

#include "sim/base/fields.h"
#include "sim/study/inputs.h"
#include "sim/study/scenario.h"
#include "sim/workload/huggingface.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

// The schema of a field of a scenario; null where there is no such field or it has none of its own.
const Json* schema_of(std::string_view field)
{
    static const Json schema = fields_of<Scenario>().schema();
    const Json* at = &schema;
    while (at != nullptr) {
        const auto dot = field.find('.');
        const Json* const properties = at->find("properties");
        const Json* const next =
            properties != nullptr ? properties->find(field.substr(0, dot)) : nullptr;
        at = next != nullptr ? next : at->find("additionalProperties");
        if (dot == std::string_view::npos)
            break;
        field = field.substr(dot + 1);
    }
    return at != nullptr && at->is_object() ? at : nullptr;
}

// Whether the field holds plain text, so that "0.12" means these letters. Quantities are text with
// a unit: a bare number there stays one, and is refused for it.
bool takes_text(std::string_view field)
{
    const Json* const schema = schema_of(field);
    const Json* const type = schema != nullptr ? schema->find("type") : nullptr;
    return type != nullptr && *type == Json("string") && schema->find("examples") == nullptr;
}

// Whether somebody who writes this means JSON.
bool opens_json(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t\n");
    return first != std::string_view::npos &&
           (text[first] == '{' || text[first] == '[' || text[first] == '"');
}

// The value of an override: JSON where it parses as such, else text.
Checked<Json> value_of(const Override& change)
{
    const bool text = takes_text(change.field);
    Checked<Json> parsed = parse_json_argument(change.value, cited(change));
    if (!parsed && opens_json(change.value) && !text)
        return parsed;
    const bool as_json = parsed && (parsed->is_string() || parsed->is_null() || !text);
    Json value = as_json ? std::move(*parsed) : Json(change.value);
    value.set_lines(0); // it stands in no line of the file
    return value;
}

// Takes a field out as if the file did not say it; what is not there is left as it is.
void remove_field(Json& scenario, std::string_view field)
{
    Json* at = &scenario;
    while (at->is_object()) {
        const auto dot = field.find('.');
        auto& members = at->members();
        const auto found = std::ranges::find(members, field.substr(0, dot), &Json::Member::first);
        if (found == members.end())
            return;
        if (dot == std::string_view::npos) {
            members.erase(found);
            return;
        }
        at = &found->second;
        field = field.substr(dot + 1);
    }
}

tl::expected<Json*, std::string> entry_of(Json& list, std::string_view key)
{
    std::size_t index = 0;
    for (const char c : key) {
        if (c < '0' || c > '9' || index > list.items().size())
            return tl::unexpected(fmt::format("\"{}\" is no position in the list", key));
        index = index * 10 + static_cast<std::size_t>(c - '0');
    }
    if (index >= list.items().size())
        return tl::unexpected(fmt::format("the list has {} entries", list.items().size()));
    return &list.items()[index];
}

// Where the field stands; the objects on the way are made.
tl::expected<Json*, std::string> place_of(Json& scenario, std::string_view field)
{
    Json* at = &scenario;
    std::string_view name = "scenario"; // of what `at` is
    while (true) {
        const auto dot = field.find('.');
        const std::string_view key = field.substr(0, dot);
        if (key.empty())
            return tl::unexpected(std::string("an empty name between the dots"));
        if (at->is_array()) {
            const auto entry = entry_of(*at, key);
            if (!entry)
                return entry;
            at = *entry;
        } else if (at->is_object() || at->is_null())
            at = &(*at)[key];
        else
            return tl::unexpected(fmt::format("\"{}\" is {} here ({}), which has no field \"{}\"",
                                              name, at->kind_name(),
                                              to_text(*at, JsonStyle::compact), key));
        if (dot == std::string_view::npos)
            return at;
        name = key;
        field = field.substr(dot + 1);
    }
}

// The file that the part of a scenario names; null where it is written out or absent.
const Json* named_file(const Json& part)
{
    if (part.is_string())
        return &part;
    const Json* const named = part.find("hf_config");
    return named != nullptr ? named : part.find("file");
}

// A model without a name is called after its folder, which is lost where it is written out.
void keep_name(Json& model, const std::string& file)
{
    const char* const key = model.find("format") != nullptr ? "name" : "_name_or_path";
    if (model.is_object() && model.find(key) == nullptr)
        model[key] = std::filesystem::path(file).parent_path().filename().string();
}

// Whether reading a Hugging Face config heeds this key. (One that it takes for ill-formed it
// heeds.)
bool heeds(Json config, std::string_view key)
{
    config[key] = 1;
    const Checked<ImportedModel> read = import_model(config, "");
    return !read || std::ranges::find(read->ignored, key) == read->ignored.end();
}

// A Hugging Face config takes any key, also those that mean nothing: a field of the native form
// turns it into that form, and what is neither is refused.
Problems settle_huggingface(Json& model, std::string_view inside, const std::string& file)
{
    const std::string_view key = inside.substr(0, inside.find('.'));
    const Json native = model_schema();
    if (native.find("properties")->find(key) != nullptr) {
        Checked<Model> read = read_model(model, file);
        if (!read)
            return std::move(read.error());
        model = write_model(*read);
        return {};
    }
    if (model.find(key) != nullptr || heeds(model, key))
        return {};
    const bool native_size =
        fields_of<Transformer>().schema().find("properties")->find(key) != nullptr;
    return {{fmt::format("--set model.{}", inside), 0, "",
             fmt::format("a Hugging Face config has no \"{}\"", key),
             native_size ? fmt::format("--set model.transformer.{}=...", inside)
                         : "the keys of its config.json, or fields of `trainyard schema model`",
             Severity::error}};
}

// A preset's name makes way for an object that begins with it, whose other fields can then be set.
void open_preset(Json& topology, std::string_view inside)
{
    Json* const node = topology.find("node");
    Json* const fabric = topology.find("fabric");
    for (const auto& [holder, prefix] :
         {std::pair(node, std::string_view("node.")),
          std::pair(fabric != nullptr ? fabric->find("network") : nullptr,
                    std::string_view("fabric.network."))})
        if (inside.starts_with(prefix) && holder != nullptr && holder->is_string()) {
            const Json name = *holder;
            *holder = Json::object();
            (*holder)["preset"] = name;
        }
}

} // namespace

Checked<Override> parse_override(std::string_view text)
{
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0)
        return rejected(fmt::format("--set {}", text), "no field and value",
                        "write field=value, as in --set strategy.tp=8");
    return Override{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::string cited(const Override& change)
{
    constexpr std::size_t longest = 60;
    if (!change.said.empty())
        return change.said;
    std::size_t end = std::min(change.value.size(), longest);
    while (end < change.value.size() && end > 0 && (change.value[end] & 0xC0) == 0x80)
        --end; // within a character
    return fmt::format("--set {}={}{}", change.field, change.value.substr(0, end),
                       end < change.value.size() ? " ..." : "");
}

std::optional<Diagnostic> apply_override(Json& scenario, const Override& change)
{
    Checked<Json> value = value_of(change);
    if (!value)
        return std::move(value.error().front());
    if (value->is_null() && schema_of(change.field) != nullptr) {
        remove_field(scenario, change.field);
        return std::nullopt;
    }
    const auto place = place_of(scenario, change.field);
    if (!place)
        return Diagnostic{cited(change), 0, "", place.error(), "", Severity::error};
    **place = std::move(*value);
    return std::nullopt;
}

Problems write_out_part(Json& scenario, std::string_view field, const ScenarioFile& file)
{
    const auto dot = field.find('.');
    if (dot == std::string_view::npos || !scenario.is_object())
        return {};
    const std::string_view inside = field.substr(dot + 1);
    for (const auto& [name, kind] : {std::pair(std::string_view("model"), InputKind::model),
                                     std::pair(std::string_view("topology"), InputKind::topology)})
    {
        Json* const part = field.substr(0, dot) == name ? scenario.find(name) : nullptr;
        if (part == nullptr || inside == "hf_config" || inside == "file")
            continue;
        const Json* const path = named_file(*part);
        if (path != nullptr && path->is_string()) {
            Checked<Input> input = find_input(Source{path->as_string(), {}}, kind, file);
            if (!input)
                return std::move(input.error());
            if (kind == InputKind::model)
                keep_name(input->json, input->file);
            input->json.set_lines(0); // of another file
            *part = std::move(input->json);
        }
        if (kind == InputKind::topology && part->is_object())
            open_preset(*part, inside);
        if (kind == InputKind::model && part->is_object() && is_huggingface_config(*part))
            return settle_huggingface(*part, inside, file.file);
    }
    return {};
}

} // namespace trainyard
