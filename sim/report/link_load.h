#pragma once

// Load of links over time: which transfers cross a link when, and how fast.
//
// What is counted: the collectives and messages of every rank whose role is recorded. A recorded
// lane stands for all ranks that fold into it; for a lane that is not recorded stands the first
// recorded one of its role, which does the same work: bytes are those of the rank's own groups and
// neighbours, times (and the pattern that the size chooses) those of the lane that stands for it.
// `ranks_counted` says of how many ranks transfers are known, `ranks_recorded` of how many the
// times are their own. A transfer puts its bytes on links as the binding does in fidelities that
// share them (sim/strategy/bind/links.h), in alpha-beta too, where nobody shares them: there two
// transfers may ask more of a link than it has.
//
// A transfer moves its bytes evenly from its latency's end to its op's. Of an exchange, whose parts
// are not recorded one by one, all sends move from its last part's arrival on.

#include "sim/report/rate_curve.h"
#include "sim/strategy/bind/rank_groups.h"
#include "sim/study/outcome.h"

namespace trainyard {

// Bytes per second leaving the busiest member of each source (see below).
using SourceRates = std::vector<double>;

// One transfer on one link.
struct LinkFlow {
    std::size_t record = 0; // into StepResult::records
    std::uint32_t way = 0;  // for LinkLoads::ranks_of
    SimTime from;
    SimTime to;
    double bytes = 0; // over this link

    Bandwidth rate() const
    {
        return Bandwidth(to > from ? bytes / to_seconds(to - from).value() : 0);
    }
    bool operator==(const LinkFlow&) const = default;
};

// The largest first; `count` of them in all.
struct LinkFlows {
    std::vector<LinkFlow> largest;
    std::size_t count = 0;
};

class LinkLoads {
public:
    // Of an outcome whose last step is recorded. Takes a second per some millions of records and
    // ways of ranks. Throws Cancelled.
    explicit LinkLoads(std::shared_ptr<const Outcome> outcome, const WorkControl& work = {});

    const Outcome& outcome() const { return *outcome_; }
    int ranks_counted() const { return ranks_counted_; } // of outcome().job.world()
    int ranks_recorded() const { return ranks_recorded_; }

    // Sources are the transfers of one pattern of a recorded lane's group, or its messages to one
    // neighbour: what always loads the same links in the same proportion.
    SourceRates rates_at(SimTime time) const;
    SourceRates mean_rates(SimTime from, SimTime to) const; // from < to

    Bandwidth load(LinkId link, const SourceRates& rates) const;
    // By profile: links of the same one carry the same at any time. Profile 0 carries nothing.
    std::vector<double> loads(const SourceRates& rates) const;
    std::uint32_t profile_of(LinkId link) const { return profile_of_[link.value]; }
    std::size_t profile_count() const { return profiles_.size(); }

    // What each source counts in a sum over links: `links` says how many of each profile.
    std::vector<double> weights(std::span<const double> links) const;
    // That sum over time, bytes per second.
    RateCurve sum_over_time(std::span<const double> weights) const;

    // Mean load of each of `parts` equal parts of the range.
    std::vector<double> over_time(LinkId link, SimTime from, SimTime to, std::size_t parts) const;
    double bytes(LinkId link, SimTime from, SimTime to) const;
    // The highest load within the range.
    Bandwidth highest(LinkId link, SimTime from, SimTime to) const;

    // Transfers that move bytes over the link in the range.
    LinkFlows flows(LinkId link, SimTime from, SimTime to, std::size_t most) const;
    std::vector<RankId> ranks_of(const LinkFlow& flow) const;
    TrafficPattern pattern_of(const LinkFlow& flow) const;
    bool is_message(const LinkFlow& flow) const { return ways_[flow.way].message; }

    // That the record's transfer crosses, of any of the groups or pairs it stands for; ascending.
    std::vector<LinkId> links_of(std::size_t record) const;

    // What the engine counted over the step, in fidelities that share links.
    const LinkTotals* totals(LinkId link) const;

private:
    struct Transfer {
        SimTime from;
        SimTime to;
        double bytes = 0; // leaving the busiest member
        std::uint32_t record = 0;
    };
    struct Source : RateCurve {
        std::vector<Transfer> transfers; // by beginning
        SimTime longest{};               // of them
        TrafficPattern pattern = TrafficPattern::ring;

        void close();
    };
    // Of one group or pair of ranks.
    struct Way {
        std::uint32_t source = 0;
        std::uint32_t group = 0; // into near_.groups
        RankId from{};           // of messages
        RankId to{};
        bool message = false;
    };
    struct Use {
        std::uint32_t way = 0; // of profiles: source
        double share = 0;      // of what leaves the busiest member

        bool operator==(const Use&) const = default;
    };
    class Builder;

    std::shared_ptr<const Outcome> outcome_;
    Neighbourhood near_;
    std::vector<Source> sources_;
    std::vector<Way> ways_;
    std::vector<LinkId> carrier_;           // by link: of its trunk, whose uses are its
    std::vector<std::uint32_t> first_use_;  // by link, and one more; of carriers alone
    std::vector<Use> uses_;                 // link after link
    std::vector<std::uint32_t> profile_of_; // by link
    std::vector<std::vector<Use>> profiles_;
    std::vector<std::uint32_t> totals_of_; // by link: 1 + index into StepResult::links, 0: none
    int ranks_counted_ = 0;
    int ranks_recorded_ = 0;
};

} // namespace trainyard
