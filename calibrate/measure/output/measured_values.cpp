#include "calibrate/measure/output/measured_values.h"

#include "calibrate/fit/order_statistics.h"

#include <algorithm>

namespace trainyard {
namespace {

// Without what only says how it was timed.
TimedWork as_asked(TimedWork work)
{
    if (auto* const beside = std::get_if<BesideWork>(&work))
        beside->repeats = 1;
    return work;
}

MeasuredValue over_launches(const std::vector<const MeasuredPoint*>& launches)
{
    const Estimate& first = launches.front()->estimate;
    if (launches.size() == 1)
        return {first.median, first.low, first.high};
    std::vector<double> medians;
    for (const MeasuredPoint* launch : launches)
        medians.push_back(launch->estimate.median);
    const auto [low, high] = std::minmax_element(medians.begin(), medians.end());
    return {median(medians), *low, *high};
}

std::optional<double> pair_rate(const WorkTime& time)
{
    const auto& exchange = std::get<ExchangeWork>(time.work);
    return static_cast<double>(exchange.messages.size() * exchange.size.value()) /
           time.seconds.value;
}

// World ranks: a pair's members count in its group.
PairMessage in_world(const GroupSpec& group, int from, int to)
{
    return {group.members[static_cast<std::size_t>(from)],
            group.members[static_cast<std::size_t>(to)]};
}

class MatrixMaker {
public:
    explicit MatrixMaker(const MeasuredRun& run) : ranks_(run.ranks.size())
    {
        for (const WorkTime& time : work_times(run))
            if (const auto* exchange = std::get_if<ExchangeWork>(&time.work))
                take(time, *exchange);
            else if (const auto* ping = std::get_if<PingPongWork>(&time.work))
                put(latency_, in_world(time.group, ping->first, ping->second), time.seconds.value,
                    true);
    }

    std::vector<PairMatrix> matrices()
    {
        std::vector<PairMatrix> out;
        add(out, "one_way", "one way", PairQuantity::bandwidth, one_way_);
        add(out, "both_ways", "both ways at once, the sum", PairQuantity::bandwidth, both_ways_);
        add(out, "latency", "half a round trip", PairQuantity::latency, latency_);
        return out;
    }

private:
    using Values = std::vector<std::vector<std::optional<double>>>;

    void take(const WorkTime& time, const ExchangeWork& exchange)
    {
        const std::vector<PairMessage>& all = exchange.messages;
        if (all.size() == 1)
            put(one_way_, in_world(time.group, all[0].from, all[0].to), *pair_rate(time), false);
        else if (all.size() == 2 && all[0] == PairMessage{all[1].to, all[1].from})
            put(both_ways_, in_world(time.group, all[0].from, all[0].to), *pair_rate(time), true);
    }

    void put(Values& values, const PairMessage& pair, double value, bool symmetric)
    {
        if (values.empty())
            values.assign(ranks_, std::vector<std::optional<double>>(ranks_));
        values[static_cast<std::size_t>(pair.from)][static_cast<std::size_t>(pair.to)] = value;
        if (symmetric)
            values[static_cast<std::size_t>(pair.to)][static_cast<std::size_t>(pair.from)] = value;
    }

    static void add(std::vector<PairMatrix>& out, const char* test, const char* title,
                    PairQuantity quantity, Values& values)
    {
        if (!values.empty())
            out.push_back({test, title, "rank", quantity, std::move(values)});
    }

    std::size_t ranks_;
    Values one_way_;
    Values both_ways_;
    Values latency_;
};

} // namespace

std::vector<WorkTime> work_times(const MeasuredRun& run)
{
    std::vector<std::pair<Point, std::vector<const MeasuredPoint*>>> found;
    for (const MeasuredPoint& point : run.points) {
        if (point.wrong.value_or(0) > 0 || !(point.estimate.median > 0))
            continue;
        const Point key{point.point.group, as_asked(point.point.work), 0};
        auto same = std::find_if(found.begin(), found.end(),
                                 [&](const auto& entry) { return entry.first == key; });
        if (same == found.end())
            same = found.insert(same, {key, {}});
        same->second.push_back(&point);
    }
    std::vector<WorkTime> out;
    for (const auto& [point, launches] : found)
        out.push_back({point.group, point.work, over_launches(launches)});
    return out;
}

MeasuredValue rate_of(double amount, const MeasuredValue& seconds)
{
    return {amount / seconds.value, amount / seconds.high, amount / seconds.low};
}

MeasuredValue middle_of(std::vector<MeasuredValue> values)
{
    std::vector<double> middle;
    MeasuredValue out = values.front();
    for (const MeasuredValue& value : values) {
        middle.push_back(value.value);
        out.low = std::min(out.low, value.low);
        out.high = std::max(out.high, value.high);
    }
    out.value = median(std::move(middle));
    return out;
}

std::vector<PairMatrix> pair_matrices(const MeasuredRun& run)
{
    return MatrixMaker(run).matrices();
}

namespace {

// One kernel and one collective, each beside the other and alone.
struct BesideOneAnother {
    GroupSpec group;
    CollectiveWork collective;
    LocalWork local;
    std::optional<MeasuredValue> lost;     // share of the kernel's rate
    std::optional<MeasuredValue> transfer; // time beside / time alone
};

std::vector<BesideOneAnother> pairs_of(const std::vector<WorkTime>& times, LocalKind kernel)
{
    const auto alone = [&](const GroupSpec& group, const TimedWork& work) -> const MeasuredValue* {
        for (const WorkTime& time : times)
            if (time.group == group && time.work == work)
                return &time.seconds;
        return nullptr;
    };
    std::vector<BesideOneAnother> out;
    for (const WorkTime& time : times) {
        const auto* const beside = std::get_if<BesideWork>(&time.work);
        if (beside == nullptr || beside->local.kind != kernel)
            continue;
        const MeasuredValue* const by_itself = beside->times_collective
                                                   ? alone(time.group, beside->collective)
                                                   : alone(time.group, beside->local);
        if (by_itself == nullptr)
            continue;
        auto pair = std::ranges::find_if(out, [&](const BesideOneAnother& other) {
            return other.group == time.group && other.collective == beside->collective &&
                   other.local == beside->local;
        });
        if (pair == out.end())
            pair = out.insert(pair, {time.group, beside->collective, beside->local, {}, {}});
        const MeasuredValue& both = time.seconds;
        // Noise may say that something is faster beside something else.
        if (beside->times_collective)
            pair->transfer = {std::max(1.0, both.value / by_itself->value),
                              std::max(1.0, both.low / by_itself->high),
                              std::max(1.0, both.high / by_itself->low)};
        else
            pair->lost = {std::max(0.0, 1 - by_itself->value / both.value),
                          std::max(0.0, 1 - by_itself->high / both.low),
                          std::max(0.0, 1 - by_itself->low / both.high)};
    }
    return out;
}

} // namespace

Slowdowns slowdowns(const std::vector<WorkTime>& times, LocalKind kernel)
{
    std::vector<MeasuredValue> lost;
    std::vector<MeasuredValue> transfer;
    std::vector<double> both;
    for (const BesideOneAnother& pair : pairs_of(times, kernel)) {
        if (pair.lost)
            lost.push_back(*pair.lost);
        if (pair.transfer)
            transfer.push_back(*pair.transfer);
        if (pair.lost && pair.transfer)
            both.push_back(pair.lost->value * pair.transfer->value);
    }
    Slowdowns out;
    if (!lost.empty())
        out.compute_lost = middle_of(std::move(lost));
    if (!transfer.empty())
        out.transfer = middle_of(std::move(transfer));
    if (!both.empty()) {
        MeasuredValue& share = *out.compute_lost;
        share.value = std::min(1.0, median(std::move(both)) / out.transfer->value);
        share.low = std::min(share.low, share.value);
        share.high = std::max(share.high, share.value);
    }
    return out;
}

} // namespace trainyard
