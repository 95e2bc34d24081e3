#include "gui/timeline/lane_state.h"

#include <algorithm>

namespace trainyard::gui {

namespace {

// Names in files: they stay as they are, whatever the window says.
template <typename Value>
struct Named {
    Value value;
    std::string_view name;
};

constexpr std::array order_names{Named<LaneOrder>{LaneOrder::stage, "stage"},
                                 Named<LaneOrder>{LaneOrder::rank, "rank"},
                                 Named<LaneOrder>{LaneOrder::idle, "idle"}};
constexpr std::array choice_names{
    Named<LanesOf>{LanesOf::usual, "usual"}, Named<LanesOf>{LanesOf::stages, "stages"},
    Named<LanesOf>{LanesOf::dp_group, "dp_group"}, Named<LanesOf>{LanesOf::ranks, "ranks"},
    Named<LanesOf>{LanesOf::all, "all"}};

template <typename Names, typename Value>
std::string name_in(const Names& names, Value value)
{
    return std::string(
        std::ranges::find(names, value, [](const auto& n) { return n.value; })->name);
}

template <typename Names, typename Value>
Value value_in(const Names& names, const Json& object, std::string_view key, Value otherwise)
{
    const Json* const given = object.find(key);
    if (given == nullptr || !given->is_string())
        return otherwise;
    for (const auto& named : names)
        if (named.name == given->as_string())
            return named.value;
    return otherwise;
}

// The entries of a list that a test lets pass.
template <typename Pass>
std::vector<Json> entries_in(const Json& object, std::string_view key, const Pass& pass)
{
    std::vector<Json> out;
    if (const Json* const list = object.find(key); list != nullptr && list->is_array())
        std::ranges::copy_if(list->items(), std::back_inserter(out), pass);
    return out;
}

std::vector<std::string> names_in(const Json& object, std::string_view key)
{
    std::vector<std::string> names;
    for (const Json& name : entries_in(object, key, [](const Json& j) { return j.is_string(); }))
        names.push_back(name.as_string());
    return names;
}

} // namespace

Json to_json(const LaneState& state)
{
    Json ranks = Json::array();
    for (const RankId rank : state.recorded.ranks)
        ranks.push_back(static_cast<std::int64_t>(rank.value));
    return Json::Object{{"order", name_in(order_names, state.order)},
                        {"pinned", state.marks.pinned},
                        {"hidden", state.marks.hidden},
                        {"recorded", name_in(choice_names, state.recorded.of)},
                        {"ranks", std::move(ranks)}};
}

LaneState lane_state_from(const Json& json)
{
    LaneState out;
    if (!json.is_object())
        return out;
    out.order = value_in(order_names, json, "order", out.order);
    out.marks = {names_in(json, "pinned"), names_in(json, "hidden")};
    out.recorded.of = value_in(choice_names, json, "recorded", out.recorded.of);
    const auto is_rank = [](const Json& j) {
        return j.is_integer() && j.as_integer() >= 0 &&
               j.as_integer() < std::int64_t{RankId::none().value};
    };
    if (out.recorded.of == LanesOf::ranks)
        for (const Json& rank : entries_in(json, "ranks", is_rank))
            out.recorded.ranks.push_back(
                make_id<RankId>(static_cast<std::size_t>(rank.as_integer())));
    return out;
}

} // namespace trainyard::gui
