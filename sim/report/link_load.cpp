#include "sim/report/link_load.h"

#include <algorithm>
#include <cassert>

namespace trainyard {

void LinkLoads::Source::close()
{
    std::ranges::sort(transfers, {}, [](const Transfer& t) { return std::pair(t.from, t.record); });
    std::vector<std::pair<SimTime, double>> changes;
    for (const Transfer& transfer : transfers) {
        longest = std::max(longest, transfer.to - transfer.from);
        const double rate = transfer.bytes / to_seconds(transfer.to - transfer.from).value();
        changes.emplace_back(transfer.from, rate);
        changes.emplace_back(transfer.to, -rate);
    }
    // Ends before beginnings, so that nothing seems to overlap that does not.
    std::ranges::sort(changes);
    int running = 0;
    double rate = 0;
    for (const auto& [time, more] : changes) {
        running += more > 0 ? 1 : -1;
        rate = running == 0 ? 0.0 : rate + more;
        change(time, rate);
    }
}

SourceRates LinkLoads::rates_at(SimTime time) const
{
    SourceRates rates;
    rates.reserve(sources_.size());
    for (const Source& source : sources_)
        rates.push_back(source.rate_at(time));
    return rates;
}

SourceRates LinkLoads::mean_rates(SimTime from, SimTime to) const
{
    const double seconds = to_seconds(to - from).value();
    SourceRates rates;
    rates.reserve(sources_.size());
    for (const Source& source : sources_)
        rates.push_back((source.amount_until(to) - source.amount_until(from)) / seconds);
    return rates;
}

std::vector<double> LinkLoads::loads(const SourceRates& rates) const
{
    std::vector<double> loads;
    loads.reserve(profiles_.size());
    for (const std::vector<Use>& profile : profiles_) {
        double sum = 0;
        for (const Use& use : profile)
            sum += use.share * rates[use.way];
        loads.push_back(sum);
    }
    return loads;
}

Bandwidth LinkLoads::load(LinkId link, const SourceRates& rates) const
{
    double sum = 0;
    for (const Use& use : profiles_[profile_of(link)])
        sum += use.share * rates[use.way];
    return Bandwidth(sum);
}

double LinkLoads::bytes(LinkId link, SimTime from, SimTime to) const
{
    double sum = 0;
    for (const Use& use : profiles_[profile_of(link)])
        sum +=
            use.share * (sources_[use.way].amount_until(to) - sources_[use.way].amount_until(from));
    return sum;
}

std::vector<double> LinkLoads::over_time(LinkId link, SimTime from, SimTime to,
                                         std::size_t parts) const
{
    std::vector<double> sum(parts);
    for (const Use& use : profiles_[profile_of(link)]) {
        const std::vector<double> means = sources_[use.way].means(from, to, parts);
        for (std::size_t part = 0; part < parts; ++part)
            sum[part] += use.share * means[part];
    }
    return sum;
}

std::vector<double> LinkLoads::weights(std::span<const double> links) const
{
    std::vector<double> weights(sources_.size());
    for (std::size_t profile = 0; profile < profiles_.size(); ++profile)
        for (const Use& use : profiles_[profile])
            weights[use.way] += links[profile] * use.share;
    return weights;
}

RateCurve LinkLoads::sum_over_time(std::span<const double> weights) const
{
    std::vector<WeightedCurve> curves;
    for (std::size_t source = 0; source < weights.size(); ++source)
        if (weights[source] != 0)
            curves.push_back({&sources_[source], weights[source]});
    return sum_of(curves);
}

Bandwidth LinkLoads::highest(LinkId link, SimTime from, SimTime to) const
{
    struct Change {
        SimTime time;
        double more = 0;
    };
    std::vector<Change> changes;
    double load = 0;
    for (const Use& use : profiles_[profile_of(link)]) {
        const Source& source = sources_[use.way];
        double before = source.rate_at(from);
        load += use.share * before;
        auto next = std::ranges::upper_bound(source.times, from);
        for (; next != source.times.end() && *next < to; ++next) {
            const double rate = source.rates[static_cast<std::size_t>(next - source.times.begin())];
            changes.push_back({*next, use.share * (rate - before)});
            before = rate;
        }
    }
    std::ranges::sort(changes, {}, &Change::time);
    double highest = load;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        load += changes[i].more;
        if (i + 1 == changes.size() || changes[i + 1].time > changes[i].time)
            highest = std::max(highest, load);
    }
    return Bandwidth(highest);
}

LinkFlows LinkLoads::flows(LinkId link, SimTime from, SimTime to, std::size_t most) const
{
    LinkFlows out;
    const std::size_t carrier = carrier_[link.value].value;
    for (std::uint32_t u = first_use_[carrier]; u < first_use_[carrier + 1]; ++u) {
        const Source& source = sources_[ways_[uses_[u].way].source];
        auto at =
            std::ranges::lower_bound(source.transfers, from - source.longest, {}, &Transfer::from);
        for (; at != source.transfers.end() && at->from < to; ++at)
            if (at->to > from)
                out.largest.push_back(
                    {at->record, uses_[u].way, at->from, at->to, uses_[u].share * at->bytes});
    }
    out.count = out.largest.size();
    const auto larger = [](const LinkFlow& a, const LinkFlow& b) {
        return std::tuple(-a.bytes, a.from, a.record, a.way) <
               std::tuple(-b.bytes, b.from, b.record, b.way);
    };
    const std::size_t kept = std::min(most, out.count);
    std::partial_sort(out.largest.begin(), out.largest.begin() + static_cast<std::ptrdiff_t>(kept),
                      out.largest.end(), larger);
    out.largest.resize(kept);
    return out;
}

std::vector<RankId> LinkLoads::ranks_of(const LinkFlow& flow) const
{
    const Way& way = ways_[flow.way];
    return way.message ? std::vector{way.from, way.to} : near_.groups[way.group].members;
}

TrafficPattern LinkLoads::pattern_of(const LinkFlow& flow) const
{
    return sources_[ways_[flow.way].source].pattern;
}

std::vector<LinkId> LinkLoads::links_of(std::size_t record) const
{
    std::vector<bool> has(sources_.size());
    for (std::size_t i = 0; i < sources_.size(); ++i)
        has[i] = std::ranges::any_of(sources_[i].transfers,
                                     [&](const Transfer& t) { return t.record == record; });
    std::vector<LinkId> links;
    if (std::ranges::none_of(has, std::identity()))
        return links;
    for (std::size_t link = 0; link < profile_of_.size(); ++link)
        if (std::ranges::any_of(profiles_[profile_of_[link]],
                                [&](const Use& use) { return has[use.way]; }))
            links.push_back(make_id<LinkId>(link));
    return links;
}

const LinkTotals* LinkLoads::totals(LinkId link) const
{
    const std::uint32_t index = totals_of_[link.value];
    return index == 0 ? nullptr : &outcome_->result->links[index - 1];
}

} // namespace trainyard
