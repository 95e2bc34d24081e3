#include "gui/breakdown/time_bars.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace trainyard::gui {

namespace {

// `count` of `size` places, evenly apart, first and last among them.
std::vector<std::size_t> spread(std::size_t size, std::size_t count)
{
    std::vector<std::size_t> places;
    if (count >= size) {
        places.resize(size);
        std::iota(places.begin(), places.end(), std::size_t{0});
    } else
        for (std::size_t i = 0; i < count; ++i)
            places.push_back(count < 2 ? 0 : i * (size - 1) / (count - 1));
    return places;
}

double distance(const TimeShares& a, const TimeShares& b)
{
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += std::abs((a[i] - b[i]).value());
    return sum;
}

Seconds at_work(const TimeShares& shares)
{
    return sum_of(shares) - shares[index_of(TimeKind::waiting)] -
           shares[index_of(TimeKind::bubble)];
}

TimeShares mean_of_stage(const Outcome& outcome, RoleId stage)
{
    TimeShares shares;
    for (std::size_t k = 0; k < shares.size(); ++k)
        shares[k] = mean_over_ranks(
            *outcome.result, *outcome.binding, [k](const LaneTotals& lane) { return lane.time[k]; },
            [stage](const Lane& lane) { return lane.role == stage; });
    return shares;
}

class Chooser {
public:
    Chooser(const Outcome& outcome, std::size_t most) : outcome_(outcome), most_(most) {}

    void add_whole(const Outcome& outcome, const char* whose)
    {
        const StepResult& result = *outcome.result;
        const LaneId critical = result.critical_lane;
        const RankId rank = outcome.binding->lanes[critical.value].rank;
        const bool base = *whose != 0;
        const std::string prefix(whose);
        bars_.push_back({base ? BarOf::baseline : BarOf::critical,
                         fmt::format("{}rank {}, critical", prefix, rank.value),
                         base ? "the baseline's critical rank" : "the critical rank",
                         shares_of(result.lanes[critical.value]),
                         base ? std::nullopt : std::optional(rank)});
        bars_.push_back({base ? BarOf::baseline : BarOf::mean,
                         prefix + "mean",
                         base ? "the baseline's mean over ranks" : "mean over all ranks",
                         mean_shares(result, *outcome.binding),
                         {}});
    }

    void add_stages()
    {
        const std::size_t stages = outcome_.plan->program.roles.size();
        if (stages < 2)
            return;
        const std::size_t room = ranks_differ_within_stages() ? (left() + 1) / 2 : left();
        const std::vector<std::size_t> shown = spread(stages, room);
        std::string note = "mean over its ranks";
        if (shown.size() < stages)
            note +=
                fmt::format("; {} of {} stages are shown, the table has all", shown.size(), stages);
        for (const std::size_t stage : shown) {
            const auto role = make_id<RoleId>(stage);
            const auto& lanes = outcome_.binding->lanes;
            const auto first = std::ranges::find(lanes, role, &Lane::role);
            bars_.push_back({BarOf::stage, fmt::format("stage {}", stage), note,
                             mean_of_stage(outcome_, role),
                             first == lanes.end() ? std::nullopt : std::optional(first->rank)});
        }
    }

    void add_ranks()
    {
        if (!ranks_differ_within_stages())
            return;
        const std::size_t lanes = outcome_.result->lanes.size();
        if (lanes - 1 > left()) {
            add_quantiles(add_furthest(left() / 2));
            return;
        }
        for (std::size_t lane = 0; lane < lanes; ++lane)
            if (lane != critical())
                add_rank(lane, "");
    }

    std::vector<TimeBar> take() && { return std::move(bars_); }

private:
    std::size_t critical() const { return outcome_.result->critical_lane.value; } // has a bar

    std::size_t left() const { return most_ > bars_.size() ? most_ - bars_.size() : 0; }

    bool ranks_differ_within_stages() const
    {
        std::set<std::pair<RoleId, std::array<SimTime, time_kind_count>>> kinds;
        for (std::size_t i = 0; i < outcome_.result->lanes.size(); ++i)
            kinds.emplace(outcome_.binding->lanes[i].role, outcome_.result->lanes[i].time);
        return kinds.size() > outcome_.plan->program.roles.size();
    }

    void add_rank(std::size_t lane, std::string note)
    {
        const Lane& at = outcome_.binding->lanes[lane];
        if (at.multiplicity > 1)
            note += fmt::format("{}stands for {} ranks", note.empty() ? "" : "; ", at.multiplicity);
        bars_.push_back({BarOf::rank, fmt::format("rank {}", at.rank.value), std::move(note),
                         shares_of(outcome_.result->lanes[lane]), at.rank});
    }

    // Those taken, the critical rank's among them.
    std::set<std::size_t> add_furthest(std::size_t count)
    {
        const TimeShares mean = mean_shares(*outcome_.result, *outcome_.binding);
        std::vector<std::pair<double, std::size_t>> order;
        for (std::size_t i = 0; i < outcome_.result->lanes.size(); ++i)
            order.emplace_back(-distance(shares_of(outcome_.result->lanes[i]), mean), i);
        std::ranges::sort(order);
        std::set<std::size_t> taken{critical()};
        std::set<std::array<SimTime, time_kind_count>> seen;
        for (const auto& [away, lane] : order)
            if (taken.size() <= count && lane != critical() &&
                seen.insert(outcome_.result->lanes[lane].time).second)
            {
                taken.insert(lane);
                add_rank(lane, "far from the mean");
            }
        return taken;
    }

    void add_quantiles(const std::set<std::size_t>& taken)
    {
        std::vector<std::pair<Seconds, std::size_t>> order;
        for (std::size_t i = 0; i < outcome_.result->lanes.size(); ++i)
            order.emplace_back(at_work(shares_of(outcome_.result->lanes[i])), i);
        std::ranges::sort(order);
        for (const std::size_t place : spread(order.size(), left()))
            if (!taken.contains(order[place].second))
                add_rank(order[place].second,
                         fmt::format("at work longer than {:.0f} % of the ranks",
                                     100.0 * static_cast<double>(place) /
                                         static_cast<double>(order.size() - 1)));
    }

    const Outcome& outcome_;
    std::size_t most_;
    std::vector<TimeBar> bars_;
};

} // namespace

std::vector<TimeBar> time_bars(const Outcome& outcome, const Outcome* baseline, std::size_t most)
{
    Chooser chooser(outcome, most);
    chooser.add_whole(outcome, "");
    if (baseline != nullptr && most >= 4)
        chooser.add_whole(*baseline, "baseline, ");
    chooser.add_stages();
    chooser.add_ranks();
    return std::move(chooser).take();
}

std::vector<BarPiece> pieces_of(const std::vector<TimeBar>& bars, BarUnit unit)
{
    std::vector<BarPiece> pieces;
    for (std::size_t bar = 0; bar < bars.size(); ++bar) {
        const double whole = sum_of(bars[bar].shares).value();
        const double scale = unit == BarUnit::seconds ? 1 : whole > 0 ? 1 / whole : 0;
        double from = 0;
        for (const TimeKind kind : time_kinds()) {
            const double length = bars[bar].shares[index_of(kind)].value() * scale;
            if (length > 0)
                pieces.push_back({bar, kind, from, from + length});
            from += length;
        }
    }
    return pieces;
}

} // namespace trainyard::gui
