#include "gui/timeline/counters.h"

#include "gui/breakdown/memory_columns.h"
#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/kinds.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace trainyard::gui {

namespace {

LinkKind link_kind_of(CounterKind kind)
{
    return kind == CounterKind::nvlink ? LinkKind::nvlink : LinkKind::nic;
}

double highest_of(const std::vector<double>& values)
{
    return values.empty() ? 0 : *std::ranges::max_element(values);
}

// 1 while the rank computes, else 0.
RateCurve computing(const TimelineData& data, const SliceRow& row)
{
    RateCurve curve;
    for (std::uint32_t slice = row.first; slice < row.end(); ++slice)
        if (class_of(data.slices.kind[slice]) == TimeClass::compute) {
            curve.change(data.slices.start[slice], 1);
            curve.change(data.slices.end[slice], 0);
        }
    return curve;
}

// How many ranks of the first run compute.
RankUse rank_use(const TimelineData& data, const WorkControl& work)
{
    std::vector<RateCurve> ranks;
    for (const Track& track : data.tracks)
        if (track.kind == TrackKind::rank && track.run == 0 && track.row != nothing) {
            work.check();
            ranks.push_back(computing(data, data.rows[track.row]));
        }
    std::vector<WeightedCurve> curves;
    for (const RateCurve& rank : ranks)
        curves.push_back({&rank});
    return {sum_of(curves), ranks.size()};
}

LinkSum sum_of_kind(const LinkLoads& loads, LinkKind kind)
{
    LinkSum sum;
    std::vector<double> links(loads.profile_count()); // how many of each
    const Topology& topology = *loads.outcome().topology;
    for (std::size_t i = 0; i < topology.link_count(); ++i) {
        const auto id = make_id<LinkId>(i);
        const Link link = topology.link(id);
        if (link.kind != kind)
            continue;
        sum.capacity += link.capacity.value();
        links[loads.profile_of(id)] += 1;
    }
    sum.rate = loads.sum_over_time(loads.weights(links));
    return sum;
}

std::optional<CounterSeries> series_of(const LinkSum& sum, const CounterRequest& request,
                                       CounterKind kind)
{
    if (sum.capacity <= 0)
        return std::nullopt;
    CounterSeries series;
    series.name = fmt::format("{}, all links", title_of(kind));
    series.most = sum.capacity;
    series.values = sum.rate.means(request.range.from, request.range.to, request.parts);
    series.top = std::max(1.0, highest_of(series.values));
    return series;
}

} // namespace

LinkSums link_sums(const std::shared_ptr<const Outcome>& outcome, const WorkControl& work)
{
    const LinkLoads loads(outcome, work);
    LinkSums sums;
    for (const CounterKind kind : {CounterKind::nvlink, CounterKind::nic}) {
        work.check();
        sums.emplace(kind, sum_of_kind(loads, link_kind_of(kind)));
    }
    return sums;
}

std::string_view title_of(CounterKind kind)
{
    switch (kind) {
    case CounterKind::memory:
        return "memory";
    case CounterKind::compute:
        return "compute use";
    case CounterKind::nvlink:
        return "NVLink";
    case CounterKind::nic:
        break;
    }
    return "NICs";
}

std::optional<double> CounterSeries::at(SimTime time) const
{
    if (values.empty() || time < range.from || time >= range.to)
        return std::nullopt;
    const double share = as_double(time - range.from) / as_double(range.length());
    const auto part = static_cast<std::size_t>(share * static_cast<double>(values.size()));
    return values[std::min(part, values.size() - 1)];
}

std::string value_text(const CounterSeries& series, double value)
{
    switch (series.kind) {
    case CounterKind::memory:
        return to_display(Bytes(static_cast<std::uint64_t>(std::max(0.0, value))));
    case CounterKind::compute:
        return percent(value);
    case CounterKind::nvlink:
    case CounterKind::nic:
        break;
    }
    const std::string rate = to_display(Bandwidth(value));
    return series.most > 0 ? fmt::format("{}, {}", rate, percent(value / series.most)) : rate;
}

std::string sum_text(const CounterSeries& series)
{
    if (series.values.empty())
        return "counting ...";
    if (series.kind == CounterKind::memory)
        return "peak " + value_text(series, highest_of(series.values));
    const double sum = std::accumulate(series.values.begin(), series.values.end(), 0.0);
    return "mean " + value_text(series, sum / static_cast<double>(
                                                  std::max<std::size_t>(1, series.values.size())));
}

CounterSource::CounterSource(std::shared_ptr<const TimelineModel> model)
    : model_(std::move(model)),
      outcome_(model_->runs.empty() ? nullptr : model_->runs.front()->outcome)
{}

std::vector<CounterSeries> CounterSource::series(const CounterRequest& request,
                                                 const LinkSums* links, const WorkControl& work)
{
    std::vector<CounterSeries> all;
    for (const CounterKind kind : request.kinds) {
        work.check();
        if (outcome_ == nullptr)
            break;
        std::optional<CounterSeries> one;
        if (kind == CounterKind::memory)
            one = memory(request);
        else if (kind == CounterKind::compute)
            one = compute(request, work);
        else if (links != nullptr)
            one = series_of(links->at(kind), request, kind);
        if (!one)
            continue;
        one->kind = kind;
        one->range = request.range;
        all.push_back(std::move(*one));
    }
    return all;
}

LaneId CounterSource::lane_for(std::optional<RankId> rank) const
{
    const TimelineData& data = model_->data;
    const auto shown = [&](LaneId lane) {
        return std::ranges::any_of(data.tracks, [&](const Track& track) {
            return track.kind == TrackKind::rank && track.run == 0 && track.lane == lane;
        });
    };
    const auto& lanes = outcome_->binding->lane_of;
    if (rank && rank->value < lanes.size() && shown(lanes[rank->value]))
        return lanes[rank->value];
    if (shown(outcome_->result->critical_lane))
        return outcome_->result->critical_lane;
    const auto first = std::ranges::find(data.tracks, TrackKind::rank, &Track::kind);
    return first == data.tracks.end() ? outcome_->result->critical_lane : first->lane;
}

std::optional<CounterSeries> CounterSource::memory(const CounterRequest& request)
{
    const LaneId lane = lane_for(request.rank);
    auto found = curves_.find(lane);
    if (found == curves_.end())
        found = curves_.emplace(lane, memory_curve(*outcome_, lane)).first;
    const MemoryCurve& curve = found->second;
    if (curve.points.empty())
        return std::nullopt;
    CounterSeries series;
    series.name = fmt::format("memory, rank {}", outcome_->binding->lanes[lane.value].rank.value);
    for (const HeldBytes& held :
         columns_of(curve, request.range.from, request.range.to, request.parts))
        series.values.push_back(static_cast<double>(held.bytes));
    series.most = static_cast<double>(outcome_->memory.capacity.value());
    // A device without limit, or one that is far from full, keeps the curve in sight.
    series.top = std::max(1.0, static_cast<double>(curve.points[curve.peak].bytes));
    if (series.most < 8 * series.top)
        series.top = std::max(series.top, series.most);
    return series;
}

std::optional<CounterSeries> CounterSource::compute(const CounterRequest& request,
                                                    const WorkControl& work)
{
    if (!use_)
        use_ = rank_use(model_->data, work);
    if (use_->ranks == 0)
        return std::nullopt;
    CounterSeries series;
    series.name = use_->ranks == 1 ? std::string("compute use")
                                   : fmt::format("compute use, mean of {} ranks", use_->ranks);
    series.values = use_->computing.means(request.range.from, request.range.to, request.parts);
    for (double& value : series.values)
        value /= static_cast<double>(use_->ranks);
    return series;
}

} // namespace trainyard::gui
