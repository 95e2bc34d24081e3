#pragma once

// How soon a rank can be through with its ops: nobody keeps it waiting, and nothing that runs
// beside its kernels slows them. What an engine finds is never earlier.

#include "sim/strategy/plan.h"

#include <limits>
#include <span>

namespace trainyard {

// What the ops of a plan take alone, the quickest group of their kind taking part.
class LoneCosts {
public:
    // The plan's groups are those of the job's ranks. Requires devices >= job.world().
    LoneCosts(const Plan& plan, const Job& job, const Topology& topology, const CostModel& cost);

    Seconds of(const Op& op) const;
    Seconds issue(const Op& op) const; // of the host

private:
    const Program& program_;
    CostTable costs_;
    std::vector<std::vector<std::uint32_t>> variants_; // by group slot
};

// A rank that runs blocks of a plan one after the other: when its streams are free, and when events
// were recorded. Times are those of the longest chain of ops from what `begin_at` named; what is
// on no such chain happened long ago.
class LoneRank {
public:
    static constexpr Seconds long_ago = Seconds(-std::numeric_limits<double>::infinity());

    // `events`: how many there are. Both are kept by reference.
    LoneRank(const Program& program, const LoneCosts& costs, std::size_t events)
        : program_(program),
          costs_(costs),
          streams_(program.streams.size(), long_ago),
          events_(events, long_ago)
    {}

    void begin_at(StreamId stream) { streams_[stream.value] = Seconds(0); }
    void begin_at(EventId event) { events_[event.value] = Seconds(0); }

    // `events`: by local event.
    void run(const Block& block, std::span<const EventId> events);

    Seconds stream(StreamId stream) const { return streams_[stream.value]; }
    Seconds host() const { return streams_[host_stream.value]; }
    Seconds event(EventId event) const { return events_[event.value]; }

private:
    const Program& program_;
    const LoneCosts& costs_;
    std::vector<Seconds> streams_; // free from then on; the host has issued until then
    std::vector<Seconds> events_;
};

} // namespace trainyard
