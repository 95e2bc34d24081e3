#pragma once

// A search on several ranks. All bound a part of the space; rank 0 then hands out points, one for
// each thread of each rank, and keeps what is found: what it decides and tells is what one process
// does.

#include "sim/study/ranks/ranks.h"
#include "sim/study/search/search.h"

namespace trainyard {

// What ranks must agree on.
struct CrewTask {
    std::string question; // empty: there is none, for problems that rank 0 tells
    int threads = 1;      // of this rank
};

// The other ranks, for rank 0. They are dismissed at its end, also when there was nothing to do.
class Crew {
public:
    explicit Crew(Ranks& ranks) : ranks_(ranks) {}
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    // Throws WorldError where a rank has another task.
    void meet(const CrewTask& task);

    // Lanes of `share` that are rank 0's, of all that the crew has.
    SpaceShare own_lanes(SpaceShare share) const;
    // Lets the others bound theirs, or nothing where the bounds are known.
    void begin(bool bounds);
    PossibleLayouts bounds_of_others();

    // Threads of others, each as the rank and its thread.
    struct Seat {
        int rank = 0;
        int thread = 0;
    };
    const std::vector<Seat>& seats() const { return seats_; }
    // Asks the thread of that seat. Throws Cancelled where its rank was told to end, WorldError
    // where it failed.
    PointFacts ask(const Seat& seat, const LayoutChoice& choice, const PointLimits& limits,
                   const std::optional<PointFacts>& known);

private:
    Ranks& ranks_;
    int own_threads_ = 1;
    std::vector<Seat> seats_;
    bool met_ = false;
    bool begun_ = false;
};

// Own threads and those of the crew.
class CrewPoints final : public Points {
public:
    CrewPoints(Crew& crew, Points& own);

    int at_once() const override;
    PointFacts facts(const LayoutChoice& choice, const PointLimits& limits,
                     const std::optional<PointFacts>& known) override;

private:
    Crew& crew_;
    Points& own_;
    std::mutex mutex_;
    std::vector<std::optional<Crew::Seat>> free_; // nothing: a thread of this process
};

// What every other rank does. `base` is null where there is no question.
void serve_crew(Ranks& ranks, const CrewTask& task, const SearchBase* base,
                const SearchRequest& request, SpaceShare share);

} // namespace trainyard
