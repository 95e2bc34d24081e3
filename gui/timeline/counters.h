#pragma once

// What is counted along the time axis below the lanes: memory held, how much of the ranks computes,
// what links carry.

#include "gui/timeline/timeline_model.h"
#include "sim/report/link_load.h"
#include "sim/report/timeline/memory_curve.h"

#include <map>

namespace trainyard::gui {

enum class CounterKind : std::uint8_t { memory, compute, nvlink, nic };
inline constexpr std::size_t counter_count = 4;
inline constexpr std::array counter_kinds{CounterKind::memory, CounterKind::compute,
                                          CounterKind::nvlink, CounterKind::nic};
std::string_view title_of(CounterKind kind); // "memory", "NVLink"

// One row. Memory in bytes, the fullest moment of each part; compute in shares of the time of all
// ranks shown; links in bytes per second, all of the cluster's together: means of each part.
struct CounterSeries {
    CounterKind kind = CounterKind::memory;
    std::string name; // "memory, rank 3"
    TimeRange range{SimTime(0), SimTime(1)};
    std::vector<double> values; // of equal parts of the range
    double top = 1;             // of the scale: what the device holds, all of the time, or the most
    double most = 0;            // of memory: that the device can hold; of links: their capacity

    // Of the part in which it lies; none outside the range.
    std::optional<double> at(SimTime time) const;
    bool operator==(const CounterSeries&) const = default;
};

// "62.1 GB", "43.0 %", "1.2 TB/s, 12.0 % of capacity"
std::string value_text(const CounterSeries& series, double value);
// What the row says of itself where no moment is pointed at: the peak, or the mean; without values
// that they are being counted.
std::string sum_text(const CounterSeries& series);

struct CounterRequest {
    std::vector<CounterKind> kinds;
    TimeRange range{SimTime(0), SimTime(1)};
    std::size_t parts = 1024;
    std::optional<RankId> rank; // whose memory; none, or not recorded: the critical one's

    bool operator==(const CounterRequest&) const = default;
};

// What all links of a kind carry together, over all of a run.
struct LinkSum {
    RateCurve rate;      // bytes per second
    double capacity = 0; // likewise; 0: there are none
};
using LinkSums = std::map<CounterKind, LinkSum>;

// Of NVLinks and NICs. Finding the ways of a large cluster's transfers takes seconds; what is then
// asked of the sums takes none. Throws Cancelled.
LinkSums link_sums(const std::shared_ptr<const Outcome>& outcome, const WorkControl& work);

// How many of the first run's ranks compute, over its time.
struct RankUse {
    RateCurve computing;
    std::size_t ranks = 0;
};

// Counts over the first run of a timeline. What it needs of the run is made when it is first asked
// for, and kept. For one thread at a time.
class CounterSource {
public:
    explicit CounterSource(std::shared_ptr<const TimelineModel> model);

    // In the order asked for; what the run does not have (links of a kind, the records of a whole
    // step) is left out, as are links while there are no sums of them. Throws Cancelled.
    std::vector<CounterSeries> series(const CounterRequest& request, const LinkSums* links,
                                      const WorkControl& work);

private:
    std::optional<CounterSeries> memory(const CounterRequest& request);
    std::optional<CounterSeries> compute(const CounterRequest& request, const WorkControl& work);
    LaneId lane_for(std::optional<RankId> rank) const;

    std::shared_ptr<const TimelineModel> model_;
    std::shared_ptr<const Outcome> outcome_; // of the first run; null: the timeline is of none
    std::map<LaneId, MemoryCurve> curves_;
    std::optional<RankUse> use_;
};

} // namespace trainyard::gui
