#include "gui/explore/explore_state.h"

namespace trainyard::gui {

namespace {

std::string text_in(const Json& object, std::string_view key)
{
    const Json* const value = object.is_object() ? object.find(key) : nullptr;
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

bool flag_in(const Json& object, std::string_view key)
{
    const Json* const value = object.find(key);
    return value != nullptr && value->is_bool() && value->as_bool();
}

// The entries of a list of objects; none where it is something else.
std::vector<Json> objects_in(const Json& object, std::string_view key)
{
    std::vector<Json> out;
    const Json* const list = object.is_object() ? object.find(key) : nullptr;
    if (list != nullptr && list->is_array())
        for (const Json& one : list->items())
            if (one.is_object())
                out.push_back(one);
    return out;
}

std::vector<QString> texts_in(const Json& object, std::string_view key)
{
    std::vector<QString> out;
    const Json* const list = object.is_object() ? object.find(key) : nullptr;
    if (list != nullptr && list->is_array())
        for (const Json& one : list->items())
            if (one.is_string())
                out.push_back(QString::fromStdString(one.as_string()));
    return out;
}

Json list_of(const std::vector<QString>& texts)
{
    Json out = Json::array();
    for (const QString& text : texts)
        out.push_back(text.toStdString());
    return out;
}

} // namespace

Json to_json(const ExploreState& state)
{
    Json swept = Json::array();
    for (const SweptField& one : state.swept)
        swept.push_back(Json::Object{{"field", one.field}, {"values", one.values}});
    Json pins = Json::array();
    for (const Pin& pin : state.pins)
        pins.push_back(Json::Object{
            {"name", pin.name.toStdString()}, {"scenario", pin.scenario}, {"file", pin.file}});
    const ScatterChoice& axes = state.axes;
    return Json::Object{{"swept", std::move(swept)},
                        {"x", axes.x.toStdString()},
                        {"y", axes.y.toStdString()},
                        {"colour", axes.colour.toStdString()},
                        {"log_x", axes.log_x},
                        {"log_y", axes.log_y},
                        {"pins", std::move(pins)},
                        {"file", state.file},
                        {"axes", list_of(state.parallel.axes)},
                        {"flipped", list_of(state.parallel.flipped)},
                        {"explained", state.explained.toStdString()},
                        {"picture", state.picture.toStdString()}};
}

ExploreState explore_state_from(const Json& json)
{
    ExploreState out;
    if (!json.is_object())
        return out;
    for (const Json& one : objects_in(json, "swept")) {
        SweptField field{text_in(one, "field"), {}};
        if (const Json* const values = one.find("values"); values && values->is_array())
            for (const Json& value : values->items())
                if (value.is_string())
                    field.values.push_back(value.as_string());
        out.swept.push_back(std::move(field));
    }
    for (const Json& one : objects_in(json, "pins"))
        if (const Json* const scenario = one.find("scenario");
            scenario && scenario->is_object() && out.pins.size() < most_pins)
            out.pins.push_back({QString::fromStdString(text_in(one, "name")), *scenario,
                                text_in(one, "file"), std::nullopt});
    out.file = text_in(json, "file");
    out.parallel = {texts_in(json, "axes"), texts_in(json, "flipped")};
    out.explained = QString::fromStdString(text_in(json, "explained"));
    out.picture = QString::fromStdString(text_in(json, "picture"));
    out.axes = {QString::fromStdString(text_in(json, "x")),
                QString::fromStdString(text_in(json, "y")),
                QString::fromStdString(text_in(json, "colour")), flag_in(json, "log_x"),
                flag_in(json, "log_y")};
    return out;
}

} // namespace trainyard::gui
