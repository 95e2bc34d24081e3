#pragma once

// What is known of a point: what a search asks, whoever answers - the engine, a store of what was
// simulated before, another process.

#include "sim/base/progress.h"
#include "sim/study/search/possible_layouts.h"

namespace trainyard {

class Session;

struct PointFacts {
    enum class Kind : std::uint8_t {
        timed,     // it was simulated
        too_large, // not run: it does not fit into a device
        refused,   // its values do not go together
        beaten     // not run: by its peak nothing can come of it
    };
    Kind kind = Kind::timed;
    Seconds step_time;             // where it was timed
    Bytes peak;                    // of the fullest device, before the allocator; 0: not known
    Bytes capacity;                // of a device; 0: not known
    std::optional<Bytes> reserved; // by the allocator on the fullest device, where it was asked for
    std::string pointer;           // of the field at fault (RFC 6901), where it was refused

    bool operator==(const PointFacts&) const = default;
};

// What points are compared by.
Seconds per_sequence(Seconds step, const LayoutChoice& choice);

// What keeps a point from the best. The limit falls while others are looked at.
struct PointLimits {
    Bytes room; // of a device
    // Of a sequence, for what holds at least so much.
    std::function<Seconds(Bytes)> limit;
    Seconds least = {}; // that a sequence takes, where its peak may tell that a run is in vain

    // Only of such a point the allocator is asked.
    bool may_be_best(const LayoutChoice& choice, const PointFacts& facts) const;
};

class Points {
public:
    virtual ~Points() = default;

    // How many threads may ask at the same time.
    virtual int at_once() const = 0;

    // `known`: what was found before, to be completed. Throws Cancelled.
    virtual PointFacts facts(const LayoutChoice& choice, const PointLimits& limits,
                             const std::optional<PointFacts>& known = {}) = 0;
};

// The engine.
class EnginePoints final : public Points {
public:
    EnginePoints(const SearchBase& base, Session& session, const CancelFlag* cancel, int threads)
        : base_(base), session_(session), cancel_(cancel), threads_(threads)
    {}

    int at_once() const override { return threads_; }
    PointFacts facts(const LayoutChoice& choice, const PointLimits& limits,
                     const std::optional<PointFacts>& known = {}) override;

private:
    const SearchBase& base_;
    Session& session_;
    const CancelFlag* cancel_;
    int threads_;
};

} // namespace trainyard
