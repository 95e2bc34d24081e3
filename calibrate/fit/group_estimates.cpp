#include "calibrate/fit/group_estimates.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace trainyard {
namespace {

// Curves that a prediction would take, by group size inside one domain.
std::map<int, const KnotTable*> measured_sizes(const std::vector<KnotTable>& tables,
                                               Backend backend, CollectiveKind kind)
{
    std::map<int, const KnotTable*> out;
    for (const KnotTable& table : tables)
        if (table.backend == backend && table.collective == kind && table.domains == 1 &&
            is_taken(table))
            out.emplace(table.ranks_per_domain, &table); // the first wins, as in predictions
    return out;
}

// From the two measured sizes around it, or the two nearest.
KnotTable estimate(CollectiveKind kind, const std::map<int, const KnotTable*>& sizes, int ranks,
                   std::vector<std::string>& found)
{
    auto above = sizes.upper_bound(ranks);
    if (above == sizes.end())
        --above;
    if (above == sizes.begin())
        ++above;
    const KnotTable& high = *above->second;
    const KnotTable& low = *std::prev(above)->second;
    const CurveEstimate curve = estimate_ranks(kind, {low.ranks_per_domain, &low.samples},
                                               {high.ranks_per_domain, &high.samples}, ranks);
    KnotTable out;
    out.collective = kind;
    out.backend = high.backend;
    out.ranks_per_domain = ranks;
    out.nvlink = high.nvlink;
    out.in_place = high.in_place;
    out.data_type = high.data_type;
    out.grade = Grade::extrapolated;
    out.source = "not measured: " + curve.basis;
    out.samples = curve.curve;
    out.environment = high.environment;
    const std::string over =
        high.backend == Backend::nccl ? "" : fmt::format(" over {}", title_of(high.backend));
    found.push_back(
        fmt::format("{}{} among {} ranks estimated {}", to_name(kind), over, ranks, curve.basis));
    return out;
}

} // namespace

bool is_taken(const KnotTable& table)
{
    return table.algorithm == "auto" && table.protocol == "auto" &&
           (!table.in_place || on_host(table.backend)) && table.grade == Grade::measured;
}

void add_group_estimates(std::vector<KnotTable>& tables, std::vector<std::string>& found)
{
    constexpr int most_in_node = 8;
    std::vector<KnotTable> estimates;
    for (const auto& library : enum_names<Backend>())
        for (const auto& entry : enum_names<CollectiveKind>()) {
            const auto sizes = measured_sizes(tables, library.value, entry.value);
            if (sizes.size() < 2)
                continue;
            const int most = std::max(sizes.rbegin()->first, most_in_node);
            for (int ranks = 2; ranks <= most; ranks *= 2)
                if (!sizes.count(ranks))
                    estimates.push_back(estimate(entry.value, sizes, ranks, found));
        }
    std::move(estimates.begin(), estimates.end(), std::back_inserter(tables));
}

} // namespace trainyard
