#include "sim/study/graph_scopes.h"

#include "sim/base/words.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

constexpr std::array<std::pair<std::string_view, GraphedPart>, 4> scope_names{
    {{"attn", GraphedPart::attention},
     {"mamba", GraphedPart::recurrence},
     {"mlp", GraphedPart::mlp},
     {"moe_router", GraphedPart::router}}};

} // namespace

bool is_graph_scope(std::string_view scope)
{
    constexpr std::string_view others = "moe moe_preprocess full_iteration whole";
    return has_word(others, scope) ||
           std::ranges::find(scope_names, scope,
                             &std::pair<std::string_view, GraphedPart>::first) != scope_names.end();
}

void capture_scopes(SoftwareChoice& software, std::span<const std::string> scopes)
{
    const auto whole = [](const std::string& scope) {
        return scope == "whole" || scope == "full_iteration";
    };
    software.graphed_parts.clear();
    if (!std::ranges::any_of(scopes, whole))
        for (const auto& [name, part] : scope_names)
            if (std::ranges::find(scopes, name) != scopes.end())
                software.graphed_parts.push_back(part);
    software.cuda_graphs =
        !software.graphed_parts.empty() || scopes.empty() || std::ranges::any_of(scopes, whole);
}

std::vector<std::string> scopes_of(const std::vector<GraphedPart>& parts)
{
    std::vector<std::string> scopes;
    for (const auto& [name, part] : scope_names)
        if (std::ranges::find(parts, part) != parts.end())
            scopes.emplace_back(name);
    return scopes;
}

} // namespace trainyard
