#include "sim/report/fit/standing_text.h"

#include "sim/report/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

const BandStanding* of_band(const TableStanding& standing, SizeBand band)
{
    const auto found = std::find_if(standing.bands.begin(), standing.bands.end(),
                                    [&](const BandStanding& one) { return one.band == band; });
    return found == standing.bands.end() ? nullptr : &*found;
}

std::string cell(const BandStanding* band)
{
    if (band == nullptr)
        return "-";
    const double percent = std::round(100 * (band->ratio - 1));
    return fmt::format("{} % {}", percent == 0 ? "0" : fmt::format("{:+.0f}", percent),
                       band->standing == Standing::as_published ? "ok" : to_name(band->standing));
}

} // namespace

std::string standing_text(std::span<const TableStanding> standings, const std::string& device)
{
    TextTable table({Align::left, Align::right, Align::right, Align::right, Align::right,
                     Align::right, Align::right, Align::right});
    std::vector<std::string> head{"collective", "ranks", "domains"};
    for (const SizeBand band : size_bands)
        head.emplace_back(title_of(band));
    head.emplace_back("sweeps");
    table.add(std::move(head));
    std::size_t known = 0;
    bool slower = false;
    for (const TableStanding& standing : standings) {
        const KnotTable& measured = *standing.table;
        std::vector<std::string> row{std::string(to_name(measured.collective)),
                                     fmt::to_string(measured.ranks_per_domain * measured.domains),
                                     fmt::to_string(measured.domains)};
        for (const SizeBand band : size_bands)
            row.push_back(cell(of_band(standing, band)));
        row.push_back(standing.group != nullptr ? fmt::to_string(standing.group->sweeps) : "none");
        table.add(std::move(row));
        known += standing.group != nullptr ? 1 : 0;
        for (const BandStanding& band : standing.bands)
            slower = slower || band.standing == Standing::slower;
    }
    std::string out =
        fmt::format("Time against the median of published sweeps on {}:\n{}", device, table.text());
    out += "ok: within the published 10th to 90th percentile, give or take 5 % (10 % where one or "
           "two sweeps are published)\n";
    if (known == 0)
        out += "Nobody has published these shapes on this device: nothing can be said.\n";
    else if (slower)
        out += "Slower where marked: check clocks and idle neighbours, NCCL's version and "
               "variables, and links (nvidia-smi topo -m).\n";
    return out;
}

Json to_json(std::span<const TableStanding> standings, const std::string& device)
{
    Json out = Json::object();
    out["device"] = device;
    out["tables"] = Json::array();
    for (const TableStanding& standing : standings) {
        Json one = Json::object();
        one["collective"] = std::string(to_name(standing.table->collective));
        one["ranks"] = standing.table->ranks_per_domain * standing.table->domains;
        one["domains"] = standing.table->domains;
        one["published_sweeps"] = standing.group != nullptr ? standing.group->sweeps : 0;
        one["bands"] = Json::array();
        for (const BandStanding& band : standing.bands) {
            Json entry = Json::object();
            entry["sizes"] = title_of(band.band);
            entry["time_over_published"] = band.ratio;
            entry["verdict"] = std::string(to_name(band.standing));
            one["bands"].push_back(std::move(entry));
        }
        out["tables"].push_back(std::move(one));
    }
    return out;
}

} // namespace trainyard
