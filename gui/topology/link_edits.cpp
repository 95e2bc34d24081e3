#include "gui/topology/link_edits.h"

#include "sim/study/perturbation.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr std::array<std::string_view, 5> of_links{"link", "bandwidth", "latency", "background",
                                                   "dead"};

// The entry is about that link (or its direction) and nothing else.
bool is_of(const Json& entry, const std::string& link)
{
    const Json* const name = entry.find("link");
    if (name == nullptr || !name->is_string())
        return false;
    const bool only = std::ranges::all_of(entry.members(), [](const Json::Member& member) {
        return std::ranges::find(of_links, member.first) != of_links.end();
    });
    return only && (name->as_string() == link || both_ways(name->as_string()) == link);
}

void erase_key(Json& entry, std::string_view key)
{
    std::erase_if(entry.members(), [&](const Json::Member& member) { return member.first == key; });
}

double share_of(const Json& entry)
{
    const Json* const share = entry.find("bandwidth");
    return share != nullptr && share->is_number() ? share->as_double() : 1.0;
}

Diagnostic link_problem(std::string message, std::string hint)
{
    return {"", 0, "/perturbations", std::move(message), std::move(hint), Severity::error};
}

void set_change(Json& entry, const LinkChange& change)
{
    if (change.kind == LinkChange::Kind::cut) {
        for (const char* key : {"bandwidth", "latency", "background"})
            erase_key(entry, key);
        entry["dead"] = Json(true);
        return;
    }
    erase_key(entry, "dead");
    const double share =
        change.kind == LinkChange::Kind::scale ? share_of(entry) * change.share : change.share;
    if (share == 1.0)
        erase_key(entry, "bandwidth");
    else
        entry["bandwidth"] = Json(std::round(share * 1e6) / 1e6);
}

// The direction's own entry first.
std::optional<Diagnostic> change_link(Json& entries, const std::string& link,
                                      const LinkChange& change)
{
    std::vector<Json>& all = entries.items();
    if (change.kind == LinkChange::Kind::mend) {
        if (std::erase_if(all, [&](const Json& e) {
                return is_of(e, link) || is_of(e, both_ways(link));
            }) > 0)
            return std::nullopt;
        return link_problem(
            fmt::format("no entry of the perturbations is about \"{}\" alone", link),
            "mend it among the scenario's fields: a pattern names other links too");
    }
    auto found = std::ranges::find_if(all, [&](const Json& e) { return is_of(e, link); });
    if (found == all.end())
        found = std::ranges::find_if(all, [&](const Json& e) { return is_of(e, both_ways(link)); });
    if (found == all.end()) {
        Json entry = Json::object();
        entry["link"] = Json(link);
        entries.push_back(std::move(entry));
        found = std::prev(all.end());
    }
    set_change(*found, change);
    if (found->members().size() == 1) // as good as new
        all.erase(found);
    return std::nullopt;
}

} // namespace

std::string both_ways(const std::string& link)
{
    for (const std::string_view way : {" up", " down", " out", " in"})
        if (link.ends_with(way))
            return link.substr(0, link.size() - way.size());
    return link;
}

Checked<Json> with_links(Json scenario, const std::vector<std::string>& links,
                         const LinkChange& change)
{
    const bool scales =
        change.kind == LinkChange::Kind::scale || change.kind == LinkChange::Kind::share;
    if (scales && !(change.share > 0 && change.share <= 1))
        return tl::unexpected(Problems{
            link_problem(fmt::format("a link cannot have {:.6g} of its line rate", change.share),
                         "more than none, at most all; a cut carries nothing, and faster links are "
                         "another topology")});
    Json& entries = scenario["perturbations"];
    if (!entries.is_array())
        entries = Json::array();
    for (const std::string& link : links)
        if (auto wrong = change_link(entries, link, change))
            return tl::unexpected(Problems{std::move(*wrong)});
    if (entries.items().empty())
        std::erase_if(scenario.members(),
                      [](const Json::Member& member) { return member.first == "perturbations"; });
    return scenario;
}

} // namespace trainyard::gui
