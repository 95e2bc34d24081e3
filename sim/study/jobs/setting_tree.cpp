#include "sim/study/jobs/setting_tree.h"

#include <cmath>

namespace trainyard {
namespace {

std::string shown(const Json& value)
{
    return to_text(value, JsonStyle::compact);
}

} // namespace

const Json* SettingTree::at(std::string_view name) const
{
    const Json* node = &root_;
    while (node != nullptr && !name.empty()) {
        const std::size_t dot = name.find('.');
        node = node->find(name.substr(0, dot));
        name = dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
    }
    return node;
}

const Json* SettingTree::find(std::string_view name)
{
    looked_for_.emplace(name);
    const Json* value = at(name);
    return value == nullptr || value->is_null() ? nullptr : value;
}

Origin SettingTree::origin(std::string_view name) const
{
    const Json* value = at(name);
    if (value == nullptr)
        return {0, std::string(name)};
    return {value->line(), fmt::format("{} = {}", name, shown(*value))};
}

bool SettingTree::is_auto(const Json& value, std::string_view name, JobDraft& draft)
{
    if (!(value == Json("auto")))
        return false;
    draft.assume(origin(name), "left to the framework, taken as absent");
    return true;
}

std::optional<std::int64_t> SettingTree::whole(std::string_view name, JobDraft& draft)
{
    constexpr double largest = 9e15; // whole numbers are exact below
    const Json* value = find(name);
    if (value == nullptr || is_auto(*value, name, draft))
        return std::nullopt;
    if (value->is_integer())
        return value->as_integer();
    if (value->is_number() && std::abs(value->as_double()) < largest &&
        std::floor(value->as_double()) == value->as_double())
        return static_cast<std::int64_t>(value->as_double());
    draft.refuse(origin(name),
                 value->is_number() && std::abs(value->as_double()) >= largest
                     ? "is beyond any size"
                     : "expected a whole number",
                 value->is_string() ? "write it without quotes" : "");
    return std::nullopt;
}

std::optional<bool> SettingTree::flag(std::string_view name, JobDraft& draft)
{
    const Json* value = find(name);
    if (value == nullptr || is_auto(*value, name, draft))
        return std::nullopt;
    if (value->is_bool())
        return value->as_bool();
    if (value->is_string() && (value->as_string() == "true" || value->as_string() == "false"))
        return value->as_string() == "true"; // as the frameworks' own readers take it
    draft.refuse(origin(name), "expected true or false",
                 value->is_string() ? "write it without quotes" : "");
    return std::nullopt;
}

std::optional<std::string> SettingTree::text(std::string_view name, JobDraft& draft)
{
    const Json* value = find(name);
    if (value == nullptr || is_auto(*value, name, draft))
        return std::nullopt;
    if (value->is_string())
        return value->as_string();
    draft.refuse(origin(name), "expected text in quotes", "");
    return std::nullopt;
}

void SettingTree::set(std::string_view name, Json value, int line)
{
    Json* node = &root_;
    while (true) {
        const std::size_t dot = name.find('.');
        if (!node->is_object())
            *node = Json::object();
        node = &(*node)[name.substr(0, dot)];
        if (dot == std::string_view::npos)
            break;
        name = name.substr(dot + 1);
    }
    *node = std::move(value);
    node->set_lines(line);
}

void SettingTree::collect(const Json& node, const std::string& name, std::vector<Unseen>& out) const
{
    if (looked_for_.contains(name))
        return;
    if (node.is_object() && !node.members().empty()) {
        for (const Json::Member& member : node.members())
            collect(member.second, name.empty() ? member.first : name + "." + member.first, out);
        return;
    }
    if (!name.empty())
        out.push_back({name, {node.line(), fmt::format("{} = {}", name, shown(node))}});
}

std::vector<Unseen> SettingTree::unseen() const
{
    std::vector<Unseen> out;
    collect(root_, "", out);
    return out;
}

SoughtNames SettingTree::sought() const
{
    SoughtNames out;
    for (const std::string& name : looked_for_)
        (at(name) != nullptr ? out.found : out.missed).push_back(name);
    return out;
}

} // namespace trainyard
