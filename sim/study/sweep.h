#pragma once

// Simulates the points of a grid on all cores. Stages that points share are built once: the session
// keeps them by the hash of their inputs.

#include "sim/study/outcome.h"
#include "sim/study/sweep_follow.h"

#include <functional>

namespace trainyard {

class Session;

// What the fullest device of a point would hold, and what there is.
struct MemoryNeed {
    Bytes peak;
    Bytes capacity;
};

// What kept a point from being simulated, as far as it can be counted with others like it.
struct Hindrance {
    enum class Kind : std::uint8_t {
        memory, // the fullest stage needs more than a device has
        input   // values that do not fit together, or that the form refuses
    };
    Kind kind = Kind::input;
    // The field at fault (RFC 6901, without the positions in lists); empty for memory.
    std::string pointer;

    auto operator<=>(const Hindrance&) const = default;
};

template <>
std::vector<EnumName<Hindrance::Kind>> enum_names<Hindrance::Kind>();

struct SweepPoint {
    std::size_t index = 0;         // in the grid
    std::vector<Override> changes; // by axis, with what "auto" came to
    std::vector<Override> beside;  // what else followed
    std::optional<MovedBatch> moved;
    std::optional<MemoryNeed> memory; // of points that came that far: those that do not fit too
    // Problems where the point cannot be, memory included.
    Checked<Outcome> outcome;

    bool feasible() const { return outcome.has_value(); }
    // Why not, in one line, and what would help (empty if nothing is known). Require !feasible().
    std::string reason() const;
    std::string hint() const;
    Hindrance hindrance() const;
};

struct SweepOptions {
    int threads = 0;  // 0: as many as the machine runs at once
    WorkControl work; // counts points; a cancelled sweep ends early and keeps what is done
    // Which points, in the order in which they begin; nothing: all, in the order of the grid.
    std::optional<std::vector<std::size_t>> points = {};
};

struct SweepEnd {
    std::size_t points = 0; // asked for
    std::size_t done = 0;   // handed over
    bool cancelled = false;
};

// Takes a point when it is done. All points are simulated in one fidelity: the scenario's, else
// `alpha-beta`. Called by the threads that simulate, several at once.
using SweepCall = std::function<void(SweepPoint&&)>;

// Points begin in the order asked for and end in any. What is found of each does not depend on
// the number of threads. Throws what the world throws. Requires grid_problems(grid, base) to be
// empty.
SweepEnd sweep(const ScenarioFile& base, const SweepGrid& grid, Session& session,
               const SweepOptions& options, const SweepCall& done);

} // namespace trainyard
